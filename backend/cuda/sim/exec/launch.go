package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"
)

// Dim is the extent of a grid or a block, or an index in it.
type Dim struct{ X, Y, Z int }

// String prints the three numbers.
func (d Dim) String() string { return fmt.Sprintf("(%d, %d, %d)", d.X, d.Y, d.Z) }

// Limits of a launch, those of every device since compute capability 8.0 except
// for MaxShared, which is that of 9.0.
const (
	MaxThreads = 1024
	MaxShared  = 227 << 10
)

// maxBlocks is more than any interpreter finishes.
const maxBlocks = 1<<31 - 1

// Arg is the bytes of one parameter of an entry.
type Arg []byte

// ArgOf returns the bytes of a value: a number, an address (uint64), or a struct
// without pointers, laid out as in C.
func ArgOf[T any](v T) Arg {
	b := make([]byte, unsafe.Sizeof(v))
	copy(b, unsafe.Slice((*byte)(unsafe.Pointer(&v)), len(b)))
	return b
}

// Options change how a launch is executed and checked. The zero value runs every
// block once, on all processors, with checks of addresses, barriers and lanes.
type Options struct {
	// Workers is the number of blocks that run at once; 0 is one for each
	// processor. Atomics of several blocks then come in any order, and blocks that
	// write one place without atomics race in Go as they do on a device. A block
	// that waits for another needs that to run at once.
	Workers int
	// Seed, if not 0, shuffles the order in which blocks start, if they are at
	// most a million.
	Seed uint64
	// MaxInstructions bounds the warp instructions of the launch; 0 is 1<<36.
	MaxInstructions uint64
	// CheckRaces looks for shared-memory races. It makes kernels that mostly read
	// shared memory, as a simple product of matrices does, about half as slow
	// again, others hardly slower.
	CheckRaces bool
	// CheckUndefined looks for reads of bytes that nothing wrote: of shared and
	// local memory, and of allocations that were poisoned. It costs a few percent.
	CheckUndefined bool
	// Lines asks for Counts.Lines.
	Lines bool
}

