package fusion

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// Read copies the elements of v, row-major and little endian, to dst, whose
// length must fit exactly. It executes what v needs; a value that carries an
// error returns that error each time.
func (v *Value) Read(ctx context.Context, dst []byte) error {
	if d := v.death.Load(); d != nil {
		return v.ReadError(d.error())
	}
	if len(dst) != v.bytes() && v.Err() == nil {
		return v.ReadError(&ir.ShapeError{Msg: fmt.Sprintf("%d bytes to read %d into", len(dst), v.bytes())})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if v.rt == nil {
		return v.fail.report()
	}
	t := v.target()
	s := v.rt.def
	if !t.is(Unplaced) && t.home != nil {
		s = t.home
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.rt.closed.Load() {
		return v.ReadError(&ClosedError{"device " + v.rt.dev.Name()})
	}
	if s.window != nil && s.window.recording {
		return s.window.refuse("read")
	}
	if t.is(Unplaced) {
		s.place(t)
	}
	if t.awayFrom(s) { // another stream placed it meanwhile
		t.home.materialise(t)
	}
	if t.home == s {
		if f := s.ask(ctx, t); f != nil {
			return f.report()
		}
	}
	return s.fetch(ctx, t, dst)
}

// ReadError returns err as the failure of reading v.
func (v *Value) ReadError(err error) error {
	return &ir.OpError{Op: "Read", Shapes: []ir.Shape{v.shape}, PC: callSite(0), Err: err}
}

// fetch reads an executed value.
func (s *Stream) fetch(ctx context.Context, v *Value, dst []byte) error {
	if v.version != nil {
		c := &v.version.v.content
		c.Lock() // an old version may have to be rebuilt
		defer c.Unlock()
	}
	if f := s.resolve(v); f != nil {
		return f.report()
	}
	if len(dst) == 0 {
		return nil
	}
	if v.layout.IsContiguous() {
		return s.rt.dev.Read(ctx, s.id, dst, v.storage.buf, v.layout.Offset*v.dtype.Size())
	}
	m, err := s.copyOut(v.storage, v.layout, v.dtype)
	if err != nil {
		return err
	}
	defer m.letGo()
	return s.rt.dev.Read(ctx, s.id, dst, m.buf, 0)
}
