package fusion

import (
	"context"
	"sync"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// Stream records operations in order and executes them when something asks.
// Its methods may be called from several goroutines; a drain holds the lock.
type Stream struct {
	rt *Runtime
	id backend.Stream

	mu       sync.Mutex
	closed   bool
	seg      uint64 // number of the segment being recorded
	queue    segment
	scopes   []*Scope
	errs     []*failure // those nobody was told of
	failures uint64     // how many there were
	tape     Tape
	window   *Window  // a capture that is open and that the stream takes part in
	last     *Drawing // of the last capture on the stream

	bound map[uint64][]*binding // by hash of relative form and facts
	idle  []*executor
	spare []*node  // to be used again
	owed  []*Value // dead values of other streams that unlock frees

	readers readers // scratch of markEffects

	stats stats

	profiles         []*Profile // open, or with operations in the queue
	causeLo, causeHi uint64     // the operations being executed, 0: none
	noted            noted
}

// Tape is told of every operation and effect recorded on a stream it is set
// on, in order; an effect's result is the Var's new version. Reverse
// mode differentiation builds on it. It is called with the stream locked and
// must only take notes: the operation is used again for another one later. A
// value it needs later it marks with Value.Save.
type Tape interface {
	Recorded(op *ir.Operation, in []*Value, out *Value)
}

// SetTape sets the stream's tape and returns the one before.
func (s *Stream) SetTape(t Tape) Tape {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.tape
	s.tape = t
	return old
}

// Save marks a pending value as needed after the drain.
func (v *Value) Save() { v.asked = true }

// Runtime returns the stream's runtime.
func (s *Stream) Runtime() *Runtime { return s.rt }

// Recorded returns how many operations are queued.
func (s *Stream) Recorded() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue.nodes)
}

// Record queues an operation whose kind, attributes, scalars, ranges and PC
// are set, on the given operands, and returns its result. A bad operation
// gives a value that carries an *ir.OpError; so does one whose operand carries
// an error, with that first cause.
func (s *Stream) Record(op ir.Operation, in ...*Value) *Value {
	s.lockWith(in)
	defer s.unlock()
	return s.record(&op, in)
}

// arrive makes values usable on s; see lockWith. No lock is held.
func (s *Stream) arrive(in []*Value) {
	s.lockWith(in)
	s.unlock()
}

// record is Record with the lock held.
func (s *Stream) record(op *ir.Operation, in []*Value) *Value {
	n := s.node()
	n.op = *op
	n.in = n.inArr[:0]
	n.op.Inputs = n.refArr[:0]
	for _, v := range in {
		t, f, err := s.operand(v)
		if err != nil {
			return s.failed(&n.op, known(in), err)
		}
		if f != nil {
			return s.failedBy(&n.op, f)
		}
		n.in = append(n.in, t)
		n.op.Inputs = append(n.op.Inputs, ir.TensorRef{ID: t.id, Shape: t.shape, DType: t.dtype})
	}
	if s.closed || s.rt.closed.Load() {
		return s.failed(&n.op, n.in, &ClosedError{"stream"})
	}
	if len(n.op.Inputs) < cap(n.op.Inputs) {
		k := len(n.op.Inputs)
		n.op.Outputs = n.op.Inputs[k : k+1 : k+1]
		n.op.Inputs = n.op.Inputs[:k:k]
	}
	if err := n.op.Check(); err != nil {
		return s.failed(&n.op, n.in, err)
	}
	if f := s.demand(n.in); f != nil {
		return s.failedBy(&n.op, f)
	}
	if s.window != nil {
		if err := s.window.note(s, n); err != nil {
			return s.failed(&n.op, n.in, err)
		}
	}
	v := s.rt.newValue()
	v.home, v.pc = s, op.PC
	v.shape, v.dtype = n.op.Outputs[0].Shape, n.op.Outputs[0].DType
	n.op.Outputs[0].ID = v.id
	n.out, v.node = v, n
	s.push(n)
	s.cut()
	return v
}

