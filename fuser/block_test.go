package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

func TestLifeCycle(t *testing.T) {
	p := newProgram(t)
	p.op(ir.Add, p.op(ir.Neg, p.op(ir.Exp, p.f32(3))), p.f32(3))
	f := p.fuser("elementwise")
	require.Equal(t, Properties{}, f.Properties())
	require.True(t, f.Fuse(0).Accepted)
	one := f.Properties()
	require.True(t, one.Ready)
	require.Zero(t, one.Score, "one operation saves nothing")
	other := f.Clone()
	require.True(t, other.Fuse(1).Accepted)
	require.True(t, f.Fuse(1).Accepted)
	require.True(t, other.Fuse(2).Accepted)
	require.Equal(t, 2, f.Len())
	require.Equal(t, 3, other.Len())
	// Two launches less; the two values between are neither written nor read.
	require.Equal(t, 2*testProfile.LaunchCost+4*12/testProfile.Bandwidth, other.Properties().Score)
	require.Equal(t, Open, other.Status())
	f.Reset()
	require.Zero(t, f.Len())
	require.Equal(t, Properties{}, f.Properties())
	require.True(t, f.Fuse(0).Accepted)
	require.Equal(t, one, f.Properties())
}

// A value that something outside reads is stored, one that nothing can ask for
// is not.
func TestStoredOutputs(t *testing.T) {
	p := newProgram(t)
	x := p.op(ir.Exp, p.f32(2, 3))
	y := p.op(ir.Neg, x)
	v := p.op(ir.Slice, y, ranges(ir.Range{Start: 1, Len: 1, Step: 1}, ir.Range{Len: 3, Step: 1}))
	p.store(x, v)
	p.g.Tensors[p.op(ir.Abs, y).ID].Dead = true
	o := p.fuse("elementwise")
	require.Equal(t, []ir.TensorID{x.ID, y.ID, 4}, o.Stored, "y is stored for the slice of it")
	require.Len(t, o.Aliases, 1)
	require.Equal(t, v.ID, o.Aliases[0].Tensor)
	require.Equal(t, y.ID, o.Aliases[0].Of)
}

// An output may take the storage of an input that is read only where the
// output is written.
func TestInPlaceStorage(t *testing.T) {
	p := newProgram(t)
	a := p.f32(3, 3)
	y := p.op(ir.Mul, p.op(ir.Add, a, f(1)), f(2))
	o := p.fuse("elementwise")
	require.Equal(t, []InPlace{{Out: y.ID, In: a.ID}}, o.InPlace)

	// y = a + aᵀ must not be written over a.
	p = newProgram(t)
	a = p.f32(3, 3)
	p.op(ir.Add, a, p.op(ir.Permute, a, axes(1, 0)))
	require.Empty(t, p.fuse("elementwise").InPlace)

	// Nor may a contraction be written over its operand, but over a residual.
	p = newProgram(t)
	a = p.f32(3, 3)
	r := p.f32(3, 3)
	y = p.op(ir.Add, p.op(ir.MatMul, a, p.f32(3, 3)), r)
	require.Equal(t, []InPlace{{Out: y.ID, In: r.ID}}, p.fuse("matmul").InPlace)

	// Nor over what has elements of another size.
	p = newProgram(t)
	p.op(ir.Cast, p.f32(3), to(ir.BF16))
	require.Empty(t, p.fuse("elementwise").InPlace)
}

