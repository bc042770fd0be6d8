package traps

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

const minInt = math.MinInt64

// padded repeats values to n, so that the vector body and the tail of a kernel
// both see them.
func padded[T any](n int, v ...T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v[i%len(v)]
	}
	return out
}

func floats32(v ...float32) []float32 { return v }

// Wrong numbers from compilers: rewrites that do not hold for every value, and
// arithmetic in another width or order than was asked for.
var numberTraps = []trap{
	{
		name: "softmax of a scaled row",
		why:  "x·c was computed twice, once contracted into x·c − max, which left the rounding residual of the maximum",
		in:   []input{of(dims(3), float32(3285714176), 1e9, -1e9), of(dims(3), float32(7969180160), 1e9, -1e9)},
		f: func(in tensors) tensors {
			a, b := in[0].MulScalar(0.7), in[1].MulScalar(0.3)
			composed := a.Sub(a.Max()).Exp()
			return tensors{a.Softmax(0), b.Softmax(0), composed.Div(composed.Sum())}
		},
		want: []any{floats32(1, 0, 0), floats32(1, 0, 0), floats32(1, 0, 0)},
	},
	{
		name: "log of exp, root of square",
		why:  "folded to x and |x|, which skips overflow and underflow",
		in:   []input{of(dims(3), float32(89), 1e20, 1e-30)},
		f: func(in tensors) tensors {
			return tensors{in[0].Exp().Log().Narrow(0, 0, 1), in[0].Square().Sqrt().Narrow(0, 1, 2), in[0].Mul(in[0]).Sqrt().Narrow(0, 1, 2)}
		},
		want: []any{floats32(inf), floats32(inf, 0), floats32(inf, 0)},
	},
	{
		name: "exclusive or of equal comparisons",
		why:  "the cast of a bool that is always false was not 0",
		in:   []input{of(dims(5), float32(0), 1, 2, 3, 4)},
		f: func(in tensors) tensors {
			e := in[0].NotEqualScalar(0).Xor(in[0].NotEqualScalar(0)).Cast(sinter.F32)
			return tensors{e, e.Div(e.AddScalar(1)), e.Atan2(e)}
		},
		want: []any{make([]float32, 5), make([]float32, 5), make([]float32, 5)},
	},
	{
		name: "adding and taking away zero",
		why:  "x+0 was folded to x, which keeps the sign of −0",
		in:   []input{of(dims(3), float32(-0.5), zero, 1)},
		f: func(in tensors) tensors {
			x := in[0]
			return tensors{
				x.Ceil().AddScalar(0).Recip(), x.Ceil().AddScalar(math.Copysign(0, -1)).Recip(),
				x.Ceil().SubScalar(0).Recip(), x.Ceil().SubScalar(math.Copysign(0, -1)).Recip(),
			}
		},
		want: []any{floats32(inf, inf, 1), floats32(-inf, -inf, 1), floats32(-inf, -inf, 1), floats32(inf, inf, 1)},
	},
	{
		name: "NaN and signed zeros in extrema",
		why:  "minimum and maximum dropped NaN or the sign of zero in one of the two operand orders, or in the tail",
		in: []input{of(dims(37), padded(37, 1, nan, nan, zero, 0, -1)...), of(dims(37), padded(37, nan, 1, nan, 0, zero, 9)...),
			of(dims(37), padded(37, nan, -1, 9, zero)...)},
		f: func(in tensors) tensors {
			a, b := in[0], in[1]
			return tensors{a.Maximum(b), b.Maximum(a), a.Minimum(b), b.Minimum(a), in[2].Clamp(0, 6), in[2].Relu()}
		},
		want: []any{
			padded(37, nan, nan, nan, 0, 0, 9), padded(37, nan, nan, nan, 0, 0, 9),
			padded(37, nan, nan, nan, zero, zero, -1), padded(37, nan, nan, nan, zero, zero, -1),
			padded(37, nan, 0, 6, 0), padded(37, nan, 0, 9, 0),
		},
	},
	{
		name: "positions times a large constant",
		why:  "the product was computed in 32 bits",
		in:   []input{of(dims(1), int64(1500000000))},
		f: func(in tensors) tensors {
			return tensors{sinter.Arange(in[0].Stream(), sinter.I64, 0, 1, 9).Mul(in[0])}
		},
		want: []any{[]int64{0, 15e8, 30e8, 45e8, 60e8, 75e8, 90e8, 105e8, 120e8}},
	},
	{
		name: "the least integer divided by −1",
		why:  "the processor traps; x/0 too",
		in:   []input{of(dims(37), padded[int64](37, minInt, 7, minInt, -7)...), of(dims(37), padded[int64](37, -1, 0, 1, 2)...)},
		f: func(in tensors) tensors {
			return tensors{in[0].Div(in[1]), in[0].DivScalar(-1), in[0].Neg(), in[0].Abs()}
		},
		want: []any{
			padded[int64](37, minInt, 0, minInt, -3), padded[int64](37, minInt, -7, minInt, 7),
			padded[int64](37, minInt, -7, minInt, 7), padded[int64](37, minInt, 7, minInt, 7),
		},
	},
	{
		name: "position of the maximum of a transposed producer",
		why:  "positions counted in the order of memory",
		in:   []input{gen(func(i int) float32 { return float32(math.Sin(0.7 * float64(i))) }, 4, 6), gen(wavy, 8, 8), gen(func(i int) float32 { return wavy(99 - i) }, 8, 8)},
		f: func(in tensors) tensors {
			sum := in[1].T().Add(in[2])
			return tensors{in[0].ArgMax(), in[0].T().ArgMax(), sum.ArgMax(1), sum.Max(1)}
		},
		want: []any{[]int64{20}, []int64{11}},
		check: func(t *testing.T, out []result) {
			for row, at := range out[2].ints() {
				best := 0
				for c := range 8 {
					if wavy(8*c+row)+wavy(99-8*row-c) > wavy(8*best+row)+wavy(99-8*row-best) {
						best = c
					}
				}
				require.Equal(t, int64(best), at)
				require.Equal(t, wavy(8*best+row)+wavy(99-8*row-best), out[3].floats()[row])
			}
		},
	},
	{
		name: "variance far from zero",
		why:  "mean of squares less square of mean cancels; squares over- and underflow",
		in: []input{of(dims(4), float32(10001), 10002, 10003, 10004), of(dims(3), float32(1e8), 1e8+8, 1e8+16),
			of(dims(4), float32(1e30), -1e30, 2e30, -2e30), of(dims(4), float32(1e-30), 2e-30, 3e-30, 4e-30)},
		f: func(in tensors) tensors {
			m := in[0].Mean()
			d := in[0].Sub(m)
			return tensors{in[0].Variance(0), in[1].Variance(0), in[2].Variance(0).Sqrt(), in[3].Variance(0).Sqrt(), d.Square().Mean()}
		},
		want: []any{floats32(1.25), floats32(128. / 3), floats32(inf), floats32(0), floats32(1.25)},
	},
	{
		name: "an epilogue that magnifies the last bit",
		why:  "the order of the sums changed when the epilogue was fused",
		in:   []input{gen(wavy, 7, 131)},
		f: func(in tensors) tensors {
			x := in[0]
			c := x.Sub(x.Mean(1))
			composed := c.Div(c.Square().Mean(1).AddScalar(1e-5).Sqrt())
			return tensors{x.LayerNorm(nil, nil, 1e-5).Abs().AddScalar(1e-6).Recip(), composed.Abs().AddScalar(1e-6).Recip()}
		},
	},
	{
		name: "bf16 is rounded before it is compared",
		why:  "the fused comparison saw the sum before it was rounded",
		in:   []input{gen(wavy, 1<<16), gen(func(i int) float32 { return wavy(i*7+3) * 1000 }, 1<<16)},
		f: func(in tensors) tensors {
			a, b := in[0].Cast(sinter.BF16), in[1].Cast(sinter.BF16)
			sum := a.Add(b)
			stored := a.Cast(sinter.F32).Add(b.Cast(sinter.F32)).Cast(sinter.BF16)
			return tensors{a.Add(b).Equal(sum).All(), a.Add(b).Equal(stored).All()}
		},
		want: []any{[]bool{true}, []bool{true}},
	},
	{
		name: "bf16 sums of ones",
		why:  "a bf16 accumulator stalls at 256",
		in:   []input{gen(func(int) float32 { return 1 }, 5000)},
		f: func(in tensors) tensors {
			x := in[0].Cast(sinter.BF16)
			return tensors{x.Narrow(0, 0, 400).Sum().Cast(sinter.F32), x.CumSum(0).Narrow(0, -1, 1).Cast(sinter.F32)}
		},
		want: []any{floats32(400), floats32(4992)}, // 5000 rounds to 4992
	},
	{
		name: "constants folded and computed",
		why:  "the constant was folded by other arithmetic than the kernel's",
		in:   []input{of(dims(1), float32(0)), of(dims(2), float32(0.1), 0.2)},
		f: func(in tensors) tensors {
			s := in[0].Stream()
			chain := func(x *tensor) *tensor { return x.Rsqrt().Mul(x) }
			exp := func(x *tensor) *tensor { return x.Exp().MulScalar(0.3).Add(x) }
			return tensors{chain(in[0]), chain(sinter.Zeros(s, sinter.F32, 1)), exp(in[1]).Narrow(0, 0, 1).Equal(exp(sinter.Full(s, sinter.F32, 0.1, 1)))}
		},
		want: []any{floats32(nan), floats32(nan), []bool{true}},
	},
	{
		name: "a matrix times vectors, row after row",
		why:  "rows past 32,768 were wrong after the product and the sum were made one",
		in:   []input{gen(func(i int) float32 { return float32(i/3) * float32(max(0, 1-i%3)) }, 32769, 3), of(dims(3, 3), float32(1), 0, 0, 0, 1, 0, 0, 0, 1)},
		f:    func(in tensors) tensors { return tensors{in[0].MatMul(in[1]).Square().Sum(1)} },
		check: func(t *testing.T, out []result) {
			y := out[0].floats()
			require.Equal(t, float32(1<<30), y[32768])
			for i, v := range y {
				require.Equal(t, float32(i)*float32(i), v)
			}
		},
	},
	{
		name: "floor of a quotient, twice",
		why:  "folded as if it truncated",
		in:   []input{of(dims(3), float32(2), 2, -3)},
		f: func(in tensors) tensors {
			at := func(i int) *tensor { return in[0].Narrow(0, i, 1) }
			return tensors{at(0).Div(at(1)).Floor().Div(at(2)).Floor(), at(0).FloorDiv(at(1)).FloorDiv(at(2))}
		},
		want: []any{floats32(-1), floats32(-1)},
	},
	{
		name: "floats out of an integer's range",
		why:  "undefined in C: the vector body and the tail disagreed",
		in:   []input{of(dims(41), padded(41, 3e9, -3e9, nan, 2.9, -2.9, 1e30, -inf, inf)...)},
		f:    func(in tensors) tensors { return tensors{in[0].Cast(sinter.I64), in[0].Cast(sinter.Bool)} },
		want: []any{padded[int64](41, 3e9, -3e9, 0, 2, -2, math.MaxInt64, minInt, math.MaxInt64), padded(41, true)},
	},
	{
		name: "small and large arguments",
		why:  "the textbook formula cancels, overflows or underflows",
		in: []input{of(dims(1), float32(1e-8)), of(dims(1), float32(-100)), of(dims(1), float32(100)), of(dims(1), float32(20)),
			of(dims(5), float32(.5), 1.5, 2.5, -.5, 8388609)},
		f: func(in tensors) tensors {
			return tensors{in[0].Expm1(), in[0].Log1p(), in[2].Softplus(), in[3].Tanh(), in[4].Round(), in[1].Sigmoid()}
		},
		want: []any{floats32(1e-8), floats32(1e-8), floats32(100), floats32(1), floats32(0, 2, 2, zero, 8388609)},
		check: func(t *testing.T, out []result) {
			require.InDelta(t, 0x1b, math.Float32bits(out[5].floats()[0]), 2, "e^x/(1+e^x), a subnormal")
		},
	},
}

