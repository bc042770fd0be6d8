package fusion

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
)

// stats are the counters of one stream. They may be read while it works.
type stats struct {
	recorded       atomic.Int64
	drains         atomic.Int64
	segments       atomic.Int64
	hits           atomic.Int64
	explorations   atomic.Int64
	plansLoaded    atomic.Int64
	plansSaved     atomic.Int64
	recomputed     atomic.Int64
	rebuilt        atomic.Int64
	effects        atomic.Int64
	inPlaceEffects atomic.Int64
	versionCopies  atomic.Int64
	inPlace        atomic.Int64
	fallbacks      atomic.Int64
	read           atomic.Int64
	written        atomic.Int64

	launches    atomic.Int64
	allocations atomic.Int64
	replays     atomic.Int64
	copies      atomic.Int64
	bytesCopied atomic.Int64
}

// Stats counts what a device or one of its streams did. Counters only grow;
// what happened between two moments is the difference, see [Stats.Sub].
type Stats struct {
	Recorded       int64 // operations recorded
	Drains         int64 // queues executed, a cut part counting as one
	Segments       int64 // segments executed: drains, and what the runtime runs for itself
	PlanHits       int64 // segments whose plan was known
	Explorations   int64 // segments planned: fuser runs
	PlansLoaded    int64 // plans taken from where another process saved them
	PlansSaved     int64 // plans written to the directory of plans
	Recomputed     int64 // virtual values asked for late
	Rebuilt        int64 // old versions of Vars rebuilt
	Effects        int64 // effects executed
	InPlaceEffects int64 // of them, written over the old version
	VersionCopies  int64 // copies made to keep old versions
	InPlace        int64 // outputs that took an input's memory
	Fallbacks      int64 // blocks that failed and ran as single operations
	ChurnReports   int64 // warnings that one sequence is planned, or one value computed, again and again; of a device
	BytesRead      int64 // by launches, each tensor counted once a launch, replays left out
	BytesWritten   int64

	// Device counts calls of the device. Of a stream it has launches,
	// allocations, replays and copies; the rest belongs to no one stream.
	Device backend.Counters
	// Memory is the device's memory now; it is empty in the counters of a
	// stream.
	Memory backend.MemoryUsage
}

// statRow is one counter: its name in print, where it stands in Stats and, for
// those a stream counts, in stats.
type statRow struct {
	name  string
	field func(*Stats) *int64
	count func(*stats) *atomic.Int64
}

// statRows is the one list of the counters, in the order they are printed.
var statRows = []statRow{
	{"recorded", func(s *Stats) *int64 { return &s.Recorded }, func(c *stats) *atomic.Int64 { return &c.recorded }},
	{"drains", func(s *Stats) *int64 { return &s.Drains }, func(c *stats) *atomic.Int64 { return &c.drains }},
	{"segments", func(s *Stats) *int64 { return &s.Segments }, func(c *stats) *atomic.Int64 { return &c.segments }},
	{"plan hits", func(s *Stats) *int64 { return &s.PlanHits }, func(c *stats) *atomic.Int64 { return &c.hits }},
	{"explorations", func(s *Stats) *int64 { return &s.Explorations }, func(c *stats) *atomic.Int64 { return &c.explorations }},
	{"plans loaded", func(s *Stats) *int64 { return &s.PlansLoaded }, func(c *stats) *atomic.Int64 { return &c.plansLoaded }},
	{"plans saved", func(s *Stats) *int64 { return &s.PlansSaved }, func(c *stats) *atomic.Int64 { return &c.plansSaved }},
	{"compiles", func(s *Stats) *int64 { return &s.Device.Compiles }, nil},
	{"launches", func(s *Stats) *int64 { return &s.Device.Launches }, func(c *stats) *atomic.Int64 { return &c.launches }},
	{"replays", func(s *Stats) *int64 { return &s.Device.Replays }, func(c *stats) *atomic.Int64 { return &c.replays }},
	{"bytes read", func(s *Stats) *int64 { return &s.BytesRead }, func(c *stats) *atomic.Int64 { return &c.read }},
	{"bytes written", func(s *Stats) *int64 { return &s.BytesWritten }, func(c *stats) *atomic.Int64 { return &c.written }},
	{"allocations", func(s *Stats) *int64 { return &s.Device.Allocations }, func(c *stats) *atomic.Int64 { return &c.allocations }},
	{"reserves", func(s *Stats) *int64 { return &s.Device.Reserves }, nil},
	{"copies", func(s *Stats) *int64 { return &s.Device.Copies }, func(c *stats) *atomic.Int64 { return &c.copies }},
	{"bytes copied", func(s *Stats) *int64 { return &s.Device.BytesCopied }, func(c *stats) *atomic.Int64 { return &c.bytesCopied }},
	{"recomputed", func(s *Stats) *int64 { return &s.Recomputed }, func(c *stats) *atomic.Int64 { return &c.recomputed }},
	{"rebuilt", func(s *Stats) *int64 { return &s.Rebuilt }, func(c *stats) *atomic.Int64 { return &c.rebuilt }},
	{"effects", func(s *Stats) *int64 { return &s.Effects }, func(c *stats) *atomic.Int64 { return &c.effects }},
	{"effects in place", func(s *Stats) *int64 { return &s.InPlaceEffects }, func(c *stats) *atomic.Int64 { return &c.inPlaceEffects }},
	{"version copies", func(s *Stats) *int64 { return &s.VersionCopies }, func(c *stats) *atomic.Int64 { return &c.versionCopies }},
	{"outputs in place", func(s *Stats) *int64 { return &s.InPlace }, func(c *stats) *atomic.Int64 { return &c.inPlace }},
	{"fallbacks", func(s *Stats) *int64 { return &s.Fallbacks }, func(c *stats) *atomic.Int64 { return &c.fallbacks }},
	{"churn reports", func(s *Stats) *int64 { return &s.ChurnReports }, nil},
}

