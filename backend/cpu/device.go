// Package cpu is the device of the machine itself: host memory, a pool of
// workers, and an engine, by default the portable one. Its work is done when a
// call returns, so streams cost nothing and waiting is trivial.
//
// Importing the package registers it as "cpu". It must not know of queues,
// tensors or fusion.
package cpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/interp"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func init() {
	backend.Register("cpu", backend.Driver{Open: open})
}

func open(number int, o backend.Options) (backend.Device, error) {
	if number != 0 {
		return nil, &backend.DeviceError{Device: fmt.Sprintf("cpu:%d", number), Err: errors.New("there is only cpu:0")}
	}
	return Open(o), nil
}

// Device is the CPU as a backend.Device.
type Device struct {
	engine  codegen.Engine
	par     *workers
	mem     memory
	cache   cache
	windows atomic.Int32 // streams that record

	// life is held for reading by everything that runs work, and for writing
	// by Close.
	life   sync.RWMutex
	closed bool

	mu         sync.Mutex
	streams    map[backend.Stream]*stream
	nextStream backend.Stream

	launches, replays, copies, bytesCopied atomic.Int64
}

var (
	_ backend.Device    = (*Device)(nil)
	_ backend.Reclaimer = (*Device)(nil)
	_ backend.Profiler  = (*Device)(nil)
)

// stream is the state of one stream.
type stream struct {
	id backend.Stream
	mu sync.Mutex // held while work of the stream runs

	window *window // the recording it takes part in, maybe one that ended: see recording
	pool   backend.Pool
	fault  error // what Sync reports

	timings backend.Timings

	// scratch of Launch
	sizes []int
	bytes [][]byte
}

// Open opens the CPU with the portable engine.
func Open(o backend.Options) *Device { return OpenWith(interp.New(), o) }

// OpenWith opens a CPU device whose kernels another engine for host memory
// runs, for instance one that interprets code for GPUs, so that whole programs
// test it. What the engine compiles must be a codegen.HostExecutable: compiling
// anything else is a *backend.CompileError.
func OpenWith(e codegen.Engine, o backend.Options) *Device {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	d := &Device{engine: e, par: newWorkers(n), streams: map[backend.Stream]*stream{}}
	d.mem.init(&o)
	return d
}

// Name returns "cpu".
func (d *Device) Name() string { return "cpu" }

// SupportsDType tells that every dtype can be stored, and all but 8-bit floats
// computed with. None has hardware of its own.
func (d *Device) SupportsDType(t ir.DType) backend.DTypeUsage {
	switch {
	case !t.Valid():
		return 0
	case t.IsFloat8():
		return backend.Storage
	}
	return backend.Storage | backend.Arithmetic
}

// Profile returns what things cost on a common server CPU. The numbers are
// fixed, not measured, so that one program has one plan on every machine.
func (d *Device) Profile() fuser.Profile { return profile }

var profile = fuser.Profile{
	Name: "cpu",
	// Two channels of DDR4-3200 move 51 GB/s at their best; loops that read and
	// write see about 40 % of it.
	Bandwidth: 20,
	// Resolving buffers, checking the launch and waking workers take a few
	// microseconds.
	LaunchCost: 3000,
	// One operation of the tile engine takes about 1 ns an element on one core;
	// four cores share the work.
	OpCost: 0.25,
	// Half of a 1 MiB second-level cache: the row and what is computed from it.
	RowBytes: 512 << 10,
	// Arguments are slices: these bound compile time and the engine's tiles,
	// not hardware.
	MaxBuffers:   64,
	MaxArguments: 512,
	MaxOps:       256,
}

func (d *Device) fail(err error) error { return &backend.DeviceError{Device: d.Name(), Err: err} }

var errClosed = errors.New("closed")

// enter begins work on a device that must stay open until leave. It returns
// the stream, locked.
func (d *Device) enter(id backend.Stream) (*stream, error) {
	d.life.RLock()
	if d.closed {
		d.life.RUnlock()
		return nil, d.fail(errClosed)
	}
	s, err := d.stream(id)
	if err != nil {
		d.life.RUnlock()
		return nil, err
	}
	s.mu.Lock()
	return s, nil
}

func (d *Device) leave(s *stream) {
	s.mu.Unlock()
	d.life.RUnlock()
}

func (d *Device) stream(id backend.Stream) (*stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.streams[id]
	if !ok {
		return nil, d.fail(fmt.Errorf("no stream %d", id))
	}
	return s, nil
}

// open reports a closed device.
func (d *Device) open() error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return d.fail(errClosed)
	}
	return nil
}

// NewStream makes a stream. Stream numbers start at 1 and are not used again.
func (d *Device) NewStream() (backend.Stream, error) {
	if err := d.open(); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nextStream++
	d.streams[d.nextStream] = &stream{id: d.nextStream}
	d.mem.join(d.nextStream)
	return d.nextStream, nil
}

// CloseStream ends a stream; an open window is given up.
func (d *Device) CloseStream(id backend.Stream) error {
	s, err := d.enter(id)
	if err != nil {
		return err
	}
	defer d.leave(s)
	_ = d.closeWindow(s) // what is not whole of it does not matter any more
	d.mu.Lock()
	delete(d.streams, id)
	d.mu.Unlock()
	d.mem.leave(id)
	return nil
}

// Counters returns what the device did since it was opened.
func (d *Device) Counters() backend.Counters {
	d.mem.mu.Lock()
	handed, reserves := d.mem.handed, d.mem.reserves
	d.mem.mu.Unlock()
	return backend.Counters{
		Launches: d.launches.Load(), Compiles: d.cache.compiles.Load(),
		Allocations: handed, Reserves: reserves,
		Replays: d.replays.Load(), Copies: d.copies.Load(), BytesCopied: d.bytesCopied.Load(),
	}
}

// Close waits for running work, ends the workers and forgets all memory.
// Buffers in use are no obstacle.
func (d *Device) Close() error {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	d.par.close()
	d.mem.close()
	return nil
}