func TestNumberTraps(t *testing.T) { runAll(t, numberTraps) }

// Whole rows that see nothing.
func TestMaskedRows(t *testing.T) {
	const m, n, d = 3, 70, 4 // longer than a tile of keys
	bias := func(value float32, row int) input {
		return gen(func(i int) float32 {
			if i/n == row || i/n == 2 && i%n < 64 {
				return value
			}
			return 0
		}, m, n)
	}
	mask := func(at sinter.Placer) *tensor {
		data := make([]bool, m*n)
		for i := range data {
			data[i] = i/n == 0 || i/n == 2 && i%n >= 64 // row 1 sees nothing, row 2 only the last keys
		}
		return sinter.From(at, data, m, n)
	}
	attend := func(in tensors, mask *tensor) *tensor {
		return in[0].Attention(in[1], in[2], sinter.AttentionOptions{Mask: mask})
	}
	runAll(t, []trap{{
		name: "attention", why: "a masked row gave NaN, or hid NaN behind 0 where arithmetic makes one",
		in: []input{gen(wavy, 1, 1, m, d), gen(wavy, 1, 1, n, d), gen(wavy, 1, 1, n, d), mask, bias(-inf, 1), bias(-3.4e38, 1),
			of(dims(2, 3), -inf, -inf, -inf, 0, 0, -inf)},
		f: func(in tensors) tensors {
			free := attend(in, nil)
			last := in[0].Narrow(2, 2, 1).Attention(in[1].Narrow(2, 64, 6), in[2].Narrow(2, 64, 6), sinter.AttentionOptions{})
			return tensors{in[6].Softmax(1), attend(in, in[3]), attend(in, in[4]), attend(in, in[5]), free, last, in[2].Mean(2)}
		},
		want: []any{floats32(nan, nan, nan, .5, .5, 0)},
		check: func(t *testing.T, out []result) {
			free, last, mean := out[4].floats(), out[5].floats(), out[6].floats()
			for _, k := range []int{1, 2} {
				y := out[k].floats()
				require.Equal(t, free[:d], y[:d], "other rows are unchanged")
				require.Equal(t, make([]float32, d), y[d:2*d], "a row that sees nothing is 0")
				require.InDeltaSlice(t, last, y[2*d:], 1e-5, "a tile that is masked, then one that is not")
			}
			y := out[3].floats()
			require.InDeltaSlice(t, mean, y[d:2*d], 1e-5, "a large finite bias is arithmetic: every key weighs the same")
		},
	}})
}

