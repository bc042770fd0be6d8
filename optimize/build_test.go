package optimize

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// builder writes segments by hand.
type builder struct{ seg Segment }

func (b *builder) tensor(t Tensor) ir.TensorID {
	b.seg.Tensors = append(b.seg.Tensors, t)
	return ir.TensorID(len(b.seg.Tensors) - 1)
}

func (b *builder) in(shape ...int) ir.TensorID { return b.typed(ir.F32, shape...) }

func (b *builder) typed(d ir.DType, shape ...int) ir.TensorID {
	return b.tensor(Tensor{Shape: shape, DType: d, Input: true, Layout: codegen.Contiguous(shape), Buffer: len(b.seg.Tensors) + 1})
}

// variable adds a version of a Var.
func (b *builder) variable(shape ...int) ir.TensorID {
	t := b.in(shape...)
	b.seg.Tensors[t].Var = int(t) + 1
	return t
}

func (b *builder) ref(t ir.TensorID) ir.TensorRef {
	return ir.TensorRef{ID: t, Shape: b.seg.Tensors[t].Shape, DType: b.seg.Tensors[t].DType}
}

// add appends an operation whose attributes are set and returns its output.
func (b *builder) add(op ir.Operation, ins ...ir.TensorID) ir.TensorID {
	for _, t := range ins {
		op.Inputs = append(op.Inputs, b.ref(t))
	}
	shape, dtype, err := ir.Lookup(op.Kind).Infer(&op)
	if err != nil {
		panic(err)
	}
	out := b.tensor(Tensor{Shape: shape, DType: dtype})
	op.Outputs = []ir.TensorRef{b.ref(out)}
	b.seg.Ops = append(b.seg.Ops, op)
	b.seg.InPlace = append(b.seg.InPlace, false)
	return out
}

func (b *builder) op(k ir.Kind, ins ...ir.TensorID) ir.TensorID {
	return b.add(ir.Operation{Kind: k}, ins...)
}

func (b *builder) scalar(k ir.Kind, v float32, ins ...ir.TensorID) ir.TensorID {
	return b.add(ir.Operation{Kind: k, Scalars: []ir.Scalar{ir.F32Scalar(v)}}, ins...)
}

func (b *builder) full(v float32, shape ...int) ir.TensorID {
	return b.add(ir.Operation{Kind: ir.Full, Attrs: ir.Attrs{Shape: shape, DType: ir.F32}, Scalars: []ir.Scalar{ir.F32Scalar(v)}})
}

func (b *builder) axes(k ir.Kind, x ir.TensorID, axes ...int) ir.TensorID {
	return b.add(ir.Operation{Kind: k, Attrs: ir.Attrs{Axes: axes}}, x)
}

func (b *builder) shape(k ir.Kind, x ir.TensorID, shape ...int) ir.TensorID {
	return b.add(ir.Operation{Kind: k, Attrs: ir.Attrs{Shape: shape}}, x)
}

func (b *builder) cast(x ir.TensorID, d ir.DType) ir.TensorID {
	return b.add(ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: d}}, x)
}

// rows takes rows lo..hi of axis 0.
func (b *builder) rows(x ir.TensorID, lo, hi int) ir.TensorID {
	return b.add(ir.Operation{Kind: ir.Slice, Ranges: b.range0(x, lo, hi)}, x)
}

func (b *builder) range0(x ir.TensorID, lo, hi int) []ir.Range {
	var r []ir.Range
	for i, n := range b.seg.Tensors[x].Shape {
		if i == 0 {
			r = append(r, ir.Range{Start: lo, Len: hi - lo, Step: 1})
		} else {
			r = append(r, ir.Range{Len: n, Step: 1})
		}
	}
	return r
}

// set writes a Var; inPlace says whether over the old version.
func (b *builder) set(old, v ir.TensorID, inPlace bool) ir.TensorID {
	t := b.op(ir.Set, old, v)
	b.seg.InPlace[len(b.seg.Ops)-1] = inPlace
	return t
}

func (b *builder) setRows(old, v ir.TensorID, lo, hi int) ir.TensorID {
	t := b.add(ir.Operation{Kind: ir.SetSlice, Ranges: b.range0(old, lo, hi)}, old, v)
	b.seg.InPlace[len(b.seg.Ops)-1] = true
	return t
}

func (b *builder) asked(ts ...ir.TensorID) {
	for _, t := range ts {
		b.seg.Tensors[t].Asked = true
	}
}

func (b *builder) dead(ts ...ir.TensorID) {
	for _, t := range ts {
		b.seg.Tensors[t].Dead = true
	}
}

// done fills the table of lengths and returns the segment.
func (b *builder) done() *Segment {
	b.seg.Dims = []int{1}
	for i := range b.seg.Tensors {
		for _, n := range b.seg.Tensors[i].Shape {
			if !slices.Contains(b.seg.Dims, n) {
				b.seg.Dims = append(b.seg.Dims, n)
			}
		}
	}
	return &b.seg
}