// An in-place Set that reads the old version where it writes the new one is
// fused; alone, an effect that reads its own memory asks for a copy.
func TestEffects(t *testing.T) {
	p := newProgram(t)
	v := p.variable(random(ir.F32, ir.Shape{3, 4}))
	p.op(ir.Set, v, p.op(ir.Mul, p.op(ir.Add, v, p.f32(4)), f(0.5)))
	p.g.InPlace[2] = true
	o := p.fuse("elementwise")
	require.Empty(t, o.Aside)

	p = newProgram(t)
	v = p.variable(oracle.Floats(ir.F32, ir.Shape{6}, 0, 1, 2, 3, 4, 5))
	x := p.op(ir.Slice, v, ranges(ir.Range{Start: 0, Len: 5, Step: 1}))
	w := p.op(ir.SetSlice, v, x, ranges(ir.Range{Start: 1, Len: 5, Step: 1}))
	m := p.alone()
	sameBits(t, oracle.Floats(ir.F32, ir.Shape{6}, 0, 0, 1, 2, 3, 4), m.read(w.ID), "x[1:] = x[:-1]")
	o, err := Single(&p.g, 1)
	require.NoError(t, err)
	require.Equal(t, []ir.TensorID{x.ID}, o.Aside)

	// A slice of a cache is written from a value computed in the block.
	p = newProgram(t)
	v = p.variable(random(ir.F32, ir.Shape{2, 5, 3}))
	k := p.op(ir.Permute, p.op(ir.Mul, p.f32(2, 3, 1), f(2)), axes(0, 2, 1))
	p.op(ir.SetSlice, v, k, ranges(ir.Range{Len: 2, Step: 1}, ir.Range{Start: 4, Len: 1, Step: 1}, ir.Range{Len: 3, Step: 1}))
	p.fuse("elementwise")
}

// What a block moves, and the highest length it names, are part of it.
func TestAccount(t *testing.T) {
	p := newProgram(t)
	p.op(ir.Add, p.op(ir.Cast, p.bf16(2, 3), to(ir.F32)), p.f32(3))
	p.f32(99) // a length the block does not use
	o := p.fuse("elementwise")
	require.Equal(t, int64(2*6+4*3), o.Read)
	require.Equal(t, int64(4*6), o.Written)
	last, _ := p.g.Dim(3)
	require.Equal(t, last, o.MaxDim)
	require.Equal(t, []int{0, 1}, o.Ops)
}

// A block is offered and finished at other lengths than those a launch has:
// the call names lengths, not values.
func TestCallServesOtherLengths(t *testing.T) {
	record := func(b, s, d int) *program {
		p := newProgram(t)
		x := p.op(ir.Add, p.f32(b, s, 2*d), p.f32(2*d))
		y := p.op(ir.Permute, p.op(ir.Reshape, x, shape(b, s, 2, d)), axes(0, 2, 1, 3))
		p.op(ir.Cat, y, p.f32(b, 2, 1, d), axes(2))
		return p
	}
	small, large := record(3, 4, 5), record(6, 7, 8)
	require.Equal(t, len(small.g.Dims), len(large.g.Dims))
	for i := range small.g.Ops {
		o, err := Single(&small.g, i)
		require.NoError(t, err)
		same, err := Single(&large.g, i)
		require.NoError(t, err)
		require.Equal(t, len(o.Calls), len(same.Calls))
		for c := range o.Calls {
			require.Equal(t, o.Calls[c].String(), same.Calls[c].String())
		}
	}
	m := newMachine(large)
	want := large.stepwise()
	for i := range small.g.Ops {
		o, err := Single(&small.g, i)
		require.NoError(t, err)
		require.NoError(t, m.run(o))
		id := large.g.output(i)
		sameBits(t, want[id], m.read(id), "operation %d", i)
	}
}

// Strided inputs are read where they lie.
func TestStridedInputs(t *testing.T) {
	p := newProgram(t)
	x, w := p.f32(4, 5), p.f32(5, 4)
	p.strideInput(x, 8, 1)  // rows apart
	p.strideInput(w, 1, -5) // transposed and flipped
	y := p.op(ir.Mul, p.op(ir.Add, x, f(1)), f(2))
	p.op(ir.Add, y, p.op(ir.Permute, w, axes(1, 0)))
	p.fuse("elementwise")

	p = newProgram(t)
	x, w = p.f32(4, 5), p.f32(5, 4)
	p.strideInput(x, 8, 1)
	p.strideInput(w, 1, -5)
	p.op(ir.Relu, p.op(ir.MatMul, x, w))
	p.fuse("matmul")

	p = newProgram(t)
	x = p.f32(4, 5)
	p.strideInput(x, -1, 4)
	p.op(ir.Softmax, p.op(ir.Neg, x), axes(0))
	o := p.fuse("reduce-broadcast")
	require.Equal(t, codegen.Rows, o.Calls[0].Kernel.Template)
}
