package null

import (
	"errors"
	"slices"

	"github.com/sinter-ml/sinter/backend"
)

// BeginCapture starts recording on s.
func (d *Device) BeginCapture(id backend.Stream) error {
	return d.do(Entry{Call: backend.CallBeginCapture, Stream: id}, func(s *stream) error {
		if s.recording() != nil {
			return &backend.CaptureError{Reason: backend.CaptureRecording}
		}
		s.window = &window{Forks: backend.NewForks(id)}
		return nil
	})
}

// EndCapture stops the recording that began on s, whatever it returns: nothing
// when doomed; see backend.Capturer.
func (d *Device) EndCapture(id backend.Stream, doomed bool) (backend.Graph, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g, err := d.endCapture(id, doomed)
	d.log = append(d.log, Entry{Call: backend.CallEndCapture, Stream: id, Failed: err != nil})
	if g == nil {
		return nil, err
	}
	return g, nil
}

func (d *Device) endCapture(id backend.Stream, doomed bool) (*graph, error) {
	s, err := d.enter(id)
	if err != nil {
		return nil, err
	}
	w := s.recording()
	switch {
	case w == nil:
		return nil, &backend.CaptureError{Reason: backend.CaptureNotRecording}
	case !w.Origin(id):
		return nil, &backend.CaptureError{Reason: backend.CaptureNotOrigin}
	}
	s.window = nil
	err = w.End()
	switch {
	case d.Next(backend.CallEndCapture):
		return nil, backend.Fault(backend.CallEndCapture, d.Name())
	case doomed:
		return nil, nil
	case err != nil:
		return nil, err
	case w.allocated > 0:
		return nil, &backend.CaptureError{Reason: backend.CaptureAllocated}
	}
	return &graph{device: d, window: *w}, nil
}

// Wait checks the streams; with recordings see backend.Capturer.
func (d *Device) Wait(id, other backend.Stream) error {
	return d.do(Entry{Call: backend.CallWait, Stream: id, Other: other}, func(s *stream) error {
		o, err := d.enter(other)
		if err != nil {
			return err
		}
		theirs := o.recording()
		joined, err := backend.WaitRecording(id, other, s.recording().forks(), theirs.forks())
		if joined {
			s.window = theirs
		}
		return err
	})
}

func (w *window) forks() *backend.Forks {
	if w == nil {
		return nil
	}
	return w.Forks
}

// BeginBody checks the condition and starts counting a body.
func (d *Device) BeginBody(id backend.Stream, c backend.Condition) error {
	return d.do(Entry{Call: backend.CallBeginBody, Stream: id, Buffers: ids(c.Pred), Bytes: c.Bytes}, func(s *stream) error {
		w := s.recording()
		if w == nil {
			return &backend.CaptureError{Reason: backend.CaptureNotRecording}
		}
		if err := d.mem.within(c.Pred, 0, c.Bytes); err != nil {
			return d.fail(err)
		}
		if err := w.Enter(id); err != nil {
			return err
		}
		w.nodes = append(w.nodes, "begin")
		return nil
	})
}

// EndBody ends the body that was begun last.
func (d *Device) EndBody(id backend.Stream) error {
	return d.do(Entry{Call: backend.CallEndBody, Stream: id}, func(s *stream) error {
		w := s.recording()
		if w == nil {
			return &backend.CaptureError{Reason: backend.CaptureNotRecording}
		}
		if err := w.Leave(id); err != nil {
			return err
		}
		w.nodes = append(w.nodes, "end")
		return w.Work(id)
	})
}

// graph counts what its replays would do, as if every body ran once.
type graph struct {
	device *Device
	window
	destroyed bool // under the device's lock
}

// Launches returns how many kernels are recorded.
func (g *graph) Launches() int {
	g.device.mu.Lock()
	defer g.device.mu.Unlock()
	return g.launches
}

// Replay checks that the graph may run on s.
func (g *graph) Replay(id backend.Stream, state []uint64) error {
	d := g.device
	return d.do(Entry{Call: backend.CallReplay, Stream: id}, func(s *stream) error {
		switch {
		case s.recording() != nil:
			return &backend.CaptureError{Reason: backend.CaptureReplay}
		case g.destroyed:
			return &backend.CaptureError{Reason: backend.CaptureDestroyed}
		case len(state) < g.words:
			return &backend.CaptureError{Reason: backend.CaptureState}
		}
		d.count.Replays++
		d.count.Launches += int64(g.launches)
		d.count.Copies += int64(g.copies)
		d.count.BytesCopied += int64(g.bytes)
		if s.timings.On() {
			s.timings.Note(d.replaySpan(g.costs))
		}
		return nil
	})
}

// Update takes over the counts of another graph of the same structure.
func (g *graph) Update(from backend.Graph) error {
	d := g.device
	f, ok := from.(*graph)
	if !ok || f == g || f.device != d {
		return d.fail(errors.New("update: not another graph of this device"))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	switch {
	case d.Next(backend.CallUpdate):
		err = backend.Fault(backend.CallUpdate, d.Name())
	case g.destroyed || f.destroyed:
		err = &backend.CaptureError{Reason: backend.CaptureDestroyed}
	case !slices.Equal(g.nodes, f.nodes):
		err = &backend.CaptureError{Reason: backend.CaptureTopology}
	default:
		g.window, f.destroyed = f.window, true
	}
	d.log = append(d.log, Entry{Call: backend.CallUpdate, Failed: err != nil})
	return err
}

// Destroy ends the graph.
func (g *graph) Destroy() error {
	g.device.mu.Lock()
	defer g.device.mu.Unlock()
	if !g.destroyed {
		g.destroyed = true
		g.device.log = append(g.device.log, Entry{Call: CallDestroy})
	}
	return nil
}
