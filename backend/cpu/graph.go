package cpu

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sinter-ml/sinter/backend"
)

// graph is a launch list with resolved addresses. It keeps the memory it
// touches alive.
type graph struct {
	device *Device

	mu        sync.Mutex // held while it runs
	list      *body
	launches  int
	ordinals  []int // by number of a step: which of the launches it is, -1: none
	words     int
	destroyed bool
}

var _ backend.Stepper = (*graph)(nil)

// Launches returns how many kernels are recorded.
func (g *graph) Launches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.launches
}

// Replay runs the list; replays of one graph wait for each other. It stops at
// the first launch that fails, and allocates nothing.
func (g *graph) Replay(id backend.Stream, state []uint64) error { return g.ReplaySteps(id, state, nil) }

// ReplaySteps is Replay that tells of each step if after is not nil.
func (g *graph) ReplaySteps(id backend.Stream, state []uint64, after func(step int, err error) error) error {
	d := g.device
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	if s.recording() != nil {
		return &backend.CaptureError{Reason: backend.CaptureReplay}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.destroyed:
		return &backend.CaptureError{Reason: backend.CaptureDestroyed}
	case len(state) < g.words:
		return &backend.CaptureError{Reason: backend.CaptureState}
	}
	d.replays.Add(1)
	if s.timings.On() {
		return g.timed(s, state, after)
	}
	return d.runList(g.list, state, after)
}

// timed runs the list and notes when each launch ran.
func (g *graph) timed(s *stream, state []uint64, after func(step int, err error) error) error {
	span := backend.Span{Start: time.Now(), Parts: []backend.Part{}}
	last := span.Start
	err := g.device.runList(g.list, state, func(step int, err error) error {
		now := time.Now()
		if n := g.ordinals[step]; n >= 0 {
			span.Parts = append(span.Parts, backend.Part{Launch: n, Start: last, End: now})
		}
		last = now
		if after != nil {
			err = after(step, err)
			last = time.Now()
		}
		return err
	})
	if err != nil {
		return err
	}
	span.End = time.Now()
	s.timings.Note(span)
	return nil
}

func (d *Device) runList(b *body, state []uint64, after func(int, error) error) error {
	for i := range b.steps {
		st := &b.steps[i]
		if st.body != nil {
			if err := d.runBody(st.body, state, after); err != nil {
				return err
			}
			continue
		}
		err := d.runStep(st, state)
		if after != nil {
			err = after(st.number, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) runStep(st *step, state []uint64) error {
	if st.exe == nil {
		d.copy(st.dst, st.src)
		return nil
	}
	for _, p := range st.launch.State {
		st.launch.Params[p.Param] = state[p.Word] + p.Add
	}
	return d.run(st.exe, st.launch, st.mem)
}

func (d *Device) runBody(b *body, state []uint64, after func(int, error) error) error {
	for n := 0; b.holds() && (n == 0 || b.when.Loop) && (b.when.Limit == 0 || n < b.when.Limit); n++ {
		if err := d.runList(b, state, after); err != nil {
			return err
		}
	}
	return nil
}

// holds evaluates the condition.
func (b *body) holds() bool {
	return slices.ContainsFunc(b.pred, func(x byte) bool { return x != 0 }) != b.when.Not
}

// Update takes over the list of another graph of the same structure.
func (g *graph) Update(from backend.Graph) error {
	f, ok := from.(*graph)
	if !ok || f == g || f.device != g.device {
		return g.device.fail(errors.New("update: not another graph of this device"))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case g.destroyed || f.destroyed:
		return &backend.CaptureError{Reason: backend.CaptureDestroyed}
	case !sameSteps(g.list, f.list):
		return &backend.CaptureError{Reason: backend.CaptureTopology}
	}
	g.list, g.launches, g.ordinals, g.words = f.list, f.launches, f.ordinals, f.words
	f.destroyed, f.list = true, nil
	return nil
}

// sameSteps reports whether two lists differ in arguments alone.
func sameSteps(a, b *body) bool {
	return a.when.Loop == b.when.Loop && a.when.Not == b.when.Not &&
		slices.EqualFunc(a.steps, b.steps, func(x, y step) bool {
			if x.body == nil || y.body == nil {
				return x.body == y.body && (x.exe == nil) == (y.exe == nil)
			}
			return sameSteps(x.body, y.body)
		})
}

// Destroy waits for a running replay and lets go of the memory.
func (g *graph) Destroy() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.destroyed, g.list = true, nil
	return nil
}
