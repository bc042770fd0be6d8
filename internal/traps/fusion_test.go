package traps

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// Failures of fused kernels: layouts, bounds and lifetimes.
var fusionTraps = []trap{
	{
		name: "matrix times vector, then an epilogue",
		why:  "a kernel for a vector times a matrix was taken for a matrix times a vector",
		in:   []input{of(dims(4, 3), float32(.9), .8, -.9, .1, .45, -.6, -.25, -.41, .51, .6, .1, 0), of(dims(3), float32(.3), -.2, .1)},
		f: func(in tensors) tensors {
			o := in[0].MatMul(in[1])
			column := in[0].MatMul(in[1].Unsqueeze(1))
			return tensors{o, o.Add(o), column.Add(column).Squeeze(1)}
		},
		want: []any{[]float32{.02, -.12, .058, .16}, []float32{.04, -.24, .116, .32}, []float32{.04, -.24, .116, .32}}, tol: 1e-6,
	},
	{
		name: "MLP that ends in one column",
		why:  "the tuner's fallback took a kernel that did not fit the last product",
		in:   []input{gen(wavy, 5, 36), gen(wavy, 36, 64), gen(wavy, 64), gen(wavy, 64, 9), gen(wavy, 9), gen(wavy, 9, 1), gen(wavy, 1)},
		f: func(in tensors) tensors {
			x := in[0]
			for i := 1; i < 7; i += 2 {
				x = x.MatMul(in[i]).Add(in[i+1]).Tanh()
			}
			return tensors{x, x.Reshape(5)}
		},
		check: func(t *testing.T, out []result) {
			for row, v := range out[0].floats() {
				require.InDelta(t, mlp(row), v, 1e-3)
			}
		},
	},
	{
		name: "masked softmax of rows that do not fill a group",
		why:  "threads past the last row wrote",
		in:   []input{gen(func(i int) float32 { return (float32(i)/55296 - .5) * 20 }, 6, 96, 96)},
		f: func(in tensors) tensors {
			s := in[0].Stream()
			i := sinter.Arange(s, sinter.I64, 0, 1, 96)
			above := i.Unsqueeze(0).Greater(i.Unsqueeze(1))
			y := in[0].Add(above.Cast(sinter.F32).MulScalar(-10000)).Softmax(-1)
			return tensors{y, y.Sum(-1), y.Mul(above.Cast(sinter.F32)).Max()}
		},
		check: func(t *testing.T, out []result) {
			y := out[0].floats()
			require.Equal(t, append([]float32{1}, make([]float32, 95)...), y[:96])
			require.InDelta(t, .499910, y[96], 1e-5)
			require.InDelta(t, .500090, y[97], 1e-5)
			for _, sum := range out[1].floats() {
				require.InDelta(t, 1, sum, 1e-5)
			}
			require.Equal(t, []float32{0}, out[2].floats())
		},
	},
	{
		name: "variance after a swap of axes",
		why:  "the reduction read the layout from before the swap",
		in:   []input{of(dims(1, 2, 4), float32(.0337), .6473, .7419, .0647, .3955, .5538, .4253, .8397)},
		f: func(in tensors) tensors {
			x := in[0].Transpose(1, 2)
			return tensors{x.Mean(-1), x.Variance(1, -1)}
		},
		want: []any{[]float32{.2146, .60055, .5836, .4522}, []float32{.06545, .00437, .05012, .30031}}, tol: 1e-5,
	},
	{
		name: "layer norm between two swaps",
		why:  "the swap was lost on the way in or out",
		in:   []input{gen(wavy, 2, 3, 2, 2)},
		f: func(in tensors) tensors {
			y := in[0].Reshape(2, 3, 4).Transpose(1, 2).LayerNorm(nil, nil, 1e-5).Transpose(1, 2).Reshape(2, 3, 2, 2)
			return tensors{y, y.Mean(1)}
		},
		check: func(t *testing.T, out []result) {
			y := out[0].floats()
			for b := range 2 {
				for p := range 4 {
					var v [3]float64
					for c := range v {
						v[c] = float64(wavy(12*b + 4*c + p))
					}
					mean := (v[0] + v[1] + v[2]) / 3
					variance := ((v[0]-mean)*(v[0]-mean) + (v[1]-mean)*(v[1]-mean) + (v[2]-mean)*(v[2]-mean)) / 3
					for c := range v {
						require.InDelta(t, (v[c]-mean)/math.Sqrt(variance+1e-5), y[12*b+4*c+p], 1e-5)
					}
				}
			}
		},
	},
	{
		name: "means of every permutation",
		why:  "sums were kept in the half type, or followed the axes of memory",
		in:   []input{gen(func(i int) float32 { return float32(i) }, 2, 2, 256), gen(func(int) float32 { return 100 }, 4096)},
		f: func(in tensors) tensors {
			x := in[0]
			return tensors{
				x.Mean(1, 2), x.Permute(0, 2, 1).Mean(1, 2), x.Permute(1, 0, 2).Mean(0, 2), x.Permute(2, 0, 1).Mean(0, 2),
				x.Permute(1, 2, 0).Mean(0, 1), x.Permute(2, 1, 0).Mean(0, 1), in[1].Cast(sinter.BF16).Mean().Cast(sinter.F32),
			}
		},
		want: []any{
			[]float32{255.5, 767.5}, []float32{255.5, 767.5}, []float32{255.5, 767.5}, []float32{255.5, 767.5},
			[]float32{255.5, 767.5}, []float32{255.5, 767.5}, []float32{100},
		},
	},
	{
		name: "maximum of a row with NaN, used again",
		why:  "comparisons with NaN are false, and finite start values tie with infinities",
		in:   []input{of(dims(2, 4), 1, nan, 3, 2, 1, 4, 3, 2), of(dims(1, 2), -inf, -inf)},
		f: func(in tensors) tensors {
			x := in[0].AddScalar(0)
			return tensors{x.Max(1).Add(x).AddScalar(1), x.ArgMax(1), x.ArgMin(1), in[1].Max(1), in[1].ArgMax(1), in[1].Neg().Min(1)}
		},
		want: []any{
			[]float32{nan, nan, nan, nan, 6, 9, 8, 7}, []int64{1, 1}, []int64{1, 0}, []float32{-inf}, []int64{0}, []float32{inf},
		},
	},
	{
		name: "an axis of length 1 is not a broadcast",
		why:  "the stride of a length-1 axis was read as that of a broadcast",
		in:   []input{gen(func(i int) float32 { return float32(i + 1) }, 2, 4, 1), of(dims(1, 4, 1), float32(10), 20, 30, 40)},
		f: func(in tensors) tensors {
			return tensors{in[0].Repeat(1, 1, 1).Add(in[1]).MulScalar(2)}
		},
		want: []any{[]float32{22, 44, 66, 88, 30, 52, 74, 96}},
	},
	{
		name: "rows with padding",
		why:  "a kernel walked a dense prefix of a padded buffer",
		in:   []input{gen(func(i int) float32 { return float32(i) }, 4, 8)},
		f: func(in tensors) tensors {
			return tensors{in[0].Slice(sinter.All(), sinter.Span(0, 5)).AddScalar(1).MulScalar(2), in[0].AddScalar(0)}
		},
		check: func(t *testing.T, out []result) {
			for i, v := range out[0].floats() {
				require.Equal(t, float32(i/5*8+i%5+1)*2, v)
			}
			for i, v := range out[1].floats() {
				require.Equal(t, float32(i), v, "the padding is untouched")
			}
		},
	},
	{
		name: "a permutation that changes nothing, before a product",
		why:  "it was folded into the product as a transpose",
		in: []input{of(dims(2, 2), float32(1), 2, 3, 4), of(dims(2, 2), float32(5), 6, 7, 8), of(dims(2, 2), float32(100), 200, 300, 400),
			of(dims(2, 2), float32(1), 2, 3, 4)},
		f: func(in tensors) tensors {
			a, b, c := in[0], in[1], in[2]
			return tensors{
				a.Permute(0, 1).MatMul(b).Add(c), a.MatMul(b.Permute(0, 1)).Add(c), a.Permute(0, 1).MatMul(b.Permute(0, 1)).Add(c.T()),
				a.MatMul(b).Add(c.T()), a.Permute(1, 0).MatMul(b).Add(c), a.Permute(0, 1).Permute(1, 0).MatMul(b.T()).Add(c.Permute(0, 1)),
				a.MatMul(in[3].Permute(0, 1).AddScalar(0)).Permute(0, 1).Add(c.Permute(1, 0)),
			}
		},
		want: []any{
			[]float32{119, 222, 343, 450}, []float32{119, 222, 343, 450}, []float32{119, 322, 243, 450},
			[]float32{119, 322, 243, 450}, []float32{126, 230, 338, 444}, []float32{123, 231, 334, 446},
			[]float32{107, 310, 215, 422},
		},
	},
	{
		name: "a matrix plus its own transpose",
		why:  "the result was written over an operand that is read again through another layout",
		in:   []input{gen(func(i int) float32 { return float32(i + 1) }, 3, 3)},
		f: func(in tensors) tensors {
			a := in[0].AddScalar(0)
			b := a.T()
			y := a.Add(b)
			a.Release()
			return tensors{y, b.MulScalar(1), b.Reshape(9).Slice(sinter.All()).Reshape(3, 3).T().AddScalar(0)}
		},
		want: []any{
			[]float32{2, 6, 10, 6, 10, 14, 10, 14, 18}, []float32{1, 4, 7, 2, 5, 8, 3, 6, 9}, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9},
		},
	},
	{
		name: "a block without a tensor of its shape",
		why:  "the layout was taken from a tensor that is not there",
		in: []input{of(dims(1, 2, 3, 3), float32(1), 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90),
			gen(func(i int) float32 { return float32(i - 9) }, 3, 3, 2)},
		f: func(in tensors) tensors {
			return tensors{in[0].Sum(2, 3), in[0].Unsqueeze(-1).Mul(in[1]).Sum(2, 3).Reshape(2, 2)}
		},
		want: []any{[]float32{45, 450}, []float32{75, 120, 750, 1200}},
	},
	{
		name: "a value used across blocks",
		why:  "it was taken for dead after the first",
		in:   []input{gen(wavy, 2, 3, 4), gen(wavy, 4), gen(wavy, 4)},
		f: func(in tensors) tensors {
			x := in[0]
			g := x.Square().Sum(1).AddScalar(1e-5).Sqrt()
			n := g.Div(g.Mean(2))
			return tensors{in[1].Mul(x.Mul(n)).Add(in[2]).Add(x)}
		},
		check: func(t *testing.T, out []result) {
			for i, v := range out[0].floats() {
				b, c := i/12, i%4
				norm := func(c int) float64 {
					s := 1e-5
					for k := range 3 {
						x := float64(wavy(12*b + 4*k + c))
						s += x * x
					}
					return math.Sqrt(s)
				}
				mean := (norm(0) + norm(1) + norm(2) + norm(3)) / 4
				x := float64(wavy(i))
				require.InDelta(t, float64(wavy(c))*x*norm(c)/mean+float64(wavy(c))+x, v, 1e-4)
			}
		},
	},
	{
		name: "empty tensors",
		why:  "a length of 0 was divided by, or nothing was launched and so nothing written",
		in:   []input{of[float32](dims(3, 0)), of[float32](dims(2, 0)), of[float32](dims(0, 3))},
		f: func(in tensors) tensors {
			return tensors{
				in[0].Sum(1), in[1].MatMul(in[2]), in[0].AddScalar(1).Exp(), in[2].MatMul(in[0]).Sum(), in[2].Sum(0).AddScalar(2),
				in[0].Softmax(-1), in[2].CumSum(0), sinter.Cat(0, in[2], in[2].AddScalar(1)),
			}
		},
		want: []any{[]float32{0, 0, 0}, make([]float32, 6), []float32{}, []float32{0}, []float32{2, 2, 2}, []float32{}, []float32{}, []float32{}},
	},
}

