package fusion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// ProfileReport is what a window measured.
type ProfileReport struct {
	Name   string
	Device string
	Stream backend.Stream
	// Opened and Closed are when the window was opened and closed by the host's
	// clock, which says nothing of when its operations ran.
	Opened, Closed time.Time
	Launches       []ProfiledLaunch // in the order they were sent
	Segments       []ProfiledSegment

	rt *Runtime
}

// Why says why the runtime launched something.
type Why string

// The reasons.
const (
	WhyRecorded   Why = "recorded"   // it was recorded
	WhyRecomputed Why = "recomputed" // a virtual value was asked for late
	WhyOwn        Why = "own"        // a copy, or what keeps or rebuilds an old version of a Var
)

// ProfiledLaunch is one launch of a kernel.
type ProfiledLaunch struct {
	// Block numbers the run of a block, or the replay, within the process, and
	// Number the launches in it: windows that share a launch agree on both.
	Block, Number int64
	Kernel        string
	Fuser         string
	Ops           []ProfiledOp // the operations of the block
	Why           Why
	Replay        bool  // it is one of a captured graph's
	Fallback      bool  // its block failed and ran as single operations, of which this is one
	Read          int64 // bytes, by the shapes
	Written       int64
	// Allocations and Copies are the buffers taken and copies made since the
	// launch before in the segment: what this one needed.
	Allocations, Copies int64
	Start, End          time.Time // when it ran
}

// Duration returns how long the launch ran.
func (l *ProfiledLaunch) Duration() time.Duration { return l.End.Sub(l.Start) }

// ProfiledOp is an operation of a launch.
type ProfiledOp struct {
	Kind    ir.Kind
	PC      uintptr
	Name    string // of the result, "" if none
	Outside bool   // it was recorded outside the window
}

// String prints the operation as `Add "scores" at model.go:12`.
func (o ProfiledOp) String() string {
	s := o.Kind.String()
	if o.Name != "" {
		s += fmt.Sprintf(" %q", o.Name)
	}
	if at := ir.Position(o.PC); at != "" {
		s += " at " + at
	}
	return s
}

// ProfiledSegment is a segment that was executed: operations planned together.
type ProfiledSegment struct {
	Operations int
	Blocks     int
	Why        Why
	Planned    bool         // its plan was not known and had to be made
	Ends       []ProfiledOp // the first and the last operation
}

