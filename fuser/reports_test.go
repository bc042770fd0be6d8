package fuser

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

func floats(shape ir.Shape, v ...float64) oracle.Tensor { return oracle.Floats(ir.F32, shape, v...) }

// runFused fuses a whole program into one block, compares it with the
// operations one by one, and returns the memory afterwards.
func (p *program) runFused(fuser string) *machine {
	p.t.Helper()
	o := p.fuse(fuser)
	m := newMachine(p)
	require.NoError(p.t, m.run(o))
	return m
}

func near(t *testing.T, want []float64, got oracle.Tensor, eps float64) {
	t.Helper()
	require.Len(t, got.F, len(want))
	for i, w := range want {
		require.InDelta(t, w, got.F[i], eps, "element %d", i)
	}
}

// The tests below are faults publicly reported of other systems, restated as
// inputs and right answers.

// A product with a vector and what follows is right in every row.
func TestVectorProductThenAdd(t *testing.T) {
	p := newProgram(t)
	h := p.in(floats(ir.Shape{4, 3}, .9, .8, -.9, .1, .45, -.6, -.25, -.41, .51, .6, .1, 0))
	o := p.op(ir.MatMul, h, p.in(floats(ir.Shape{3}, .3, -.2, .1)))
	p.store(o)
	y := p.op(ir.Add, o, o)
	m := p.runFused("matmul")
	near(t, []float64{.02, -.12, .058, .16}, m.read(o.ID), 1e-6)
	near(t, []float64{.04, -.24, .116, .32}, m.read(y.ID), 1e-6)
}

// Rows of softmax with a causal mask.
func TestCausalSoftmaxRows(t *testing.T) {
	const n, heads = 96, 6
	x := make([]float64, heads*n*n)
	mask := make([]float64, n*n)
	for i := range x {
		x[i] = (float64(i)/float64(len(x)) - .5) * 20
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			mask[i*n+j] = -10000
		}
	}
	p := newProgram(t)
	s := p.op(ir.Add, p.in(floats(ir.Shape{heads, n, n}, x...)), p.in(floats(ir.Shape{n, n}, mask...)))
	y := softmaxOf(p, s)
	got := p.runFused("reduce-broadcast").read(y.ID).F
	near(t, []float64{1, 0, 0}, floats(ir.Shape{3}, got[:3]...), 1e-6)
	near(t, []float64{.499910, .500090, 0}, floats(ir.Shape{3}, got[n:n+3]...), 1e-5)
	for r := range heads * n {
		sum := 0.0
		for j, v := range got[r*n : (r+1)*n] {
			sum += v
			require.False(t, j > r%n && v != 0, "row %d sees key %d", r, j)
		}
		require.InDelta(t, 1, sum, 1e-5)
	}
}

// Variance and layer norm behind exchanged axes.
func TestVarianceBehindPermute(t *testing.T) {
	p := newProgram(t)
	x := p.in(floats(ir.Shape{1, 2, 4}, .0337, .6473, .7419, .0647, .3955, .5538, .4253, .8397))
	s := p.op(ir.Permute, p.op(ir.Add, x, f(0)), axes(0, 2, 1))
	mean, v := p.op(ir.Mean, s, axes(2)), p.op(ir.Var, s, axes(2), number(1))
	m := p.runFused("reduce-broadcast")
	near(t, []float64{.2146, .60055, .5836, .4522}, m.read(mean.ID), 1e-6)
	near(t, []float64{.06545, .00437, .05012, .30031}, m.read(v.ID), 1e-4)

	p = newProgram(t)
	y := p.op(ir.Permute, p.op(ir.Reshape, p.op(ir.Neg, p.f32(2, 3, 2, 5)), shape(2, 3, 10)), axes(0, 2, 1))
	n := p.op(ir.LayerNorm, y, p.f32(3), p.f32(3), f(1e-5))
	p.op(ir.Reshape, p.op(ir.Permute, n, axes(0, 2, 1)), shape(2, 3, 2, 5))
	p.fuse("reduce-broadcast")
}

// Means of half types accumulate in f32, over every order of axes.
func TestHalfMeans(t *testing.T) {
	hundreds := make([]float64, 4096)
	for i := range hundreds {
		hundreds[i] = 100
	}
	p := newProgram(t)
	y := p.op(ir.Mean, p.op(ir.Abs, p.in(oracle.Floats(ir.BF16, ir.Shape{4096}, hundreds...))), axes(0))
	near(t, []float64{100}, p.runFused("reduce").read(y.ID), 0)

	for _, perm := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		p := newProgram(t)
		x := p.op(ir.Arange, shape(1024), to(ir.F32), scalar(ir.F64Scalar(0), ir.F64Scalar(1)))
		z := p.op(ir.Permute, p.op(ir.Abs, p.op(ir.Reshape, x, shape(2, 2, 256))), axes(perm...))
		over := []int{}
		for i, a := range perm {
			if a != 0 {
				over = append(over, i)
			}
		}
		m := p.op(ir.Mean, z, axes(over...))
		got := newMachine(p)
		for i := range p.g.Ops {
			o, err := Single(&p.g, i)
			require.NoError(t, err)
			require.NoError(t, got.run(o))
		}
		near(t, []float64{255.5, 767.5}, got.read(m.ID), 0)
	}
}

