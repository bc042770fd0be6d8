package cpu

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// executable is a compiled kernel of one device.
type executable struct {
	codegen.HostExecutable
	device *Device
	check  *codegen.Checker
}

// cache holds the executables of a device by kernel.
type cache struct {
	mu       sync.Mutex
	entries  map[uint64][]*entry
	compiles atomic.Int64
}

// entry is a kernel that is compiled or about to be.
type entry struct {
	kernel *codegen.Kernel
	done   chan struct{} // closed when exe or err is set
	exe    *executable
	err    error
}

// Compile verifies k and makes it executable. Kernels of equal structure are
// compiled once; a kernel that failed is tried again by the next call. It
// returns a *backend.CompileError.
func (d *Device) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	if err := d.open(); err != nil {
		return nil, err
	}
	e, found := d.cache.find(k)
	if !found {
		e.exe, e.err = d.compile(e.kernel)
		if e.err != nil {
			d.cache.drop(e)
		}
		close(e.done)
	}
	<-e.done
	if e.err != nil {
		return nil, e.err
	}
	return e.exe, nil
}

func (d *Device) compile(k *codegen.Kernel) (exe *executable, err error) {
	fail := func(err error) error { return &backend.CompileError{Kernel: k.String(), Err: err} }
	defer func() {
		if v := recover(); v != nil {
			exe, err = nil, fail(&backend.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	if err := k.Verify(); err != nil {
		return nil, fail(err)
	}
	compiled, err := d.engineOf(k)
	if err != nil {
		return nil, fail(err)
	}
	host, ok := compiled.(codegen.HostExecutable)
	if !ok {
		return nil, fail(fmt.Errorf("engine %s does not run on host memory", d.engine.Name()))
	}
	d.cache.compiles.Add(1)
	return &executable{HostExecutable: host, device: d, check: codegen.NewChecker(k)}, nil
}

// engineOf compiles a kernel by the engine, or takes the function that is
// registered for it.
func (d *Device) engineOf(k *codegen.Kernel) (codegen.Executable, error) {
	if k.Template == codegen.Custom {
		return backend.CompileHost("cpu", k)
	}
	return d.engine.Compile(k)
}

// find returns the entry of a kernel, and whether somebody else compiles it.
func (c *cache) find(k *codegen.Kernel) (*entry, bool) {
	hash := k.Hash()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries[hash] {
		if e.kernel.Equal(k) {
			return e, true
		}
	}
	if c.entries == nil {
		c.entries = map[uint64][]*entry{}
	}
	e := &entry{kernel: k.Clone(), done: make(chan struct{})}
	c.entries[hash] = append(c.entries[hash], e)
	return e, false
}

func (c *cache) drop(e *entry) {
	hash := e.kernel.Hash()
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.entries[hash][:0]
	for _, x := range c.entries[hash] {
		if x != e {
			kept = append(kept, x)
		}
	}
	c.entries[hash] = kept
}
