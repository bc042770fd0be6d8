package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// normals returns random normal numbers.
func normals(rng *rand.Rand, shape ir.Shape, scale float64) Tensor {
	x := New(ir.F32, shape)
	for i := range x.F {
		x.F[i] = round(ir.F32, rng.NormFloat64()*scale)
	}
	return x
}

// Functions evaluated in float32 steps, as an engine might, against the ulps.
func TestFunctionTolerance(t *testing.T) {
	x := vec(0.3, -1.7, 2.5)
	tests := []struct {
		kind ir.Kind
		ulps int64
	}{{ir.Exp, 1}, {ir.Log, 1}, {ir.Tanh, 2}, {ir.Pow, 4}, {ir.Gelu, 4}, {ir.Sqrt, 0}, {ir.Recip, 0}, {ir.Relu, 0}}
	for _, tt := range tests {
		in := []Tensor{x}
		if tt.kind == ir.Pow {
			in = append(in, x)
		}
		tol, err := Tolerance(operation(t, tt.kind, nil, in...), in...)
		require.NoError(t, err)
		assert.Equal(t, tt.ulps, tol.ULPs, tt.kind.String())
		assert.Zero(t, slices.Max(append(tol.Abs, 0)), tt.kind.String())

		half := bvec(0.3, -1.7, 2.5)
		for i := range in {
			in[i] = half
		}
		tol, err = Tolerance(operation(t, tt.kind, nil, in...), in...)
		require.NoError(t, err)
		assert.Equal(t, min(tt.ulps, 1), tol.ULPs, tt.kind.String())
	}
	tol, err := Tolerance(operation(t, ir.ArgMax, nil, x), x)
	require.NoError(t, err)
	assert.Equal(t, Tol{}, tol)
}

// The same norm with a square root and a division in float32.
func TestNormTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, scale := range []float64{1e-3, 1, 1e6} {
		x, w, b := normals(rng, ir.Shape{1, 100}, scale), normals(rng, ir.Shape{100}, 1), normals(rng, ir.Shape{100}, 1)
		op := operation(t, ir.LayerNorm, f32Scalars(1e-5), x, w, b)
		a := arith{ir.F32}
		m := a.momentsOf(x.F)
		root := a.add(m.variance(0), float64(float32(1e-5)))
		root = round(ir.F32, math.Sqrt(root))
		got := New(ir.F32, x.Shape)
		for i, d := range m.deviation {
			got.F[i] = a.add(a.mul(a.div(d, root), w.F[i]), b.F[i])
		}
		assert.NoError(t, CheckOp(op, got, x, w, b))
		got.F[7] += 1e-6 * (1 + math.Abs(m.deviation[7]/root*w.F[7]))
		assert.Error(t, CheckOp(op, got, x, w, b))
	}
}

// Attention with float32 products and an online softmax: the running maximum
// rescales what was added before.
func onlineAttention(q, k, v Tensor, scale float64, mask func(i, j int) float64) Tensor {
	a := arith{ir.F32}
	m, n, d, e := q.Shape[2], k.Shape[2], q.Shape[3], v.Shape[3]
	out := New(ir.F32, ir.Shape{1, 1, m, e})
	for i := range m {
		top, sum, acc := negInf, 0.0, make([]float64, e)
		for j := range n {
			score := 0.0
			for l := range d {
				score = a.add(score, a.mul(q.F[i*d+l], k.F[j*d+l]))
			}
			score = a.add(a.mul(score, scale), mask(i, j))
			if score == negInf {
				continue
			}
			next := max(top, score)
			old, p := round(a.d, math.Exp(a.sub(top, next))), round(a.d, math.Exp(a.sub(score, next)))
			top, sum = next, a.add(a.mul(sum, old), p)
			for c := range acc {
				acc[c] = a.add(a.mul(acc[c], old), a.mul(p, v.F[j*e+c]))
			}
		}
		for c := range acc {
			if sum > 0 {
				out.F[i*e+c] = a.div(acc[c], sum)
			}
		}
	}
	return out
}

func TestAttentionTolerance(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, scale := range []float64{1, 8} {
		q := normals(rng, ir.Shape{1, 1, 9, 16}, scale)
		k, v := normals(rng, ir.Shape{1, 1, 40, 16}, 1), normals(rng, ir.Shape{1, 1, 40, 3}, 1)
		bias := normals(rng, ir.Shape{9, 40}, 1)
		bias.F[3], bias.F[4] = negInf, round(ir.F32, -3.4e38)
		op := operation(t, ir.Attention, f32Scalars(0.25), q, k, v, bias)
		got := onlineAttention(q, k, v, 0.25, func(i, j int) float64 { return bias.F[i*40+j] })
		assert.NoError(t, CheckOp(op, got, q, k, v, bias))
		got.F[5] += 1e-3
		assert.Error(t, CheckOp(op, got, q, k, v, bias))
	}
}

func TestAttentionBounds(t *testing.T) {
	values := []float64{1, 3}
	_, bound := weigh(formats[ir.F32], []float64{0, 0}, values, 100)
	assert.InDelta(t, 2, bound, 1e-5, "scores in doubt: the result lies between the values")
	_, bound = weigh(formats[ir.F32], []float64{0, 0}, values, math.Inf(1))
	assert.True(t, math.IsInf(bound, 1), "scores that may overflow")
	y, bound := weigh(formats[ir.F32], []float64{0, 0}, []float64{1, math.Inf(1)}, 0)
	assert.True(t, math.IsInf(y.hi, 1))
	assert.Zero(t, bound)
}

func TestNormalTolerance(t *testing.T) {
	op := operation(t, ir.Normal, func(o *ir.Operation) {
		o.Attrs.Shape, o.Attrs.DType = ir.Shape{400}, ir.F32
		o.Scalars = []ir.Scalar{ir.I64Scalar(9), ir.I64Scalar(1), ir.F32Scalar(0), ir.F32Scalar(2)}
	})
	c, err := newCall(op, nil)
	require.NoError(t, err)
	got := New(ir.F32, ir.Shape{400})
	a := arith{ir.F32}
	for i := range got.F { // in float32 steps
		w := c.words(i)
		pair := w[i%4/2*2:][:2]
		u1 := float64(pair[0]>>8+1) * 0x1p-24
		angle := a.mul(round(a.d, 2*math.Pi), unit(pair[1]))
		r := round(a.d, math.Sqrt(-2*round(a.d, math.Log(u1))))
		part := round(a.d, math.Cos(angle))
		if i%2 == 1 {
			part = round(a.d, math.Sin(angle))
		}
		got.F[i] = a.mul(a.mul(r, part), 2)
	}
	assert.NoError(t, CheckOp(op, got))
	got.F[11] += 1e-4
	assert.Error(t, CheckOp(op, got))
}