// addTo adds a stream's counters to s.
func (c *stats) addTo(s *Stats) {
	for i := range statRows {
		if r := &statRows[i]; r.count != nil {
			*r.field(s) += r.count(c).Load()
		}
	}
}

// Stats returns the counters of the stream since it was made.
func (s *Stream) Stats() Stats {
	var out Stats
	s.stats.addTo(&out)
	return out
}

// Stats returns the counters of all streams and of the device since Open. What
// a closed stream still computes for readers of its tensors counts in the
// device's part alone.
func (rt *Runtime) Stats() Stats {
	rt.mu.Lock()
	out := rt.ended
	for s := range rt.streams {
		s.stats.addTo(&out)
	}
	rt.mu.Unlock()
	out.ChurnReports = rt.churned.Load()
	out.Device, out.Memory = rt.dev.Counters(), rt.dev.Memory()
	return out
}

// Sub returns what was counted between earlier and s. Memory stays that of s:
// it is a state, not a count.
func (s Stats) Sub(earlier Stats) Stats {
	for i := range statRows {
		f := statRows[i].field
		*f(&s) -= *f(&earlier)
	}
	return s
}

// Counts returns the counters that are not zero by the names they are printed
// with.
func (s Stats) Counts() map[string]int64 {
	out := make(map[string]int64)
	for i := range statRows {
		if n := *statRows[i].field(&s); n != 0 {
			out[statRows[i].name] = n
		}
	}
	return out
}

// String lists the counters that are not zero, one a line, and the memory in
// use.
func (s Stats) String() string {
	var b strings.Builder
	for i := range statRows {
		if n := *statRows[i].field(&s); n != 0 {
			fmt.Fprintf(&b, "%-16s %d\n", statRows[i].name, n)
		}
	}
	if m := s.Memory; m != (backend.MemoryUsage{}) {
		fmt.Fprintf(&b, "%-16s %d bytes in %d buffers, %d reserved, peak %d\n", "memory", m.InUse, m.Allocations, m.Reserved, m.Peak)
	}
	return b.String()
}

// The calls of the device that a stream counts.

func (s *Stream) copy(dst *Storage, src *Storage, srcOffset, n int) error {
	s.moved(n)
	if s.window != nil {
		s.window.copied(s, src, dst, n)
	}
	return s.rt.dev.Copy(s.id, dst.buf, 0, src.buf, srcOffset, n)
}

func (s *Stream) write(ctx context.Context, dst *Storage, src []byte) error {
	s.moved(len(src))
	if s.window != nil {
		s.window.wrote(s, len(src))
	}
	return s.rt.dev.Write(ctx, s.id, dst.buf, 0, src)
}

func (s *Stream) read(ctx context.Context, dst []byte, src *Storage, offset int) error {
	s.moved(len(dst))
	return s.rt.dev.Read(ctx, s.id, dst, src.buf, offset)
}

// moved counts a copy, unless it is only recorded.
func (s *Stream) moved(n int) {
	if !s.recording() {
		s.stats.copies.Add(1)
		s.stats.bytesCopied.Add(int64(n))
	}
}

// recording reports whether the device takes notes instead of working.
func (s *Stream) recording() bool { return s.window != nil && s.window.unrun.Load() }