// Report returns what the window measured. It waits for launches that were sent
// but executes nothing: while operations of the window are queued it is a
// *ProfileError, as it is of a window that is open or was abandoned.
func (p *Profile) Report(ctx context.Context) (*ProfileReport, error) {
	ctx = given(ctx)
	if p.Stream() == nil {
		return nil, errNoProfile
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.finishProfiles() // its operations may have been dropped with a capture
	switch p.state {
	case profileOpen:
		return nil, p.refuse(ProfileOpen)
	case profileClosed:
		return nil, p.refuse(ProfilePending)
	case profileAbandoned:
		return nil, p.refuse(ProfileAbandoned)
	}
	spans, err := p.timing.Spans(ctx)
	if err != nil {
		return nil, err
	}
	r := &ProfileReport{Name: p.opts.Name, Device: p.s.rt.dev.Name(), Stream: p.s.id,
		Opened: p.opened, Closed: p.closed, Segments: slices.Clone(p.segments), rt: p.s.rt}
	if len(spans) != len(p.sent) {
		return nil, p.refuse(fmt.Sprintf("the device measured %d pieces of work of %d", len(spans), len(p.sent)))
	}
	for i, x := range p.sent {
		switch {
		case x.launch != nil:
			r.Launches = append(r.Launches, p.measured(x.launch, spans[i]))
		case x.block != 0:
			r.Launches = append(r.Launches, replayParts(x, spans[i])...)
		}
	}
	return r, nil
}

// measured returns a launch as the window sees it.
func (p *Profile) measured(x *profiled, span backend.Span) ProfiledLaunch {
	l := x.ProfiledLaunch
	l.Start, l.End = span.Start, span.End
	l.Ops = slices.Clone(l.Ops)
	if l.Why == WhyRecorded {
		for i, n := range x.seqs {
			l.Ops[i].Outside = !p.holds(n)
		}
	}
	return l
}

// replayParts returns the launches of a replay: one that stands for all, if the
// device cannot tell them apart.
func replayParts(x sent, span backend.Span) []ProfiledLaunch {
	if span.Parts == nil {
		all := ProfiledLaunch{Number: 1, Block: x.block, Kernel: fmt.Sprintf("replay of %d launches", len(x.replay)),
			Why: WhyRecorded, Replay: true, Start: span.Start, End: span.End}
		for _, l := range x.replay {
			all.Read, all.Written = all.Read+l.Read, all.Written+l.Written
		}
		return []ProfiledLaunch{all}
	}
	out := make([]ProfiledLaunch, len(span.Parts))
	for i, part := range span.Parts {
		l := &out[i]
		if part.Launch < len(x.replay) {
			*l = x.replay[part.Launch].ProfiledLaunch
		}
		l.Number, l.Block, l.Replay = int64(i+1), x.block, true
		l.Start, l.End = part.Start, part.End
	}
	return out
}

// Measured reports whether anything ran. A window in which nothing ran measured
// nothing, which is not the same as no time.
func (r *ProfileReport) Measured() bool { return len(r.Launches) > 0 }

// Wall returns the time from the start of the first launch to the end of the
// last, false if nothing ran.
func (r *ProfileReport) Wall() (time.Duration, bool) {
	if !r.Measured() {
		return 0, false
	}
	first, last := r.Launches[0].Start, r.Launches[0].End
	for i := range r.Launches {
		if l := &r.Launches[i]; l.Start.Before(first) {
			first = l.Start
		}
		if l := &r.Launches[i]; l.End.After(last) {
			last = l.End
		}
	}
	return last.Sub(first), true
}

// Busy returns the time launches ran, false if nothing did.
func (r *ProfileReport) Busy() (time.Duration, bool) {
	var sum time.Duration
	for i := range r.Launches {
		sum += r.Launches[i].Duration()
	}
	return sum, r.Measured()
}

// Bytes returns the bytes the launches read and wrote, false if nothing ran.
func (r *ProfileReport) Bytes() (read, written int64, ok bool) {
	for i := range r.Launches {
		read, written = read+r.Launches[i].Read, written+r.Launches[i].Written
	}
	return read, written, r.Measured()
}

// row is the launches of one kernel for the same operations.
type row struct {
	launch *ProfiledLaunch
	times  int
	sum    time.Duration
	bytes  int64
}

// String prints a table with a line for each kernel and the operations it ran
// for, the one that took longest first, or "not measured".
func (r *ProfileReport) String() string {
	var b strings.Builder
	b.WriteString("profile")
	if r.Name != "" {
		fmt.Fprintf(&b, " %q", r.Name)
	}
	fmt.Fprintf(&b, " of %s stream %d: ", r.Device, r.Stream)
	if !r.Measured() {
		b.WriteString("not measured: nothing ran\n")
		return b.String()
	}
	wall, _ := r.Wall()
	busy, _ := r.Busy()
	read, written, _ := r.Bytes()
	fmt.Fprintf(&b, "%d launches in %v, busy %v, %d bytes read, %d written\n", len(r.Launches), wall, busy, read, written)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "time\tlaunches\tGB/s\tkernel\toperations")
	for _, x := range r.rows() {
		rate := "-"
		if x.sum > 0 {
			rate = fmt.Sprintf("%.2f", float64(x.bytes)/float64(x.sum))
		}
		fmt.Fprintf(w, "%v\t%d\t%s\t%s\t%s\n", x.sum, x.times, rate, x.launch.Kernel, x.launch.operations())
	}
	_ = w.Flush() // a Builder takes everything
	return b.String()
}

func (r *ProfileReport) rows() []*row {
	var rows []*row
	at := make(map[string]*row)
	for i := range r.Launches {
		l := &r.Launches[i]
		key := l.Kernel + " " + l.operations()
		x := at[key]
		if x == nil {
			x = &row{launch: l}
			at[key] = x
			rows = append(rows, x)
		}
		x.times++
		x.sum += l.Duration()
		x.bytes += l.Read + l.Written
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return int(b.sum - a.sum) })
	return rows
}

// operations lists the operations of a launch on one line.
func (l *ProfiledLaunch) operations() string {
	words := make([]string, len(l.Ops))
	for i, o := range l.Ops {
		words[i] = o.String()
	}
	text := strings.Join(words, ", ")
	if l.Why != WhyRecorded {
		text = string(l.Why) + ": " + text
	}
	if l.Replay {
		text = "replay: " + text
	}
	return text
}
