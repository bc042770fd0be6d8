package traps

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// filled returns n elements of one value.
func filled[T any](n int, v T) []T { return padded(n, v) }

// halves rounds floats to f16.
func halves(v ...float32) []sinter.Float16 {
	out := make([]sinter.Float16, len(v))
	for i := range v {
		out[i] = sinter.ToFloat16(v[i])
	}
	return out
}

// Arithmetic done in another width than that of the tensors, and division that
// rounds the other way.
var widthTraps = []trap{
	{
		name: "8 bits wrap",
		why:  "computed in 32 bits and not brought back before it was used",
		in: []input{of(dims(37), filled(37, uint8(128))...), of(dims(37), filled(37, uint8(6))...), of(dims(37), filled(37, uint8(3))...),
			of(dims(37), filled(37, int8(100))...), of(dims(2), uint8(200), 200)},
		f: func(in tensors) tensors {
			a, b, c, d := in[0], in[1], in[2], in[3]
			y := in[4].Abs().Neg()
			return tensors{
				a.Add(a).Cast(sinter.I16), b.Neg(), b.Neg().LessScalar(4), c.SubScalar(5), d.Add(d).Cast(sinter.F32),
				sinter.Cat(0, y, y).Sum(), a.Add(a).EqualScalar(0), c.SubScalar(5).ShiftRightScalar(1), d.Add(d).DivScalar(2),
			}
		},
		want: []any{
			filled(37, int16(0)), filled(37, uint8(250)), filled(37, false), filled(37, uint8(254)), filled(37, float32(-56)),
			[]uint8{224}, filled(37, true), filled(37, uint8(127)), filled(37, int8(-28)),
		},
	},
	{
		name: "the least integers divided by −1",
		why:  "the processor traps, or the tail disagrees with the vector body",
		in: []input{of(dims(37), padded[int32](37, math.MinInt32, 7, math.MinInt32)...), of(dims(37), padded[int32](37, -1, 0, 1)...),
			of(dims(37), filled[int8](37, -128)...), of(dims(37), filled[int8](37, -1)...), of(dims(37), filled[int64](37, minInt)...), of(dims(37), filled[int64](37, -1)...)},
		f: func(in tensors) tensors {
			var out tensors
			for i := 0; i < len(in); i += 2 {
				a, b := in[i], in[i+1]
				out = append(out, a.Div(b), a.Fmod(b), a.Remainder(b), a.FloorDiv(b))
			}
			return append(out, in[0].DivScalar(-1), in[0].RemainderScalar(-1))
		},
		want: []any{
			padded[int32](37, math.MinInt32, 0, math.MinInt32), filled[int32](37, 0), filled[int32](37, 0), padded[int32](37, math.MinInt32, 0, math.MinInt32),
			filled[int8](37, -128), filled[int8](37, 0), filled[int8](37, 0), filled[int8](37, -128),
			filled[int64](37, minInt), filled[int64](37, 0), filled[int64](37, 0), filled[int64](37, minInt),
			padded[int32](37, math.MinInt32, -7, math.MinInt32), filled[int32](37, 0),
		},
	},
	{
		name: "division that floors and that truncates",
		why:  "one was taken for the other when an operand is negative",
		in: []input{of(dims(5), int32(-7), 7, -7, 7, -8), of(dims(5), int32(2), -2, -2, 2, 2), of(dims(5), int8(-7), 7, -7, 7, -8), of(dims(5), int8(2), -2, -2, 2, 2),
			of(dims(5), float32(-7), 7, -7, 7, -8), of(dims(5), float32(2), -2, -2, 2, 2)},
		f: func(in tensors) tensors {
			var out tensors
			for i := 0; i < len(in); i += 2 {
				a, b := in[i], in[i+1]
				out = append(out, a.FloorDiv(b), a.Remainder(b), a.Fmod(b))
			}
			return append(out, in[0].Div(in[1]), in[2].Div(in[3]), in[4].Div(in[5]).Trunc())
		},
		want: []any{
			[]int32{-4, -4, 3, 3, -4}, []int32{1, -1, -1, 1, 0}, []int32{-1, 1, -1, 1, 0},
			[]int8{-4, -4, 3, 3, -4}, []int8{1, -1, -1, 1, 0}, []int8{-1, 1, -1, 1, 0},
			floats32(-4, -4, 3, 3, -4), floats32(1, -1, -1, 1, 0), floats32(-1, 1, -1, 1, zero),
			[]int32{-3, -3, 3, 3, -4}, []int8{-3, -3, 3, 3, -4}, floats32(-3, -3, 3, 3, -4),
		},
	},
	{
		name: "floor division of floats",
		why:  "the floor of a rounded quotient is one too many where the quotient rounds up to an integer",
		in:   []input{of(dims(3), float32(1), .5, 6), of(dims(3), float32(.1), .1, .2), of(dims(3), float32(14.999999), 26.999999, 148), of(dims(3), float32(3), 3, 37)},
		f: func(in tensors) tensors {
			return tensors{in[0].FloorDiv(in[1]), in[0].FloorDivScalar(0.1).Narrow(0, 0, 2), in[2].Div(in[3]).Trunc()}
		},
		want: []any{floats32(9, 4, 29), floats32(9, 4), floats32(4, 8, 4)},
	},
	{
		name: "floats out of the range of narrow integers",
		why:  "undefined in C: the vector body and the tail disagreed",
		in: []input{of(dims(41), padded(41, 3e9, -3e9, nan, 2.9, -2.9)...), of(dims(41), padded[float32](41, -1, -2.7, 256, 300, 255.9, 3.7)...),
			of(dims(41), padded(41, 3e38, -inf, nan, 127.9, -128.9)...)},
		f: func(in tensors) tensors {
			return tensors{in[0].Cast(sinter.I32), in[1].Cast(sinter.U8), in[2].Cast(sinter.I8), in[0].Cast(sinter.F64).Cast(sinter.I32)}
		},
		want: []any{
			padded[int32](41, math.MaxInt32, math.MinInt32, 0, 2, -2), padded[uint8](41, 0, 0, 255, 255, 255, 3), padded[int8](41, 127, -128, 0, 127, -128),
			padded[int32](41, math.MaxInt32, math.MinInt32, 0, 2, -2),
		},
	},
	{
		name: "rounding through f16",
		why:  "the pair of casts was removed as if it were none",
		in:   []input{of(dims(4), float32(1), 2, 3, 4)},
		f: func(in tensors) tensors {
			x := in[0].DivScalar(7)
			return tensors{x.Cast(sinter.F16).Cast(sinter.F32), x.Cast(sinter.F16).Cast(sinter.F32).Sub(x).Abs().Max().GreaterScalar(0)}
		},
		want: []any{floats32(.14282227, .28564453, .4284668, .57128906), []bool{true}},
	},
	{
		name: "means and sums of f16",
		why:  "the sum was kept in f16, where it overflows or stalls",
		in:   []input{gen(func(i int) float32 { return float32(i) }, 2, 2, 256), gen(func(int) float32 { return 100 }, 4096), gen(func(int) float32 { return 1 }, 70000)},
		f: func(in tensors) tensors {
			x := in[0].Cast(sinter.F16)
			return tensors{
				x.Mean(1, 2), x.Permute(0, 2, 1).Mean(1, 2), x.Permute(1, 0, 2).Mean(0, 2), x.Permute(2, 0, 1).Mean(0, 2),
				x.Permute(1, 2, 0).Mean(0, 1), x.Permute(2, 1, 0).Mean(0, 1), in[1].Cast(sinter.F16).Mean(), in[2].Cast(sinter.F16).Mean(),
				in[2].Cast(sinter.F16).Sum(), in[1].Cast(sinter.F16).CumSum(0).Narrow(0, 600, 1),
			}
		},
		want: []any{
			halves(255.5, 767.5), halves(255.5, 767.5), halves(255.5, 767.5), halves(255.5, 767.5),
			halves(255.5, 767.5), halves(255.5, 767.5), halves(100), halves(1), halves(inf), halves(60100),
		},
	},
	{
		name: "deviation of large and small f64",
		why:  "squares computed in f32, or variance as a difference of two large numbers",
		in: []input{of(dims(4), 1e30, -1e30, 2e30, -2e30), of(dims(4), 1e-30, 2e-30, 3e-30, 4e-30), of(dims(4), float32(1e30), -1e30, 2e30, -2e30),
			of(dims(4), float32(1e-30), 2e-30, 3e-30, 4e-30)},
		f: func(in tensors) tensors {
			return tensors{in[0].Std(0), in[1].Std(0), in[2].Std(0), in[3].Std(0)}
		},
		want: []any{nil, nil, floats32(inf), floats32(0)},
		check: func(t *testing.T, out []result) {
			float := func(r result) float64 { return math.Float64frombits(uint64(r.ints()[0])) }
			require.InEpsilon(t, 1.5811388300841898e30, float(out[0]), 1e-14)
			require.InEpsilon(t, 1.118033988749895e-30, float(out[1]), 1e-14)
		},
	},
}

