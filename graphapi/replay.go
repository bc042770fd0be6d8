package graphapi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter"
)

// Replay runs the graph. Without arguments the inputs are as last written;
// with one tensor for each input those are copied in first, converted if the
// dtype differs, from any layout and device; if one does not fit, none is
// copied. Work queued on the stream runs before. After a failed replay its
// outputs carry the error until the next good one; a Var it would have written
// stays failed until it is wholly written, and a replay that reads such a Var
// is refused.
func (g *Graph) Replay(in ...*sinter.Tensor) error {
	if !g.made() {
		return errNoGraph
	}
	return g.ReplayOn(g.s, in...)
}

// ReplayOn is Replay on another stream of the device: it runs after the work
// recorded so far on that stream and on the graph's own, and the latter's later
// work, such as reading outputs, waits for it. A graph without a recording runs
// on its own stream all the same, between the two.
func (g *Graph) ReplayOn(on *sinter.Stream, in ...*sinter.Tensor) error {
	if !g.made() {
		return errNoGraph
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.replay(on, in); err != nil {
		return g.s.Runtime().OpError("Replay", shapes(in), err)
	}
	return nil
}

func shapes(in []*sinter.Tensor) []sinter.Shape {
	out := make([]sinter.Shape, len(in))
	for i, t := range in {
		if t != nil {
			out[i] = t.Shape()
		}
	}
	return out
}

// replay is Replay with the lock held.
func (g *Graph) replay(on *sinter.Stream, in []*sinter.Tensor) error {
	switch {
	case g.closed:
		return &sinter.ClosedError{What: "graph"}
	case on.Runtime() == nil:
		return &sinter.ArgumentError{Msg: "the stream to replay on is nil"}
	}
	if len(in) != 0 && len(in) != len(g.in) {
		return &sinter.CaptureError{Reason: fmt.Sprintf("replay with %d inputs, the graph has %d", len(in), len(g.in))}
	}
	for i, t := range in {
		if err := g.fits(i, t); err != nil {
			return err
		}
	}
	for i, t := range in {
		if err := g.load(i, t); err != nil {
			return err
		}
	}
	if g.rec == nil {
		return g.againOn(on)
	}
	g.count++
	if n := g.o.verify; n > 0 && g.count%n == 0 {
		if err := g.verify(context.Background()); err != nil {
			return err
		}
	}
	return g.rec.ReplayOn(on.Runtime())
}

// againOn is again between what is recorded on another stream before and after.
func (g *Graph) againOn(on *sinter.Stream) error {
	if on.Runtime() == g.s.Runtime() {
		return g.again()
	}
	ctx := context.Background()
	if err := g.s.Wait(ctx, on); err != nil {
		return err
	}
	if err := g.again(); err != nil {
		return err
	}
	return on.Wait(ctx, g.s)
}

// fits returns why a tensor cannot be input i.
func (g *Graph) fits(i int, t *sinter.Tensor) error {
	if t == nil {
		return &sinter.CaptureError{Reason: fmt.Sprintf("input %d is nil", i)}
	}
	val, dst := sinter.ValueOf(t), sinter.VarOf(g.in[i])
	if err := val.Report(); err != nil {
		return err
	}
	if !slices.Equal(val.Shape(), dst.Shape()) {
		return &sinter.ShapeError{Msg: fmt.Sprintf("input %d has shape %v, captured was %v", i, val.Shape(), dst.Shape())}
	}
	return nil
}

// load copies a tensor that fits into input i.
func (g *Graph) load(i int, t *sinter.Tensor) error {
	v := g.in[i]
	val, dst := sinter.ValueOf(t), sinter.VarOf(v)
	if g.rec != nil {
		if done, err := g.s.Runtime().CopyIn(dst, val); done || err != nil {
			return err
		}
	}
	t, err := here(g.s, t)
	if err != nil {
		return err
	}
	if t.DType() != v.DType() {
		t = t.Cast(v.DType())
	}
	v.Set(t)
	return g.s.Flush(context.Background())
}

// here returns a tensor of any device as one recorded on s.
func here(s *sinter.Stream, t *sinter.Tensor) (*sinter.Tensor, error) {
	if sinter.ValueOf(t).Runtime() == s.Runtime().Runtime() {
		return t.On(s), nil
	}
	data, err := sinter.ReadBytes(context.Background(), t)
	if err != nil {
		return nil, err
	}
	return sinter.FromBytes(s, t.DType(), data, t.Shape()...), nil
}

// again runs the function in place of a recording.
func (g *Graph) again() error {
	for _, t := range g.out {
		sinter.ValueOf(t).Outdate()
	}
	g.out, g.ran = nil, true
	var out []*sinter.Tensor
	g.failed = g.s.Scope(func(sc *sinter.Scope) error {
		made, err := g.f(g.s, g.values())
		for i, t := range made {
			if t == nil {
				return errors.Join(err, &sinter.CaptureError{Reason: fmt.Sprintf("output %d is nil", i)})
			}
			out = append(out, sc.Keep(t))
		}
		return err
	})
	if g.failed == nil {
		g.out = out
	}
	return g.failed
}
