package optimize

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// wideProfile is a device whose launches take many arguments.
var wideProfile = func() fuser.Profile {
	p := cpuProfile
	p.MaxArguments = 512
	return p
}()

// sgd records the step of parameters of different shapes, with momentum.
func sgd(b *builder, params int) {
	for i := range params {
		shape := [][]int{{4 + i}, {3, 5 + i}, {2, 2, 1 + i}}[i%3]
		g, w, m := b.in(shape...), b.variable(shape...), b.variable(shape...)
		v := b.op(ir.Add, b.scalar(ir.Mul, 0.9, m), g)
		b.set(m, v, true)
		b.set(w, b.op(ir.Sub, w, b.scalar(ir.Mul, 0.1, v)), true)
	}
}

// planned plans what was recorded; what is not asked for is dead.
func planned(t *testing.T, b *builder, profile fuser.Profile, o Options) *Plan {
	t.Helper()
	for id := range b.seg.Tensors {
		info := &b.seg.Tensors[id]
		info.Dead = !info.Input && !info.Asked
	}
	o.Check = true
	p, err := New(fuser.Default(), profile, o).Plan(b.done())
	require.NoError(t, err)
	return p
}

func launches(p *Plan) int {
	n := 0
	for _, b := range p.Blocks {
		n += len(b.Calls)
	}
	return n
}

// Updates of any shapes are one launch, or as many as arguments ask for.
func TestUpdatesShareALaunch(t *testing.T) {
	for _, c := range []struct{ params, arguments, want int }{
		{20, 512, 1}, {20, 100, 1}, {20, 99, 2}, {20, 50, 2}, {20, 49, 3}, {20, 5, 20}, {20, 0, 5}, {1, 512, 1}, {2, 512, 1},
	} { // five buffers each; without a limit of its own a launch has 24
		b := &builder{}
		sgd(b, c.params)
		profile := cpuProfile
		profile.MaxArguments = c.arguments
		p := planned(t, b, profile, Options{})
		require.Equal(t, c.want, launches(p), "%+v\n%s", c, p.Format(&b.seg))
		off := planned(t, b, profile, Options{Disable: []string{fuser.HorizontalName}})
		require.Equal(t, c.params, launches(off))
		score := func(p *Plan) (s float64) {
			for _, b := range p.Blocks {
				s += b.Score
			}
			return s
		}
		require.InDelta(t, score(off)+float64(c.params-c.want)*profile.LaunchCost, score(p), 1e-6, "the launches saved")
		for _, blk := range p.Blocks {
			alone, err := blk.Fallback()
			require.NoError(t, err)
			require.Len(t, alone, len(blk.Ops))
		}
		if c.want > 1 && c.want < c.params {
			require.True(t, slices.ContainsFunc(p.Log.Decisions, func(d Decision) bool { return d.Rule == string(fuser.RuleMaxArguments) }))
		}
	}
}

// Gradients ready one after another do not keep the updates apart: what counts
// is the way to the end.
func TestUpdatesBehindABackwardPass(t *testing.T) {
	b := &builder{}
	x := b.in(4, 8)
	for range 6 { // each gradient is made of the one before
		x = b.op(ir.MatMul, b.in(4, 4), x)
		w := b.variable(4, 8)
		b.set(w, b.op(ir.Sub, w, b.scalar(ir.Mul, 0.1, b.op(ir.MatMul, b.in(4, 4), x))), true)
	}
	p := planned(t, b, wideProfile, Options{})
	last := p.Blocks[len(p.Blocks)-1]
	require.Contains(t, []string{"matmul", fuser.HorizontalName}, last.Fuser)

	b = &builder{}
	x = b.in(4, 8)
	var grads []ir.TensorID
	for range 6 {
		x = b.op(ir.MatMul, b.in(4, 4), x)
		grads = append(grads, x)
	}
	b.asked(grads...)
	for _, g := range grads {
		w := b.variable(4, 8)
		b.set(w, b.op(ir.Sub, w, b.scalar(ir.Mul, 0.1, g)), true)
	}
	p = planned(t, b, wideProfile, Options{})
	require.LessOrEqual(t, launches(p), 7, p.Format(&b.seg))
}

