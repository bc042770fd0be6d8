package cpu

import (
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// window is the recording of one stream.
type window struct {
	steps     []step
	launches  int
	allocated int // times memory was taken from the system
}

// step is one recorded launch, or a copy when exe is nil.
type step struct {
	exe      *executable
	launch   *codegen.Launch
	mem      [][]byte
	dst, src []byte
}

func (w *window) launch(exe *executable, l *codegen.Launch, mem [][]byte) {
	w.steps = append(w.steps, step{exe: exe, launch: l.Clone(), mem: slices.Clone(mem)})
	w.launches++
}

func (w *window) copy(dst, src []byte) { w.steps = append(w.steps, step{dst: dst, src: src}) }

// BeginCapture starts recording on s.
func (d *Device) BeginCapture(id backend.Stream) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	if s.window != nil {
		return &backend.CaptureError{Reason: backend.CaptureRecording}
	}
	s.window = &window{}
	d.windows.Add(1)
	return nil
}

// EndCapture stops recording, whatever it returns: nothing when doomed, a
// *backend.CaptureError when memory was taken from the system meanwhile.
func (d *Device) EndCapture(id backend.Stream, doomed bool) (backend.Graph, error) {
	s, err := d.enter(id)
	if err != nil {
		return nil, err
	}
	defer d.leave(s)
	w := d.closeWindow(s)
	switch {
	case w == nil:
		return nil, &backend.CaptureError{Reason: backend.CaptureNotRecording}
	case doomed:
		return nil, nil
	case w.allocated > 0:
		return nil, &backend.CaptureError{Reason: backend.CaptureAllocated}
	}
	return &graph{device: d, steps: w.steps, launches: w.launches}, nil
}

func (d *Device) closeWindow(s *stream) *window {
	w := s.window
	if w != nil {
		s.window = nil
		d.windows.Add(-1)
	}
	return w
}

// graph is a launch list with resolved addresses. It keeps the memory it
// touches alive.
type graph struct {
	device   *Device
	launches int

	mu        sync.Mutex // held while it runs
	steps     []step
	destroyed bool
}

// Launches returns how many kernels a replay starts.
func (g *graph) Launches() int { return g.launches }

// Replay runs the list; replays of one graph wait for each other. It stops at
// the first launch that fails, and allocates nothing.
func (g *graph) Replay(id backend.Stream) error {
	d := g.device
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	if s.window != nil {
		return &backend.CaptureError{Reason: backend.CaptureReplay}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.destroyed {
		return &backend.CaptureError{Reason: backend.CaptureDestroyed}
	}
	d.replays.Add(1)
	for i := range g.steps {
		st := &g.steps[i]
		if st.exe == nil {
			d.copy(st.dst, st.src)
		} else if err := d.run(st.exe, st.launch, st.mem); err != nil {
			return err
		}
	}
	return nil
}

// Destroy waits for a running replay and lets go of the memory.
func (g *graph) Destroy() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.destroyed, g.steps = true, nil
	return nil
}
