// Package fusion is the runtime: it records operations on streams, decides
// when the queue of a stream is executed, has the queue planned, runs the plan
// on a device and keeps track of what is in memory.
//
// With fusers it is the decorator "fusion<cpu>"; without any it is the same
// recorder running operations one by one. It must not know the user API,
// graphs or gradients; those build on Stream, Value, Var and Scope.
package fusion

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// Options configure a Runtime.
type Options struct {
	Fusers     []fuser.Factory // none: no fusion
	Optimize   optimize.Options
	QueueLimit int    // operations after which a queue is cut, 0: 4,096
	PlanCache  int    // plans kept, 0: 1,024
	PlanDir    string // where plans are kept for other processes, "": nowhere
	Seed       uint64
	NoGraphs   bool // captures run their function again instead of replaying
	Persistent bool // allocations persist, as in PersistentAllocations
	Logger     *slog.Logger
	Inspect    Inspector // nil: none
}

// Runtime runs streams on one device.
type Runtime struct {
	dev     backend.Device
	opts    Options
	planner *optimize.Planner
	plans   *planCache
	log     *slog.Logger
	closed  atomic.Bool

	mu      sync.Mutex
	streams map[*Stream]struct{}
	idle    []backend.Stream // device streams of ended scopes
	def     *Stream

	persistent atomic.Int32 // how many ask for persistent allocations

	late    lateSet
	placing sync.Mutex // orders the placing of deferred values

	random   sync.Mutex
	seed     uint64
	position uint64
	seedings uint64 // times it was seeded, from 1

	observer atomic.Pointer[Observer]
	ended    Stats        // of the streams that are closed, under mu
	churned  atomic.Int64 // churn reports
	again    recomputations
}

var (
	nextID    atomic.Uint64
	nextBirth atomic.Uint64
	nextVar   atomic.Uint64
)

// New returns a runtime on an open device, which it closes at Close.
func New(dev backend.Device, opts Options) (*Runtime, error) {
	if opts.QueueLimit <= 0 {
		opts.QueueLimit = 4096
	}
	if opts.PlanCache <= 0 {
		opts.PlanCache = 1024
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	rt := &Runtime{
		dev:     dev,
		opts:    opts,
		planner: optimize.New(opts.Fusers, dev.Profile(), opts.Optimize),
		log:     opts.Logger,
		streams: make(map[*Stream]struct{}),
		seed:    opts.Seed, seedings: 1,
	}
	rt.plans = newPlanCache(rt.planner, opts.PlanCache, opts.PlanDir, opts.Logger)
	rt.plans.cache.OnChurn = func(x optimize.Churn) { rt.sayChurn(x.String()) }
	rt.late.init()
	if opts.Persistent {
		rt.persistent.Store(1)
	}
	if r, ok := dev.(backend.Reclaimer); ok {
		r.SetReclaim(reclaim)
	}
	var err error
	if rt.def, err = rt.NewStream(); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return rt, nil
}

// Device returns the device below.
func (rt *Runtime) Device() backend.Device { return rt.dev }

// Default returns the device's default stream.
func (rt *Runtime) Default() *Stream { return rt.def }

// Fusing reports whether there are fusers.
func (rt *Runtime) Fusing() bool { return len(rt.opts.Fusers) > 0 }

// Graphs reports whether captures are to be recorded.
func (rt *Runtime) Graphs() bool { return !rt.opts.NoGraphs }

func (rt *Runtime) newValue() *Value {
	return &Value{id: ir.TensorID(nextID.Add(1)), rt: rt}
}

// SetSeed restarts the random numbers at the beginning of the sequence that
// belongs to seed.
func (rt *Runtime) SetSeed(seed uint64) {
	rt.random.Lock()
	rt.seed, rt.position = seed, 0
	rt.seedings++
	rt.random.Unlock()
}

// RandomState returns the seed and the position in its sequence.
func (rt *Runtime) RandomState() (seed, position uint64) {
	rt.random.Lock()
	defer rt.random.Unlock()
	return rt.seed, rt.position
}

// SetRandomState puts back what RandomState returned.
func (rt *Runtime) SetRandomState(seed, position uint64) {
	rt.random.Lock()
	rt.seed, rt.position = seed, position
	rt.seedings++
	rt.random.Unlock()
}

// Draw takes the seed and the next position for one draw. Each draw, used or
// not, advances the position by one.
func (rt *Runtime) Draw() (seed, position uint64) {
	rt.random.Lock()
	defer rt.random.Unlock()
	p := rt.position
	rt.position++
	return rt.seed, p
}

// NewStream returns a new stream of the device.
func (rt *Runtime) NewStream() (*Stream, error) {
	if rt.closed.Load() {
		return nil, &ClosedError{"device " + rt.dev.Name()}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var id backend.Stream
	if n := len(rt.idle); n > 0 {
		id, rt.idle = rt.idle[n-1], rt.idle[:n-1]
	} else {
		var err error
		if id, err = rt.dev.NewStream(); err != nil {
			return nil, err
		}
	}
	s := &Stream{rt: rt, id: id, bound: make(map[uint64][]*binding), seg: 1}
	s.queue.init(s)
	rt.streams[s] = struct{}{}
	return s, nil
}

// open returns the streams that are not closed, in order of number.
func (rt *Runtime) open() []*Stream {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return slices.SortedFunc(maps.Keys(rt.streams), func(a, b *Stream) int { return cmp.Compare(a.id, b.id) })
}

// Flush submits what every stream has queued, and returns the first error
// nobody was told of.
func (rt *Runtime) Flush(ctx context.Context) error {
	if rt.closed.Load() {
		return &ClosedError{"device " + rt.dev.Name()}
	}
	ctx = given(ctx)
	var first error
	for _, s := range rt.open() {
		if err := s.Flush(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Close executes what is queued, closes every stream and the device, and
// returns the first error nobody was told of. It may be called again, and
// before or after streams and scopes end.
func (rt *Runtime) Close() error {
	if rt.closed.Swap(true) {
		return nil
	}
	var first error
	for _, s := range rt.open() {
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
	}
	if err := rt.dev.Close(); err != nil && first == nil {
		first = err
	}
	return first
}
