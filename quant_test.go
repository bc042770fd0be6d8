package sinter_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// quantCases are schemes and shapes they fit, with odd lengths for the packing.
var quantCases = []struct {
	scheme sinter.QuantScheme
	shape  shape
}{
	{sinter.QuantScheme{Bits: 8}, shape{3, 5}},
	{sinter.QuantScheme{Bits: 8}, shape{}},
	{sinter.QuantScheme{Bits: 8, Affine: true}, shape{7}},
	{sinter.QuantScheme{Bits: 8, Level: sinter.PerChannel, Axis: 0}, shape{3, 5}},
	{sinter.QuantScheme{Bits: 8, Affine: true, Level: sinter.PerChannel, Axis: -1}, shape{2, 3, 5}},
	{sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 0, Block: 2}, shape{4, 3}},
	{sinter.QuantScheme{Bits: 8, Affine: true, Level: sinter.PerBlock, Axis: 1, Block: 4}, shape{2, 8, 3}},
	{sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: -1, Block: 1}, shape{2, 3}},
	{sinter.QuantScheme{Bits: 4}, shape{3, 5}},
	{sinter.QuantScheme{Bits: 4}, shape{1}},
	{sinter.QuantScheme{Bits: 4, Affine: true}, shape{2, 6}},
	{sinter.QuantScheme{Bits: 4, Level: sinter.PerChannel, Axis: 1}, shape{2, 7}},
	{sinter.QuantScheme{Bits: 4, Affine: true, Level: sinter.PerBlock, Axis: 1, Block: 3}, shape{2, 9}},
	{sinter.QuantScheme{Bits: 8, Affine: true}, shape{0, 3}},
	{sinter.QuantScheme{Bits: 4, Level: sinter.PerChannel, Axis: 0}, shape{3, 0}},
	{sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 0, Block: 2}, shape{0, 3}},
}

// quantRef is a quantised tensor in plain Go: the scale and zero point of each
// element, and its integer.
type quantRef struct {
	scale []float32
	zero  []int
	q     []int
}

// group numbers the scale of the element at an index.
func group(s sinter.QuantScheme, dims shape, at []int) int {
	axis := s.Axis
	if axis < 0 {
		axis += len(dims)
	}
	switch s.Level {
	case sinter.PerChannel:
		return at[axis]
	case sinter.PerBlock:
		rest := append(shape{}, dims...)
		where := append([]int{}, at...)
		rest[axis], where[axis] = dims[axis]/s.Block, at[axis]/s.Block
		return offset(rest, where)
	}
	return 0
}

// quantise is the rule of the operations: q = clamp(roundEven(x/scale)+zero),
// with the scales of a dynamic quantisation.
func quantise(s sinter.QuantScheme, dims shape, x []float32) quantRef {
	least, greatest := -128, 127
	if s.Bits == 4 {
		least, greatest = -8, 7
	}
	low, high := map[int]float32{}, map[int]float32{}
	var of []int
	indices(dims, func(at []int) {
		g := group(s, dims, at)
		v := x[len(of)]
		of = append(of, g)
		low[g], high[g] = min(low[g], v), max(high[g], v)
	})
	var r quantRef
	for i, g := range of {
		var scale float32
		zero := 0
		if s.Affine {
			scale = float32(high[g]-low[g]) / float32(greatest-least)
		} else {
			scale = max(-low[g], high[g]) / float32(greatest)
		}
		if scale == 0 {
			scale = 1
		}
		if s.Affine {
			zero = least - int(math.RoundToEven(float64(low[g]/scale)))
			zero = min(max(zero, least), greatest)
		}
		r.scale, r.zero = append(r.scale, scale), append(r.zero, zero)
		v := float32(math.RoundToEven(float64(x[i]/scale))) + float32(zero)
		q := zero
		if v == v {
			q = int(min(max(v, float32(least)), float32(greatest)))
		}
		r.q = append(r.q, q)
	}
	return r
}

