package optimize

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Check reports what is wrong with a plan of a segment, nil if nothing is. It
// looks at the plan and the segment alone, and shares no analysis with the
// search that made the plan.
func Check(p *Plan, seg *Segment) error {
	c := &checker{p: p, seg: seg, made: make([]int, len(seg.Tensors)), home: make([]int, len(seg.Ops)), maker: make([]int, len(seg.Tensors))}
	for i := range c.maker {
		c.maker[i] = -1
	}
	for i := range seg.Ops {
		for _, out := range seg.Ops[i].Outputs {
			c.maker[out.ID] = i
		}
	}
	for _, f := range []func() error{c.blocks, c.reads, c.fates, c.recipes, c.effects, c.inPlace} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

type checker struct {
	p     *Plan
	seg   *Segment
	maker []int // by tensor: the operation that makes it, -1: an input
	made  []int // by tensor: 1 + the block that puts it in memory
	home  []int // by operation: 1 + the block that computes it
}

// blocks checks that an operation other than a view or the creation of a tensor
// is computed once, and that a tensor is put in memory once.
func (c *checker) blocks() error {
	for i, b := range c.p.Blocks {
		if !slices.IsSorted(b.Ops) || len(b.Ops) == 0 {
			return fmt.Errorf("block %d: operations %v are not ascending", i, b.Ops)
		}
		for _, op := range b.Ops {
			if c.home[op] != 0 && !isView(&c.seg.Ops[op]) && ir.Lookup(c.seg.Ops[op].Kind).Class != ir.ClassCreate {
				return fmt.Errorf("%s is in blocks %d and %d", opName(c.seg, op), c.home[op]-1, i)
			}
			c.home[op] = i + 1
		}
		put := slices.Clone(b.Stored)
		for _, a := range b.Aliases {
			put = append(put, a.Tensor)
		}
		for _, t := range put {
			if c.maker[t] < 0 || !slices.Contains(b.Ops, c.maker[t]) {
				return fmt.Errorf("block %d stores t%d, which it does not compute", i, t)
			}
			if c.made[t] != 0 {
				return fmt.Errorf("blocks %d and %d both store t%d", c.made[t]-1, i, t)
			}
			c.made[t] = i + 1
		}
	}
	return nil
}

// CheckFallbacks lowers the operations of every block alone and reports what is
// wrong with that, nil if nothing is.
func CheckFallbacks(p *Plan) error {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		alone, err := b.Fallback()
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		var ops []int
		for _, f := range alone {
			if ops = append(ops, f.Ops...); len(f.InPlace) > 0 {
				return fmt.Errorf("block %d takes storage when it falls back", i)
			}
		}
		if alone != nil && !slices.Equal(ops, b.Ops) {
			return fmt.Errorf("block %d of %v falls back to %v", i, b.Ops, ops)
		}
	}
	return nil
}

// reads checks that blocks read only what is in memory by then.
func (c *checker) reads() error {
	for i, b := range c.p.Blocks {
		for _, call := range b.Calls {
			for _, t := range call.Tensors {
				if c.maker[t] >= 0 && (c.made[t] == 0 || c.made[t] > i+1) {
					return fmt.Errorf("block %d, %s, uses t%d, which is not in memory", i, b.Fuser, t)
				}
			}
		}
		for _, a := range b.Aliases {
			if c.maker[a.Of] >= 0 && (c.made[a.Of] == 0 || c.made[a.Of] > i+1) {
				return fmt.Errorf("block %d: t%d aliases t%d, which is not in memory", i, a.Tensor, a.Of)
			}
		}
	}
	return nil
}

// fates checks that fates agree with what is known of each tensor and with
// what the blocks store.
func (c *checker) fates() error {
	if len(c.p.Fates) != len(c.seg.Tensors) {
		return fmt.Errorf("%d fates for %d tensors", len(c.p.Fates), len(c.seg.Tensors))
	}
	for t := range c.seg.Tensors {
		op := c.maker[t]
		if op < 0 {
			continue
		}
		fate, info := c.p.Fates[t], &c.seg.Tensors[t]
		dead := info.Dead && !info.Asked
		class := ir.Lookup(c.seg.Ops[op].Kind).Class
		_, recipe := c.p.Recipes[ir.TensorID(t)]
		wrong := ""
		switch {
		case fate.inMemory() != (c.made[t] != 0):
			wrong = fmt.Sprintf("stored by block %d", c.made[t]-1)
		case info.Asked && fate != Stored:
			wrong = "asked for"
		case dead && fate == Virtual:
			wrong = "dead"
		case !dead && (fate == Dropped || fate == Temporary):
			wrong = "not dead"
		case class == ir.ClassEffect && !fate.inMemory():
			wrong = "an effect's result"
		case class == ir.ClassReduce && fate == Virtual && c.home[op] != 0:
			wrong = "a reduction's result"
		case recipe != (fate == Virtual):
			wrong = fmt.Sprintf("recipe: %v", recipe)
		}
		if wrong != "" {
			return fmt.Errorf("t%d of %s is %s, but %s", t, opName(c.seg, op), fate, wrong)
		}
	}
	for i := range c.seg.Ops {
		if ir.Lookup(c.seg.Ops[i].Kind).Class == ir.ClassEffect && c.home[i] == 0 {
			return fmt.Errorf("effect %s does not run", opName(c.seg, i))
		}
	}
	return nil
}

