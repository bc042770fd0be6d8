package fusion

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/sinter-ml/sinter/ir"
)

// Read copies the elements of v, row-major and little endian, to dst, whose
// length must fit exactly. It executes what v needs; a value that carries an
// error returns that error each time.
func (v *Value) Read(ctx context.Context, dst []byte) error {
	ctx = given(ctx)
	if len(dst) != v.bytes() && v.Err() == nil {
		return v.ReadError(&ir.ShapeError{Msg: fmt.Sprintf("%d bytes to read %d into", len(dst), v.bytes())})
	}
	s, t, err := v.compute(ctx)
	if err != nil {
		return err
	}
	defer s.unlock()
	return s.fetchBytes(ctx, t, dst)
}

// ReadNew is Read into memory that alloc makes once the elements exist: the
// size of a tensor that carries an error may be anything.
func (v *Value) ReadNew(ctx context.Context, alloc func() []byte) error {
	ctx = given(ctx)
	s, t, err := v.compute(ctx)
	if err != nil {
		return err
	}
	defer s.unlock()
	return s.fetchBytes(ctx, t, alloc())
}

// compute executes what v needs. It returns the value v stands for and the
// stream to read it on, whose lock is held unless there is an error.
func (v *Value) compute(ctx context.Context) (s *Stream, t *Value, err error) {
	if d := v.death.Load(); d != nil {
		return nil, nil, v.ReadError(d.error())
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if v.rt == nil {
		return nil, nil, v.fail.report()
	}
	t = v.target()
	s = t.lockReader()
	if err := s.computeLocked(ctx, v, t); err != nil {
		s.unlock()
		return nil, nil, err
	}
	return s, t, nil
}

// lockReader locks the stream v is read on, its own or for a leaf the
// default, and returns it.
func (v *Value) lockReader() *Stream {
	for {
		s := v.rt.def
		if v.is(Unplaced) {
			s.lockWith([]*Value{v})
		} else {
			if v.home != nil {
				s = v.home
			}
			s.mu.Lock()
		}
		if v.dead() || !v.is(Unplaced) && (v.home == nil || v.home == s) {
			return s
		}
		s.unlock() // another stream placed it meanwhile
	}
}

func (s *Stream) computeLocked(ctx context.Context, v, t *Value) error {
	if d := v.death.Load(); d != nil { // while the lock was waited for
		return v.ReadError(d.error())
	}
	if v.rt.closed.Load() {
		return v.ReadError(&ClosedError{"device " + v.rt.dev.Name()})
	}
	if s.window != nil && s.window.unrun.Load() {
		return s.window.refuseWait("read")
	}
	if t.home == s {
		if f := s.ask(ctx, t); f != nil {
			return f.report()
		}
	}
	return nil
}

// ReadError returns err as the failure of reading v.
func (v *Value) ReadError(err error) error { return v.readError("Read", err) }

// readError names the call unless err names an operation already.
func (v *Value) readError(name string, err error) error {
	var known *ir.OpError
	if errors.As(err, &known) {
		return err
	}
	return &ir.OpError{Op: name, Shapes: []ir.Shape{v.shape}, PC: callSite(0), Err: err}
}

// fetchBytes reads an executed value.
func (s *Stream) fetchBytes(ctx context.Context, v *Value, dst []byte) error {
	return s.fetch(v, func(src *Storage, offset int) error { return s.read(ctx, dst, src, offset) })
}

// fetch calls move with the memory of an executed value and the offset its
// elements lie at, densely and in row-major order, if there are any.
func (s *Stream) fetch(v *Value, move func(src *Storage, offset int) error) error {
	if v.version != nil {
		c := &v.version.v.content
		c.Lock() // an old version may have to be rebuilt
		defer c.Unlock()
	}
	if f := s.resolve(v); f != nil {
		return f.report()
	}
	if v.bytes() == 0 {
		return nil
	}
	if v.storage == nil { // its handle ended meanwhile
		return v.ReadError(lost)
	}
	defer runtime.KeepAlive(v) // a collection must not free the memory meanwhile
	if v.layout.IsContiguous() {
		return move(v.storage, v.layout.Offset*v.dtype.Size())
	}
	m, err := s.copyOut(v.storage, v.layout, v.dtype)
	if err != nil {
		return err
	}
	defer m.letGo()
	return move(m, 0)
}