// NaN goes through maxima and what is fused around them.
func TestMaximumKeepsNaN(t *testing.T) {
	nan := math.NaN()
	p := newProgram(t)
	x := p.in(floats(ir.Shape{2, 4}, 1, nan, 3, 2, 1, 4, 3, 2))
	top := p.op(ir.Max, p.op(ir.Add, x, f(0)), axes(1))
	y := p.op(ir.Add, p.op(ir.Add, p.op(ir.Add, top, f(0)), x), f(1))
	got := p.runFused("reduce-broadcast").read(y.ID)
	sameBits(t, floats(ir.Shape{2, 4}, nan, nan, nan, nan, 6, 9, 8, 7), got, "max of NaN")

	p = newProgram(t)
	inf := math.Inf(-1)
	z := p.op(ir.Neg, p.op(ir.Neg, p.in(floats(ir.Shape{2}, inf, inf))))
	largest, index := p.op(ir.Max, z, axes(0)), p.op(ir.ArgMax, z, axes(0))
	m := p.runFused("reduce")
	require.Equal(t, []float64{inf}, m.read(largest.ID).F)
	require.Equal(t, []int64{0}, m.read(index.ID).I)
}

// The stride of an axis of length 1 says nothing of broadcasting.
func TestSingletonStride(t *testing.T) {
	p := newProgram(t)
	x := p.in(floats(ir.Shape{2, 4, 1}, 1, 2, 3, 4, 5, 6, 7, 8))
	p.strideInput(x, 4, 1, 0)
	r := p.op(ir.Repeat, x, ints(1, 1, 2))
	y := p.op(ir.Mul, p.op(ir.Add, r, p.in(floats(ir.Shape{1, 4, 1}, 10, 20, 30, 40))), f(2))
	want := floats(ir.Shape{2, 4, 2}, 22, 22, 44, 44, 66, 66, 88, 88, 30, 30, 52, 52, 74, 74, 96, 96)
	sameBits(t, want, p.alone().read(y.ID), "repeated")
}

// Only the elements of a padded input are read.
func TestPitchedInput(t *testing.T) {
	p := newProgram(t)
	x := p.f32(4, 5)
	p.strideInput(x, 8, 1)
	p.op(ir.Mul, p.op(ir.Add, x, f(1)), f(2))
	p.fuse("elementwise")
}

