package graphapi

import (
	"context"
	"errors"
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

	mu     sync.Mutex // held by a replay, from its first input on
	closed bool
	// Without a recording:
	out    []*sinter.Tensor // of the last replay, if it was good
	failed error            // why it was not
	ran    bool             // there was one
}

// IsHardware reports whether a replay runs recorded work rather than the
// function: a graph of the device, or a launch list on the CPU.
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

// In returns input i, to be written between replays, nil if there is none.
func (g *Graph) In(i int) *sinter.Var {
	if i < 0 || i >= len(g.in) {
		return nil
	}
	return g.in[i]
}

// FrozenItem is something that every replay repeats as it was when the function
// was captured.
type FrozenItem struct {
	What     string // "scalar", "data" copied from the host, or "tensor" from outside
	Op       string // the operation that uses it, such as "Mul"
	Value    string // the scalar, how many bytes of data, or which tensor
	Position string // file:line of the operation
}

// Frozen lists what every replay repeats as it was: host scalars, host data
// and tensors from outside, with file:line.
func (g *Graph) Frozen() []FrozenItem {
	if g.rec == nil {
		return nil
	}
	var items []FrozenItem
	for _, x := range g.rec.Frozen() {
		items = append(items, FrozenItem(x))
	}
	return items
}

// Out returns output i as the last replay made it. Take it anew after each
// replay: the next one overwrites the memory, and the tensor then says so
// when used. Operations recorded on it before are run first, and values
// computed from it stay. Before the first replay, after a failed one, and for
// an output there is not, it carries an error. Goroutines that replay one
// graph and read its outputs need a lock of their own around both.
func (g *Graph) Out(i int) *sinter.Tensor {
	if g.rec != nil {
		return sinter.Wrap(g.rec.Out(i)).On(g.s)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i >= 0 && i < len(g.out) {
		return g.out[i]
	}
	err := g.failed
	switch {
	case g.closed:
		err = &sinter.ClosedError{What: "graph"}
	case err == nil && !g.ran:
		err = &sinter.CaptureError{Reason: "an output is not written before the first replay"}
	case err == nil:
		err = &sinter.IndexError{Msg: fmt.Sprintf("output %d of %d", i, len(g.out))}
	}
	return sinter.Wrap(g.s.Runtime().FailQuietly("Out", err))
}

// Replay runs the graph. Without arguments the inputs are as last written;
// with one tensor for each input those are copied in first, converted if the
// dtype differs, from any layout and device; if one does not fit, none is
// copied. Work queued on the stream runs before. After a failed replay its
// outputs carry the error until the next good one; a Var it would have written
// stays failed until it is wholly written, and a replay that reads such a Var
// is refused.
func (g *Graph) Replay(in ...*sinter.Tensor) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.replay(in); err != nil {
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
func (g *Graph) replay(in []*sinter.Tensor) error {
	if g.closed {
		return &sinter.ClosedError{What: "graph"}
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
	if g.rec != nil {
		return g.rec.Replay()
	}
	return g.again()
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
		in := make([]*sinter.Tensor, len(g.in))
		for i, v := range g.in {
			in[i] = v.Value().On(g.s)
		}
		made, err := g.f(g.s, in)
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

// Close gives back what the graph keeps; its outputs can no longer be read. It
// may be called again. While a capture is open on the graph's stream it is a
// *CaptureError. A graph that is merely dropped is closed by the collector.
func (g *Graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rec != nil {
		if err := g.rec.Close(); err != nil {
			return err
		}
	}
	g.closed, g.out = true, nil
	return nil
}
