package fusion

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/optimize"
)

// settle gives every output of the segment the state the plan says, after its
// blocks ran.
func (e *executor) settle() {
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
		case fate == optimize.Virtual: // see below
		default: // recipes may lead through it
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
	for i := range e.plan.virtual {
		p := &e.plan.virtual[i]
		v := e.seg.nodes[p.pos].out
		switch {
		case e.fail[v.rel] != nil:
		case p.views:
			v.become(e.recipe(p.pos))
		default:
			r := &recipe{node: v.node}
			r.inputs = r.arr[:0]
			for _, at := range p.inputs {
				r.inputs = append(r.inputs, e.seg.nodes[at.pos].in[at.operand])
			}
			v.become(r)
		}
	}
	for pos, n := range e.seg.nodes {
		v := n.out
		if n.v == nil && !e.flags.asked[pos] && v.is(Stored) && (e.flags.dead[pos] || v.over()) {
			v.letGo() // only recipes need it
		}
	}
}

// become makes v virtual. It keeps its node: recipes are followed along nodes.
func (v *Value) become(r *recipe) {
	r.hold()
	v.recipe = r
	v.setState(Virtual)
}

// recipe returns the recipe of the output at a position, which starts from what
// is in memory afterwards. Views of a Var's memory are not: effects change it.
func (e *executor) recipe(pos int) *recipe {
	seen := map[int32]bool{}
	r := &recipe{node: e.seg.nodes[pos]}
	r.inputs = r.arr[:0]
	var visit func(pos int)
	visit = func(pos int) {
		for k, t := range e.seg.operands(pos) {
			v := e.seg.nodes[pos].in[k]
			switch {
			case seen[t]:
			case e.seg.outside[t] || v.version != nil || e.base[t] == 0 && e.plan.Fates[t] == optimize.Stored:
				r.inputs = append(r.inputs, v)
			default:
				visit(e.position(t))
			}
			seen[t] = true
		}
	}
	visit(pos)
	return r
}

// keepView makes an output that is a view of a Var's memory virtual, whatever
// the plan says: effects change that memory. It is copied when it is used.
func (e *executor) keepView(pos int) {
	r := e.recipe(pos)
	r.held = true
	e.seg.nodes[pos].out.become(r)
}

// position returns where in the segment an output was made.
func (e *executor) position(r int32) int {
	at, _ := slices.BinarySearchFunc(e.seg.nodes, r, func(n *node, r int32) int { return int(n.out.rel - r) })
	return at
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
