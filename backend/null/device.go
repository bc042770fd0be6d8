// Package null is a device that executes nothing: it checks its arguments,
// logs every call and counts memory without having any. Scheduling tests run
// on it: its profile is fixed, its log tells what would have run, and any call
// can be made to fail.
//
// Importing the package registers it as "null"; "auto" never takes it.
package null

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func init() {
	backend.Register("null", backend.Driver{Rank: -1, Open: func(number int, o backend.Options) (backend.Device, error) {
		if number != 0 {
			return nil, &backend.DeviceError{Device: fmt.Sprintf("null:%d", number), Err: errors.New("there is only null:0")}
		}
		return Open(o), nil
	}})
}

// Device is the null device. FailAt makes chosen calls fail.
type Device struct {
	backend.Faults

	mu         sync.Mutex
	closed     bool
	mem        memory
	streams    map[backend.Stream]*stream
	nextStream backend.Stream
	exes       map[uint64][]*executable
	count      backend.Counters
	log        []Entry
	ran        time.Duration // what the timed launches would have taken so far
}

var (
	_ backend.Device   = (*Device)(nil)
	_ backend.Profiler = (*Device)(nil)
)

type stream struct {
	pool   backend.Pool
	window *window
	fault  error

	timings backend.Timings
}

// window is what a recording counts. Streams that take part share it.
type window struct {
	*backend.Forks
	launches, copies int
	costs            []time.Duration // of the launches
	bytes            int
	allocated        int
	words            int
	nodes            []string // the kinds of its parts, in order
}

// recording returns the recording the stream takes part in, nil if none.
func (s *stream) recording() *window {
	if s.window != nil && !s.window.Active() {
		s.window = nil
	}
	return s.window
}

// Open opens a null device. Of the options it heeds the memory limit.
func Open(o backend.Options) *Device {
	d := &Device{streams: map[backend.Stream]*stream{}, exes: map[uint64][]*executable{}}
	d.mem.init(o.MemoryLimit)
	return d
}

// Name returns "null".
func (d *Device) Name() string { return "null" }

// SupportsDType tells that every dtype can be stored, and all but 8-bit floats
// computed with.
func (d *Device) SupportsDType(t ir.DType) backend.DTypeUsage {
	switch {
	case !t.Valid():
		return 0
	case t.IsFloat8():
		return backend.Storage
	}
	return backend.Storage | backend.Arithmetic
}

// Profile returns the fixed profile that golden plans are made with: 10 bytes
// a nanosecond, 5 µs a launch and 0.1 ns an operation, so that a launch is
// worth 50,000 bytes or 50,000 operations; 64 KiB of row on chip, 16 buffers
// and 64 operations, small enough for tests to reach.
func (d *Device) Profile() fuser.Profile {
	return fuser.Profile{Name: "null", Bandwidth: 10, LaunchCost: 5000, OpCost: 0.1, RowBytes: 64 << 10, MaxBuffers: 16, MaxOps: 64}
}

func (d *Device) fail(err error) error { return &backend.DeviceError{Device: d.Name(), Err: err} }

// enter checks that the device is open and the stream exists. The lock is
// held.
func (d *Device) enter(id backend.Stream) (*stream, error) {
	if d.closed {
		return nil, d.fail(errors.New("closed"))
	}
	s, ok := d.streams[id]
	if !ok {
		return nil, d.fail(fmt.Errorf("no stream %d", id))
	}
	return s, nil
}

// do runs one call under the lock: it injects a fault, logs, and gives the
// stream's state to f.
func (d *Device) do(e Entry, f func(s *stream) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.enter(e.Stream)
	if err == nil && d.Next(e.Call) {
		err = backend.Fault(e.Call, d.Name())
	}
	if err == nil {
		err = f(s)
	}
	e.Failed = err != nil
	d.log = append(d.log, e)
	return err
}

// NewStream makes a stream. Stream numbers start at 1 and are not used again.
func (d *Device) NewStream() (backend.Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, d.fail(errors.New("closed"))
	}
	d.nextStream++
	d.streams[d.nextStream] = &stream{}
	d.log = append(d.log, Entry{Call: CallNewStream, Stream: d.nextStream})
	return d.nextStream, nil
}

// CloseStream ends a stream; an open window is given up.
func (d *Device) CloseStream(id backend.Stream) error {
	return d.do(Entry{Call: CallCloseStream, Stream: id}, func(s *stream) error {
		if w := s.recording(); w != nil && w.Origin(id) {
			_ = w.End() // what is not whole of it does not matter any more
		}
		delete(d.streams, id)
		return nil
	})
}

// Write checks its arguments and forgets src.
func (d *Device) Write(ctx context.Context, id backend.Stream, dst *backend.Buffer, offset int, src []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := Entry{Call: backend.CallWrite, Stream: id, Buffers: ids(dst), Offsets: []int{offset}, Bytes: len(src)}
	return d.do(e, func(s *stream) error { return d.move(id, s, len(src), d.mem.within(dst, offset, len(src))) })
}

