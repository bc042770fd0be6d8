package fusion

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// Staging is host memory that copies to and from its device are made from and
// to directly, while the program goes on. It has one user at a time: the
// function given to Access, or the copies of one stream. Whoever comes next
// waits for the copies under way; who comes while Access runs gets an error.
type Staging struct {
	rt      *Runtime
	cleanup runtime.Cleanup

	mu   sync.Mutex // taken under a stream's lock, never the other way around
	mem  *Storage   // only its buffer; nil: closed
	lent bool       // to the function of an Access
	last *lastUse
}

// lastUse is the stream of the last copy, nil if none can be under way. It is
// apart so that a cleanup can read it.
type lastUse struct{ s *Stream }

// on returns the device stream to free the memory on.
func (l *lastUse) on(rt *Runtime) backend.Stream {
	if l.s != nil {
		return l.s.id
	}
	return rt.def.id
}

// NewStaging returns staging memory of n bytes of undefined content.
func (rt *Runtime) NewStaging(n int) (*Staging, error) {
	if rt.closed.Load() {
		return nil, &ClosedError{"device " + rt.dev.Name()}
	}
	buf, err := rt.dev.AllocHost(n)
	if err != nil {
		return nil, err
	}
	st := &Staging{rt: rt, mem: &Storage{rt: rt, buf: buf}, last: new(lastUse)}
	last := st.last
	st.cleanup = runtime.AddCleanup(st, func(buf *backend.Buffer) { rt.dev.Free(last.on(rt), buf) }, buf)
	return st, nil
}

// Len returns the bytes, 0 after Close.
func (st *Staging) Len() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.mem == nil {
		return 0
	}
	return st.mem.buf.Bytes
}

// free reports why nobody else may use the memory now. The lock is held.
func (st *Staging) free() error {
	switch {
	case st.rt.closed.Load():
		return &ClosedError{"device " + st.rt.dev.Name()}
	case st.mem == nil:
		return &ClosedError{"staging memory"}
	case st.lent:
		return &ir.ArgumentError{Msg: "staging memory is in use by Access"}
	}
	return nil
}

// Access waits for the copies under way and runs f with the memory, which is
// f's until it returns.
func (st *Staging) Access(ctx context.Context, f func(mem []byte) error) error {
	ctx = given(ctx)
	st.mu.Lock()
	if err := st.free(); err != nil {
		st.mu.Unlock()
		return err
	}
	st.lent = true
	last := st.last.s
	st.mu.Unlock()
	defer func() {
		st.mu.Lock()
		st.lent = false
		st.mu.Unlock()
	}()
	if last != nil {
		if err := last.wait(ctx); err != nil {
			return err
		}
		st.last.s = nil // nobody else touches it while the memory is lent
	}
	return f(st.mem.buf.Host)
}

// wait waits until the device has passed what was sent to it on s.
func (s *Stream) wait(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window != nil && s.window.unrun.Load() {
		return s.window.refuseWait("sync")
	}
	return s.rt.dev.Sync(ctx, s.id)
}

// use lets copies on s, which is locked, use the memory after those of other
// streams. In a capture nothing may be under way, and what copies does has to be
// done when it returns.
func (st *Staging) use(s *Stream, n int, copies func(host *Storage) error) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	err := st.free()
	switch {
	case st.rt != s.rt:
		err = &ir.ArgumentError{Msg: "staging memory is of another device"}
	case err == nil && n > st.mem.buf.Bytes:
		err = &ir.ShapeError{Msg: fmt.Sprintf("%d bytes in staging memory of %d", n, st.mem.buf.Bytes)}
	}
	last := st.last.s
	switch {
	case err != nil:
		return err
	case s.window != nil && last != nil:
		return &ir.ArgumentError{Msg: "copies of the staging memory are under way: Access it before the capture"}
	case s.window != nil:
		return copies(st.mem)
	case last != nil && last != s:
		if err := s.rt.dev.Wait(s.id, last.id); err != nil {
			return err
		}
	}
	st.last.s = s
	return copies(st.mem)
}

// FromStaging stores a host tensor, little endian, from the beginning of
// staging memory and returns it. The copy may still be under way. A capture
// records what the memory holds now.
func (s *Stream) FromStaging(dtype ir.DType, shape ir.Shape, st *Staging, pc uintptr) *Value {
	return s.fromStaging("Upload", dtype, shape, st, pc)
}

func (s *Stream) fromStaging(name string, dtype ir.DType, shape ir.Shape, st *Staging, pc uintptr) *Value {
	return s.fromHost(name, dtype, shape, pc, func(dst *Storage) error {
		n := dst.buf.Bytes
		return st.use(s, n, func(host *Storage) error {
			if s.window != nil {
				return s.put(pc, dst, host.buf.Host[:n])
			}
			return s.copy(dst, host, 0, n)
		})
	})
}

// Download copies the elements of v, row-major and little endian, to the
// beginning of the memory. It executes what v needs; the copy may still be
// under way when it returns, and Access waits for it.
func (st *Staging) Download(ctx context.Context, v *Value) error {
	ctx = given(ctx)
	st.mu.Lock()
	err := st.free()
	st.mu.Unlock()
	if err != nil {
		return v.readError("Download", err)
	}
	s, t, err := v.compute(ctx)
	if err != nil {
		return err
	}
	defer s.unlock()
	err = s.fetch(t, func(src *Storage, offset int) error {
		n := v.bytes()
		return st.use(s, n, func(host *Storage) error {
			if s.window != nil {
				return s.read(ctx, host.buf.Host[:n], src, offset)
			}
			return s.copy(host, src, offset, n)
		})
	})
	if err != nil {
		return v.readError("Download", err)
	}
	return nil
}

// Close gives the memory back once the copies under way are done. It may be
// called again; while Access runs it is an error.
func (st *Staging) Close() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.mem == nil:
		return nil
	case st.lent:
		return &ir.ArgumentError{Msg: "staging memory is in use by Access"}
	}
	st.cleanup.Stop()
	st.rt.dev.Free(st.last.on(st.rt), st.mem.buf)
	st.mem = nil
	return nil
}

// Bring returns a copy of a value of another device, which is executed if need
// be. The elements go through staging memory of this one. An error of v's comes
// along, to be told here.
func (s *Stream) Bring(v *Value, pc uintptr) *Value {
	var st *Staging
	err := v.Err()
	if err == nil {
		st, err = s.rt.NewStaging(v.bytes())
	}
	if err == nil {
		defer st.Close()
		err = v.ReadNew(context.Background(), func() []byte { return st.mem.buf.Host })
	}
	var known *ir.OpError
	switch {
	case err == nil:
		return s.fromStaging("To", v.dtype, v.shape, st, pc)
	case !errors.As(err, &known):
		return s.Fail("To", pc, v.shape, v.dtype, err)
	}
	if t := v.target(); t.is(Failed) {
		t.fail.reported.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &failure{err: err}
	s.unreported(f)
	return s.failedBy(&ir.Operation{PC: pc, Outputs: []ir.TensorRef{{Shape: v.shape, DType: v.dtype}}}, f)
}
