package optimize

import (
	"fmt"
	"math"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// eval computes the operations random segments are made of, on dense values.
func eval(op *ir.Operation, ins [][]float64) []float64 {
	out := make([]float64, op.Outputs[0].Shape.NumElements())
	shape := op.Outputs[0].Shape
	view := func(l codegen.Layout) {
		for i := range out {
			out[i] = ins[0][offset(l, i)]
		}
	}
	switch op.Kind {
	case ir.Neg:
		for i := range out {
			out[i] = -ins[0][i]
		}
	case ir.Add, ir.Mul:
		y := func(i int) float64 { return float64(op.Scalars[0].Float32()) }
		if len(ins) > 1 {
			l := codegen.Contiguous(op.Inputs[1].Shape).Expand(shape)
			y = func(i int) float64 { return ins[1][offset(l, i)] }
		}
		x := codegen.Contiguous(op.Inputs[0].Shape).Expand(shape)
		for i := range out {
			if op.Kind == ir.Add {
				out[i] = ins[0][offset(x, i)] + y(i)
			} else {
				out[i] = math.Mod(ins[0][offset(x, i)]*y(i), 1021)
			}
		}
	case ir.Sum:
		n := op.Inputs[0].Shape[len(shape)-1]
		for i, v := range ins[0] {
			out[i/n] += v
		}
	case ir.MatMul:
		n := shape[1]
		k := op.Inputs[0].Shape[1]
		for i := range out {
			for x := range k {
				out[i] = math.Mod(out[i]+ins[0][i/n*k+x]*ins[1][x*n+i%n], 1021)
			}
		}
	case ir.Uniform:
		for i := range out {
			out[i] = float64(op.Scalars[1].Int64()) + float64(i)
		}
	case ir.Full:
		for i := range out {
			out[i] = float64(op.Scalars[0].Float32())
		}
	case ir.Reshape, ir.Cast:
		copy(out, ins[0])
	case ir.Permute:
		view(codegen.Contiguous(op.Inputs[0].Shape).Permute(op.Attrs.Axes))
	case ir.Expand:
		view(codegen.Contiguous(op.Inputs[0].Shape).Expand(shape))
	case ir.Slice:
		view(codegen.Contiguous(op.Inputs[0].Shape).Slice(op.Ranges))
	case ir.Set:
		copy(out, ins[1])
	case ir.SetSlice:
		copy(out, ins[0])
		l := codegen.Contiguous(shape).Slice(op.Ranges)
		for i, v := range ins[1] {
			out[offset(l, i)] = v
		}
	default:
		panic(op.Kind.String())
	}
	return out
}

// offset returns where the i-th element in row-major order lies.
func offset(l codegen.Layout, i int) int {
	at := l.Offset
	for a := len(l.Shape) - 1; a >= 0; a-- {
		at += i % l.Shape[a] * l.Strides[a]
		i /= l.Shape[a]
	}
	return at
}

// eager runs a segment operation by operation, with values for the inputs that
// depend on their buffer, so that aliases agree.
func eager(seg *Segment) [][]float64 {
	out := make([][]float64, len(seg.Tensors))
	for t := range seg.Tensors {
		if x := &seg.Tensors[t]; x.Input {
			out[t] = make([]float64, x.Shape.NumElements())
			for i := range out[t] {
				out[t][i] = float64((x.Buffer*31+i*7)%101 - 50)
			}
		}
	}
	for i := range seg.Ops {
		op := &seg.Ops[i]
		out[op.Outputs[0].ID] = eval(op, gather(op, func(t ir.TensorID) []float64 { return out[t] }))
	}
	return out
}

func gather(op *ir.Operation, get func(ir.TensorID) []float64) [][]float64 {
	ins := make([][]float64, len(op.Inputs))
	for i, in := range op.Inputs {
		ins[i] = get(in.ID)
	}
	return ins
}

// memory is a storage: its content now, and before each time it was written
// over in place.
type memory struct {
	data []float64
	old  [][]float64
}

// place is where a tensor is found: in a storage, as of a version, behind the
// views of aliases.
type place struct {
	m       *memory
	version int
	views   []*ir.Operation
}

func (p place) read() []float64 {
	v := p.m.data
	if p.version < len(p.m.old) {
		v = p.m.old[p.version] // a rebuilt version
	}
	for _, op := range p.views {
		v = eval(op, [][]float64{v})
	}
	return v
}

// machine runs plans made with the fakes and keeps track of what lies where.
type machine struct {
	seg    *Segment
	p      *Plan
	places map[ir.TensorID]place
}

// runModel runs a plan and compares every tensor that exists afterwards, or
// can be recomputed by its recipe, with eager evaluation. Storage that may be
// taken is poisoned.
func runModel(p *Plan, seg *Segment) error {
	want := eager(seg)
	m := &machine{seg: seg, p: p, places: map[ir.TensorID]place{}}
	buffers := map[int]*memory{}
	for t := range seg.Tensors {
		if x := &seg.Tensors[t]; x.Input {
			if buffers[x.Buffer] == nil {
				buffers[x.Buffer] = &memory{data: slices.Clone(want[t])}
			}
			m.places[ir.TensorID(t)] = place{m: buffers[x.Buffer]}
		}
	}
	for i := range p.Blocks {
		if err := m.block(&p.Blocks[i]); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	for t, f := range p.Fates {
		if seg.Tensors[t].Input {
			continue
		}
		var got []float64
		switch f {
		case Stored:
			at, ok := m.places[ir.TensorID(t)]
			if !ok {
				return fmt.Errorf("t%d is not there", t)
			}
			got = at.read()
		case Virtual:
			env := map[ir.TensorID][]float64{}
			for _, i := range p.Recipes[ir.TensorID(t)] {
				op := &seg.Ops[i]
				env[op.Outputs[0].ID] = eval(op, gather(op, func(x ir.TensorID) []float64 {
					if v, ok := env[x]; ok {
						return v
					}
					return m.places[x].read()
				}))
			}
			got = env[ir.TensorID(t)]
		default:
			continue
		}
		if !slices.Equal(got, want[t]) {
			return fmt.Errorf("%s t%d is %v, want %v", f, t, got, want[t])
		}
	}
	return nil
}

// block runs one block: it reads everything, then writes.
func (m *machine) block(b *Block) error {
	stored, known := ran.Load(b.Optimization)
	if !known { // a merged tensor
		a := b.Aliases[0]
		m.places[a.Tensor] = m.places[a.Of]
		return nil
	}
	env := map[ir.TensorID][]float64{}
	ops := stored.([]ir.Operation)
	var missing error
	for i := range ops {
		op := &ops[i]
		env[op.Outputs[0].ID] = eval(op, gather(op, func(t ir.TensorID) []float64 {
			if v, ok := env[t]; ok {
				return v
			}
			at, ok := m.places[t]
			if !ok {
				missing = fmt.Errorf("%s reads t%d, which is not in memory", op.Kind, t)
				return make([]float64, m.seg.Tensors[t].Shape.NumElements())
			}
			return at.read()
		}))
	}
	if missing != nil {
		return missing
	}
	for i, op := range b.Ops {
		t := ops[i].Outputs[0].ID
		switch {
		case m.seg.inPlace(op):
			s := m.places[ops[i].Inputs[0].ID].m
			s.old = append(s.old, s.data)
			s.data = env[t]
			m.places[t] = place{m: s, version: len(s.old)}
		case slices.Contains(b.Stored, t):
			m.places[t] = place{m: &memory{data: env[t]}}
		case slices.ContainsFunc(b.Aliases, func(a fuser.Alias) bool { return a.Tensor == t }):
			base := m.places[ops[i].Inputs[0].ID]
			base.views = append(slices.Clip(base.views), &ops[i])
			m.places[t] = base
		}
	}
	for _, x := range b.InPlace {
		if op := slices.IndexFunc(m.seg.Ops, func(o ir.Operation) bool { return o.Outputs[0].ID == x.Out }); m.seg.inPlace(op) {
			continue
		}
		s := m.places[x.In].m
		s.data = slices.Repeat([]float64{math.NaN()}, len(s.data))
		for i := range s.old {
			s.old[i] = s.data
		}
	}
	return nil
}
