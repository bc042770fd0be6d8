// Package backend is the contract between the runtime and devices: memory,
// streams, compiling, launching and capture.
//
// It must not know any one backend; backends register themselves.
package backend

import (
	"context"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// Stream is an ordered queue of work on a device.
type Stream uint32

// Pool names an allocation pool of a device. Pool 0 is the general pool.
type Pool uint32

// Buffer is a piece of device memory. A Buffer belongs to who allocated it
// until Free.
type Buffer struct {
	ID    uint64
	Bytes int     // as asked for
	Host  []byte  // host backends: the memory, 64-byte aligned
	Ptr   uintptr // device backends: the address
	Pool  Pool
	Class int // the pool's size class
}

// DTypeUsage says what a device can do with a dtype.
type DTypeUsage uint8

// The uses of a dtype, joined by or.
const (
	Storage DTypeUsage = 1 << iota
	Arithmetic
	Accelerated
)

// MemoryUsage is a device's memory at one moment.
type MemoryUsage struct {
	Allocations int   // buffers in use
	InUse       int64 // bytes asked for by buffers in use
	Padding     int64 // bytes lost to size classes by buffers in use
	Reserved    int64 // bytes held from the system, in use or pooled
	Peak        int64 // most bytes in use since Open
}

// Counters count what a device did since it was opened.
type Counters struct {
	Launches    int64 // kernels started (captured launches count at each replay)
	Compiles    int64 // kernels compiled
	Allocations int64 // buffers handed out
	Reserves    int64 // times memory was taken from the system
	Replays     int64
	Copies      int64 // Write, Read and Copy calls
	BytesCopied int64
}

// Device is what runs kernels. All methods may be called from several
// goroutines, those naming one stream from one goroutine at a time.
type Device interface {
	// Name returns the registered name with the device's number, such as "cpu".
	Name() string
	Profile() fuser.Profile
	SupportsDType(d ir.DType) DTypeUsage

	NewStream() (Stream, error)
	CloseStream(s Stream) error

	// Alloc returns a buffer for work on s, of undefined content. It returns
	// an *OutOfMemoryError when memory is short after the pools were trimmed.
	Alloc(s Stream, bytes int) (*Buffer, error)
	// Free returns b to its pool, to be used again by later work on s at once
	// and by other streams once s has passed this point.
	Free(s Stream, b *Buffer)
	// NewPool makes a pool of its own; UsePool makes later Allocs on s come
	// from p, and returns the pool used before. ClosePool gives back the memory
	// of a pool none of whose buffers is in use.
	NewPool() Pool
	UsePool(s Stream, p Pool) Pool
	ClosePool(p Pool) error
	Memory() MemoryUsage
	// Trim gives pooled memory back to the system.
	Trim() error

	// Write, Read and Copy are ordered with the work on s. Write has taken src
	// and Read has filled dst when they return.
	Write(ctx context.Context, s Stream, dst *Buffer, offset int, src []byte) error
	Read(ctx context.Context, s Stream, dst []byte, src *Buffer, offset int) error
	Copy(s Stream, dst *Buffer, dstOffset int, src *Buffer, srcOffset, bytes int) error

	Compile(k *codegen.Kernel) (codegen.Executable, error)
	// Launch runs e on mem, one buffer for each of the kernel's. It keeps
	// neither l nor mem unless s is recording, when it copies them.
	Launch(s Stream, e codegen.Executable, l *codegen.Launch, mem []*Buffer) error
	// Sync waits for the work on s and reports faults.
	Sync(ctx context.Context, s Stream) error
	// Wait makes later work on s wait for the work now on other. With captures:
	// see Capturer.
	Wait(s, other Stream) error

	Capturer

	Counters() Counters
	Close() error
}

// Reclaimer is a device that asks for unused memory back before it takes more
// from the system.
type Reclaimer interface {
	// SetReclaim sets a function that frees what nobody uses any more. Alloc
	// calls it on its own goroutine, after a garbage collection, when memory
	// would grow well beyond what it ever was or beyond the limit. No lock of
	// the device is held: it may call Free.
	SetReclaim(f func())
}
