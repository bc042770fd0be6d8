package null

import "github.com/sinter-ml/sinter/backend"

// BeginCapture starts recording on s.
func (d *Device) BeginCapture(id backend.Stream) error {
	return d.do(Entry{Call: backend.CallBeginCapture, Stream: id}, func(s *stream) error {
		if s.window != nil {
			return &backend.CaptureError{Reason: backend.CaptureRecording}
		}
		s.window = &window{}
		return nil
	})
}

// EndCapture stops recording, whatever it returns: nothing when doomed, a
// *backend.CaptureError when memory would have been taken from the system.
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
	w := s.window
	s.window = nil
	switch {
	case w == nil:
		return nil, &backend.CaptureError{Reason: backend.CaptureNotRecording}
	case d.Next(backend.CallEndCapture):
		return nil, backend.Fault(backend.CallEndCapture, d.Name())
	case doomed:
		return nil, nil
	case w.allocated > 0:
		return nil, &backend.CaptureError{Reason: backend.CaptureAllocated}
	}
	return &graph{device: d, window: *w}, nil
}

// graph counts what its replays would do.
type graph struct {
	device *Device
	window
	destroyed bool // under the device's lock
}

// Launches returns how many kernels a replay would start.
func (g *graph) Launches() int { return g.launches }

// Replay checks that the graph may run on s.
func (g *graph) Replay(id backend.Stream) error {
	d := g.device
	return d.do(Entry{Call: backend.CallReplay, Stream: id}, func(s *stream) error {
		switch {
		case s.window != nil:
			return &backend.CaptureError{Reason: backend.CaptureReplay}
		case g.destroyed:
			return &backend.CaptureError{Reason: backend.CaptureDestroyed}
		}
		d.count.Replays++
		d.count.Launches += int64(g.launches)
		d.count.Copies += int64(g.copies)
		d.count.BytesCopied += int64(g.bytes)
		return nil
	})
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