// stored is the integers as they lie in memory.
func stored(s sinter.QuantScheme, dims shape, q []int) []byte {
	var out []byte
	if s.Bits == 8 {
		for _, v := range q {
			out = append(out, byte(v))
		}
		return out
	}
	n := dims[len(dims)-1]
	for i := 0; i < len(q); i += max(n, 1) {
		for k := 0; k < n; k += 2 {
			b := byte(q[i+k]) & 15
			if k+1 < n {
				b |= byte(q[i+k+1]) << 4
			}
			out = append(out, b)
		}
	}
	return out
}

func (r quantRef) dequantised() []float32 {
	out := make([]float32, len(r.q))
	for i := range out {
		out[i] = float32(r.q[i]-r.zero[i]) * r.scale[i]
	}
	return out
}

func floats32(d data, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(d.r.NormFloat64() * 3)
	}
	return out
}

func TestQuantize(t *testing.T) {
	devs, d := both(t), newData(31)
	for _, c := range quantCases {
		x := floats32(d, c.shape.NumElements())
		if len(x) > 2 {
			x[1] = 0
		}
		want := quantise(c.scheme, c.shape, x)
		name := fmt.Sprintf("%+v %v", c.scheme, c.shape)
		for _, dev := range devs {
			q := sinter.From(dev, x, c.shape...).Quantize(c.scheme)
			require.NoError(t, q.Err(), name)
			require.Equal(t, append(shape{}, c.shape...), append(shape{}, q.Shape()...), name)
			raw, err := sinter.ReadBytes(ctx, q.Data)
			require.NoError(t, err, name)
			require.Equal(t, append([]byte{}, stored(c.scheme, c.shape, want.q)...), append([]byte{}, raw...), name)
			back := read[float32](t, q.Dequantize(sinter.F32))
			require.Equal(t, append([]float32{}, want.dequantised()...), append([]float32{}, back...), name)
			for i, v := range back {
				require.InDelta(t, x[i], v, float64(want.scale[i])*0.501, name)
			}
			for _, dtype := range []sinter.DType{sinter.F64, sinter.F16, sinter.BF16} {
				y := q.Dequantize(dtype)
				require.Equal(t, get(t, sinter.From(dev, want.dequantised(), c.shape...).Cast(dtype)), get(t, y), name)
			}

			// The same with the scales given, and from the parts.
			same := sinter.From(dev, x, c.shape...).QuantizeWith(c.scheme, q.Scale, q.Zero)
			require.Equal(t, get(t, q.Data), get(t, same.Data), name)
			require.Equal(t, append(shape{}, q.ScaleShape()...), append(shape{}, q.Scale.Shape()...), name)
			again, err := sinter.NewQTensor(c.scheme, q.Data, q.Scale, q.Zero, c.shape...)
			require.NoError(t, err, name)
			require.Equal(t, get(t, q.Dequantize(sinter.F32)), get(t, again.Dequantize(sinter.F32)), name)
		}
	}
}

// Halves and doubles quantise as f32.
func TestQuantizeDTypes(t *testing.T) {
	for _, dev := range both(t) {
		for _, dtype := range dtypesOf(ir.Exp) {
			x := put(dev, newData(32).make(dtype, false, 4, 6))
			s := sinter.QuantScheme{Bits: 8, Affine: true, Level: sinter.PerChannel, Axis: 0}
			a, b := x.Quantize(s), x.Cast(sinter.F32).Quantize(s)
			require.Equal(t, get(t, b.Data), get(t, a.Data), dtype)
			require.Equal(t, get(t, b.Scale), get(t, a.Scale), dtype)
			require.Equal(t, get(t, b.Zero), get(t, a.Zero), dtype)
		}
	}
}

