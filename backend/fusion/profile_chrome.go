package fusion

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// chromeEvent is an event of the Trace Event Format, which Perfetto and
// chrome://tracing read. Times are in microseconds.
type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Time  float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// chromeTrack is a thread of a trace: a stream.
type chromeTrack struct{ pid, tid int }

// chromeTrace gathers the events of some reports.
type chromeTrace struct {
	base     time.Time
	events   []chromeEvent
	pids     map[*Runtime]int
	named    map[chromeTrack]bool
	launches map[[2]int64]bool // written already
	blocks   map[int64]*chromeBlock
	order    []*chromeBlock
}

// chromeBlock is a run of a block, or a replay, that holds its launches.
type chromeBlock struct {
	track      chromeTrack
	first      ProfiledLaunch
	start, end time.Time
}

// WriteChromeTrace writes reports in the Trace Event Format as JSON, for
// Perfetto (ui.perfetto.dev) and chrome://tracing. A device is a process and a
// stream a thread, on which each run of a block, or replay, holds its launches;
// windows, which may overlap, are asynchronous events. A launch of several
// windows is written once, a window that measured nothing not at all. Times
// start with the first launch.
func WriteChromeTrace(w io.Writer, reports ...*ProfileReport) error {
	t := &chromeTrace{pids: map[*Runtime]int{}, named: map[chromeTrack]bool{}, launches: map[[2]int64]bool{}, blocks: map[int64]*chromeBlock{}}
	for _, r := range reports {
		for i := range r.Launches {
			if start := r.Launches[i].Start; t.base.IsZero() || start.Before(t.base) {
				t.base = start
			}
		}
	}
	for i, r := range reports {
		if r.Measured() {
			t.report(i+1, r)
		}
	}
	for _, b := range t.order {
		t.block(b)
	}
	slices.SortStableFunc(t.events, func(a, b chromeEvent) int {
		// What holds comes before what is held, even if both are as long.
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(b.length(), a.length()), cmp.Compare(a.rank(), b.rank()))
	})
	out := struct {
		Unit   string        `json:"displayTimeUnit"`
		Events []chromeEvent `json:"traceEvents"`
	}{"ns", t.events}
	if out.Events == nil {
		out.Events = []chromeEvent{}
	}
	return json.NewEncoder(w).Encode(out)
}

func (e *chromeEvent) length() float64 {
	if e.Dur == nil {
		return 0
	}
	return *e.Dur
}

// rank is 1 for what lies in a block.
func (e *chromeEvent) rank() int {
	if e.Cat == "kernel" {
		return 1
	}
	return 0
}

func (t *chromeTrace) at(x time.Time) float64 { return float64(x.Sub(t.base)) / 1e3 }

// track returns the thread of a report and names it once.
func (t *chromeTrace) track(r *ProfileReport) chromeTrack {
	pid, ok := t.pids[r.rt]
	if !ok {
		pid = len(t.pids) + 1
		t.pids[r.rt] = pid
		t.name("process_name", chromeTrack{pid: pid}, r.Device)
	}
	track := chromeTrack{pid, int(r.Stream)}
	if !t.named[track] {
		t.named[track] = true
		t.name("thread_name", track, fmt.Sprintf("stream %d", r.Stream))
	}
	return track
}

func (t *chromeTrace) name(what string, track chromeTrack, name string) {
	t.events = append(t.events, chromeEvent{Name: what, Phase: "M", PID: track.pid, TID: track.tid, Args: map[string]any{"name": name}})
}

func (t *chromeTrace) report(number int, r *ProfileReport) {
	track := t.track(r)
	wall, _ := r.Wall()
	start := r.Launches[0].Start
	for i := range r.Launches {
		if l := &r.Launches[i]; l.Start.Before(start) {
			start = l.Start
		}
	}
	name := r.Name
	if name == "" {
		name = fmt.Sprintf("window %d", number)
	}
	id := fmt.Sprint(number)
	for _, e := range []chromeEvent{
		{Phase: "b", Time: t.at(start), Args: map[string]any{"launches": len(r.Launches)}},
		{Phase: "e", Time: t.at(start.Add(wall))},
	} {
		e.Name, e.Cat, e.PID, e.TID, e.ID = name, "window", track.pid, track.tid, id
		t.events = append(t.events, e)
	}
	for _, l := range r.Launches {
		key := [2]int64{l.Block, l.Number}
		if t.launches[key] {
			continue
		}
		t.launches[key] = true
		b := t.blocks[l.Block]
		if b == nil {
			b = &chromeBlock{track: track, first: l, start: l.Start, end: l.End}
			t.blocks[l.Block] = b
			t.order = append(t.order, b)
		}
		if l.Start.Before(b.start) {
			b.start = l.Start
		}
		if l.End.After(b.end) {
			b.end = l.End
		}
		t.slice(track, "kernel", l.Kernel, l.Start, l.End, map[string]any{
			"operations": l.names(), "fuser": l.Fuser, "bytes read": l.Read, "bytes written": l.Written, "why": l.Why,
		})
	}
}

func (t *chromeTrace) block(b *chromeBlock) {
	l := &b.first
	if l.Replay {
		t.slice(b.track, "replay", "replay", b.start, b.end, nil)
		return
	}
	name := l.Fuser
	if len(l.Ops) == 1 {
		name = l.Ops[0].Kind.String()
	}
	t.slice(b.track, "block", name, b.start, b.end, map[string]any{"operations": l.names(), "why": l.Why})
}

func (t *chromeTrace) slice(track chromeTrack, cat, name string, start, end time.Time, args map[string]any) {
	dur := t.at(end) - t.at(start)
	t.events = append(t.events, chromeEvent{Name: name, Cat: cat, Phase: "X", Time: t.at(start), Dur: &dur, PID: track.pid, TID: track.tid, Args: args})
}

// names lists the operations of a launch.
func (l *ProfiledLaunch) names() []string {
	out := make([]string, len(l.Ops))
	for i, o := range l.Ops {
		out[i] = o.String()
	}
	return out
}
