package fusion_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// nullRuntime runs nothing, at the times its profile says.
func nullRuntime(t *testing.T, fusers []fuser.Factory) (*fusion.Runtime, *null.Device) {
	t.Helper()
	dev := null.Open(backend.Options{})
	rt, err := fusion.New(dev, fusion.Options{Fusers: fusers, Logger: silent})
	require.NoError(t, err)
	t.Cleanup(func() { rt.Close() })
	return rt, dev
}

func openProfile(t *testing.T, s *fusion.Stream, name string) *fusion.Profile {
	t.Helper()
	p, err := s.OpenProfile(context.Background(), fusion.ProfileOptions{Name: name})
	require.NoError(t, err)
	require.Same(t, s, p.Stream())
	return p
}

func closeProfile(t *testing.T, p *fusion.Profile) {
	t.Helper()
	require.NoError(t, p.Close(context.Background()))
}

func report(t *testing.T, p *fusion.Profile) *fusion.ProfileReport {
	t.Helper()
	r, err := p.Report(context.Background())
	require.NoError(t, err)
	return r
}

// kinds lists the operations of each launch, those outside the window in
// brackets.
func kinds(r *fusion.ProfileReport) (out [][]string) {
	for _, l := range r.Launches {
		var ops []string
		for _, o := range l.Ops {
			k := o.Kind.String()
			if o.Outside {
				k = "(" + k + ")"
			}
			ops = append(ops, k)
		}
		out = append(out, ops)
	}
	return out
}

func requireProfileError(t *testing.T, reason string, err error) {
	t.Helper()
	var p *fusion.ProfileError
	require.ErrorAs(t, err, &p)
	require.Equal(t, reason, p.Reason)
	require.Contains(t, err.Error(), reason)
}

// TestProfileKeepsBatches: windows that open and close between operations of
// one queue change nothing of how it is executed; each sees the launches with
// operations of its own, whole.
func TestProfileKeepsBatches(t *testing.T) {
	run := func(profile bool) ([]string, fusion.Stats, []*fusion.Profile) {
		rt, dev := nullRuntime(t, fuser.Default())
		s := rt.Default()
		var windows []*fusion.Profile
		mark := func(f func()) {
			if profile {
				f()
			}
		}
		open := func() { windows = append(windows, openProfile(t, s, "")) }
		x := fromOnes(s, 4, 8)
		a := s.Record(scalarOp(ir.Add, 1), x)
		mark(open)
		b := s.Record(scalarOp(ir.Mul, 2), a)
		mark(open) // inside the first
		c := s.Record(ir.Operation{Kind: ir.MatMul}, b, s.Record(ir.Operation{Kind: ir.Permute, Attrs: ir.Attrs{Axes: []int{1, 0}}}, b))
		mark(func() { closeProfile(t, windows[1]) })
		mark(open) // nothing is recorded in it
		mark(func() { closeProfile(t, windows[2]) })
		mark(open) // overlaps the first
		d := s.Record(ir.Operation{Kind: ir.Exp}, c)
		mark(func() { closeProfile(t, windows[0]) })
		read(t, d)
		mark(func() { closeProfile(t, windows[3]) })
		return dev.Launched(), rt.Stats(), windows
	}
	plain, before, _ := run(false)
	launched, after, w := run(true)
	require.Equal(t, plain, launched)
	require.Equal(t, before.Segments, after.Segments)
	require.Equal(t, before.Device, after.Device)
	require.Equal(t, [][]string{{"Permute", "MatMul", "(Exp)"}}, kinds(report(t, w[1])))
	first := report(t, w[0])
	require.Equal(t, [][]string{{"(Add)", "Mul"}, {"Permute", "MatMul", "Exp"}}, kinds(first))
	require.Equal(t, [][]string{{"(Permute)", "(MatMul)", "Exp"}}, kinds(report(t, w[3])))
	require.Equal(t, first.Launches[1].Number, report(t, w[3]).Launches[0].Number, "one launch, seen by both")
	require.Len(t, first.Segments, 1)
	require.True(t, first.Segments[0].Planned)
	require.Equal(t, 5, first.Segments[0].Operations)

	none := report(t, w[2])
	require.False(t, none.Measured())
	for _, f := range []func() (time.Duration, bool){none.Wall, none.Busy} {
		_, ok := f()
		require.False(t, ok)
	}
	_, _, ok := none.Bytes()
	require.False(t, ok)
	require.Contains(t, none.String(), "not measured")
}

