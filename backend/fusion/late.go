package fusion

import (
	"context"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// late runs the recipe of a virtual value at once, as a plan of its own,
// before everything queued, and stores the result. The value's structural hash
// is remembered, so that from now on such a value is stored at its drain; but
// not of a view that was only held back because a Var's memory changes.
func (s *Stream) late(v *Value) error {
	r := v.recipe
	if !r.held {
		s.noteLate(v)
	}
	defer s.outlives(v)()
	e := s.executor()
	defer s.release(e)
	e.own = true
	if !r.held {
		e.late = v
	}
	nodes, f := r.nodes()
	if f != nil {
		v.recipe = nil
		r.release()
		v.fail = f
		v.setState(Failed)
		return f.err
	}
	made := make(map[*Value]*Value)
	var last *Value
	for _, n := range nodes {
		last = e.copyNode(n, made)
	}
	e.flags.resize(len(e.seg.nodes))
	for i := range e.flags.dead {
		e.flags.dead[i] = true
	}
	n := len(e.flags.asked) - 1
	e.flags.asked[n], e.flags.dead[n] = true, false
	e.run(context.Background())
	e.seg.reset()
	v.recipe = nil
	r.release()
	if f := last.fail; f != nil {
		v.fail = f
		v.setState(Failed)
		return f.err
	}
	own := v.node // the recipes of others may lead through it
	v.store(last.storage, last.layout)
	v.node = own
	return nil
}

// used notes that a value of an earlier segment is used. Plans depend on what
// is asked for, so what one plan stores by chance the next may not: unless it
// is remembered now, the second plan of a sequence need not be its last.
func (v *Value) used() {
	if v.chance.Load() && v.chance.Swap(false) {
		v.rt.late.add(v.hash)
	}
}

// copyNode appends a copy of a recorded operation with a result of its own.
func (e *executor) copyNode(n *node, made map[*Value]*Value) *Value {
	in := make([]*Value, len(n.in))
	for i, v := range n.in {
		in[i] = v
		if m := made[v]; m != nil {
			in[i] = m
		}
	}
	out := e.appendChecked(n.op, n.out.shape, n.out.dtype, in)
	out.node.pass = n.pass
	made[n.out] = out
	return out
}

// append adds an operation of the runtime's own to the executor's segment.
func (e *executor) append(op ir.Operation, in ...*Value) *Value {
	op.Inputs = make([]ir.TensorRef, len(in))
	for i, v := range in {
		op.Inputs[i] = ir.TensorRef{ID: v.id, Shape: v.shape, DType: v.dtype}
	}
	if err := op.Check(); err != nil {
		panic("fusion: " + err.Error()) // a mistake of this package; the drain's caller sees it as such
	}
	return e.appendChecked(op, op.Outputs[0].Shape, op.Outputs[0].DType, in)
}

func (e *executor) appendChecked(op ir.Operation, shape ir.Shape, dtype ir.DType, in []*Value) *Value {
	out := e.s.rt.newValue()
	out.home, out.pc, out.shape, out.dtype = e.s, op.PC, shape, dtype
	n := &node{op: op, in: in, out: out}
	n.op.Outputs = []ir.TensorRef{{ID: out.id, Shape: shape, DType: dtype}}
	out.node = n
	e.seg.add(n, ownSegment)
	return out
}

// ownSegment numbers segments the runtime makes for itself.
const ownSegment = 0

// leaf returns a stored value for memory somebody else holds.
func (s *Stream) leaf(m *Storage, l codegen.Layout, dtype ir.DType) *Value {
	v := s.rt.newValue()
	v.shape, v.dtype, v.let = l.Shape, dtype, true
	v.store(m, l)
	return v
}

// repeatOnce is the operation that copies a tensor of the given shape.
func repeatOnce(shape ir.Shape) ir.Operation {
	ones := make([]int, len(shape))
	for i := range ones {
		ones[i] = 1
	}
	return ir.Operation{Kind: ir.Repeat, Attrs: ir.Attrs{Ints: ones}}
}

// copyOut copies a strided tensor to dense memory of its own.
func (s *Stream) copyOut(m *Storage, l codegen.Layout, dtype ir.DType) (*Storage, error) {
	if l.IsContiguous() {
		n := l.Shape.NumElements() * dtype.Size()
		out, err := s.alloc(n)
		if err != nil || n == 0 {
			return out, err
		}
		if err := s.copy(out, m, l.Offset*dtype.Size(), n); err != nil {
			out.letGo()
			return nil, err
		}
		return out, nil
	}
	return s.mini(repeatOnce(l.Shape), s.leaf(m, l, dtype))
}

// mini runs one operation on stored values at once and returns its result's
// memory.
func (s *Stream) mini(op ir.Operation, in ...*Value) (*Storage, error) {
	e := s.executor()
	defer s.release(e)
	e.own = true
	out := e.append(op, in...)
	e.flags.resize(1)
	e.flags.asked[0] = true
	e.run(context.Background())
	e.seg.reset()
	if out.fail != nil {
		return nil, out.fail.err
	}
	return out.storage, nil
}

// miniEffect runs an effect on memory that has the shape of old.
func (s *Stream) miniEffect(op ir.Operation, m *Storage, old *Value, in ...*Value) error {
	e := s.executor()
	defer s.release(e)
	e.own = true
	own := &Var{rt: s.rt, number: nextVar.Add(1), shape: old.shape, dtype: old.dtype}
	cur := s.leaf(m, codegen.Contiguous(old.shape), old.dtype)
	cur.version = newVersion(own)
	out := e.append(op, append([]*Value{cur}, in...)...)
	out.version = newVersion(own)
	e.seg.nodes[0].v = own
	e.flags.resize(1)
	e.flags.inPlace[0], e.flags.forced[0] = true, true
	e.run(context.Background())
	e.seg.reset()
	if out.fail != nil {
		return out.fail.err
	}
	return nil
}
