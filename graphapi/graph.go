package graphapi

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// Graph is a captured function. Its methods may be called from several
// goroutines; replays run one after another.
type Graph struct {
	s   *sinter.Stream
	f   Func
	in  []*sinter.Var
	rec *fusion.Recording

	reason error // why there is no recording

	mu     sync.Mutex
	out    []*sinter.Tensor // of the last replay, without a recording
	closed bool
}

// IsHardware reports whether a replay runs recorded work rather than the
// function.
func (g *Graph) IsHardware() bool { return g.rec != nil }

// FallbackReason returns why the function runs again at each replay, nil if it
// does not.
func (g *Graph) FallbackReason() error { return g.reason }

// Launches returns how many launches a replay does, 0 without a recording.
func (g *Graph) Launches() int {
	if g.rec == nil {
		return 0
	}
	return g.rec.Launches()
}

// Inputs returns how many inputs the graph has.
func (g *Graph) Inputs() int { return len(g.in) }

// In returns input i, to be written between replays.
func (g *Graph) In(i int) *sinter.Var { return g.in[i] }

// Frozen lists what every replay repeats as it was: host scalars, host data
// and tensors from outside, with file:line.
func (g *Graph) Frozen() []fusion.FrozenItem {
	if g.rec == nil {
		return nil
	}
	return g.rec.Frozen
}

// Out returns output i as the last replay made it. Take it anew after each
// replay: the next one overwrites the memory, and the tensor then says so
// when used. Operations recorded on it before are run first, and values
// computed from it stay. Before the first replay it carries an error.
func (g *Graph) Out(i int) *sinter.Tensor {
	if g.rec != nil {
		return sinter.Wrap(g.rec.Out(i)).On(g.s)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i < len(g.out) {
		return g.out[i]
	}
	err := &sinter.CaptureError{Reason: "an output is not written before the first replay"}
	if g.closed {
		return sinter.Wrap(g.s.Runtime().Fail("Out", 0, nil, sinter.F32, &sinter.ClosedError{What: "graph"}))
	}
	return sinter.Wrap(g.s.Runtime().Fail("Out", 0, nil, sinter.F32, err))
}

// Replay runs the graph. Without arguments the inputs are as last written;
// with one tensor for each input those are copied in first, converted if the
// dtype differs, from any layout and device. Work queued on the stream runs
// before. After a failed replay what it would have written carries the error
// until the next good one.
func (g *Graph) Replay(in ...*sinter.Tensor) error {
	if len(in) != 0 && len(in) != len(g.in) {
		return &sinter.CaptureError{Reason: fmt.Sprintf("replay with %d inputs, the graph has %d", len(in), len(g.in))}
	}
	for i, t := range in {
		if err := g.load(i, t); err != nil {
			return err
		}
	}
	if g.rec != nil {
		return g.rec.Replay()
	}
	return g.again()
}

// load copies a tensor into input i.
func (g *Graph) load(i int, t *sinter.Tensor) error {
	v := g.in[i]
	if t == nil {
		return &sinter.CaptureError{Reason: fmt.Sprintf("input %d is nil", i)}
	}
	val, dst := sinter.ValueOf(t), sinter.VarOf(v)
	if err := val.Report(); err != nil {
		return err
	}
	if !slices.Equal(val.Shape(), dst.Shape()) {
		return &sinter.OpError{Op: "Replay", Shapes: []sinter.Shape{val.Shape()}, Err: &sinter.ShapeError{
			Msg: fmt.Sprintf("input %d has shape %v, captured was %v", i, val.Shape(), dst.Shape())}}
	}
	if g.rec != nil {
		if done, err := g.s.Runtime().CopyIn(dst, val); done || err != nil {
			return err
		}
	}
	if val.Runtime() != dst.Runtime() {
		data, err := sinter.ReadBytes(context.Background(), t)
		if err != nil {
			return err
		}
		t = sinter.FromBytes(g.s, t.DType(), data, val.Shape()...)
	}
	t = t.On(g.s)
	if t.DType() != v.DType() {
		t = t.Cast(v.DType())
	}
	v.Set(t)
	return g.s.Flush(context.Background())
}

// again runs the function in place of a recording.
func (g *Graph) again() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return &sinter.ClosedError{What: "graph"}
	}
	var out []*sinter.Tensor
	err := g.s.Scope(func(sc *sinter.Scope) error {
		in := make([]*sinter.Tensor, len(g.in))
		for i, v := range g.in {
			in[i] = v.Value().On(g.s)
		}
		made, err := g.f(g.s, in)
		for _, t := range made {
			if t != nil {
				out = append(out, sc.Keep(t))
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	g.out = out
	return nil
}

// Close gives back what the graph keeps; its outputs can no longer be read. It
// may be called again.
func (g *Graph) Close() error {
	g.mu.Lock()
	g.closed = true
	g.out = nil
	g.mu.Unlock()
	if g.rec == nil {
		return nil
	}
	return g.rec.Close()
}
