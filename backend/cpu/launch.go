package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// Launch checks that the launch stays inside its buffers and runs it, or
// records it. It returns a *backend.DeviceError for arguments that are not of
// this device, and otherwise a *backend.LaunchError, which wraps an
// *ir.IndexError when an index value was out of range.
func (d *Device) Launch(id backend.Stream, e codegen.Executable, l *codegen.Launch, mem []*backend.Buffer) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	exe, ok := e.(*executable)
	if !ok || exe.device != d {
		return d.fail(errors.New("launch: not an executable of this device"))
	}
	s.bytes, err = d.mem.resolve(s.bytes[:0], mem)
	defer clear(s.bytes)
	if err != nil {
		return d.fail(fmt.Errorf("launch %s: %w", exe.Kernel().Name, err))
	}
	s.sizes = s.sizes[:0]
	for _, m := range s.bytes {
		s.sizes = append(s.sizes, len(m))
	}
	if err := exe.check.Check(l, s.sizes); err != nil {
		return &backend.LaunchError{Kernel: exe.Kernel().Name, Err: err}
	}
	if w := s.recording(); w != nil {
		return w.launch(id, exe, l, s.bytes)
	}
	if !s.timings.On() {
		return d.run(exe, l, s.bytes)
	}
	start := time.Now()
	if err := d.run(exe, l, s.bytes); err != nil {
		return err
	}
	s.timings.Note(backend.Span{Start: start, End: time.Now()})
	return nil
}

// StartTiming notes when launches on s run.
func (d *Device) StartTiming(id backend.Stream) (backend.Timing, error) {
	s, err := d.enter(id)
	if err != nil {
		return nil, err
	}
	defer d.leave(s)
	return s.timings.Start(), nil
}

// run executes a checked launch.
func (d *Device) run(exe *executable, l *codegen.Launch, mem [][]byte) (err error) {
	d.launches.Add(1)
	defer func() {
		if v := recover(); v != nil {
			err = &backend.PanicError{Value: v, Stack: debug.Stack()}
		}
		if err != nil {
			err = &backend.LaunchError{Kernel: exe.Kernel().Name, Err: err}
		}
	}()
	return exe.Run(l, mem, d.par)
}

// Write copies src into dst, or records a copy of src.
func (d *Device) Write(ctx context.Context, id backend.Stream, dst *backend.Buffer, offset int, src []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	to, err := d.mem.slice(dst, offset, len(src))
	if err != nil {
		return d.fail(fmt.Errorf("write: %w", err))
	}
	if w := s.recording(); w != nil {
		return w.copy(id, to, append([]byte(nil), src...))
	}
	d.copy(to, src)
	return nil
}

// Read copies from src into dst. Inside a window it is a
// *backend.CaptureError: there is nothing to read yet.
func (d *Device) Read(ctx context.Context, id backend.Stream, dst []byte, src *backend.Buffer, offset int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	if s.recording() != nil {
		return &backend.CaptureError{Reason: backend.CaptureRead}
	}
	from, err := d.mem.slice(src, offset, len(dst))
	if err != nil {
		return d.fail(fmt.Errorf("read: %w", err))
	}
	d.copy(dst, from)
	return nil
}

// Copy copies n bytes, as if through a buffer of its own where both places
// overlap.
func (d *Device) Copy(id backend.Stream, dst *backend.Buffer, dstOffset int, src *backend.Buffer, srcOffset, n int) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	to, errTo := d.mem.slice(dst, dstOffset, n)
	from, errFrom := d.mem.slice(src, srcOffset, n)
	if err := errors.Join(errTo, errFrom); err != nil {
		return d.fail(fmt.Errorf("copy: %w", err))
	}
	if w := s.recording(); w != nil {
		return w.copy(id, to, from)
	}
	d.copy(to, from)
	return nil
}

func (d *Device) copy(dst, src []byte) {
	d.copies.Add(1)
	d.bytesCopied.Add(int64(copy(dst, src)))
}

// Sync reports the faults of s since the last Sync; there is nothing to wait
// for. Inside a window it is a *backend.CaptureError.
func (d *Device) Sync(ctx context.Context, id backend.Stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	if s.recording() != nil {
		return &backend.CaptureError{Reason: backend.CaptureSync}
	}
	if s.fault == nil {
		return nil
	}
	err, s.fault = d.fail(s.fault), nil
	return err
}
