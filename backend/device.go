// Package backend is the contract between the runtime and devices: memory,
// streams, compiling, launching and capture.
//
// It must not know any one backend; backends register themselves.
package backend

import (
	"context"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// Stream is an ordered queue of work on a device.
type Stream uint32

// Buffer is a piece of device memory. A Buffer belongs to who allocated it
// until Free.
type Buffer struct {
	ID    uint64
	Bytes int     // as asked for
	Host  []byte  // host backends, and staging memory of any: the memory, 64-byte aligned
	Ptr   uintptr // device backends: the address
	Pool  Pool
	Class int // the pool's size class; 0 in pools that fit exactly
}

// DTypeUsage says what a device can do with a dtype.
type DTypeUsage uint8

// The uses of a dtype, joined by or. A bool is stored as a u8 of 0 or 1.
const (
	// Storage: tensors can be made, moved, read and cast from and to it.
	Storage DTypeUsage = 1 << iota
	// Arithmetic: operations compute with it.
	Arithmetic
	// Accelerated: there is hardware for its contractions.
	Accelerated
)

// Has reports whether all uses of want are among u.
func (u DTypeUsage) Has(want DTypeUsage) bool { return u&want == want }

// String lists the uses, such as "storage, arithmetic".
func (u DTypeUsage) String() string {
	var uses []string
	for i, name := range [...]string{"storage", "arithmetic", "accelerated"} {
		if u.Has(1 << i) {
			uses = append(uses, name)
		}
	}
	if len(uses) == 0 {
		return "none"
	}
	return strings.Join(uses, ", ")
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
	// CloseStream ends a stream. The memory its pools kept for it serves the
	// others from then on, and so does what is freed on it later.
	CloseStream(s Stream) error

	// Alloc returns a buffer for work on s, of undefined content. When memory is
	// short it frees what nobody uses any more, gives back what the pools do not
	// use and tries again, before it returns an *OutOfMemoryError.
	Alloc(s Stream, bytes int) (*Buffer, error)
	// AllocHost returns a buffer of host memory from the Staging pool, under the
	// same rules. Its Host may be read and written by the program, and Copy moves
	// bytes between it and device memory; kernels do not take it. It is freed by
	// Free, on the stream that used it last.
	AllocHost(bytes int) (*Buffer, error)
	// Free returns b to its pool, to be used again by later work on s at once
	// and by other streams once s has passed this point. The stream may be closed.
	Free(s Stream, b *Buffer)
	// NewPool makes a pool of its own; UsePool makes later Allocs on s come
	// from p, any but Staging, and returns the pool used before. ClosePool ends a
	// pool of NewPool that no stream uses and gives back its memory: that of
	// buffers in use when they are freed.
	NewPool() Pool
	UsePool(s Stream, p Pool) Pool
	ClosePool(p Pool) error
	// Memory and MemoryReport tell what is in use now.
	Memory() MemoryUsage
	MemoryReport() MemoryReport
	// Trim gives the memory that the pools every device has do not use back to
	// the system, and returns how many bytes. Those of NewPool keep theirs: graphs
	// write to it. It is refused while a stream records.
	Trim() (int64, error)

	// Write, Read and Copy are ordered with the work on s. Write has taken src
	// and Read has filled dst when they return; Copy may still be under way, and
	// has passed after Sync.
	Write(ctx context.Context, s Stream, dst *Buffer, offset int, src []byte) error
	Read(ctx context.Context, s Stream, dst []byte, src *Buffer, offset int) error
	Copy(s Stream, dst *Buffer, dstOffset int, src *Buffer, srcOffset, bytes int) error

	Compile(k *codegen.Kernel) (codegen.Executable, error)
	// Launch runs e on mem, one buffer for each of the kernel's. It keeps
	// neither l nor mem unless s is recording, when it copies them.
	Launch(s Stream, e codegen.Executable, l *codegen.Launch, mem []*Buffer) error
	// Sync waits for the work on s and reports faults.
	Sync(ctx context.Context, s Stream) error
	// Wait makes later work on s wait for the work now on other, which another
	// goroutine may be using. With captures: see Capturer.
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
