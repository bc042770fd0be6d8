package cpu

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// window is a recording. All streams that take part share it; their work goes
// to one list in the order it is recorded, which waits for whatever it should.
type window struct {
	*backend.Forks

	mu        sync.Mutex
	open      []*body // the bodies being recorded, outermost first; the first is the recording itself
	steps     int
	launches  int
	ordinals  []int // by step: which of the launches it is, -1: none
	words     int   // of state that launches take
	allocated int   // times memory was taken from the system
}

// body is a list of steps. Those within the recording run on a condition.
type body struct {
	steps []step
	when  backend.Condition
	pred  []byte
}

// step is one recorded launch, a conditional body, or a copy if there is
// neither.
type step struct {
	number   int // in the order of recording
	exe      *executable
	launch   *codegen.Launch
	mem      [][]byte
	body     *body
	dst, src []byte
}

func newWindow(origin backend.Stream) *window {
	return &window{Forks: backend.NewForks(origin), open: []*body{{}}}
}

// add appends work of stream s.
func (w *window) add(s backend.Stream, st step) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.Work(s); err != nil {
		return err
	}
	st.number = w.steps
	w.steps++
	w.ordinals = append(w.ordinals, -1)
	if st.launch != nil {
		w.ordinals[st.number] = w.launches
		w.launches++
		for _, p := range st.launch.State {
			w.words = max(w.words, p.Word+1)
		}
	}
	in := w.open[len(w.open)-1]
	in.steps = append(in.steps, st)
	return nil
}

func (w *window) launch(s backend.Stream, exe *executable, l *codegen.Launch, mem [][]byte) error {
	for _, p := range l.State {
		if p.Param < 0 || p.Param >= len(l.Params) || p.Word < 0 {
			err := fmt.Errorf("word %d of the state for parameter %d of %d", p.Word, p.Param, len(l.Params))
			return &backend.LaunchError{Kernel: exe.Kernel().Name, Err: err}
		}
	}
	return w.add(s, step{exe: exe, launch: l.Clone(), mem: slices.Clone(mem)})
}

func (w *window) copy(s backend.Stream, dst, src []byte) error {
	return w.add(s, step{dst: dst, src: src})
}

// recording returns the recording the stream takes part in, nil if there is
// none. The stream is locked.
func (s *stream) recording() *window {
	if s.window != nil && !s.window.Active() {
		s.window = nil // it ended on the stream it began on
	}
	return s.window
}

// BeginCapture starts recording on s.
func (d *Device) BeginCapture(id backend.Stream) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	if s.recording() != nil {
		return &backend.CaptureError{Reason: backend.CaptureRecording}
	}
	s.window = newWindow(id)
	d.windows.Add(1)
	return nil
}

// EndCapture stops the recording that began on s, whatever it returns: nothing
// when doomed; see backend.Capturer.
func (d *Device) EndCapture(id backend.Stream, doomed bool) (backend.Graph, error) {
	s, err := d.enter(id)
	if err != nil {
		return nil, err
	}
	defer d.leave(s)
	w := s.recording()
	switch {
	case w == nil:
		return nil, &backend.CaptureError{Reason: backend.CaptureNotRecording}
	case !w.Origin(id):
		return nil, &backend.CaptureError{Reason: backend.CaptureNotOrigin}
	}
	err = d.closeWindow(s)
	switch {
	case doomed:
		return nil, nil
	case err != nil:
		return nil, err
	case w.allocated > 0:
		return nil, &backend.CaptureError{Reason: backend.CaptureAllocated}
	}
	return &graph{device: d, list: w.open[0], launches: w.launches, ordinals: w.ordinals, words: w.words}, nil
}

// closeWindow ends the recording that began on a stream, if there is one.
func (d *Device) closeWindow(s *stream) error {
	w := s.recording()
	s.window = nil
	if w == nil || !w.Origin(s.id) {
		return nil
	}
	d.windows.Add(-1)
	return w.End()
}

// Wait makes s wait for the work now on other, which is done already; with
// recordings see backend.Capturer.
func (d *Device) Wait(id, other backend.Stream) error {
	o, err := d.enter(other)
	if err != nil {
		return err
	}
	theirs := o.recording()
	d.leave(o)
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	joined, err := backend.WaitRecording(id, other, s.recording().forks(), theirs.forks())
	if joined {
		s.window = theirs
	}
	return err
}

func (w *window) forks() *backend.Forks {
	if w == nil {
		return nil
	}
	return w.Forks
}

// BeginBody starts recording the body of a conditional part.
func (d *Device) BeginBody(id backend.Stream, c backend.Condition) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	w := s.recording()
	if w == nil {
		return &backend.CaptureError{Reason: backend.CaptureNotRecording}
	}
	pred, err := d.mem.slice(c.Pred, 0, c.Bytes)
	if err != nil {
		return d.fail(fmt.Errorf("condition: %w", err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.Enter(id); err != nil {
		return err
	}
	w.open = append(w.open, &body{when: c, pred: pred})
	return nil
}

// EndBody ends the body that was begun last.
func (d *Device) EndBody(id backend.Stream) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	w := s.recording()
	if w == nil {
		return &backend.CaptureError{Reason: backend.CaptureNotRecording}
	}
	w.mu.Lock()
	if err := w.Leave(id); err != nil {
		w.mu.Unlock()
		return err
	}
	b := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	w.mu.Unlock()
	return w.add(id, step{body: b})
}