// Dropout draws the same mask however it is computed.
func TestDropoutMasks(t *testing.T) {
	const n, p = 1 << 14, 0.3
	runAll(t, []trap{{
		name: "dropout", why: "the mask depended on tiling, or four neighbours shared a number",
		in: []input{gen(func(int) float32 { return 1 }, 128, 128)},
		f: func(in tensors) tensors {
			mask := sinter.Bernoulli(in[0].Stream(), 1-p, 128, 128)
			x := sinter.Where(mask, in[0], in[0].MulScalar(0))
			return tensors{x, x.T(), x.Sum(0), x.T().AddScalar(0).T(), mask}
		},
		check: func(t *testing.T, out []result) {
			x, mask := out[0].floats(), out[4].bools()
			require.Equal(t, x, out[3].floats())
			equal := 0
			for i := range x {
				require.Equal(t, mask[i], x[i] == 1)
				require.Equal(t, x[i], out[1].floats()[i%128*128+i/128])
				if i > 0 && mask[i] == mask[i-1] {
					equal++
				}
			}
			q := p*p + (1-p)*(1-p)
			require.InDelta(t, q*n, equal, 5*math.Sqrt(n*q*(1-q)))
		},
	}})
}

// Offsets of large tensors were computed in 32 bits. No memory is needed to see
// it.
func TestLargeOffsets(t *testing.T) {
	dev := open(t)
	if strconv.IntSize == 32 {
		var shape *sinter.ShapeError
		require.ErrorAs(t, sinter.Zeros(dev, sinter.F32, 239675, 8960).Err(), &shape, "refused where it cannot be addressed")
		return
	}
	rows, cols := 239674, 8960
	l := codegen.Contiguous(sinter.Shape{rows + 1, cols})
	last := l.Slice([]ir.Range{{Start: rows, Len: 1, Step: 1}, {Start: cols - 1, Len: 1, Step: 1}})
	require.Equal(t, int64(2147487999), int64(last.Offset))
	back := l.Slice([]ir.Range{{Start: rows, Len: 2, Step: -rows}, {Start: cols - 1, Len: 1, Step: 1}})
	require.Equal(t, int64(8959), int64(back.Offset+back.Strides[0]))

	// One element stretched over more than 2³¹: only what is read is computed.
	x := sinter.Scalar(dev, float32(3)).Expand(1<<20, 1<<13).Slice(sinter.SpanStep(0, 1<<20, 1<<19), sinter.Index(-1)).AddScalar(1)
	require.Equal(t, []float32{4, 4}, read[float32](t, x))
}