// Read fills dst with zeros.
func (d *Device) Read(ctx context.Context, id backend.Stream, dst []byte, src *backend.Buffer, offset int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := Entry{Call: backend.CallRead, Stream: id, Buffers: ids(src), Offsets: []int{offset}, Bytes: len(dst)}
	return d.do(e, func(s *stream) error {
		if s.recording() != nil {
			return &backend.CaptureError{Reason: backend.CaptureRead}
		}
		if err := d.move(id, s, len(dst), d.mem.within(src, offset, len(dst))); err != nil {
			return err
		}
		clear(dst)
		return nil
	})
}

// Copy checks its arguments.
func (d *Device) Copy(id backend.Stream, dst *backend.Buffer, dstOffset int, src *backend.Buffer, srcOffset, n int) error {
	e := Entry{Call: backend.CallCopy, Stream: id, Buffers: ids(dst, src), Offsets: []int{dstOffset, srcOffset}, Bytes: n}
	return d.do(e, func(s *stream) error {
		return d.move(id, s, n, errors.Join(d.mem.within(dst, dstOffset, n), d.mem.within(src, srcOffset, n)))
	})
}

// move counts or records a copy of n bytes whose arguments gave err.
func (d *Device) move(id backend.Stream, s *stream, n int, err error) error {
	if err != nil {
		return d.fail(err)
	}
	if w := s.recording(); w != nil {
		if err := w.Work(id); err != nil {
			return err
		}
		w.copies++
		w.bytes += n
		w.nodes = append(w.nodes, "copy")
		return nil
	}
	d.count.Copies++
	d.count.BytesCopied += int64(n)
	return nil
}

func ids(bufs ...*backend.Buffer) []uint64 {
	out := make([]uint64, len(bufs))
	for i, b := range bufs {
		if b != nil {
			out[i] = b.ID
		}
	}
	return out
}

type executable struct {
	device *Device
	kernel *codegen.Kernel
	check  *codegen.Checker
}

func (e *executable) Kernel() *codegen.Kernel { return e.kernel }

// Listing returns the kernel's text.
func (e *executable) Listing() string { return e.kernel.String() }

// Compile verifies the kernel. Kernels of equal structure are compiled once.
func (d *Device) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.fail(errors.New("closed"))
	}
	e, err := d.compile(k)
	d.log = append(d.log, Entry{Call: backend.CallCompile, Kernel: k, Failed: err != nil})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (d *Device) compile(k *codegen.Kernel) (*executable, error) {
	if d.Next(backend.CallCompile) {
		return nil, backend.Fault(backend.CallCompile, d.Name())
	}
	hash := k.Hash()
	for _, e := range d.exes[hash] {
		if e.kernel.Equal(k) {
			return e, nil
		}
	}
	if err := k.Verify(); err != nil {
		return nil, &backend.CompileError{Kernel: k.String(), Err: err}
	}
	own := k.Clone()
	e := &executable{device: d, kernel: own, check: codegen.NewChecker(own)}
	d.exes[hash] = append(d.exes[hash], e)
	d.count.Compiles++
	return e, nil
}

// Launch checks its arguments as a real device does.
func (d *Device) Launch(id backend.Stream, exe codegen.Executable, l *codegen.Launch, mem []*backend.Buffer) error {
	own, ok := exe.(*executable)
	entry := Entry{Call: backend.CallLaunch, Stream: id, Launch: l.Clone(), Buffers: ids(mem...)}
	if ok {
		entry.Kernel = own.kernel
	}
	return d.do(entry, func(s *stream) error {
		if !ok || own.device != d {
			return d.fail(errors.New("launch: not an executable of this device"))
		}
		sizes := make([]int, len(mem))
		for i, b := range mem {
			err := d.mem.lookup(b)
			if err == nil && b.Pool == backend.Staging {
				err = errors.New("kernels do not take staging memory")
			}
			if err != nil {
				return d.fail(fmt.Errorf("launch %s: %w", own.kernel.Name, err))
			}
			sizes[i] = b.Bytes
		}
		if err := own.check.Check(l, sizes); err != nil {
			return &backend.LaunchError{Kernel: own.kernel.Name, Err: err}
		}
		w := s.recording()
		if w == nil {
			d.count.Launches++
			if s.timings.On() {
				s.timings.Note(d.span(d.cost(own.kernel, l)))
			}
			return nil
		}
		for _, p := range l.State {
			if p.Param < 0 || p.Param >= len(l.Params) || p.Word < 0 {
				return &backend.LaunchError{Kernel: own.kernel.Name, Err: fmt.Errorf("word %d of the state for parameter %d", p.Word, p.Param)}
			}
			w.words = max(w.words, p.Word+1)
		}
		if err := w.Work(id); err != nil {
			return err
		}
		w.launches++
		w.costs = append(w.costs, d.cost(own.kernel, l))
		w.nodes = append(w.nodes, "launch")
		return nil
	})
}

// Sync reports the faults of s since the last Sync.
func (d *Device) Sync(ctx context.Context, id backend.Stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.do(Entry{Call: backend.CallSync, Stream: id}, func(s *stream) error {
		if s.recording() != nil {
			return &backend.CaptureError{Reason: backend.CaptureSync}
		}
		err := s.fault
		s.fault = nil
		if err != nil {
			return d.fail(err)
		}
		return nil
	})
}

// Counters returns what would have been done since Open.
func (d *Device) Counters() backend.Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.count
	c.Reserves = d.mem.reserves
	return c
}

// Close closes the device.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		d.log = append(d.log, Entry{Call: CallClose})
	}
	return nil
}
