package optimize

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// preNorm records transformer layers as they are written: norm, attention with
// a mask all layers share, residual sums, and a feed-forward part with GELU.
func preNorm(layers int) *Segment {
	const tokens, width = 16, 32
	b := &builder{}
	mask := b.scalar(ir.Mul, -1e9, b.in(tokens, tokens))
	x := b.in(tokens, width)
	linear := func(x ir.TensorID) ir.TensorID {
		return b.op(ir.Linear, x, b.variable(width, width), b.variable(width))
	}
	norm := func(x ir.TensorID) ir.TensorID {
		return b.scalar(ir.LayerNorm, 1e-5, x, b.variable(width), b.variable(width))
	}
	for range layers {
		h := norm(x)
		q, k, v := linear(h), linear(h), linear(h)
		s := b.op(ir.Add, b.scalar(ir.Mul, 0.25, b.op(ir.MatMul, q, b.axes(ir.Permute, k, 1, 0))), mask)
		p := b.axes(ir.Softmax, s, 1)
		x = b.op(ir.Add, x, linear(b.op(ir.MatMul, p, v)))
		x = b.op(ir.Add, x, linear(b.op(ir.Gelu, linear(norm(x)))))
	}
	b.asked(x)
	return b.done()
}

// updates records one optimiser step: momentum, weight decay and a clip by the
// norm of all gradients, for so many parameters.
func updates(params int) *Segment {
	b := &builder{}
	norm := ir.TensorID(0)
	var grads []ir.TensorID
	for i := range params {
		g := b.in(8+i%3, 16)
		grads = append(grads, g)
		n := b.axes(ir.Sum, b.op(ir.Mul, g, g), 0, 1)
		if i > 0 {
			n = b.op(ir.Add, norm, n)
		}
		norm = n
	}
	scale := b.op(ir.Sqrt, norm)
	for i, g := range grads {
		p, m := b.variable(8+i%3, 16), b.variable(8+i%3, 16)
		v := b.op(ir.Add, b.scalar(ir.Mul, 0.9, m), b.op(ir.Div, g, scale))
		b.set(m, v, true)
		b.set(p, b.op(ir.Sub, p, b.scalar(ir.Mul, 0.1, v)), true)
	}
	return b.done()
}

// accumulated records a sum of many terms, each worked out just before it is
// added.
func accumulated(terms int) *Segment {
	b := &builder{}
	sum := b.in(8, 8)
	for range terms {
		sum = b.op(ir.Add, sum, b.op(ir.Exp, b.op(ir.Neg, b.in(8, 8))))
	}
	b.asked(sum)
	return b.done()
}

// Exploring costs so much for each operation, however many there are: no
// measure of a plan's making may grow faster than the program.
func TestCostOfExploringByOperation(t *testing.T) {
	programs := []struct {
		name string
		make func(n int) *Segment
	}{{"layers", preNorm}, {"updates", updates}, {"accumulated", accumulated}}
	planners := []struct {
		name string
		make func() *Planner
	}{
		{"library", func() *Planner { return New(fuser.Default(), cpuProfile, Options{}) }},
		{"forced", func() *Planner { return New(fuser.Default(), cpuProfile, Options{Force: true}) }},
		{"fusers that fail", func() *Planner { return New(failing(fuser.Default()), cpuProfile, Options{}) }},
	}
	for _, program := range programs {
		for _, planner := range planners {
			t.Run(program.name+"/"+planner.name, func(t *testing.T) {
				var first [4]float64
				for i, n := range []int{20, 40, 80} {
					seg := program.make(n)
					p, err := planner.make().Plan(seg)
					require.NoError(t, err)
					var per [4]float64
					for k, count := range [...]int{p.Log.Offers, p.Log.Clones, p.Log.Lowerings, p.Log.Steps} {
						per[k] = float64(count) / float64(len(seg.Ops))
					}
					if i == 0 {
						first = per
						t.Logf("offers, clones, lowerings, steps an operation: %.2f", per)
						continue
					}
					for k, name := range [...]string{"offers", "clones", "lowerings", "steps"} {
						require.LessOrEqual(t, per[k], 1.1*first[k]+0.5, "%s an operation at %d", name, n)
					}
				}
			})
		}
	}
}

// failing makes blocks of more than three operations fail to finish.
func failing(factories []fuser.Factory) []fuser.Factory {
	for i := range factories {
		inner := factories[i].New
		factories[i].New = func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser { return &cannotFinish{inner(g, p)} }
	}
	return factories
}

type cannotFinish struct{ fuser.Fuser }

func (f *cannotFinish) Clone() fuser.Fuser { return &cannotFinish{f.Fuser.Clone()} }

func (f *cannotFinish) Finish() (*fuser.Optimization, error) {
	if f.Len() > 3 {
		return nil, errors.New("too long to finish")
	}
	return f.Fuser.Finish()
}

// Operations are lowered alone when a block falls back for the first time, and
// not again.
func TestFallbacksAreLoweredWhenAskedFor(t *testing.T) {
	seg := preNorm(2)
	p := New(fuser.Default(), cpuProfile, Options{})
	alone := 0
	p.single = func(g *fuser.Graph, op int) (*fuser.Optimization, error) {
		alone++
		return fuser.Single(g, op)
	}
	plan, err := p.Plan(seg)
	require.NoError(t, err)
	for i := range plan.Blocks {
		b := &plan.Blocks[i]
		before := alone
		first, err := b.Fallback()
		require.NoError(t, err)
		if len(b.Ops) > 1 {
			require.Len(t, first, len(b.Ops))
			require.Equal(t, before+len(b.Ops), alone)
		}
		again, err := b.Fallback()
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	require.NoError(t, CheckFallbacks(plan))
	lowered := 0
	for _, b := range plan.Blocks {
		lowered += len(b.Ops)
	}
	require.Equal(t, lowered, plan.Log.Lowerings, "each operation of each block once")
}

// An operation that cannot be lowered alone fails the fallback, not the plan.
func TestFallbackThatFails(t *testing.T) {
	b := &builder{}
	b.asked(b.op(ir.Exp, b.op(ir.Neg, b.in(4))))
	p := New(fuser.Default(), cpuProfile, Options{})
	p.single = func(*fuser.Graph, int) (*fuser.Optimization, error) { return nil, errors.New("no way") }
	plan, err := p.Plan(b.done())
	require.NoError(t, err)
	_, err = plan.Blocks[0].Fallback()
	require.ErrorContains(t, err, "0:Neg: no way")
	require.ErrorContains(t, CheckFallbacks(plan), "no way")
}
