package exec

import (
	"fmt"
	"slices"
	"sort"
	"sync"
)

// Addresses of the windows. An address of the shared, local or parameter space
// counts from 0; as a generic address it carries its window in the top byte.
// Memory that Alloc and MapBytes make, and the variables of a module, have one
// address in every space.
const (
	firstAddr  = 0x0000_0010_0000_0000
	moduleBase = 0x0000_7000_0000_0000
	constBase  = 0x0000_7800_0000_0000
	sharedBase = 1 << 56
	localBase  = 2 << 56
	paramBase  = 3 << 56
	funcBase   = 4 << 56
	windowMask = 0xff << 56
)

const (
	alignment = 256 // of allocations, as the driver promises
	gap       = 256 // between allocations, so that running over an end is seen
	keepFreed = 1 << 12
)

// Memory is device memory: allocations at addresses that are never used again.
// It may be used by several launches, one after another or at once.
type Memory struct {
	mu     sync.Mutex
	next   uint64
	allocs []*allocation // by base
	freed  int
}

// allocation is one piece of memory.
type allocation struct {
	base     uint64
	data     []byte
	undef    []byte // 1 for each byte that nothing wrote; nil if all are defined
	freed    bool
	readOnly bool
	size     uint64 // remains when freed
	name     string // of a module's variable
}

func (a *allocation) String() string {
	s := "allocation"
	if a.name != "" {
		s = "variable " + a.name
	}
	return fmt.Sprintf("%s of %d bytes at %#x", s, a.size, a.base)
}

// NewMemory returns memory without allocations.
func NewMemory() *Memory { return &Memory{next: firstAddr} }

// Alloc makes n bytes of zeros and returns their address, a multiple of 256, and
// the bytes themselves.
func (m *Memory) Alloc(n int) (addr uint64, b []byte) {
	b = make([]byte, n)
	return m.MapBytes(b), b
}

// MapBytes gives host memory an address; kernels use it in place.
func (m *Memory) MapBytes(b []byte) (addr uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(&allocation{data: b}).base
}

func (m *Memory) add(a *allocation) *allocation {
	a.base, a.size = m.next, uint64(len(a.data))
	m.next += (a.size + gap + alignment - 1) &^ (alignment - 1)
	m.allocs = append(m.allocs, a)
	return a
}

// Poison marks an allocation as undefined: until a kernel writes a byte, or
// Define is called, reading it is a fault (under Options.CheckUndefined). It
// reports whether addr is the address of an allocation.
func (m *Memory) Poison(addr uint64) bool {
	return m.change(addr, func(a *allocation) {
		if a.undef == nil {
			a.undef = make([]byte, len(a.data))
		}
		for i := range a.undef {
			a.undef[i] = 1
		}
	})
}

// Define marks n bytes from addr as written, for a host that fills them. It
// reports whether they lie in one allocation.
func (m *Memory) Define(addr uint64, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := find(m.allocs, addr)
	if a == nil || a.freed || n < 0 || addr-a.base+uint64(n) > a.size {
		return false
	}
	if a.undef != nil {
		clear(a.undef[addr-a.base:][:n])
	}
	return true
}

// Free ends an allocation: accesses to it are faults from then on. It reports
// whether addr is the address of an allocation that was not freed.
func (m *Memory) Free(addr uint64) bool {
	return m.change(addr, func(a *allocation) {
		a.freed, a.data, a.undef = true, nil, nil
		if m.freed++; m.freed > 2*keepFreed {
			m.forget()
		}
	})
}

// forget drops the older half of what is known about freed memory. Accesses to it
// are then out of bounds of everything.
func (m *Memory) forget() {
	drop := m.freed - keepFreed
	m.allocs = slices.DeleteFunc(m.allocs, func(a *allocation) bool {
		if a.freed && drop > 0 {
			drop--
			m.freed--
			return true
		}
		return false
	})
}

func (m *Memory) change(addr uint64, f func(*allocation)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := find(m.allocs, addr)
	if a == nil || a.base != addr || a.freed {
		return false
	}
	f(a)
	return true
}

// snapshot returns the allocations of the moment, by base.
func (m *Memory) snapshot() []*allocation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.allocs)
}

// find returns the last allocation that begins at or before addr, if addr lies in
// it or at its end; nil otherwise.
func find(allocs []*allocation, addr uint64) *allocation {
	i := sort.Search(len(allocs), func(i int) bool { return allocs[i].base > addr })
	if i == 0 {
		return nil
	}
	if a := allocs[i-1]; addr-a.base <= a.size {
		return a
	}
	return nil
}