func TestQuantizeSpecial(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, dev := range both(t) {
		one := sinter.From(dev, []float32{0.5}, 1)
		x := sinter.From(dev, []float32{nan, inf, -inf, 0.25, -0.25, 0.75, 1e30, -64.5}, 8)
		q := x.QuantizeWith(sinter.QuantScheme{Bits: 8}, one, nil)
		require.Equal(t, []int8{0, 127, -128, 0, 0, 2, 127, -128}, read[int8](t, q.Data), "halves to even, NaN to the zero point")
		zero := sinter.From(dev, []int8{-3}, 1)
		q = x.QuantizeWith(sinter.QuantScheme{Bits: 8, Affine: true}, one, zero)
		require.Equal(t, []int8{-3, 127, -128, -3, -3, -1, 127, -128}, read[int8](t, q.Data))
		q = sinter.Zeros(dev, sinter.F32, 3).Quantize(sinter.QuantScheme{Bits: 4})
		require.Equal(t, []float32{1}, read[float32](t, q.Scale), "of zeros")
		require.Equal(t, []byte{0, 0}, read[uint8](t, q.Data))
		q = sinter.From(dev, []float32{5, 5}, 2).Quantize(sinter.QuantScheme{Bits: 8, Affine: true})
		require.Equal(t, []float32{5, 5}, read[float32](t, q.Dequantize(sinter.F32)), "0 is always in the range")
	}
}

// product multiplies in plain Go as the rules say: an exact sum of each block,
// the scales in f32, the blocks summed.
func product(q, w quantRef, m, k, n, block int) []float32 {
	out := make([]float32, m*n)
	for i := range m {
		for j := range n {
			var total float32
			for b := 0; b < k; b += block {
				sum := int32(0)
				for p := b; p < b+block; p++ {
					sum += int32(q.q[i*k+p]-q.zero[i*k+p]) * int32(w.q[p*n+j]-w.zero[p*n+j])
				}
				total += float32(float32(float32(sum)*q.scale[i*k+b]) * w.scale[b*n+j])
			}
			out[i*n+j] = total
		}
	}
	return out
}

func TestQuantMatMul(t *testing.T) {
	devs, d := both(t), newData(33)
	tensorwise := func(bits int, affine bool) sinter.QuantScheme { return sinter.QuantScheme{Bits: bits, Affine: affine} }
	along := func(bits int, affine bool, level sinter.QuantLevel, axis, block int) sinter.QuantScheme {
		return sinter.QuantScheme{Bits: bits, Affine: affine, Level: level, Axis: axis, Block: block}
	}
	for _, c := range []struct {
		q, w    sinter.QuantScheme
		m, k, n int
		block   int
	}{
		{tensorwise(8, false), tensorwise(8, false), 3, 37, 5, 37},
		{tensorwise(8, true), tensorwise(8, false), 3, 37, 5, 37},
		{tensorwise(8, false), tensorwise(8, true), 1, 8, 4, 8},
		{tensorwise(8, true), tensorwise(8, true), 3, 9, 5, 9},
		{along(8, true, sinter.PerChannel, 0, 0), along(8, true, sinter.PerChannel, 1, 0), 4, 16, 6, 16},
		{tensorwise(8, true), along(4, true, sinter.PerBlock, 0, 4), 3, 8, 5, 4},
		{along(8, true, sinter.PerBlock, 1, 4), along(8, true, sinter.PerBlock, 0, 4), 3, 8, 5, 4},
		{along(8, false, sinter.PerChannel, 0, 0), along(4, false, sinter.PerBlock, 0, 2), 2, 6, 3, 2},
		{tensorwise(4, false), tensorwise(4, true), 2, 5, 3, 5},
	} {
		x, y := floats32(d, c.m*c.k), floats32(d, c.k*c.n)
		bias := floats32(d, c.n)
		want := product(quantise(c.q, shape{c.m, c.k}, x), quantise(c.w, shape{c.k, c.n}, y), c.m, c.k, c.n, c.block)
		name := fmt.Sprintf("%+v", c)
		for _, dev := range devs {
			q := sinter.From(dev, x, c.m, c.k).Quantize(c.q)
			w := sinter.From(dev, y, c.k, c.n).Quantize(c.w)
			got := read[float32](t, q.MatMul(w))
			require.Equal(t, want, got, name)
			linear := read[float32](t, q.Linear(w, sinter.From(dev, bias, c.n)))
			require.Equal(t, got, read[float32](t, q.Linear(w, nil)), name)
			for i := range got {
				require.Equal(t, got[i]+bias[i%c.n], linear[i], name)
			}
		}
	}
}

