package graphapi

import (
	"fmt"
	"sync"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// Graph is a captured function. Its methods may be called from several
// goroutines; replays run one after another.
type Graph struct {
	s   *sinter.Stream
	f   Func // nil: of a Section
	o   options
	in  []*sinter.Var
	rec *fusion.Recording

	reason error // why there is no recording

	mu     sync.Mutex // held by a replay, from its first input on
	closed bool
	count  int // replays, for Verify
	// Without a recording:
	out    []*sinter.Tensor // of the last replay, if it was good
	failed error            // why it was not
	ran    bool             // there was one
}

// IsHardware reports whether a replay runs recorded work rather than the
// function: a graph of the device, or a launch list on the CPU.
func (g *Graph) IsHardware() bool { return g.recording() != nil }

var errNoGraph = &sinter.ArgumentError{Msg: "graph is nil"}

// made reports whether g is a graph of a capture, not nil or a zero value.
func (g *Graph) made() bool { return g != nil && g.s != nil }

// recording returns what a replay runs, nil if that is the function.
func (g *Graph) recording() *fusion.Recording {
	if g == nil {
		return nil
	}
	return g.rec
}

// FallbackReason returns why the function runs again at each replay, nil if it
// does not.
func (g *Graph) FallbackReason() error {
	if !g.made() {
		return errNoGraph
	}
	return g.reason
}

// Launches returns how many launches a replay does, 0 without a recording.
func (g *Graph) Launches() int {
	if g.recording() == nil {
		return 0
	}
	return g.rec.Launches()
}

// Inputs returns how many inputs the graph has.
func (g *Graph) Inputs() int {
	if g == nil {
		return 0
	}
	return len(g.in)
}

// In returns input i, to be written between replays, nil if there is none.
func (g *Graph) In(i int) *sinter.Var {
	if i < 0 || i >= g.Inputs() {
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
	if g.recording() == nil {
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
	if !g.made() {
		return nil
	}
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

// Close gives back what the graph keeps; its outputs can no longer be read. It
// may be called again. While a capture is open on the graph's stream it is a
// *CaptureError. A graph that is merely dropped is closed by the collector.
func (g *Graph) Close() error {
	if !g.made() {
		return errNoGraph
	}
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
