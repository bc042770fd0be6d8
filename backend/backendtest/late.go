package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// LateDevice is a device whose copies between buffers happen as late as the
// contract allows: when later work on their stream, Sync, or a stream that
// waits for it needs them. Who looks at or writes over the memory without
// waiting finds it wrong, as on a device that works on its own.
type LateDevice struct {
	backend.Device

	mu        sync.Mutex
	late      map[backend.Stream][]lateCopy
	recording map[backend.Stream]bool
	fault     error
}

type lateCopy struct {
	dst, src                  *backend.Buffer
	dstOffset, srcOffset, len int
}

// Late wraps a device.
func Late(dev backend.Device) *LateDevice {
	return &LateDevice{Device: dev, late: map[backend.Stream][]lateCopy{}, recording: map[backend.Stream]bool{}}
}

// Under returns how many copies on s have not happened yet.
func (d *LateDevice) Under(s backend.Stream) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.late[s])
}

// Fault returns what was done too early so far.
func (d *LateDevice) Fault() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault
}

// Copy puts a copy off, unless s records.
func (d *LateDevice) Copy(s backend.Stream, dst *backend.Buffer, dstOffset int, src *backend.Buffer, srcOffset, bytes int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.recording[s] {
		return d.Device.Copy(s, dst, dstOffset, src, srcOffset, bytes)
	}
	d.late[s] = append(d.late[s], lateCopy{dst, src, dstOffset, srcOffset, bytes})
	return nil
}

// catchUp makes the copies of a stream happen.
func (d *LateDevice) catchUp(s backend.Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, c := range d.late[s] {
		errs = append(errs, d.Device.Copy(s, c.dst, c.dstOffset, c.src, c.srcOffset, c.len))
	}
	d.late[s] = d.late[s][:0]
	return errors.Join(errs...)
}

// Free notes a fault if a copy on another stream uses the buffer.
func (d *LateDevice) Free(s backend.Stream, b *backend.Buffer) {
	err := d.catchUp(s)
	d.mu.Lock()
	for other, copies := range d.late {
		if slices.ContainsFunc(copies, func(c lateCopy) bool { return c.dst == b || c.src == b }) {
			err = errors.Join(err, fmt.Errorf("buffer %d freed on stream %d while stream %d copies", b.ID, s, other))
		}
	}
	d.fault = errors.Join(d.fault, err)
	d.mu.Unlock()
	d.Device.Free(s, b)
}

// Write comes after the copies.
func (d *LateDevice) Write(ctx context.Context, s backend.Stream, dst *backend.Buffer, offset int, src []byte) error {
	return errors.Join(d.catchUp(s), d.Device.Write(ctx, s, dst, offset, src))
}

// Read comes after the copies.
func (d *LateDevice) Read(ctx context.Context, s backend.Stream, dst []byte, src *backend.Buffer, offset int) error {
	return errors.Join(d.catchUp(s), d.Device.Read(ctx, s, dst, src, offset))
}

// Launch comes after the copies.
func (d *LateDevice) Launch(s backend.Stream, e codegen.Executable, l *codegen.Launch, mem []*backend.Buffer) error {
	return errors.Join(d.catchUp(s), d.Device.Launch(s, e, l, mem))
}

// Sync waits for the copies.
func (d *LateDevice) Sync(ctx context.Context, s backend.Stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(d.catchUp(s), d.Device.Sync(ctx, s))
}

// Wait waits for the copies of other.
func (d *LateDevice) Wait(s, other backend.Stream) error {
	return errors.Join(d.catchUp(other), d.Device.Wait(s, other))
}

// CloseStream comes after the copies.
func (d *LateDevice) CloseStream(s backend.Stream) error {
	return errors.Join(d.catchUp(s), d.Device.CloseStream(s))
}

// BeginCapture comes after the copies.
func (d *LateDevice) BeginCapture(s backend.Stream) error {
	err := errors.Join(d.catchUp(s), d.Device.BeginCapture(s))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recording[s] = err == nil
	return err
}

// EndCapture ends the recording.
func (d *LateDevice) EndCapture(s backend.Stream, doomed bool) (backend.Graph, error) {
	d.mu.Lock()
	d.recording[s] = false
	d.mu.Unlock()
	g, err := d.Device.EndCapture(s, doomed)
	if g == nil || err != nil {
		return nil, err
	}
	return &lateGraph{g, d}, nil
}

type lateGraph struct {
	backend.Graph
	dev *LateDevice
}

func (g *lateGraph) Replay(s backend.Stream, state []uint64) error {
	return errors.Join(g.dev.catchUp(s), g.Graph.Replay(s, state))
}

func (g *lateGraph) Update(from backend.Graph) error {
	if f, ok := from.(*lateGraph); ok {
		from = f.Graph
	}
	return g.Graph.Update(from)
}
