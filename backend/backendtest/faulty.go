package backendtest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// FaultyDevice is a device some of whose calls are made to fail with FailAt,
// before the device behind it sees them.
type FaultyDevice struct {
	backend.Device
	backend.Faults
}

// Faulty wraps a device. An EndCapture that fails closes the window all the
// same, as on any device.
func Faulty(dev backend.Device) *FaultyDevice { return &FaultyDevice{Device: dev} }

// RegisterFaulty registers a driver whose devices are those of another one, made
// faulty, and returns what gives the device it opened last.
func RegisterFaulty(name, behind string) (last func() *FaultyDevice) {
	var opened atomic.Pointer[FaultyDevice]
	backend.Register(name, backend.Driver{Rank: -1, Open: func(_ int, o backend.Options) (backend.Device, error) {
		dev, err := backend.Open(behind, o)
		if err != nil {
			return nil, err
		}
		opened.Store(Faulty(dev))
		return opened.Load(), nil
	}})
	return opened.Load
}

func (d *FaultyDevice) fault(c backend.Call) error {
	if d.Next(c) {
		return backend.Fault(c, d.Name())
	}
	return nil
}

// Alloc fails with an *backend.OutOfMemoryError.
func (d *FaultyDevice) Alloc(s backend.Stream, bytes int) (*backend.Buffer, error) {
	if d.Next(backend.CallAlloc) {
		return nil, d.full(bytes)
	}
	return d.Device.Alloc(s, bytes)
}

// AllocHost fails with an *backend.OutOfMemoryError.
func (d *FaultyDevice) AllocHost(bytes int) (*backend.Buffer, error) {
	if d.Next(backend.CallAllocHost) {
		return nil, d.full(bytes)
	}
	return d.Device.AllocHost(bytes)
}

func (d *FaultyDevice) full(bytes int) error {
	return &backend.OutOfMemoryError{Bytes: bytes, Report: d.MemoryReport()}
}

// Write fails with a *backend.DeviceError.
func (d *FaultyDevice) Write(ctx context.Context, s backend.Stream, dst *backend.Buffer, offset int, src []byte) error {
	if err := d.fault(backend.CallWrite); err != nil {
		return err
	}
	return d.Device.Write(ctx, s, dst, offset, src)
}

// Read fails with a *backend.DeviceError.
func (d *FaultyDevice) Read(ctx context.Context, s backend.Stream, dst []byte, src *backend.Buffer, offset int) error {
	if err := d.fault(backend.CallRead); err != nil {
		return err
	}
	return d.Device.Read(ctx, s, dst, src, offset)
}

// Copy fails with a *backend.DeviceError.
func (d *FaultyDevice) Copy(s backend.Stream, dst *backend.Buffer, dstOffset int, src *backend.Buffer, srcOffset, bytes int) error {
	if err := d.fault(backend.CallCopy); err != nil {
		return err
	}
	return d.Device.Copy(s, dst, dstOffset, src, srcOffset, bytes)
}

// Compile fails with a *backend.CompileError.
func (d *FaultyDevice) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	if err := d.fault(backend.CallCompile); err != nil {
		return nil, err
	}
	return d.Device.Compile(k)
}

// Launch fails with a *backend.LaunchError.
func (d *FaultyDevice) Launch(s backend.Stream, e codegen.Executable, l *codegen.Launch, mem []*backend.Buffer) error {
	if err := d.fault(backend.CallLaunch); err != nil {
		return err
	}
	return d.Device.Launch(s, e, l, mem)
}

// Sync fails with a *backend.DeviceError.
func (d *FaultyDevice) Sync(ctx context.Context, s backend.Stream) error {
	if err := d.fault(backend.CallSync); err != nil {
		return err
	}
	return d.Device.Sync(ctx, s)
}

// BeginCapture fails with a *backend.CaptureError.
func (d *FaultyDevice) BeginCapture(s backend.Stream) error {
	if err := d.fault(backend.CallBeginCapture); err != nil {
		return err
	}
	return d.Device.BeginCapture(s)
}

// EndCapture fails with a *backend.CaptureError.
func (d *FaultyDevice) EndCapture(s backend.Stream, doomed bool) (backend.Graph, error) {
	err := d.fault(backend.CallEndCapture)
	g, endErr := d.Device.EndCapture(s, doomed || err != nil)
	if err != nil {
		return nil, err
	}
	if g == nil || endErr != nil {
		return nil, endErr
	}
	return &faultyGraph{g, d}, nil
}

// Wait fails with a *backend.DeviceError.
func (d *FaultyDevice) Wait(s, other backend.Stream) error {
	if err := d.fault(backend.CallWait); err != nil {
		return err
	}
	return d.Device.Wait(s, other)
}

// BeginBody fails with a *backend.CaptureError.
func (d *FaultyDevice) BeginBody(s backend.Stream, c backend.Condition) error {
	if err := d.fault(backend.CallBeginBody); err != nil {
		return err
	}
	return d.Device.BeginBody(s, c)
}

// EndBody fails with a *backend.CaptureError.
func (d *FaultyDevice) EndBody(s backend.Stream) error {
	if err := d.fault(backend.CallEndBody); err != nil {
		return err
	}
	return d.Device.EndBody(s)
}

// SetReclaim hands the hook to the device behind, if it takes one.
func (d *FaultyDevice) SetReclaim(f func()) {
	if r, ok := d.Device.(backend.Reclaimer); ok {
		r.SetReclaim(f)
	}
}

// StartTiming is that of the device behind, which must have it.
func (d *FaultyDevice) StartTiming(s backend.Stream) (backend.Timing, error) {
	p, ok := d.Device.(backend.Profiler)
	if !ok {
		return nil, &backend.DeviceError{Device: d.Name(), Err: errors.ErrUnsupported}
	}
	return p.StartTiming(s)
}

type faultyGraph struct {
	backend.Graph
	dev *FaultyDevice
}

func (g *faultyGraph) Replay(s backend.Stream, state []uint64) error {
	if err := g.dev.fault(backend.CallReplay); err != nil {
		return err
	}
	return g.Graph.Replay(s, state)
}

// ReplaySteps fails as Replay does, if the graph behind has it.
func (g *faultyGraph) ReplaySteps(s backend.Stream, state []uint64, after func(step int, err error) error) error {
	if err := g.dev.fault(backend.CallReplay); err != nil {
		return err
	}
	return g.Graph.(backend.Stepper).ReplaySteps(s, state, after)
}

// Update fails with a *backend.CaptureError.
func (g *faultyGraph) Update(from backend.Graph) error {
	if err := g.dev.fault(backend.CallUpdate); err != nil {
		return err
	}
	if f, ok := from.(*faultyGraph); ok {
		from = f.Graph
	}
	return g.Graph.Update(from)
}
