package fusion

import (
	"context"
	"errors"

	"github.com/sinter-ml/sinter/backend"
)

// OpenCheck opens a window for one pass, recorded only to be compared with the
// recording: its End says how they differ. It must be abandoned then. Nothing is
// executed or kept, and no replay of the recording's pool may run meanwhile.
func (r *Recording) OpenCheck(ctx context.Context) (*Window, error) {
	ctx = given(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, &ClosedError{"graph"}
	}
	w := newWindow(ctx, r.s, WindowOptions{KeepVars: true}, r.pool)
	w.checks, w.pass, w.now = r, 2, r.notes // a pass like those after the first two
	for _, x := range r.vars {
		w.vars = append(w.vars, x.v)
		if x.written {
			w.written[x.v] = 1
		}
		w.read[x.v] = x.read
	}
	if err := r.pool.open(r.s.rt); err != nil {
		return nil, err
	}
	if err := r.s.openWindow(ctx, w); err != nil {
		r.pool.shut(false)
		return nil, err
	}
	if err := w.part(); err != nil {
		w.Abandon()
		return nil, err
	}
	return w, nil
}

// part gives each Var that the pass is recorded to write a version nobody has a
// handle on: it is given up afterwards.
func (w *Window) part() error {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, v := range w.overwritten() {
		v.content.Lock()
		err := w.s.supersede(v)
		v.content.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Update makes the recording do the work of from, which was captured on the same
// stream and ends. It reports whether the device changed its graph in place;
// otherwise from's takes its place. After an error both are as before.
func (r *Recording) Update(from *Recording) (inPlace bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from.mu.Lock()
	inPlace, err = r.replace(from)
	from.mu.Unlock()
	if err != nil {
		return false, err
	}
	return inPlace, from.Close()
}

func (r *Recording) replace(from *Recording) (inPlace bool, err error) {
	switch {
	case r.closed || from.closed:
		return false, &ClosedError{"graph"}
	case r.s != from.s:
		return false, &backend.CaptureError{Reason: "a graph is updated by one captured on the same stream"}
	}
	graph := r.graph
	err = graph.Update(from.graph)
	if inPlace = err == nil; !inPlace && !isTopology(err) {
		return false, err
	}
	for _, o := range r.outs {
		if h := o.handle; h != nil {
			if h.death.CompareAndSwap(nil, updated) {
				h.handle.of.version.unask()
			}
			o.handle = nil
		}
	}
	r.work, from.work = from.work, r.work
	if inPlace {
		r.graph, from.graph = graph, r.graph
	}
	return inPlace, nil
}

// updated is the end of an output handle.
var updated = &death{by: "an update of its graph; take outputs anew"}

func isTopology(err error) bool {
	var c *backend.CaptureError
	return errors.As(err, &c) && c.Reason == backend.CaptureTopology
}