func TestWidthTraps(t *testing.T) { runAll(t, widthTraps) }

// What a vector's idle lanes hold got into the least and greatest of narrow
// integers.
func TestExtremaOfFewIntegers(t *testing.T) {
	var in []input
	for n := 1; n <= 70; n++ {
		in = append(in, of(dims(n), filled(n, int8(5))...), of(dims(n), filled(n, int8(-5))...), of(dims(n), filled(n, uint8(5))...), of(dims(n), filled(n, int32(-5))...))
	}
	least, greatest := []int8{5}, []int8{-5}
	var want []any
	for range 70 {
		want = append(want, least, greatest, greatest, []uint8{5}, []int32{-5})
	}
	runAll(t, []trap{{
		name: "minimum and maximum", why: "idle lanes hold 0",
		in: in,
		f: func(in tensors) (out tensors) {
			for i := 0; i < len(in); i += 4 {
				out = append(out, in[i].Min(), in[i+1].Max(), in[i+1].CumMax(0).Narrow(0, -1, 1), in[i+2].Min(), in[i+3].Max())
			}
			return out
		},
		want: want,
	}})
}

// Axes of length 1, views and aliases as operands of every operation of two
// tensors.
func TestBroadcastingOfEveryPair(t *testing.T) {
	const m, n = 3, 5
	for _, kind := range ir.Kinds() {
		info := ir.Lookup(kind)
		pair := ir.Operation{Kind: kind}
		probe := ir.Operation{Kind: kind, Inputs: []ir.TensorRef{{DType: sinter.F32, Shape: sinter.Shape{1}}, {DType: sinter.F32, Shape: sinter.Shape{1}}}}
		if info.Class != ir.ClassMap || probe.Check() != nil {
			continue
		}
		apply := func(a, b *tensor) *tensor {
			s := a.Stream().Runtime()
			return sinter.Wrap(s.Record(pair, sinter.ValueOf(a), sinter.ValueOf(b)))
		}
		runAll(t, []trap{{
			name: kind.String(), why: "a length of 1 was taken for the whole, or a view for a dense tensor",
			in: []input{gen(wavy, n), gen(wavy, 1), gen(wavy, 1, n), gen(wavy, m, 1), gen(wavy), gen(wavy, m, n)},
			f: func(in tensors) tensors {
				whole := func(x *tensor) *tensor { return x.Expand(m, n).MulScalar(1) } // of its own memory
				x := in[5].MulScalar(1)
				back := []sinter.Range{sinter.SpanStep(0, m, -1), sinter.SpanStep(0, n, -1)}
				var out tensors
				for _, p := range [][2]*tensor{{in[0], in[1]}, {in[2], in[3]}, {in[4], in[5]}, {in[3].Expand(m, n), in[5]}, {x.Slice(back...), x}, {x, x}} {
					out = append(out, apply(p[0], p[1]).Expand(m, n).Repeat(1, 1), apply(whole(p[0]), whole(p[1])))
				}
				return out
			},
			check: func(t *testing.T, out []result) {
				for i := 0; i < len(out); i += 2 {
					require.Equal(t, out[i+1].canonical(), out[i].canonical(), "pair %d", i/2)
				}
			},
		}})
	}
}
