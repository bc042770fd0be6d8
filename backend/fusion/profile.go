package fusion

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
)

// Profile is a window of measurement on a stream. It opens and closes between
// two recorded operations and so does not change what is executed together: a
// launch belongs to it that computes an operation recorded inside, the whole of
// it, although it may compute others too. What the runtime launches for itself
// (a recipe, a copy, the saving of what an effect overwrites) belongs to the
// windows of the operations that made it necessary, and a replay to the windows
// that are open when it is called.
//
// Windows may lie inside one another or overlap. The methods may be called from
// any goroutine.
type Profile struct {
	s    *Stream
	opts ProfileOptions

	// Under the stream's lock:
	from, to uint64 // operations with from < number ≤ to are inside
	state    profileState
	timing   backend.Timing
	sent     []sent // every launch and replay timed
	segments []ProfiledSegment
	opened   time.Time
	closed   time.Time
}

// ProfileOptions change how a window opens and closes.
type ProfileOptions struct {
	// Name is what the window is called in reports.
	Name string
	// Flush executes what is queued before the window opens and before it
	// closes, so that it measures exactly what is recorded in between, which
	// then is not fused with anything outside.
	Flush bool
}

type profileState uint8

const (
	profileOpen      profileState = iota
	profileClosed                 // some of its operations are queued
	profileDone                   // all of its operations were executed
	profileAbandoned              // nobody wants to know
)

// ProfileError says why a window of measurement cannot be used.
type ProfileError struct {
	Window string // its name, "" if it has none
	Reason string
}

// The reasons of a ProfileError.
const (
	ProfileOpen        = "it is open; close it first"
	ProfileClosed      = "it was closed before"
	ProfileAbandoned   = "it was abandoned"
	ProfileNone        = "there is none"
	ProfilePending     = "operations of it are queued; flush the stream or read a result first, or open it with a flush"
	ProfileUnsupported = "the device cannot tell when its launches ran"
)

func (e *ProfileError) Error() string {
	name := ""
	if e.Window != "" {
		name = fmt.Sprintf(" %q", e.Window)
	}
	return "profile window" + name + ": " + e.Reason
}