// TestProfileTimes: on a device whose times are its profile's, so are those
// reported; bytes are those of the tensors.
func TestProfileTimes(t *testing.T) {
	rt, _ := nullRuntime(t, fuser.Default())
	s := rt.Default()
	x := fromOnes(s, 100)
	p := openProfile(t, s, "step")
	y := s.Record(here(scalarOp(ir.Mul, 2)), s.Record(scalarOp(ir.Add, 1), x))
	y.SetName("scaled")
	read(t, y)
	read(t, s.Record(ir.Operation{Kind: ir.Exp}, y))
	closeProfile(t, p)
	r := report(t, p)
	require.Len(t, r.Launches, 2)
	require.Equal(t, "step", r.Name)
	require.Equal(t, "null", r.Device)
	for i, l := range r.Launches {
		require.Equal(t, 5080*time.Nanosecond, l.Duration(), "5 µs and 800 bytes at 10 a nanosecond")
		require.Equal(t, []int64{400, 400}, []int64{l.Read, l.Written})
		require.Equal(t, int64(1), l.Allocations)
		require.Equal(t, int64(0), l.Copies)
		require.Equal(t, fusion.WhyRecorded, l.Why)
		if i > 0 {
			require.Equal(t, r.Launches[i-1].End, l.Start)
			require.NotEqual(t, r.Launches[i-1].Block, l.Block)
		}
	}
	require.Equal(t, "elementwise", r.Launches[0].Fuser)
	wall, ok := r.Wall()
	require.True(t, ok)
	require.Equal(t, 10160*time.Nanosecond, wall)
	busy, _ := r.Busy()
	require.Equal(t, wall, busy)
	read, written, _ := r.Bytes()
	require.Equal(t, []int64{800, 800}, []int64{read, written})
	require.Contains(t, r.Launches[0].Ops[1].String(), `Mul "scaled" at `)
	require.Contains(t, r.Launches[0].Ops[1].String(), "profile_test.go:")
	require.Contains(t, r.String(), "2 launches in 10.16µs")
	require.Contains(t, r.String(), "profile_test.go:")
}

// TestProfileFlush: asked to, a window executes what is queued at both ends.
func TestProfileFlush(t *testing.T) {
	rt, _ := nullRuntime(t, fuser.Default())
	s := rt.Default()
	x := s.Record(scalarOp(ir.Add, 1), fromOnes(s, 8))
	p, err := s.OpenProfile(t.Context(), fusion.ProfileOptions{Flush: true})
	require.NoError(t, err)
	require.Zero(t, s.Recorded())
	require.Equal(t, int64(1), rt.Stats().Segments)
	y := s.Record(scalarOp(ir.Mul, 2), x)
	closeProfile(t, p)
	require.Zero(t, s.Recorded())
	require.Equal(t, [][]string{{"Mul"}}, kinds(report(t, p)))
	read(t, y)

	// What fails in it is told, and the window is closed all the same.
	p, err = s.OpenProfile(t.Context(), fusion.ProfileOptions{Flush: true})
	require.NoError(t, err)
	s.Record(ir.Operation{Kind: ir.Add}, x, fromOnes(s, 3))
	var shape *ir.ShapeError
	require.ErrorAs(t, p.Close(t.Context()), &shape)
	require.False(t, report(t, p).Measured())
	s.Record(ir.Operation{Kind: ir.Add}, x, fromOnes(s, 3))
	_, err = s.OpenProfile(t.Context(), fusion.ProfileOptions{Flush: true})
	require.ErrorAs(t, err, &shape)
}