// recipes checks that recipes are closed: every operand is in memory after the
// segment or computed by the recipe, not both, and no effect is run again.
func (c *checker) recipes() error {
	for t := range c.p.Fates {
		ops, ok := c.p.Recipes[ir.TensorID(t)]
		if !ok {
			continue
		}
		if !slices.IsSorted(ops) || !slices.Contains(ops, c.maker[t]) {
			return fmt.Errorf("recipe of t%d is %v", t, ops)
		}
		for _, op := range ops {
			if made := c.seg.Ops[op].Outputs[0].ID; c.p.Fates[made] == Stored {
				return fmt.Errorf("recipe of t%d leads through t%d, which is stored", t, made)
			}
			if ir.Lookup(c.seg.Ops[op].Kind).Class == ir.ClassEffect {
				return fmt.Errorf("recipe of t%d runs the effect %s", t, opName(c.seg, op))
			}
			for _, in := range c.seg.Ops[op].Inputs {
				if m := c.maker[in.ID]; m >= 0 && c.p.Fates[in.ID] != Stored && !slices.Contains(ops, m) {
					return fmt.Errorf("recipe of t%d needs t%d, which is %s", t, in.ID, c.p.Fates[in.ID])
				}
			}
		}
	}
	return nil
}

// effects checks the order of reading and writing over.
func (c *checker) effects() error {
	for e := range c.seg.Ops {
		if !c.seg.inPlace(e) {
			continue
		}
		same := c.sharing(e)
		for r := range c.seg.Ops {
			if r == e || c.home[r] == 0 {
				continue
			}
			op := &c.seg.Ops[r]
			reads := op.Inputs
			if c.seg.inPlace(r) {
				reads = reads[1:]
			}
			if !slices.ContainsFunc(reads, func(in ir.TensorRef) bool { return same[in.ID] }) {
				continue
			}
			b := &c.p.Blocks[c.home[r]-1]
			// An alias reads nothing, nor does a view others read through.
			alias := len(b.Calls) == 0 || len(b.Ops) > 1 && isView(op)
			switch {
			case r < e && c.home[r] > c.home[e] && !alias:
				return fmt.Errorf("%s runs after %s wrote over what it reads", opName(c.seg, r), opName(c.seg, e))
			case r > e && c.home[r] == c.home[e] && !alias:
				return fmt.Errorf("%s is in one block with %s, which writes over what it reads", opName(c.seg, r), opName(c.seg, e))
			}
		}
	}
	return nil
}

// sharing returns the tensors that lie in the storage effect e writes over, as
// it is before.
func (c *checker) sharing(e int) []bool {
	old := c.seg.Ops[e].Inputs[0].ID
	same := make([]bool, len(c.seg.Tensors))
	same[old] = true
	link := func(a, b ir.TensorID) bool {
		changed := same[a] != same[b]
		same[a], same[b] = same[a] || same[b], same[a] || same[b]
		return changed
	}
	for changed := true; changed; {
		changed = false
		for a := range c.seg.Tensors {
			for b := range a {
				x, y := &c.seg.Tensors[a], &c.seg.Tensors[b]
				if x.Input && y.Input && x.Buffer != 0 && x.Buffer == y.Buffer && link(ir.TensorID(a), ir.TensorID(b)) {
					changed = true
				}
			}
		}
		for i := range c.seg.Ops {
			op := &c.seg.Ops[i]
			if isView(op) || i < e && c.seg.inPlace(i) {
				changed = link(op.Inputs[0].ID, op.Outputs[0].ID) || changed
			}
		}
	}
	return same
}

// inPlace checks that storage is taken only when nobody needs it any more.
func (c *checker) inPlace() error {
	for i, b := range c.p.Blocks {
		for _, x := range b.InPlace {
			if op := c.maker[x.Out]; op >= 0 && c.seg.inPlace(op) && c.seg.Ops[op].Inputs[0].ID == x.In {
				continue
			}
			in := &c.seg.Tensors[x.In]
			free := in.Input && in.Takeable && in.Var == 0 || !in.Input && c.p.Fates[x.In] == Temporary
			if !free {
				return fmt.Errorf("block %d takes the storage of t%d, which is needed", i, x.In)
			}
			for j := i + 1; j < len(c.p.Blocks); j++ {
				for _, call := range c.p.Blocks[j].Calls {
					if slices.Contains(call.Tensors, x.In) {
						return fmt.Errorf("block %d takes the storage of t%d, which block %d reads", i, x.In, j)
					}
				}
			}
		}
	}
	return nil
}
