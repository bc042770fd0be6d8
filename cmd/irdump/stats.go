package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/internal/trace"
)

// deviceStats is a device of a trace as the command stats prints it.
type deviceStats struct {
	Device    string           `json:"device"`
	Counters  map[string]int64 `json:"counters,omitempty"` // none if it was not closed
	Segments  []segmentStats   `json:"segments"`           // that move most bytes first
	Replanned []sequenceStats  `json:"replanned"`          // sequences with several plans
}

// segmentStats is what all runs of a segment cost, at the lengths it was
// planned for.
type segmentStats struct {
	Segment  int    `json:"segment"`
	Runs     int64  `json:"runs"`
	Launches int64  `json:"launches"`
	Bytes    int64  `json:"bytes"`
	Why      string `json:"why,omitempty"`
	First    string `json:"first"` // the first operation
}

// sequenceStats is a recorded sequence that has several plans.
type sequenceStats struct {
	Sequence int    `json:"sequence"`
	Segments []int  `json:"segments"`
	First    string `json:"first"`
}

// statsOf sums up a trace.
func statsOf(d *document) []deviceStats {
	out := make([]deviceStats, len(d.devices))
	for i, h := range d.devices {
		out[i] = deviceStats{Device: h.Device, Counters: d.counters[i], Segments: []segmentStats{}, Replanned: []sequenceStats{}}
		sequences := map[int]*sequenceStats{}
		for k := range d.segments {
			s := &d.segments[k]
			if s.Device != i {
				continue
			}
			x := segmentStats{Segment: s.ID, Runs: s.Total(), Why: string(s.Why), First: first(s)}
			for _, b := range s.Blocks {
				x.Launches += x.Runs * int64(b.Launches)
				x.Bytes += x.Runs * (b.Read + b.Written)
			}
			out[i].Segments = append(out[i].Segments, x)
			q := sequences[s.Sequence]
			if q == nil {
				q = &sequenceStats{Sequence: s.Sequence, First: x.First}
				sequences[s.Sequence] = q
			}
			q.Segments = append(q.Segments, s.ID)
		}
		slices.SortStableFunc(out[i].Segments, func(a, b segmentStats) int { return cmp.Compare(b.Bytes, a.Bytes) })
		for _, n := range slices.Sorted(maps.Keys(sequences)) {
			if q := sequences[n]; n > 0 && len(q.Segments) > 1 {
				out[i].Replanned = append(out[i].Replanned, *q)
			}
		}
	}
	return out
}

// first names the first operation of a segment.
func first(s *trace.Traced) string {
	if len(s.Program.Ops) == 0 {
		return ""
	}
	text := label(s.Program, 0)
	if at := s.Program.Position(0); at != "" {
		text += "  " + at
	}
	return text
}

// Run sums up a trace.
func (c *statsCmd) Run(s *streams) error {
	doc, err := c.load(s, nil)
	if err != nil {
		return err
	}
	if doc.header == nil {
		return &usageError{"stats are of a trace, not of a program"}
	}
	all := statsOf(doc)
	if c.JSON {
		return doc.writeJSON(s.out, all)
	}
	for i := range all {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		if err := all[i].print(s.out); err != nil {
			return err
		}
	}
	return nil
}

func (d *deviceStats) print(out io.Writer) error {
	fmt.Fprintf(out, "device %s\n", d.Device)
	if d.Counters == nil {
		fmt.Fprintln(out, "no counters: it was not closed")
	}
	return table(out, func(w io.Writer) {
		for _, name := range slices.Sorted(maps.Keys(d.Counters)) {
			fmt.Fprintf(w, "  %s\t%d\n", name, d.Counters[name])
		}
		fmt.Fprintf(w, "\nsegment\truns\tlaunches\tbytes\tfrom\n")
		for _, s := range d.Segments {
			from := s.First
			if s.Why != "" {
				from = s.Why + ": " + from
			}
			fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%s\n", s.Segment, s.Runs, s.Launches, s.Bytes, from)
		}
		for _, q := range d.Replanned {
			fmt.Fprintf(w, "\nsequence %d has %d plans, of segments %v: irdump fuse -segment N shows what differs\n", q.Sequence, len(q.Segments), q.Segments)
		}
	})
}
