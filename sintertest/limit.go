package sintertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter"
)

// Limit is the most of something a run may use.
type Limit struct {
	name  string
	max   int64
	heap  bool // it counts Go allocations
	count func(s *sinter.Stats, heap int64) int64
	// What explains the count, line by line: launches for which the function is
	// not zero, with what it returns, or segments it is true of.
	launch  func(l *sinter.ProfiledLaunch) int64
	segment func(s *sinter.ProfiledSegment) bool
	other   string // what else uses it
}

// Launches limits the kernels started, those of replays included.
func Launches(n int) Limit {
	return Limit{name: "launches", max: int64(n),
		count:  func(s *sinter.Stats, _ int64) int64 { return s.Device.Launches },
		launch: func(*sinter.ProfiledLaunch) int64 { return 1 }}
}

// Plans limits the segments that had to be planned: runs of the fusers. In a
// steady state it is 0.
func Plans(n int) Limit {
	return Limit{name: "plans", max: int64(n),
		count:   func(s *sinter.Stats, _ int64) int64 { return s.Explorations },
		segment: func(s *sinter.ProfiledSegment) bool { return s.Planned }}
}

// Compiles limits the kernels compiled, of a device: a stream has none of its
// own.
func Compiles(n int) Limit {
	return Limit{name: "compiles", max: int64(n),
		count:   func(s *sinter.Stats, _ int64) int64 { return s.Device.Compiles },
		segment: func(s *sinter.ProfiledSegment) bool { return s.Planned }}
}

// Allocs limits the buffers taken from the device's pools. A replay takes none;
// anything else takes one for each tensor that is stored and takes over no
// other's memory.
func Allocs(n int) Limit {
	return Limit{name: "allocations", max: int64(n),
		count:  func(s *sinter.Stats, _ int64) int64 { return s.Device.Allocations },
		launch: func(l *sinter.ProfiledLaunch) int64 { return l.Allocations },
		other:  "host data and copies"}
}

// Reserves limits how often the device takes memory from the system, which
// depends on when tensors that were merely dropped are collected. A stream has
// none of its own.
func Reserves(n int) Limit {
	return Limit{name: "reserves", max: int64(n),
		count: func(s *sinter.Stats, _ int64) int64 { return s.Device.Reserves }}
}

// Copies limits the copies of memory: to and from the host, and on the device.
func Copies(n int) Limit {
	return Limit{name: "copies", max: int64(n),
		count:  func(s *sinter.Stats, _ int64) int64 { return s.Device.Copies },
		launch: func(l *sinter.ProfiledLaunch) int64 { return l.Copies },
		other:  "host data, reads and inputs of graphs"}
}

// Bytes limits the bytes that launches read and write, each tensor counted once
// a launch. Those of replays do not count.
func Bytes(n int64) Limit {
	return Limit{name: "bytes read and written", max: n,
		count:  func(s *sinter.Stats, _ int64) int64 { return s.BytesRead + s.BytesWritten },
		launch: func(l *sinter.ProfiledLaunch) int64 { return l.Read + l.Written }}
}

// Recorded limits the operations recorded. A replay records none.
func Recorded(n int) Limit {
	return Limit{name: "operations", max: int64(n),
		count:   func(s *sinter.Stats, _ int64) int64 { return s.Recorded },
		segment: func(*sinter.ProfiledSegment) bool { return true }}
}

// Recomputed limits the virtual values asked for late. In a steady state it is
// 0.
func Recomputed(n int) Limit {
	return Limit{name: "recomputations", max: int64(n),
		count:   func(s *sinter.Stats, _ int64) int64 { return s.Recomputed },
		segment: func(s *sinter.ProfiledSegment) bool { return s.Why == sinter.WhyRecomputed }}
}

// VersionCopies limits the copies made because a value of a Var taken before an
// effect may still be asked for.
func VersionCopies(n int) Limit {
	return Limit{name: "copies of old versions", max: int64(n),
		count:  func(s *sinter.Stats, _ int64) int64 { return s.VersionCopies },
		launch: func(l *sinter.ProfiledLaunch) int64 { return l.Copies }}
}

// Fallbacks limits the blocks that failed and ran as single operations.
func Fallbacks(n int) Limit {
	return Limit{name: "fallbacks", max: int64(n),
		count: func(s *sinter.Stats, _ int64) int64 { return s.Fallbacks },
		launch: func(l *sinter.ProfiledLaunch) int64 {
			if l.Fallback {
				return 1
			}
			return 0
		}}
}

// GoAllocs limits the allocations on the Go heap, the mean of several runs.
func GoAllocs(n int) Limit {
	return Limit{name: "Go allocations", max: int64(n), heap: true,
		count: func(_ *sinter.Stats, heap int64) int64 { return heap }}
}

// explain lists what used up the limit. Of n counted, what is for no launch
// gets a line of its own.
func (l *Limit) explain(r *sinter.ProfileReport, n int64) []string {
	var out []string
	for i := range r.Launches {
		if l.launch == nil {
			break
		}
		x := &r.Launches[i]
		used := l.launch(x)
		if used == 0 {
			continue
		}
		n -= used
		what := "launch"
		if x.Replay {
			what = "replayed launch"
		}
		line := fmt.Sprintf("\t%s %d, kernel %s: %s", what, i+1, x.Kernel, operations(x.Ops))
		if l.name != "launches" {
			line += fmt.Sprintf(" (%d %s)", used, l.name)
		}
		if x.Why != sinter.WhyRecorded {
			line += fmt.Sprintf(" (%s)", x.Why)
		}
		out = append(out, line)
	}
	if l.other != "" && n > 0 {
		out = append(out, fmt.Sprintf("\t%d %s for no launch: %s", n, l.name, l.other))
	}
	for i := range r.Segments {
		x := &r.Segments[i]
		if l.segment != nil && l.segment(x) {
			line := fmt.Sprintf("\tsegment of length %d, %s", x.Operations, x.Why)
			if x.Planned {
				line += " and planned"
			}
			out = append(out, line+": from "+x.Ends[0].String()+" to "+x.Ends[1].String())
		}
	}
	return out
}

func operations(ops []sinter.ProfiledOp) string {
	words := make([]string, len(ops))
	for i, o := range ops {
		words[i] = o.String()
	}
	return strings.Join(words, ", ")
}

// unique drops lines that stand there already.
func unique(lines []string) []string {
	var out []string
	for _, l := range lines {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}
