package sinter

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/sinter-ml/sinter/backend/fusion"
)

// The types of profiling; see [Stream.OpenProfile].
type (
	// Profile is a window of measurement on a stream. Close it with Close and
	// take what it measured with Report, or Abandon it.
	Profile = fusion.Profile
	// ProfileOptions name a window and say whether it flushes.
	ProfileOptions = fusion.ProfileOptions
	// ProfileReport is what a window measured: each launch with its kernel, the
	// operations it is for, bytes and times. String prints a table.
	ProfileReport = fusion.ProfileReport
	// ProfiledLaunch is one launch of a report.
	ProfiledLaunch = fusion.ProfiledLaunch
	// ProfiledOp is an operation of a launch or a segment.
	ProfiledOp = fusion.ProfiledOp
	// ProfiledSegment is a segment of a report: operations executed together.
	ProfiledSegment = fusion.ProfiledSegment
	// Why says why the runtime launched something.
	Why = fusion.Why
	// ProfileError says why a window cannot be opened, closed or asked.
	ProfileError = fusion.ProfileError
)

// The reasons of a launch.
const (
	WhyRecorded   = fusion.WhyRecorded   // it was recorded
	WhyRecomputed = fusion.WhyRecomputed // a virtual value was asked for late
	WhyOwn        = fusion.WhyOwn        // the runtime copies, or keeps or rebuilds an old version of a Var
)

// OpenProfile opens a window of measurement after what was recorded on the
// stream so far; closing it marks an end in the same way. What is executed
// together stays as it would be without the window: a launch belongs to the
// window that computes an operation recorded inside, and its Ops say which
// others it computes too. With ProfileOptions.Flush the queue is executed at
// both ends instead. Windows may overlap, be closed on another goroutine, and
// cover replays of captured graphs.
//
//	p, err := s.OpenProfile(ctx, sinter.ProfileOptions{Name: "step"})
//	y := model.Forward(x)
//	err = p.Close(ctx)
//	out, err := sinter.Read[float32](ctx, y)
//	report, err := p.Report(ctx)
//
// While no window is open, profiling costs nothing.
func (s *Stream) OpenProfile(ctx context.Context, o ProfileOptions) (*Profile, error) {
	if s.Runtime() == nil {
		return nil, errNoPlace
	}
	return s.s.OpenProfile(ctx, o)
}

// Profile measures what f records on the stream: what is queued is executed
// before and after. It returns f's error, else the first of an operation. If f
// panics the window is abandoned.
func (s *Stream) Profile(ctx context.Context, f func() error) (*ProfileReport, error) {
	if f == nil {
		return nil, errNoFunction
	}
	p, err := s.OpenProfile(ctx, ProfileOptions{Flush: true})
	if err != nil {
		return nil, err
	}
	defer p.Abandon() // does nothing to what was reported
	if err := f(); err != nil {
		return nil, err
	}
	if err := p.Close(ctx); err != nil {
		return nil, err
	}
	return p.Report(ctx)
}

// WriteChromeTrace writes reports as a trace that Perfetto (ui.perfetto.dev)
// and chrome://tracing show: devices as processes, streams as threads, blocks
// with their launches, and the windows.
func WriteChromeTrace(w io.Writer, reports ...*ProfileReport) error {
	if w == nil {
		return &ArgumentError{Msg: "writer is nil"}
	}
	if i := slices.Index(reports, nil); i >= 0 {
		return &ArgumentError{Msg: fmt.Sprintf("report %d is nil", i)}
	}
	return fusion.WriteChromeTrace(w, reports...)
}