// Where joining would be wrong, or cost more than it saves, the log says why.
func TestWhatDoesNotShareALaunch(t *testing.T) {
	cases := []struct {
		rule   string
		record func(b *builder) (x, y int) // operations that must stay apart
	}{
		{"distance", func(b *builder) (int, int) { // one has a product behind it, the other two
			x, y := b.op(ir.Exp, b.in(4, 6)), b.op(ir.Exp, b.in(5, 7))
			b.asked(b.op(ir.MatMul, x, b.op(ir.MatMul, b.in(6, 6), b.in(6, 6))))
			b.asked(b.op(ir.MatMul, b.in(3, 2), b.op(ir.MatMul, b.in(2, 5), y)))
			b.asked(x, y)
			return 0, 1
		}},
		{"old-version", func(b *builder) (int, int) { // a reader of what was written over
			v := b.variable(4, 4)
			old := b.op(ir.Exp, v)
			b.seg.Tensors[v].Buffer = 77
			b.set(v, b.in(4, 4), true)
			alias := b.in(4, 4)
			b.seg.Tensors[alias].Buffer = 77
			b.asked(old, b.op(ir.Neg, alias))
			return 1, 2
		}},
		{"may-fail", func(b *builder) (int, int) {
			b.asked(b.op(ir.Exp, b.in(4, 6)))
			b.asked(b.add(ir.Operation{Kind: ir.Gather, Attrs: ir.Attrs{Axes: []int{0}}}, b.in(4, 6), b.typed(ir.I64, 3, 6)))
			return 0, 1
		}},
		{"draws", func(b *builder) (int, int) {
			b.asked(b.op(ir.Exp, b.in(4, 6)))
			b.asked(b.add(ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: ir.Shape{3, 5}, DType: ir.F32},
				Scalars: []ir.Scalar{ir.I64Scalar(1), ir.I64Scalar(2), ir.F32Scalar(0), ir.F32Scalar(1)}}))
			return 0, 1
		}},
		{"keeps-memory", func(b *builder) (int, int) { // a product of 64 KiB would wait for the end
			b.asked(b.op(ir.Exp, b.rows(b.op(ir.MatMul, b.in(128, 16), b.in(16, 128)), 0, 127)))
			b.asked(b.op(ir.MatMul, b.in(4, 4), b.in(4, 4)))
			b.asked(b.op(ir.Neg, b.in(5)))
			return 2, 4
		}},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			b := &builder{}
			x, y := c.record(b)
			p := planned(t, b, wideProfile, Options{})
			require.NotEqual(t, blockOf(t, p, x), blockOf(t, p, y), p.Format(&b.seg))
			why := p.Log.Why(x, y)
			require.True(t, slices.ContainsFunc(why, func(d Decision) bool { return d.Rule == c.rule && d.Fuser == fuser.HorizontalName }), "%+v\n%s", why, p.Format(&b.seg))
			forced := planned(t, b, wideProfile, Options{Disable: []string{c.rule}})
			together := blockOf(t, forced, x) == blockOf(t, forced, y)
			require.Equal(t, c.rule == string(RuleKeepsMemory), together, "only what is a matter of cost can be forced: %s", forced.Format(&b.seg))
		})
	}
}

// A view that one part takes along may be read from memory by another: each
// waits for what it reads itself.
func TestPartsWaitForWhatTheyRead(t *testing.T) {
	b := &builder{}
	x := b.in(4, 6)
	v := b.axes(ir.Permute, x, 1, 0)                         // 0
	b.asked(v)                                               // in memory
	b.asked(b.op(ir.Exp, v), b.op(ir.Neg, b.in(3)))          // 1 reads through it
	b.asked(b.op(ir.Add, b.op(ir.MatMul, v, x), b.in(6, 6))) // the product from memory
	p := planned(t, b, wideProfile, Options{})
	require.NoError(t, Check(p, &b.seg), p.Format(&b.seg))
	require.Equal(t, blockOf(t, p, 1), blockOf(t, p, 2), p.Format(&b.seg))
}

// What two parts read is taken by neither, what one alone reads last may be.
func TestPartsTakeStorage(t *testing.T) {
	b := &builder{}
	both, one := b.in(4, 4), b.in(3)
	b.seg.Tensors[both].Takeable, b.seg.Tensors[one].Takeable = true, true
	b.asked(b.op(ir.Exp, both), b.op(ir.Neg, b.axes(ir.Permute, both, 1, 0)), b.op(ir.Neg, one))
	p := planned(t, b, wideProfile, Options{})
	require.Equal(t, 1, launches(p), p.Format(&b.seg))
	i := blockOf(t, p, 0)
	require.Equal(t, []fuser.InPlace{{Out: b.seg.Ops[3].Outputs[0].ID, In: one}}, p.Blocks[i].InPlace)
}

// Fusion off, or launches that cost nothing, join nothing.
func TestNothingToGain(t *testing.T) {
	b := &builder{}
	sgd(b, 3)
	free := wideProfile
	free.LaunchCost = 0
	require.Equal(t, 3, launches(planned(t, b, free, Options{})))
	require.Equal(t, 1, launches(planned(t, b, free, Options{Disable: []string{string(RuleNoGain)}})))
	p, err := New(nil, wideProfile, Options{Check: true}).Plan(&b.seg)
	require.NoError(t, err)
	require.Equal(t, len(b.seg.Ops), launches(p))
}

// The cost of joining grows with the segment, no faster, and a plan with parts
// is saved as any other.
func TestJoiningManyUpdates(t *testing.T) {
	for _, n := range []int{40, 80} {
		b := &builder{}
		sgd(b, n)
		p := planned(t, b, wideProfile, Options{})
		require.Equal(t, 1, launches(p), fmt.Sprint(n))
		require.LessOrEqual(t, len(p.Log.Decisions), 16*len(b.seg.Ops))
		planner := New(fuser.Default(), wideProfile, Options{})
		state := &State{Key: Key{Hash: 1}, Segment: &b.seg, Plan: p}
		data, err := state.encode()
		require.NoError(t, err)
		got, err := planner.decode(1, data)
		require.NoError(t, err)
		require.Equal(t, calls(p.Blocks[0].Optimization), calls(got.Plan.Blocks[0].Optimization))
	}
}