// TestProfileErrors: a window used out of turn says how.
func TestProfileErrors(t *testing.T) {
	rt, dev := nullRuntime(t, fuser.Default())
	s := rt.Default()
	ctx := t.Context()
	p := openProfile(t, s, "w")
	_, err := p.Report(ctx)
	requireProfileError(t, fusion.ProfileOpen, err)
	require.Contains(t, err.Error(), `"w"`)
	y := s.Record(scalarOp(ir.Add, 1), fromOnes(s, 4))
	closeProfile(t, p)
	_, err = p.Report(ctx)
	requireProfileError(t, fusion.ProfilePending, err)
	require.Equal(t, 1, s.Recorded(), "asking executes nothing")
	requireProfileError(t, fusion.ProfileClosed, p.Close(ctx))
	read(t, y)
	require.True(t, report(t, p).Measured())
	require.Equal(t, report(t, p), report(t, p))

	// Abandoning executes nothing, and later work costs nothing more.
	y = s.Record(scalarOp(ir.Add, 1), y)
	p = openProfile(t, s, "")
	z := s.Record(scalarOp(ir.Add, 2), y)
	p.Abandon()
	p.Abandon()
	require.Equal(t, 2, s.Recorded())
	requireProfileError(t, fusion.ProfileAbandoned, p.Close(ctx))
	_, err = p.Report(ctx)
	requireProfileError(t, fusion.ProfileAbandoned, err)
	read(t, z)

	// A stream that closes ends its windows.
	other, err := rt.NewStream()
	require.NoError(t, err)
	p = openProfile(t, other, "")
	other.Record(scalarOp(ir.Add, 1), fromOnes(other, 4))
	require.NoError(t, other.Close())
	require.Len(t, report(t, p).Launches, 1)
	requireProfileError(t, fusion.ProfileClosed, p.Close(ctx))
	var closed *fusion.ClosedError
	_, err = other.OpenProfile(ctx, fusion.ProfileOptions{})
	require.ErrorAs(t, err, &closed)

	// A device that measures nothing says so.
	plain, err := fusion.New(struct{ backend.Device }{null.Open(backend.Options{})}, fusion.Options{})
	require.NoError(t, err)
	defer plain.Close()
	_, err = plain.Default().OpenProfile(ctx, fusion.ProfileOptions{})
	requireProfileError(t, fusion.ProfileUnsupported, err)
	require.NoError(t, dev.Close())
	_, err = s.OpenProfile(ctx, fusion.ProfileOptions{})
	var broken *backend.DeviceError
	require.ErrorAs(t, err, &broken)
}

// TestProfileOwnWork: what the runtime does for itself is in the window of what
// made it necessary, and says why.
func TestProfileOwnWork(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	x := fromOnes(s, 64)
	virtual := s.Record(here(scalarOp(ir.Add, 1)), x)
	before := openProfile(t, s, "before")
	read(t, s.Record(scalarOp(ir.Mul, 2), virtual))
	closeProfile(t, before)
	p := openProfile(t, s, "late")
	read(t, virtual)
	closeProfile(t, p)
	require.Equal(t, [][]string{{"(Add)", "Mul"}}, kinds(report(t, before)))
	late := report(t, p)
	require.Len(t, late.Launches, 1)
	require.Equal(t, fusion.WhyRecomputed, late.Launches[0].Why)
	require.Equal(t, "Add", late.Launches[0].Ops[0].Kind.String())
	require.Contains(t, late.String(), "recomputed: Add at ")
	require.Len(t, late.Segments, 1)
	require.Equal(t, fusion.WhyRecomputed, late.Segments[0].Why)

	// An effect that keeps what it overwrites.
	v := s.NewVar(fromOnes(s, 8, 8))
	write := func() {
		s.Effect(v, ir.Operation{Kind: ir.SetSelect, Attrs: ir.Attrs{Axes: []int{0}}}, s.FromBytes(ir.I64, ir.Shape{1}, make([]byte, 8), 0), fromOnes(s, 1, 8))
		require.NoError(t, s.Flush(t.Context()))
	}
	write() // into memory of its own
	old := v.Value()
	p = openProfile(t, s, "keep")
	write()
	closeProfile(t, p)
	var why []fusion.Why
	for _, l := range report(t, p).Launches {
		why = append(why, l.Why)
	}
	require.Equal(t, []fusion.Why{fusion.WhyOwn, fusion.WhyRecorded}, why)
	read(t, old)
}