// A batch of left operands multiplies as each of them does.
func TestQuantMatMulBatch(t *testing.T) {
	devs, d := both(t), newData(34)
	x, y := floats32(d, 2*3*4*8), floats32(d, 8*5)
	s := sinter.QuantScheme{Bits: 8, Affine: true, Level: sinter.PerBlock, Axis: -1, Block: 4}
	b := sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 0, Block: 4}
	for _, dev := range devs {
		w := sinter.From(dev, y, 8, 5).Quantize(b)
		got := read[float32](t, sinter.From(dev, x, 2, 3, 4, 8).Quantize(s).MatMul(w))
		for i := range 6 {
			one := read[float32](t, sinter.From(dev, x[32*i:32*i+32], 4, 8).Quantize(s).MatMul(w))
			require.Equal(t, one, got[20*i:20*i+20])
		}
		empty := sinter.Zeros(dev, sinter.F32, 2, 0).Quantize(sinter.QuantScheme{Bits: 8}).MatMul(sinter.Zeros(dev, sinter.F32, 0, 3).Quantize(sinter.QuantScheme{Bits: 8}))
		require.Equal(t, make([]float32, 6), read[float32](t, empty), "no products")
	}
}

// The greatest sums that are let through do not wrap.
func TestQuantMatMulDoesNotWrap(t *testing.T) {
	const k = 33025 // 255·255·k < 2³¹
	for _, dev := range both(t) {
		s := sinter.QuantScheme{Bits: 8, Affine: true}
		one := sinter.Ones(dev, sinter.F32, 1, 1)
		whole := func(data, zero int8, dims ...int) *sinter.QTensor {
			q, err := sinter.NewQTensor(s, sinter.FullOf(dev, data, dims...), one, sinter.FullOf(dev, zero, 1, 1), dims...)
			require.NoError(t, err)
			return q
		}
		got := read[float32](t, whole(127, -128, 1, k).MatMul(whole(127, -128, k, 1)))
		require.Equal(t, []float32{255 * 255 * k}, got)
		got = read[float32](t, whole(127, -128, 1, k).MatMul(whole(-128, 127, k, 1)))
		require.Equal(t, []float32{-255 * 255 * k}, got)
		isShape(t, whole(127, -128, 1, k+1).MatMul(whole(127, -128, k+1, 1)).Err(), "MatMul")
	}
}

// Dequantising is read by what uses it: maps, and products. Scales of blocks and
// pairs in a byte take one small launch more, for the places they are read from.
func TestDequantizeFuses(t *testing.T) {
	dev := open(t)
	count := func(f func() *tensor) int {
		t.Helper()
		read[float32](t, f())
		before := dev.Stats()
		read[float32](t, f())
		return int(dev.Stats().Sub(before).Device.Launches)
	}
	for _, c := range []struct {
		scheme   sinter.QuantScheme
		launches int
	}{
		{sinter.QuantScheme{Bits: 8}, 1},
		{sinter.QuantScheme{Bits: 8, Affine: true}, 1},
		{sinter.QuantScheme{Bits: 8, Affine: true, Level: sinter.PerChannel, Axis: 1}, 1},
		{sinter.QuantScheme{Bits: 8, Affine: true, Level: sinter.PerBlock, Axis: 0, Block: 8}, 2},
		{sinter.QuantScheme{Bits: 4}, 2},
		{sinter.QuantScheme{Bits: 4, Affine: true, Level: sinter.PerBlock, Axis: 0, Block: 8}, 2},
	} {
		w := sinter.From(dev, floats32(newData(35), 32*24), 32, 24).Quantize(c.scheme)
		for _, p := range []*tensor{w.Data, w.Scale, w.Zero} {
			if p != nil {
				_, err := sinter.ReadBytes(ctx, p)
				require.NoError(t, err)
			}
		}
		x := sinter.From(dev, floats32(newData(36), 4*32), 4, 32)
		require.LessOrEqual(t, count(func() *tensor { return w.Dequantize(sinter.F32).MulScalar(2).AddScalar(1) }), c.launches, "a map, %+v", c.scheme)
		require.LessOrEqual(t, count(func() *tensor { return x.MatMul(w.Dequantize(sinter.F32)) }), c.launches, "a product, %+v", c.scheme)
	}
}

