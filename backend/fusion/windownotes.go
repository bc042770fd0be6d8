package fusion

import (
	"errors"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// draws counts the random numbers of a pass. They have positions of their own
// from those the device stood at when the window opened: what others draw
// meanwhile does not disturb them, nor they the others. A replay shifts them to
// where the device stands then.
type draws struct {
	seed, base uint64
	taken      uint64
	seedings   uint64 // of the device when the pass began
}

// The words of a recording's state.
const (
	stateSeed     = 0
	statePosition = 1
	stateWords    = 2
)

func (d *draws) begin(rt *Runtime) {
	rt.random.Lock()
	defer rt.random.Unlock()
	if d.seedings == 0 {
		d.seed, d.base = rt.seed, rt.position
	}
	d.taken, d.seedings = 0, rt.seedings
}

// reseeded reports whether somebody seeded the device since the pass began.
func (d *draws) reseeded(rt *Runtime) bool {
	rt.random.Lock()
	defer rt.random.Unlock()
	return d.seedings != rt.seedings
}

// Draw takes the seed and the next position for one draw recorded on the
// stream. In a capture they are the capture's own.
func (s *Stream) Draw() (seed, position uint64) {
	s.mu.Lock()
	w := s.window
	s.mu.Unlock()
	if w == nil || !w.running.Load() {
		return s.rt.Draw()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.random.taken++
	return w.random.seed, w.random.base + w.random.taken - 1
}

// drew reports whether an operation is a draw of the pass, not one with a seed
// and position of the program's own.
func (d *draws) drew(op *ir.Operation) bool {
	if ir.Lookup(op.Kind).Class != ir.ClassRandom {
		return false
	}
	seed, at := op.Scalars[stateSeed], op.Scalars[statePosition]
	return seed.Input == 0 && at.Input == 0 && seed.Bits == d.seed && at.Bits-d.base < d.taken
}

// take returns the state for a replay that draws n times, and advances the
// position as n draws would.
func (rt *Runtime) take(n uint64) [stateWords]uint64 {
	rt.random.Lock()
	defer rt.random.Unlock()
	p := rt.position
	rt.position += n
	return [stateWords]uint64{stateSeed: rt.seed, statePosition: p}
}

// note takes notes of an operation recorded on s in the window, and refuses
// what cannot be replayed.
func (w *Window) note(s *Stream, n *node) error {
	if !w.running.Load() {
		return nil
	}
	op, in := &n.op, n.in
	for _, v := range in {
		if v.version != nil || v.home == nil || v.home == s || v.id <= w.born {
			continue
		}
		if !w.has(v) {
			w.refuseOp("an operand was recorded on another stream since the capture began; record it on the captured stream, or let its stream wait for that first", op.PC)
		} else if err := w.follow(s, v.home); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.forks.Work(s.id); err != nil {
		return w.named(err)
	}
	if w.random.drew(op) {
		n.pass = w.serial
		if w.bodies.depth > 0 {
			w.refuse("how many random numbers are drawn in a body of If or While is not known before; draw them outside", op.PC)
		}
	}
	for i, v := range in {
		if v.version != nil && v.id <= w.began && !(i == 0 && op.Kind == ir.Set) {
			w.read[v.version.v] = true
			v.version.v.window.Store(w)
		}
	}
	if w.bodies.muted == 0 {
		w.now.op(op, in, w.born, &w.random)
	}
	return nil
}

// strayed makes the pass fail because of an effect, on a Var that it uses, of
// operands that belong to no stream: the effect went to the default stream, not
// to the one that is captured, and replays would leave it out.
func (w *Window) strayed(pc uintptr) {
	if !w.running.Load() {
		return
	}
	w.fail(&backend.CaptureError{
		Reason: "a Var the program uses was changed on another stream, as what it was set to is on none; put that on the captured stream with On", Op: ir.Position(pc),
	})
}

func (w *Window) hostData(pc uintptr, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bodies.muted == 0 {
		w.now.host(pc, data)
	}
}

// refuse is used with the window's lock held.
func (w *Window) refuse(reason string, pc uintptr) {
	if w.refusal == nil {
		w.refusal = &backend.CaptureError{Reason: reason, Op: ir.Position(pc)}
	}
}

func (w *Window) refuseOp(reason string, pc uintptr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse(reason, pc)
}

// refuseBy makes a device's refusal the window's.
func (w *Window) refuseBy(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var c *backend.CaptureError
	if errors.As(err, &c) && w.refusal == nil {
		w.refusal = c
	}
}

// refuseWait makes the recording fail because something would have to wait for
// results that do not exist.
func (w *Window) refuseWait(what string) error {
	w.refuseOp(what+" while recording; nothing has been computed yet", 0)
	return w.refused()
}

// refused returns why the program cannot be recorded, nil if it can.
func (w *Window) refused() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refusal == nil {
		return nil
	}
	return w.refusal
}

// fail makes the pass fail with err, if it is not nil.
func (w *Window) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = err
	}
}

func (w *Window) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// Refused returns why the program cannot be recorded, nil if it can.
func (w *Window) Refused() error { return w.refused() }

// retain holds memory the recorded work uses and the window's pool does not
// have: tensors from outside. What lies in the pool stays there, and is held
// no more than in a warm-up, so that the recording takes the same decisions.
// The memory of Vars is fixed.
func (w *Window) retain(m *Storage) {
	if !w.recording || m == nil || m.fixed || m.buf.Pool == w.pool.id {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.retained[m]; !ok {
		m.hold()
		w.retained[m] = struct{}{}
	}
}

// allocated notes memory taken while recording. What is not let go when the pass
// ends, such as old versions of Vars that wait for the collector, the recording
// keeps: a replay writes it.
func (w *Window) allocated(m *Storage) {
	if !w.recording {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = append(w.taken, m)
}

// stateParam makes a parameter of a recorded launch one that each replay sets:
// the seed of a draw, or its position.
func (w *Window) stateParam(param, scalar int, bits uint64) codegen.StateParam {
	p := codegen.StateParam{Param: param, Word: scalar}
	if scalar == statePosition {
		p.Add = bits - w.random.base
	}
	return p
}
