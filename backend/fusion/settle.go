package fusion

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// settle gives every output of the segment the state the plan says, after its
// blocks ran.
func (e *executor) settle() {
	virtual := false
	for pos, n := range e.seg.nodes {
		v := n.out
		r := v.rel
		fate := e.plan.Fates[r]
		switch {
		case e.fail[r] != nil:
			v.fail = e.fail[r]
			if m := e.mem[r]; m != nil && n.v != nil {
				v.storage = m // older versions are rebuilt from it
			}
			v.node = nil
			v.setState(Failed)
		case n.v != nil && e.mem[r] != nil:
			v.store(e.mem[r], codegen.Contiguous(v.shape))
		case n.v != nil:
			v.overwritten()
		case fate == optimize.Stored && e.ofVar[r]:
			e.keepView(v, pos)
		case fate == optimize.Stored && e.mem[r] != nil:
			v.store(e.mem[r], e.stored[r])
		case fate == optimize.Virtual:
			virtual = true
		default:
			v.node = nil
			v.let = true
			v.setState(Gone)
		}
	}
	if !virtual {
		return
	}
	for pos, n := range e.seg.nodes {
		if v := n.out; e.fail[v.rel] == nil && n.v == nil && e.plan.Fates[v.rel] == optimize.Virtual {
			e.setRecipe(v, e.plan.Recipes[ir.TensorID(v.rel)], pos)
		}
	}
}

// setRecipe makes v virtual: the operations at the given positions, ascending,
// compute it.
func (e *executor) setRecipe(v *Value, positions []int, pos int) {
	nodes := make([]*node, len(positions))
	inside := make(map[*Value]bool, len(positions))
	views := true
	for i, p := range positions {
		nodes[i] = e.seg.nodes[p]
		inside[nodes[i].out] = true
		views = views && e.isView(p)
	}
	var inputs []*Value
	seen := make(map[*Value]bool)
	ofVar := false
	for _, n := range nodes {
		for _, in := range n.in {
			if !inside[in] && !seen[in] {
				seen[in] = true
				inputs = append(inputs, in)
				ofVar = ofVar || in.version != nil
			}
		}
	}
	v.recipe = newRecipe(nodes, inputs)
	v.recipe.ofVar = views && ofVar
	v.node = nil
	v.setState(Virtual)
}

// keepView makes an output that is a view of a Var's memory virtual, whatever
// the plan says: effects change that memory.
func (e *executor) keepView(v *Value, pos int) {
	var positions []int
	at := pos
	for {
		positions = append([]int{at}, positions...)
		in := e.seg.nodes[at].in[0]
		if _, input := e.seg.inputs[in]; input || in.version != nil || !e.isView(e.position(in)) {
			break
		}
		at = e.position(in)
	}
	e.setRecipe(v, positions, pos)
}

// position returns where in the segment an output was made.
func (e *executor) position(v *Value) int {
	lo, hi := 0, len(e.seg.nodes)
	for lo < hi {
		mid := (lo + hi) / 2
		if e.seg.nodes[mid].out.rel < v.rel {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