// A and a view of it in one sum.
func TestSumWithOwnTranspose(t *testing.T) {
	p := newProgram(t)
	a := p.in(floats(ir.Shape{3, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9))
	b := p.op(ir.Permute, a, axes(1, 0))
	y, z := p.op(ir.Add, a, b), p.op(ir.Mul, b, f(1))
	m := p.runFused("elementwise")
	sameBits(t, floats(ir.Shape{3, 3}, 2, 6, 10, 6, 10, 14, 10, 14, 18), m.read(y.ID), "a + aᵀ")
	sameBits(t, floats(ir.Shape{3, 3}, 1, 4, 7, 2, 5, 8, 3, 6, 9), m.read(z.ID), "aᵀ·1")
}

// Sums of products whose operands have none of the block's shapes.
func TestWeightedSums(t *testing.T) {
	p := newProgram(t)
	v := make([]float64, 18)
	for i := range 9 {
		v[i], v[9+i] = float64(i+1), float64(10*(i+1))
	}
	e := make([]float64, 18)
	for i := range e {
		e[i] = float64(i - 9)
	}
	x := p.op(ir.Reshape, p.in(floats(ir.Shape{1, 2, 3, 3}, v...)), shape(1, 2, 3, 3, 1))
	w := p.op(ir.Mul, x, p.in(floats(ir.Shape{3, 3, 2}, e...)))
	u := p.op(ir.Reshape, p.op(ir.Sum, w, axes(2, 3)), shape(2, 2))
	sameBits(t, floats(ir.Shape{2, 2}, 75, 120, 750, 1200), p.runFused("reduce").read(u.ID), "u")
}

// Two reductions over different axes cannot share a block;
// the parts are still right.
func TestGlobalResponseNorm(t *testing.T) {
	p := newProgram(t)
	x := p.f32(2, 3, 4)
	g := p.op(ir.Sqrt, p.op(ir.Add, p.op(ir.Sum, p.op(ir.Square, x), axes(2)), f(1e-5)))
	n := p.op(ir.Div, g, p.op(ir.Mean, g, axes(1)))
	p.op(ir.Add, p.op(ir.Add, p.op(ir.Mul, p.f32(4), p.op(ir.Mul, x, n)), p.f32(4)), x)
	want := p.stepwise()
	for _, name := range []string{"elementwise", "reduce", "reduce-broadcast"} {
		first := p.fuser(name)
		cut := 0
		for cut < len(p.g.Ops) && first.Fuse(cut).Accepted {
			cut++
		}
		require.Less(t, cut, len(p.g.Ops), name)
		m := newMachine(p)
		blocks := []Fuser{first, p.fuser("elementwise")}
		if cut < 2 || !first.Properties().Ready {
			cut, blocks[0] = 0, nil
		}
		for i := range p.g.Tensors {
			info := &p.g.Tensors[i]
			info.Stored = info.Producer >= 0 && info.Producer < cut
		}
		if cut > 0 {
			o, err := blocks[0].Finish()
			require.NoError(t, err)
			require.NoError(t, m.run(o))
		}
		for i := cut; i < len(p.g.Ops); i++ {
			o, err := Single(&p.g, i)
			require.NoError(t, err)
			require.NoError(t, m.run(o))
		}
		for id, v := range want {
			sameBits(t, v, m.read(id), "%s: tensor %d", name, id)
		}
	}
}

// Forty operands do not fit one kernel; a long
// chain ends at the profile's limit.
func TestLimits(t *testing.T) {
	p := newProgram(t)
	x := p.f32(8)
	for range 39 {
		x = p.op(ir.Add, x, p.f32(8))
	}
	f := p.fuser("elementwise")
	n := 0
	for f.Fuse(n).Accepted {
		n++
	}
	require.Equal(t, testProfile.MaxBuffers-2, n, "operands of n additions, and one output")
	for i := range n {
		info := &p.g.Tensors[p.g.output(i)]
		info.Stored = i == n-1
	}
	o, err := f.Finish()
	require.NoError(t, err)
	m := newMachine(p)
	require.NoError(t, m.run(o))
	sameBits(t, p.stepwise()[p.g.output(n-1)], m.read(p.g.output(n-1)), "a sum of many")

	p = newProgram(t)
	x = p.f32(8)
	for range 200 {
		x = p.op(ir.Add, x, x)
	}
	f = p.fuser("elementwise")
	for n = 0; f.Fuse(n).Accepted; n++ {
	}
	require.Equal(t, testProfile.MaxOps, n)
	require.Equal(t, Closed, f.Status())
}

// The index of a maximum counts the reduced
// axes as recorded, behind any view.
func TestArgMaxBehindPermute(t *testing.T) {
	v := make([]float64, 24)
	for i := range v {
		v[i] = math.Sin(.7 * float64(i))
	}
	p := newProgram(t)
	x := p.op(ir.Add, p.in(floats(ir.Shape{4, 6}, v...)), f(0))
	a := p.op(ir.ArgMax, x, axes(0, 1))
	require.Equal(t, []int64{20}, p.runFused("reduce").read(a.ID).I)
	p = newProgram(t)
	x = p.op(ir.Permute, p.op(ir.Add, p.in(floats(ir.Shape{4, 6}, v...)), f(0)), axes(1, 0))
	a = p.op(ir.ArgMax, x, axes(0, 1))
	require.Equal(t, []int64{11}, p.runFused("reduce").read(a.ID).I)

	p = newProgram(t)
	s := p.op(ir.Add, p.op(ir.Permute, p.f32(8, 8), axes(1, 0)), p.in(special(ir.F32, ir.Shape{8, 8})))
	p.op(ir.ArgMax, s, axes(1))
	p.op(ir.Max, s, axes(1))
	p.fuse("reduce")
}

// A comparison sees the rounded value.
func TestComparisonSeesRounding(t *testing.T) {
	p := newProgram(t)
	a, b := p.bf16(64, 64), p.in(oracle.Floats(ir.BF16, ir.Shape{64}, random(ir.F32, ir.Shape{64}).F...))
	c := p.op(ir.Add, a, b)
	p.store(c)
	again := p.op(ir.Add, a, b)
	e := p.op(ir.Equal, again, c)
	for i, same := range p.runFused("elementwise").read(e.ID).B {
		require.True(t, same, "element %d", i)
	}
}

// Softmax of a product whose maximum is not contracted.
func TestSoftmaxOfProduct(t *testing.T) {
	for _, c := range [][4]float64{{3285714176, 1e9, -1e9, .7}, {7969180160, 1e9, -1e9, .3}} {
		p := newProgram(t)
		x := p.op(ir.Mul, p.in(floats(ir.Shape{3}, c[0], c[1], c[2])), f(float32(c[3])))
		y := p.op(ir.Softmax, x, axes(0))
		sameBits(t, floats(ir.Shape{3}, 1, 0, 0), p.runFused("reduce-broadcast").read(y.ID), "softmax")
	}
}

// Nothing to work on.
func TestEmpty(t *testing.T) {
	p := newProgram(t)
	x := p.op(ir.Add, p.f32(3, 0), f(1))
	y := p.op(ir.Mul, p.op(ir.Sum, x, axes(1)), f(2))
	require.Equal(t, []float64{0, 0, 0}, p.runFused("reduce").read(y.ID).F)
	p = newProgram(t)
	y = p.op(ir.Add, p.op(ir.MatMul, p.f32(2, 0), p.f32(0, 3)), f(0))
	require.Equal(t, make([]float64, 6), p.runFused("matmul").read(y.ID).F)
	p = newProgram(t)
	softmaxOf(p, p.op(ir.Exp, p.f32(0, 3)))
	p.fuse("reduce-broadcast")
}
