package traps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// read returns the elements of a tensor.
func read[T sinter.Elem](t *testing.T, x *tensor) []T {
	t.Helper()
	out, err := sinter.Read[T](ctx, x)
	require.NoError(t, err)
	return out
}

// each runs f on a device that fuses and on one that does not.
func each(t *testing.T, f func(t *testing.T, dev *sinter.Device)) {
	t.Run("fused", func(t *testing.T) { f(t, open(t)) })
	t.Run("unfused", func(t *testing.T) { f(t, open(t, sinter.WithFusion(false))) })
}

// A copy was delayed past the
// mutation of what it copies, or left out.
func TestOverlappingAssignment(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		count := func() *sinter.Var { return sinter.NewVar(sinter.Arange(dev, sinter.F32, 0, 1, 6)) }
		x := count()
		x.SetSlice(x.Value().Narrow(0, 0, 5), sinter.SpanFrom(1))
		require.Equal(t, []float32{0, 0, 1, 2, 3, 4}, read[float32](t, x.Value()))
		x = count()
		x.SetSlice(x.Value().Flip(0), sinter.All())
		require.Equal(t, []float32{5, 4, 3, 2, 1, 0}, read[float32](t, x.Value()))
		x = count()
		x.SetSlice(x.Value().Slice(sinter.SpanStep(0, 6, -2)), sinter.Span(2, 5)) // 5 3 1
		require.Equal(t, []float32{0, 1, 5, 3, 1, 5}, read[float32](t, x.Value()))

		src, dst := count(), count()
		dst.Set(src.Value())
		src.Set(src.Value().AddScalar(1))
		require.Equal(t, []float32{0, 1, 2, 3, 4, 5}, read[float32](t, dst.Value()))
		require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, read[float32](t, src.Value()))

		x = count()
		y := x.Value().MulScalar(2)
		x.SetSlice(sinter.Full(dev, sinter.F32, 2, 3), sinter.Span(2, 5))
		require.Equal(t, []float32{0, 2, 4, 6, 8, 10}, read[float32](t, y), "from the old value")
		require.Equal(t, []float32{0, 1, 2, 2, 2, 5}, read[float32](t, x.Value()))
	})
}

// A buffer that is written was taken for read-only and its
// place given away early. Freed memory is poisoned here.
func TestMomentsKeepTheirMemory(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		const n = 64
		wavy := gen(wavy, n)
		p, m := sinter.NewVar(wavy(dev)), sinter.NewVar(sinter.Zeros(dev, sinter.F32, n))
		wantP, wantM := read[float32](t, p.Value()), make([]float32, n)
		for step := range 6 {
			require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
				g := p.Value().MulScalar(0.5).AddScalar(float64(step))
				m.Set(m.Value().Add(g.Sub(m.Value()).MulScalar(0.05)))
				p.Set(p.Value().Sub(m.Value().MulScalar(0.01)))
				for i := range 3 { // temporaries of the same size
					sc.Keep(p.Value().AddScalar(float64(i)).Exp()).Release()
				}
				return nil
			}))
			for i := range wantP {
				g := float32(wantP[i]*0.5) + float32(step)
				wantM[i] += float32((g - wantM[i]) * 0.05)
				wantP[i] -= float32(wantM[i] * 0.01)
			}
		}
		require.Equal(t, wantM, read[float32](t, m.Value()))
		require.Equal(t, wantP, read[float32](t, p.Value()))
	})
}

// A cached kernel was used again when its inputs had come to
// share memory.
func TestAliasedInputs(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		ones := func() *sinter.Var { return sinter.NewVar(sinter.Ones(dev, sinter.F32, 8)) }
		step := func(base *sinter.Var, x, y *tensor) (before, after []float32) {
			base.SetSlice(x.MulScalar(2), sinter.Span(0, 4))
			head := base.Value().Narrow(0, 0, 4)
			sum := head.Add(y)
			again := head.Add(base.Value().Narrow(0, 2, 4))
			return read[float32](t, sum), read[float32](t, again)
		}
		for range 3 {
			base := ones()
			before, after := step(base, ones().Value().Narrow(0, 0, 4), ones().Value().Narrow(0, 2, 4))
			require.Equal(t, []float32{3, 3, 3, 3}, before, "disjoint")
			require.Equal(t, []float32{4, 4, 3, 3}, after)
			base = ones()
			before, after = step(base, base.Value().Narrow(0, 0, 4), base.Value().Narrow(0, 2, 4))
			require.Equal(t, []float32{3, 3, 3, 3}, before, "y was taken before the effect")
			require.Equal(t, []float32{4, 4, 3, 3}, after)
		}
	})
}

// A value inside a fused pattern that is also
// asked for was missing or wrong.
func TestEveryIntermediateAsOutput(t *testing.T) {
	program := func(in tensors) tensors {
		x := in[0]
		h := x.MatMul(in[1])
		b := h.Add(in[2])
		g := b.Gelu()
		r := g.Add(x)
		m := r.Mean(1)
		c := r.Sub(m)
		s := c.Square()
		v := s.Mean(1)
		d := v.AddScalar(1e-5)
		q := d.Sqrt()
		y := c.Div(q)
		e := y.Sub(y.Max(1)).Exp()
		return tensors{h, b, g, r, m, c, s, v, d, q, y, e, e.Div(e.Sum(1))}
	}
	in := []input{gen(wavy, 5, 33), gen(func(i int) float32 { return wavy(i) / 9 }, 33, 33), gen(wavy, 33)}
	want := fetch(t, program(trap{in: in}.inputs(open(t, sinter.WithFusion(false)))))
	for k := range want {
		trap{in: in, f: func(in tensors) tensors {
			out := program(in)
			return tensors{out[k], out[len(out)-1]} // only these are asked for
		}, check: func(t *testing.T, got []result) {
			same(t, "alone", []result{want[k], want[len(want)-1]}, got)
		}}.run(t)
	}
	trap{in: in, f: program, check: func(t *testing.T, got []result) { same(t, "all", want, got) }}.run(t)
}

// Taking an input's memory for the output had not happened for a
// year, unnoticed.
func TestInPlaceHappens(t *testing.T) {
	dev := open(t)
	chain := func(die bool) int64 {
		before := dev.Stats().InPlace
		x := sinter.From(dev, []float32{1, 2, 3, 4}, 4)
		mid := x.AddScalar(1)
		y := mid.MulScalar(2)
		mid.Release()
		if die {
			x.Release()
		}
		require.Equal(t, []float32{4, 6, 8, 10}, read[float32](t, y))
		return dev.Stats().InPlace - before
	}
	require.Equal(t, int64(1), chain(true), "the input is dead")
	require.Equal(t, int64(0), chain(false), "the input lives")
}

// A synced segment was explored again at every sync.
func TestExploredOnce(t *testing.T) {
	each(t, func(t *testing.T, dev *sinter.Device) {
		x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
		step := func() {
			y := x.MatMul(x).AddScalar(1).Relu()
			require.NoError(t, dev.Stream().Sync(ctx))
			y.Release()
		}
		before := dev.Stats().Explorations
		for range 10 {
			step()
		}
		require.Equal(t, int64(1), dev.Stats().Explorations-before)
	})
}
