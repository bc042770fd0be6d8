package fusion

import (
	"slices"

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
		case fate == optimize.Stored && e.base[r] != 0:
			if e.own {
				e.copyView(v)
			} else {
				e.keepView(pos)
			}
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
	if !e.own {
		for _, pos := range e.plan.chance {
			if v := e.seg.nodes[pos].out; !v.is(Failed) {
				v.chance.Store(true)
			}
		}
	}
	if !virtual {
		return
	}
	for _, n := range e.seg.nodes {
		if v := n.out; e.fail[v.rel] == nil && n.v == nil && e.plan.Fates[v.rel] == optimize.Virtual {
			e.setRecipe(v, slices.Clone(e.plan.Recipes[ir.TensorID(v.rel)]))
		}
	}
}

// setRecipe makes v virtual: the operations at the given positions, ascending,
// compute it. What they start from and is not in memory afterwards joins in:
// views of a Var's memory are recipes themselves.
func (e *executor) setRecipe(v *Value, positions []int) {
	inside := make(map[int32]bool, len(positions))
	for _, p := range positions {
		inside[e.seg.nodes[p].out.rel] = true
	}
	var inputs []*Value
	for at := 0; at < len(positions); at++ {
		n := e.seg.nodes[positions[at]]
		for k, r := range e.seg.operands(positions[at]) {
			if inside[r] {
				continue
			}
			inside[r] = true
			if !e.seg.outside[r] && n.in[k].version == nil && (e.base[r] != 0 || e.plan.Fates[r] != optimize.Stored) {
				positions = append(positions, e.position(r))
				continue
			}
			inputs = append(inputs, n.in[k])
		}
	}
	slices.Sort(positions)
	nodes := make([]*node, len(positions))
	for i, p := range positions {
		nodes[i] = e.seg.nodes[p]
	}
	v.recipe = newRecipe(nodes, inputs)
	v.node = nil
	v.setState(Virtual)
}

// keepView makes an output that is a view of a Var's memory virtual, whatever
// the plan says: effects change that memory. It is copied when it is used.
func (e *executor) keepView(pos int) {
	v := e.seg.nodes[pos].out
	e.setRecipe(v, []int{pos})
	v.recipe.held = true
}

// copyView stores a view of a Var's memory in memory of its own.
func (e *executor) copyView(v *Value) {
	m, err := e.s.copyOut(e.mem[v.rel], e.stored[v.rel], v.dtype)
	if err != nil {
		v.fail = &failure{err: opError(&v.node.op, v.node.in, err)}
		e.s.unreported(v.fail)
		v.node = nil
		v.setState(Failed)
		return
	}
	v.store(m, codegen.Contiguous(v.shape))
}

// position returns where in the segment an output was made.
func (e *executor) position(r int32) int {
	at, _ := slices.BinarySearchFunc(e.seg.nodes, r, func(n *node, r int32) int { return int(n.out.rel - r) })
	return at
}