func TestQuantErrors(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.F32, 4, 6)
	plain := sinter.QuantScheme{Bits: 8}
	q := x.Quantize(plain)
	for _, c := range []struct {
		check check
		op    string
		err   func() error
	}{
		{isArgument, "Quantize", x.Quantize(sinter.QuantScheme{Bits: 5}).Err},
		{isArgument, "Quantize", x.Quantize(sinter.QuantScheme{Bits: 8, Level: 9}).Err},
		{isShape, "Quantize", x.Quantize(sinter.QuantScheme{Bits: 8, Level: sinter.PerChannel, Axis: 2}).Err},
		{isShape, "Quantize", x.Quantize(sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 1, Block: 4}).Err},
		{isShape, "Quantize", x.Quantize(sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 1}).Err},
		{isShape, "Quantize", sinter.Ones(dev, sinter.F32).Quantize(sinter.QuantScheme{Bits: 4}).Err},
		{isDType, "Quantize", x.Cast(sinter.I8).Quantize(plain).Err},
		{isArgument, "Quantize", x.QuantizeWith(plain, nil, nil).Err},
		{isShape, "Quantize", x.QuantizeWith(plain, x, nil).Err},
		{isArgument, "Quantize", x.QuantizeWith(plain, q.Scale, q.Data).Err},
		{isDType, "Dequantize", q.Dequantize(sinter.I8).Err},
		{isArgument, "Dequantize", (*sinter.QTensor)(nil).Dequantize(sinter.F32).Err},
		{isShape, "MatMul", q.MatMul(q).Err},
		{isArgument, "MatMul", q.MatMul(nil).Err},
		{isArgument, "MatMul", (*sinter.QTensor)(nil).MatMul(q).Err},
		{isArgument, "MatMul", q.MatMul(x.T().Quantize(sinter.QuantScheme{Bits: 8, Level: sinter.PerChannel, Axis: 0})).Err},
		{isArgument, "MatMul", x.Quantize(sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 1, Block: 3}).MatMul(
			x.T().Quantize(sinter.QuantScheme{Bits: 8, Level: sinter.PerBlock, Axis: 0, Block: 2})).Err},
		{isShape, "Linear", q.Linear(x.T().Quantize(plain), x).Err},
	} {
		c.check(t, c.err(), c.op)
	}
	for dev.Flush(ctx) != nil {
	}
	for _, c := range []struct {
		data, scale, zero *tensor
		want              any
	}{
		{nil, q.Scale, nil, new(*sinter.ArgumentError)},
		{x, q.Scale, nil, new(*sinter.DTypeError)},
		{q.Data.T(), q.Scale, nil, new(*sinter.ShapeError)},
		{q.Data, q.Scale, q.Data, new(*sinter.ArgumentError)},
		{sinter.Ones(dev, sinter.I8, -1), q.Scale, nil, new(*sinter.ShapeError)},
		{q.Data, sinter.Ones(open(t), sinter.F32, 1, 1), nil, new(*sinter.ArgumentError)},
	} {
		_, err := sinter.NewQTensor(plain, c.data, c.scale, c.zero, 4, 6)
		require.ErrorAs(t, err, c.want)
	}
}
