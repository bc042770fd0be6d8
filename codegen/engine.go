package codegen

// AccessArgs places an access in its buffer for one launch.
type AccessArgs struct {
	Offset  int         // in elements
	Strides []int       // one for each axis of the space, in elements
	Index   []IndexArg  // one for each indexed axis
	Window  []WindowArg // Masked: the axes with bounds
}

// IndexArg is the length and stride of an axis indexed by a value. A value
// outside 0..Extent-1 makes the launch fail with an *ir.IndexError.
type IndexArg struct{ Extent, Stride int }

// WindowArg bounds the coordinates along an axis of the space: only Lo ≤ i < Hi
// is read.
type WindowArg struct{ Axis, Lo, Hi int }

// Launch is what a kernel needs at run time beside memory.
type Launch struct {
	Dims   []int // the space: outer, then inner lengths
	Access []AccessArgs
	Params []uint64 // in the form of ir.Scalar
	// State names parameters that a recorded launch takes from the state of its
	// graph at each replay. A launch that is not recorded has none.
	State []StateParam
	Parts []Launch // of a kernel of parts: one for each
}

// StateParam makes a parameter word + Add at each replay.
type StateParam struct {
	Param, Word int
	Add         uint64
}

// Executable is a compiled kernel.
type Executable interface {
	Kernel() *Kernel
	// Listing returns what the engine made of the kernel, for reading.
	Listing() string
}

// HostExecutable is a kernel that runs on host memory.
type HostExecutable interface {
	Executable
	// Run executes one launch; mem holds one slice for each buffer of the
	// kernel, aligned to 64 bytes. It may be called from several goroutines
	// at once, allocates nothing in the steady state, keeps neither argument,
	// and returns an *ir.IndexError when an index value was out of range.
	Run(l *Launch, mem [][]byte, par Parallel) error
}

// Parallel runs the parts of a loop on several workers.
type Parallel interface {
	// For calls t.Run on disjoint parts that cover 0..n-1, each at least grain
	// long but for the last, and returns when all are done. A panic in a part
	// comes back as an error.
	For(n, grain int, t Task) error
	// Workers returns how many parts can run at once; worker numbers passed to
	// Run are below it.
	Workers() int
}

// Task is the body of a parallel loop.
type Task interface{ Run(worker, lo, hi int) }

// Serial is a Parallel that runs everything on the caller.
type Serial struct{}

// For calls t.Run(0, 0, n).
func (Serial) For(n, grain int, t Task) error {
	if n > 0 {
		t.Run(0, 0, n)
	}
	return nil
}

// Workers returns 1.
func (Serial) Workers() int { return 1 }

// Engine makes kernels executable.
type Engine interface {
	Name() string
	Compile(k *Kernel) (Executable, error)
}
