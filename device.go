package sinter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/sinter-ml/sinter/backend"
	_ "github.com/sinter-ml/sinter/backend/cpu" // the one device that is always linked
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/env"
	"github.com/sinter-ml/sinter/internal/trace"
)

// Device runs operations. It has a default stream, and more on request.
type Device struct {
	rt    *fusion.Runtime
	def   *Stream
	trace *trace.Writer // nil: none
}

// Option configures a device at [Open]; options beat environment variables.
type Option func(*config)

type config struct {
	backend backend.Options
	fusion  fusion.Options
	fuse    bool
	trace   string

	noFusers []string
	noRules  []string // rules of cost that are switched off, by name
}

// WithFusion switches fusing on, the default, or off: every operation then is
// a kernel of its own, with the same results bit for bit.
func WithFusion(on bool) Option { return func(c *config) { c.fuse = on } }

// WithFusers adds fusers to the library's own.
func WithFusers(f ...fuser.Factory) Option {
	return func(c *config) { c.fusion.Fusers = append(c.fusion.Fusers, f...) }
}

// WithLogger takes the library's warnings; the default is slog.Default().
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.backend.Logger, c.fusion.Logger = l, l }
}

// WithSeed starts the device's random numbers.
func WithSeed(seed uint64) Option { return func(c *config) { c.fusion.Seed = seed } }

// WithWorkers sets how many threads a host device works with; the default is
// GOMAXPROCS.
func WithWorkers(n int) Option { return func(c *config) { c.backend.Workers = n } }

// WithMemoryLimit sets the most bytes the device takes.
func WithMemoryLimit(bytes int64) Option { return func(c *config) { c.backend.MemoryLimit = bytes } }

// WithPersistentAllocations makes every allocation outside captures persistent,
// as in [Device.PersistentAllocations].
func WithPersistentAllocations(on bool) Option { return func(c *config) { c.fusion.Persistent = on } }

// WithPoison fills freed and fresh memory with NaN patterns.
func WithPoison(on bool) Option { return func(c *config) { c.backend.Poison = on } }

// WithQueueLimit sets after how many operations a queue that nothing drains is
// cut; the default is 4,096.
func WithQueueLimit(n int) Option { return func(c *config) { c.fusion.QueueLimit = n } }

// WithPlanCache sets how many plans the device keeps; the default is 1,024.
func WithPlanCache(n int) Option { return func(c *config) { c.fusion.PlanCache = n } }

// WithPlanDir keeps plans in a directory: a program that was run before on a
// device of the same profile explores nothing. It is made if need be, for its
// owner alone. What is not a plan of this very program is left alone; what
// cannot be read or written is warned of once.
func WithPlanDir(dir string) Option { return func(c *config) { c.fusion.PlanDir = dir } }

// WithGraphs switches the recording of captured functions on, the default, or
// off: package graphapi then runs the function again at each replay.
func WithGraphs(on bool) Option { return func(c *config) { c.fusion.NoGraphs = !on } }

// WithTrace records what is run to a file, for irdump: operations and
// decisions, no tensor data.
func WithTrace(file string) Option { return func(c *config) { c.trace = file } }

// Open opens a device: "auto" (the best there is), "cpu", or the name of a
// backend the program imports, with a number if there are several ("cuda:1").
func Open(name string, opts ...Option) (*Device, error) {
	set, err := env.Read()
	if err != nil {
		return nil, err
	}
	c := config{fuse: set.Fusion, trace: set.Trace}
	c.backend.Workers, c.backend.MemoryLimit = set.Workers, set.MemoryLimit
	c.backend.Poison = set.Poison
	c.fusion.Seed = uint64(set.Seed)
	c.fusion.NoGraphs = !set.Graphs
	c.fusion.PlanDir = set.PlanDir
	c.noFusers, c.noRules = set.NoFusers, set.NoRules
	c.fusion.Optimize.Disable = set.NoPasses
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if err := errors.Join(c.check(), c.choose()); err != nil {
		return nil, err
	}
	dev, err := backend.Open(name, c.backend)
	if err != nil {
		return nil, err
	}
	rt, err := fusion.New(dev, c.fusion)
	if err != nil {
		return nil, err
	}
	d := &Device{rt: rt, def: &Stream{s: rt.Default()}}
	if c.trace != "" {
		h := trace.NewHeader(dev.Name(), dev.Profile(), c.fusion.Fusers)
		h.Disable = c.fusion.Optimize.Disable
		d.trace, err = trace.Open(c.trace, h)
		if err != nil {
			return nil, errors.Join(err, rt.Close())
		}
		rt.Observe(d.trace.Observe)
	}
	return d, nil
}

// check refuses sizes below 0; 0 stands for the default.
func (c *config) check() error {
	for _, o := range []struct {
		name string
		n    int64
	}{
		{"WithWorkers", int64(c.backend.Workers)}, {"WithMemoryLimit", c.backend.MemoryLimit},
		{"WithQueueLimit", int64(c.fusion.QueueLimit)}, {"WithPlanCache", int64(c.fusion.PlanCache)},
	} {
		if o.n < 0 {
			return &ArgumentError{Msg: fmt.Sprintf("%s(%d): the number is negative", o.name, o.n)}
		}
	}
	return nil
}

// Name returns the name of the device, such as "cpu".
func (d *Device) Name() string {
	rt := d.Runtime()
	if rt == nil {
		return ""
	}
	return rt.Device().Name()
}

// Runtime returns what the device records on, nil of no device; for extenders.
func (d *Device) Runtime() *fusion.Runtime {
	if d == nil {
		return nil
	}
	return d.rt
}

// Stream returns the default stream.
func (d *Device) Stream() *Stream {
	if d == nil {
		return nil
	}
	return d.def
}

// NewStream returns another stream. After Close of the device it is a closed
// one, whose operations say so.
func (d *Device) NewStream() *Stream {
	rt := d.Runtime()
	if rt == nil {
		return nil
	}
	s, err := rt.NewStream()
	if err != nil {
		s = rt.ClosedStream()
	}
	return &Stream{s: s}
}

// Scope runs f in a scope on a stream of its own; see [Stream.Scope].
func (d *Device) Scope(f func(*Scope) error) error {
	rt := d.Runtime()
	if rt == nil {
		return errNoPlace
	}
	on, err := rt.NewStream()
	if err != nil {
		return err
	}
	s := &Stream{s: on}
	err = s.Scope(f)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}

// Seed restarts the random numbers at the beginning of the sequence of seed.
func (d *Device) Seed(seed uint64) {
	if rt := d.Runtime(); rt != nil {
		rt.SetSeed(seed)
	}
}

// Flush submits what every stream has queued and returns the first error
// nobody was told of.
func (d *Device) Flush(ctx context.Context) error {
	rt := d.Runtime()
	if rt == nil {
		return errNoPlace
	}
	return rt.Flush(ctx)
}

// Close executes what is queued, ends the device and returns the first error
// nobody was told of. It may be called again; after it every use of the device,
// but to save plans and to read counters, is a *ClosedError or *DeviceError.
func (d *Device) Close() error {
	if d.Runtime() == nil {
		return errNoPlace
	}
	err := d.rt.Close()
	if d.trace != nil {
		d.trace.Counted(d.rt.Stats())
		err = errors.Join(err, d.trace.Close())
	}
	return err
}

func (d *Device) place() *fusion.Stream {
	rt := d.Runtime()
	if rt == nil {
		return nil
	}
	return rt.Default()
}