// Launch executes an entry on a grid of blocks and returns what it did. shared is
// the size of dynamic shared memory in bytes.
//
// The error is an *ArgumentError if the launch is impossible, a *Fault if the
// kernel did something wrong (of several blocks that did, the first in the order
// of the grid that was seen), or the context's error.
func (p *Program) Launch(ctx context.Context, entry string, grid, block Dim, shared int, args []Arg, mem *Memory, o Options) (*Counts, error) {
	k := p.kernels[entry]
	if k == nil {
		return nil, &ArgumentError{entry, fmt.Sprintf("the module has no such entry, but %v", p.Entries())}
	}
	l := &launch{k: k, grid: grid, block: block, dynamic: shared, o: o, ctx: ctx}
	if err := l.arguments(args); err != nil {
		return nil, err
	}
	if err := l.extents(); err != nil {
		return nil, err
	}
	if mem == nil {
		return nil, &ArgumentError{entry, "no memory"}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if l.o.MaxInstructions == 0 {
		l.o.MaxInstructions = 1 << 36
	}
	if l.o.Workers <= 0 {
		l.o.Workers = runtime.GOMAXPROCS(0)
	}
	l.allocs = append(mem.snapshot(), p.vars...) // addresses of variables are the higher ones
	return l.run()
}

// arguments lays out the parameters as the entry declares them.
func (l *launch) arguments(args []Arg) error {
	params := l.k.entry.Params
	if len(args) != len(params) {
		return &ArgumentError{l.k.name, fmt.Sprintf("%d arguments, want %d", len(args), len(params))}
	}
	l.params = make([]byte, l.k.paramSize)
	for i, a := range args {
		if len(a) != params[i].Size {
			return &ArgumentError{l.k.name, fmt.Sprintf("argument %d has %d bytes, want %d", i, len(a), params[i].Size)}
		}
		copy(l.params[l.k.paramOff[i]:], a)
	}
	return nil
}

func (l *launch) extents() error {
	bad := func(format string, args ...any) error {
		return &ArgumentError{l.k.name, fmt.Sprintf(format, args...)}
	}
	g, b := l.grid, l.block
	if g.X < 1 || g.Y < 1 || g.Z < 1 || g.X > 1<<31-1 || g.Y > 65535 || g.Z > 65535 {
		return bad("a grid of %v blocks, want from 1 to (2147483647, 65535, 65535)", g)
	}
	if uint64(g.X)*uint64(g.Y) > maxBlocks/uint64(g.Z) {
		return bad("a grid of %v blocks, which is more than %d", g, maxBlocks)
	}
	if b.X < 1 || b.Y < 1 || b.Z < 1 || b.Z > 64 || b.X > MaxThreads || b.Y > MaxThreads || b.X*b.Y*b.Z > MaxThreads {
		return bad("a block of %v threads, want from 1 to (1024, 1024, 64) and %d in all", b, MaxThreads)
	}
	if want, ok := l.k.entry.Directive("maxntid"); ok && b.X*b.Y*b.Z > product(want) {
		return bad("a block of %v threads, the kernel was compiled for %d at most", b, product(want))
	}
	if want, ok := l.k.entry.Directive("reqntid"); ok {
		want = append(slices.Clone(want), 1, 1)
		if d := (Dim{want[0], want[1], want[2]}); d != b {
			return bad("a block of %v threads, the kernel was compiled for %v", b, d)
		}
	}
	l.shared = l.k.static
	if l.dynamic > 0 {
		l.shared = l.k.dynamic + min(l.dynamic, MaxShared+1)
	}
	if l.dynamic < 0 || l.shared > MaxShared {
		return bad("%d bytes of shared memory beside %d of its own, want from 0 to %d in all", l.dynamic, l.k.static, MaxShared)
	}
	return nil
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// run hands the blocks to workers.
func (l *launch) run() (*Counts, error) {
	blocks := l.grid.X * l.grid.Y * l.grid.Z
	order := l.order(blocks)
	workers := make([]*worker, min(l.o.Workers, blocks))
	var mu sync.Mutex
	var first error
	firstAt, next := -1, 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == blocks || l.stop.Load() {
			return 0, false
		}
		next++
		return order(next - 1), true
	}
	work := func(wk *worker) {
		for {
			i, ok := take()
			if !ok {
				return
			}
			if err := wk.try(i); err != nil {
				mu.Lock()
				if first == nil || worse(err, i, first, firstAt) {
					first, firstAt = err, i
				}
				mu.Unlock()
				l.stop.Store(true)
				return
			}
		}
	}
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = l.newWorker()
		if i == len(workers)-1 {
			work(workers[i])
			break
		}
		wg.Go(func() { work(workers[i]) })
	}
	wg.Wait()
	if first == errStopped {
		first = context.Cause(l.ctx)
	}
	if first != nil {
		return nil, first
	}
	return l.counts(workers), nil
}

// worse reports whether the error of block i is the one to report, and not that
// of block j: faults come before the end of other workers, then lower blocks.
func worse(err error, i int, than error, j int) bool {
	_, fault := err.(*Fault)
	_, other := than.(*Fault)
	if fault != other {
		return fault
	}
	return i < j
}

// order returns the block to start as the n-th.
func (l *launch) order(blocks int) func(n int) int {
	if l.o.Seed == 0 || blocks > 1_000_000 {
		return func(n int) int { return n }
	}
	perm := rand.New(rand.NewPCG(l.o.Seed, 0)).Perm(blocks)
	return func(n int) int { return perm[n] }
}

// try executes one block.
func (wk *worker) try(n int) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Fault:
			err = r
		case stopped:
			err = errStopped
		default:
			err = fmt.Errorf("exec: internal error in block %d: %v\n%s", n, r, debug.Stack())
		}
	}()
	g := wk.l.grid
	wk.blk.run(Dim{n % g.X, n / g.X % g.Y, n / (g.X * g.Y)})
	return nil
}

// stopped unwinds a worker because another failed or the context ended.
type stopped struct{}

func (stopped) Error() string { return "exec: stopped" }

var errStopped error = stopped{}

// checkLimits ends the worker if the launch is over its limits.
func (wk *worker) checkLimits(w *warp) {
	l := wk.l
	total := l.executed.Add(wk.executed - wk.checked)
	wk.checked = wk.executed
	wk.check = wk.executed + checkEvery
	if total > l.o.MaxInstructions {
		w.fault(InstructionLimit, 0, "more than %d warp instructions in this launch", l.o.MaxInstructions)
	}
	if l.stop.Load() || l.ctx.Err() != nil {
		panic(stopped{})
	}
}
