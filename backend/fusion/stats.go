package fusion

import (
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
)

// stats are the runtime's counters.
type stats struct {
	recorded       atomic.Int64
	segments       atomic.Int64
	hits           atomic.Int64
	explorations   atomic.Int64
	recomputed     atomic.Int64
	rebuilt        atomic.Int64
	effects        atomic.Int64
	inPlaceEffects atomic.Int64
	versionCopies  atomic.Int64
	inPlace        atomic.Int64
	fallbacks      atomic.Int64
	read           atomic.Int64
	written        atomic.Int64
}

// Stats counts what a runtime and its device did since Open.
type Stats struct {
	Recorded       int64 // operations recorded
	Segments       int64 // segments executed
	PlanHits       int64 // segments whose plan was known
	Explorations   int64 // segments planned: fuser runs
	Recomputed     int64 // virtual values asked for late
	Rebuilt        int64 // old versions of Vars rebuilt
	Effects        int64 // effects executed
	InPlaceEffects int64 // of them, written over the old version
	VersionCopies  int64 // copies made to keep old versions
	InPlace        int64 // outputs that took an input's memory
	Fallbacks      int64 // blocks that failed and ran as single operations
	BytesRead      int64 // by launches, each tensor counted once a launch
	BytesWritten   int64
	Device         backend.Counters
	Memory         backend.MemoryUsage
}

// Stats returns the counters.
func (rt *Runtime) Stats() Stats {
	s := &rt.stats
	return Stats{
		Recorded: s.recorded.Load(), Segments: s.segments.Load(), PlanHits: s.hits.Load(),
		Explorations: s.explorations.Load(), Recomputed: s.recomputed.Load(), Rebuilt: s.rebuilt.Load(),
		Effects: s.effects.Load(), InPlaceEffects: s.inPlaceEffects.Load(), VersionCopies: s.versionCopies.Load(),
		InPlace: s.inPlace.Load(), Fallbacks: s.fallbacks.Load(),
		BytesRead: s.read.Load(), BytesWritten: s.written.Load(),
		Device: rt.dev.Counters(), Memory: rt.dev.Memory(),
	}
}