// push appends a checked node to the queue.
func (s *Stream) push(n *node) {
	s.enqueue(n)
	if sc := s.innermost(); sc != nil && n.v == nil {
		sc.add(n.out)
	}
}

// enqueue numbers a node within the segment and counts it.
func (s *Stream) enqueue(n *node) {
	n.site = siteHash(&n.op)
	n.out.hash = structuralHash(n, s)
	s.queue.add(n, s.seg)
	n.seq = uint64(s.stats.recorded.Add(1))
	if s.tape != nil {
		s.tape.Recorded(&n.op, n.in, n.out)
	}
}

// operand checks one operand and returns what it stands for.
func (s *Stream) operand(v *Value) (*Value, *failure, error) {
	if v == nil {
		return nil, nil, &ir.ArgumentError{Msg: "operand is nil"}
	}
	if v.rt != s.rt {
		return nil, nil, &ir.ArgumentError{Msg: "operand is on another device"}
	}
	if d := v.death.Load(); d != nil {
		return nil, nil, d.error()
	}
	t := v.target()
	if t.is(Failed) {
		return nil, t.fail, nil
	}
	if v.handle != nil {
		s.claim(v)
	}
	if s.window != nil {
		var err error
		if t, err = s.window.fromOutside(s, t); err != nil {
			return nil, nil, err
		}
	}
	return t, nil, nil
}

// demand makes the operands of a checked operation real: virtual ones are
// computed at once, before everything queued.
func (s *Stream) demand(in []*Value) *failure {
	for _, t := range in {
		if t.is(Virtual) {
			_ = s.late(t)
		}
		if t.is(Failed) {
			return t.fail
		}
		t.used()
	}
	return nil
}

func known(in []*Value) []*Value {
	out := make([]*Value, 0, len(in))
	for _, v := range in {
		if v != nil {
			out = append(out, v)
		}
	}
	return out
}

// Fail returns a value that carries err as the failure of an operation that
// could not even be recorded, such as host data of the wrong length.
func (s *Stream) Fail(op string, pc uintptr, shape ir.Shape, dtype ir.DType, err error) *Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := ir.Operation{PC: pc, Outputs: []ir.TensorRef{{Shape: shape, DType: dtype}}}
	return s.failed(&o, nil, &ir.OpError{Op: op, Shapes: []ir.Shape{shape}, PC: pc, Err: err})
}

// given is a context, one that never ends in the place of none: a nil one must
// not be found in the middle of a drain.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Flush executes what is queued and returns the first error nobody was told
// of.
func (s *Stream) Flush(ctx context.Context) error {
	ctx = given(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain(ctx, len(s.queue.nodes))
	return s.takeError()
}

// Sync executes what is queued, waits for it, and returns the first error
// nobody was told of.
func (s *Stream) Sync(ctx context.Context) error {
	ctx = given(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain(ctx, len(s.queue.nodes))
	if err := s.takeError(); err != nil {
		return err
	}
	if s.closed {
		return nil
	}
	if s.window != nil && s.window.unrun.Load() {
		return s.window.refuseWait("sync")
	}
	return s.rt.dev.Sync(ctx, s.id)
}

// Close executes what is queued and closes the stream. Tensors on it stay
// readable until the device closes. It returns the first error nobody was told
// of, and may be called again.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.takeError()
	}
	if s.window != nil && !s.rt.closed.Load() {
		return &backend.CaptureError{Reason: "a stream cannot be closed while a capture is open on it"}
	}
	s.drain(context.Background(), len(s.queue.nodes))
	s.closed = true
	s.closeProfiles()
	err := s.takeError()
	s.rt.mu.Lock()
	delete(s.rt.streams, s)
	s.stats.addTo(&s.rt.ended)
	s.rt.idle = append(s.rt.idle, s.id)
	s.rt.mu.Unlock()
	return err
}

// ClosedStream returns a stream every use of which fails.
func (rt *Runtime) ClosedStream() *Stream {
	s := &Stream{rt: rt, closed: true}
	s.queue.init(s)
	return s
}