// TestProfileFallback: the launches of a block that fell apart are told each.
func TestProfileFallback(t *testing.T) {
	rt, faulty := openFaulty(t, fuser.Default())
	s := rt.Default()
	p := openProfile(t, s, "")
	x := fromOnes(s, 16)
	faulty.FailAt(backend.CallLaunch, 1)
	y := s.Record(scalarOp(ir.Mul, 2), s.Record(scalarOp(ir.Add, 1), x))
	read(t, y)
	closeProfile(t, p)
	r := report(t, p)
	require.Equal(t, [][]string{{"Add"}, {"Mul"}}, kinds(r), "the launch that failed did not run")
	require.Equal(t, r.Launches[0].Block, r.Launches[1].Block)
	require.Less(t, r.Launches[0].Number, r.Launches[1].Number)
	require.True(t, r.Launches[0].Fallback && r.Launches[1].Fallback)
}

// TestProfileCostsNothing: without a window open, a known segment allocates
// what it did before there was one, however many were open meanwhile.
func TestProfileCostsNothing(t *testing.T) {
	rt, _ := nullRuntime(t, fuser.Default())
	s := rt.Default()
	v := s.NewVar(fromOnes(s, 16))
	step := func() {
		sc := s.Begin()
		s.Effect(v, ir.Operation{Kind: ir.Set}, s.Record(scalarOp(ir.Mul, 0.5), s.Record(scalarOp(ir.Add, 1), v.Value())))
		if err := sc.End(context.Background()); err != nil {
			t.Error(err)
		}
	}
	for range 10 {
		step()
	}
	before := testing.AllocsPerRun(50, step)
	for range 3 {
		p := openProfile(t, s, "")
		during := testing.AllocsPerRun(20, step)
		require.Greater(t, during, before, "a window does note launches")
		closeProfile(t, p)
		require.NotEmpty(t, report(t, p).Launches)
		openProfile(t, s, "").Abandon()
	}
	require.Equal(t, before, testing.AllocsPerRun(50, step))
}

// TestProfileElsewhere: a window is closed on another goroutine than the one
// that records, and sees only its own stream.
func TestProfileElsewhere(t *testing.T) {
	rt, _ := nullRuntime(t, fuser.Default())
	a, b := rt.Default(), other(t, rt)
	p := openProfile(t, a, "")
	done := make(chan error)
	go func() {
		defer close(done)
		y := b.Record(scalarOp(ir.Add, 1), fromOnes(b, 4))
		if err := y.Read(context.Background(), make([]byte, 16)); err != nil {
			done <- err
		}
		done <- p.Close(context.Background())
	}()
	read(t, a.Record(ir.Operation{Kind: ir.Exp}, fromOnes(a, 4)))
	require.NoError(t, <-done)
	for _, l := range report(t, p).Launches { // the close may have come first
		require.Equal(t, "Exp", l.Ops[0].Kind.String())
	}
}

func other(t *testing.T, rt *fusion.Runtime) *fusion.Stream {
	t.Helper()
	s, err := rt.NewStream()
	require.NoError(t, err)
	return s
}

// TestProfileSideBySide: streams that use one another's tensors are measured
// while goroutines open, close and abandon windows.
func TestProfileSideBySide(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	shared := rt.Default().NewVar(fromOnes(rt.Default(), 32))
	streams := []*fusion.Stream{rt.Default(), other(t, rt), other(t, rt)}
	var all sync.WaitGroup
	for worker := range 6 {
		s := streams[worker%len(streams)]
		all.Go(func() {
			for i := range 30 {
				p, err := s.OpenProfile(context.Background(), fusion.ProfileOptions{Flush: i%3 == 0})
				if !assert.NoError(t, err) {
					return
				}
				y := s.Record(ir.Operation{Kind: ir.Exp}, s.Record(scalarOp(ir.Add, 1), shared.Value()))
				assert.NoError(t, y.Read(context.Background(), make([]byte, 32*4)))
				if i%5 == 4 {
					p.Abandon()
					continue
				}
				assert.NoError(t, p.Close(context.Background()))
				assert.NoError(t, s.Flush(context.Background()))
				r, err := p.Report(context.Background())
				if assert.NoError(t, err) {
					assert.True(t, r.Measured(), "at least its own operations")
				}
			}
		})
	}
	all.Wait()
}