func TestFusionTraps(t *testing.T) { runAll(t, fusionTraps) }

// mlp is a row of the MLP above in double precision.
func mlp(row int) float64 {
	x := make([]float64, 36)
	for i := range x {
		x[i] = float64(wavy(36*row + i))
	}
	for _, n := range []int{64, 9, 1} {
		y := make([]float64, n)
		for j := range y {
			y[j] = float64(wavy(j))
			for i := range x {
				y[j] += x[i] * float64(wavy(n*i+j))
			}
			y[j] = math.Tanh(y[j])
		}
		x = y
	}
	return x[0]
}

// More operands than a kernel may bind, and more operations than it may hold.
func TestManyOperands(t *testing.T) {
	var in []input
	for k := range 40 {
		in = append(in, gen(func(i int) float32 { return float32(k + i) }, 8))
	}
	runAll(t, []trap{
		{
			name: "sum of 40 tensors", why: "the number of operands must leave room for what a launch needs besides",
			in: in,
			f: func(in tensors) tensors {
				x := in[0]
				for _, y := range in[1:] {
					x = x.Add(y)
				}
				return tensors{x}
			},
			want: []any{[]float32{780, 820, 860, 900, 940, 980, 1020, 1060}},
		},
		{
			name: "200 additions", why: "a chain longer than a kernel must come apart",
			in: in[:2],
			f: func(in tensors) tensors {
				x := in[0]
				for range 200 {
					x = x.Add(in[1])
				}
				return tensors{x}
			},
			want: []any{[]float32{200, 401, 602, 803, 1004, 1205, 1406, 1607}},
		},
	})
}