// OpenProfile opens a window after what was recorded so far. It returns a
// *ClosedError, a *ProfileError, an error of the device or, with a flush, the
// first error nobody was told of.
func (s *Stream) OpenProfile(ctx context.Context, o ProfileOptions) (*Profile, error) {
	ctx = given(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.rt.closed.Load() {
		return nil, &ClosedError{"stream"}
	}
	dev, ok := s.rt.dev.(backend.Profiler)
	if !ok {
		return nil, &ProfileError{o.Name, ProfileUnsupported}
	}
	if o.Flush {
		s.drain(ctx, len(s.queue.nodes))
		if err := s.takeError(); err != nil {
			return nil, err
		}
	}
	timing, err := dev.StartTiming(s.id)
	if err != nil {
		return nil, err
	}
	p := &Profile{s: s, opts: o, from: s.lastRecorded(), to: math.MaxUint64, timing: timing, opened: time.Now()}
	s.profiles = append(s.profiles, p)
	return p, nil
}

// Stream returns the stream the window is on.
func (p *Profile) Stream() *Stream {
	if p == nil {
		return nil
	}
	return p.s
}

// Close closes the window after what was recorded so far. It executes nothing
// unless the window was opened with a flush, and then returns the first error
// nobody was told of; the window is closed all the same.
func (p *Profile) Close(ctx context.Context) error {
	ctx = given(ctx)
	s := p.Stream()
	if s == nil {
		return errNoProfile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p.state {
	case profileClosed, profileDone:
		return p.refuse(ProfileClosed)
	case profileAbandoned:
		return p.refuse(ProfileAbandoned)
	}
	if p.opts.Flush {
		s.drain(ctx, len(s.queue.nodes))
	}
	p.close()
	s.finishProfiles()
	if p.opts.Flush {
		return s.takeError()
	}
	return nil
}

// Abandon ends the window, which then has no report. It never executes
// anything and may be called at any time.
func (p *Profile) Abandon() {
	s := p.Stream()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.end(profileAbandoned)
	p.sent, p.segments = nil, nil
}

var errNoProfile = &ProfileError{Reason: ProfileNone}

func (p *Profile) refuse(reason string) error { return &ProfileError{p.opts.Name, reason} }

func (p *Profile) close() {
	p.to, p.closed, p.state = p.s.lastRecorded(), time.Now(), profileClosed
}

// end stops measuring and takes the window off the stream.
func (p *Profile) end(state profileState) {
	p.timing.Stop()
	p.state = state
	p.s.profiles = slices.DeleteFunc(p.s.profiles, func(x *Profile) bool { return x == p })
	if len(p.s.profiles) == 0 {
		p.s.profiles = nil
	}
}

// holds reports whether the operation with a number is inside.
func (p *Profile) holds(seq uint64) bool { return p.from < seq && seq <= p.to }

// holdsAny reports whether one of the operations lo..hi is inside.
func (p *Profile) holdsAny(lo, hi uint64) bool { return max(lo, p.from+1) <= min(hi, p.to) }

// lastRecorded returns the number of the operation recorded last.
func (s *Stream) lastRecorded() uint64 { return uint64(s.stats.recorded.Load()) }

// drained ends what belonged to a drain.
func (s *Stream) drained() {
	s.causeLo, s.causeHi = 0, 0
	s.finishProfiles()
}

// finishProfiles ends the windows that are closed and all of whose operations
// were executed. The lock is held.
func (s *Stream) finishProfiles() {
	next := s.lastRecorded() + 1
	if len(s.queue.nodes) > 0 {
		next = s.queue.nodes[0].seq
	}
	for _, p := range slices.Clone(s.profiles) {
		if p.state == profileClosed && p.to < next {
			p.end(profileDone)
		}
	}
}

// closeProfiles closes the windows of a stream that closes.
func (s *Stream) closeProfiles() {
	for _, p := range s.profiles {
		if p.state == profileOpen {
			p.close()
		}
	}
	s.finishProfiles()
}

// sent is a launch or a replay that was sent to the device while a window was
// open.
type sent struct {
	launch *profiled   // nil: it is not of the window, or a replay
	replay []*profiled // what the graph launches, in the order of recording
	block  int64       // replay: number of its run
}

// profiled is a launch while a window is open, or of a recording.
type profiled struct {
	ProfiledLaunch
	seqs []uint64 // of Ops; 0: the runtime made it
}

var (
	nextLaunch atomic.Int64
	nextBlock  atomic.Int64
)

// launched counts a launch the device took, and tells the windows it belongs
// to, or the recording.
func (e *executor) launched(opt *fuser.Optimization, call *fuser.Call, l *codegen.Launch) {
	s := e.s
	if s.recording() {
		s.window.launched(s, e.profiled(opt, call, l))
		return
	}
	s.stats.launches.Add(1)
	if s.profiles == nil {
		return
	}
	x := e.profiled(opt, call, l)
	x.Number, x.Block = nextLaunch.Add(1), e.block
	allocs, copies := s.stats.allocations.Load(), s.stats.copies.Load()
	x.Allocations, x.Copies = allocs-s.noted.allocs, copies-s.noted.copies
	s.noted = noted{allocs, copies}
	for _, p := range s.profiles {
		var own *profiled
		if e.own && p.holdsAny(s.cause()) || !e.own && slices.ContainsFunc(x.seqs, p.holds) {
			own = x
		}
		p.sent = append(p.sent, sent{launch: own})
	}
}

// noted is what a stream had counted at its last profiled launch.
type noted struct{ allocs, copies int64 }

// beginBlock numbers the block that is about to run and, in the queue's own
// segment, makes its operations the cause of what the runtime does for it.
func (e *executor) beginBlock(ops []int) {
	s := e.s
	e.block = nextBlock.Add(1)
	if e.own {
		return
	}
	s.causeLo, s.causeHi = math.MaxUint64, 0
	for _, pos := range ops {
		n := e.seg.nodes[pos].seq
		s.causeLo, s.causeHi = min(s.causeLo, n), max(s.causeHi, n)
	}
}

// beginSegment does the same for what precedes the blocks of a segment.
func (e *executor) beginSegment() {
	if n := len(e.seg.nodes); !e.own {
		e.s.causeLo, e.s.causeHi = e.seg.nodes[0].seq, e.seg.nodes[n-1].seq
	}
	if s := e.s; !e.own || s.causeHi == 0 {
		s.noted = noted{s.stats.allocations.Load(), s.stats.copies.Load()}
	}
}

// cause returns the numbers of the first and last operation that what the
// runtime does for itself is for: those of the block at hand or, if the queue
// is not being executed, what is recorded next.
func (s *Stream) cause() (lo, hi uint64) {
	if s.causeHi > 0 {
		return s.causeLo, s.causeHi
	}
	next := s.lastRecorded() + 1
	return next, next
}

// profiled describes a launch.
func (e *executor) profiled(opt *fuser.Optimization, call *fuser.Call, l *codegen.Launch) *profiled {
	x := &profiled{ProfiledLaunch: ProfiledLaunch{Kernel: call.Kernel.Name, Fuser: opt.Fuser, Why: e.why(), Fallback: e.fell}}
	x.Read, x.Written = codegen.Traffic(call.Kernel, l)
	for _, pos := range opt.Ops {
		n := e.seg.nodes[pos]
		x.Ops = append(x.Ops, ProfiledOp{Kind: n.op.Kind, PC: n.op.PC, Name: n.out.Name()})
		x.seqs = append(x.seqs, n.seq)
	}
	return x
}

// why says why the segment runs.
func (e *executor) why() Why {
	switch {
	case !e.own:
		return WhyRecorded
	case e.late != nil:
		return WhyRecomputed
	}
	return WhyOwn
}

// profileSegment tells the open windows of an executed segment.
func (e *executor) profileSegment() {
	n := len(e.seg.nodes)
	lo, hi := e.seg.nodes[0].seq, e.seg.nodes[n-1].seq
	if e.own {
		lo, hi = e.s.cause()
	}
	x := ProfiledSegment{Operations: n, Why: e.why(), Planned: e.explored}
	if e.plan != nil {
		x.Blocks = len(e.plan.Blocks)
	}
	for _, at := range []*node{e.seg.nodes[0], e.seg.nodes[n-1]} {
		x.Ends = append(x.Ends, ProfiledOp{Kind: at.op.Kind, PC: at.op.PC, Name: at.out.Name()})
	}
	for _, p := range e.s.profiles {
		if p.holdsAny(lo, hi) {
			p.segments = append(p.segments, x)
		}
	}
}

// replayed counts a replay and tells the windows that are open. The replay
// follows everything recorded.
func (s *Stream) replayed(launches []*profiled) {
	s.stats.replays.Add(1)
	s.stats.launches.Add(int64(len(launches)))
	if s.profiles == nil {
		return
	}
	block := nextBlock.Add(1)
	x := sent{replay: launches, block: block}
	for _, p := range s.profiles { // all are open: nothing is queued
		p.sent = append(p.sent, x)
	}
}
