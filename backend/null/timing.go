package null

import (
	"time"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// StartTiming notes when launches on s would run on a device that is what the
// profile says: one after the other from the beginning of Unix time, each for
// as long as launching it and moving its bytes takes.
func (d *Device) StartTiming(id backend.Stream) (backend.Timing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, err := d.enter(id)
	if err != nil {
		return nil, err
	}
	return s.timings.Start(), nil
}

// cost returns how long a launch takes by the profile.
func (d *Device) cost(k *codegen.Kernel, l *codegen.Launch) time.Duration {
	read, written := codegen.Traffic(k, l)
	p := d.Profile()
	return time.Duration(p.LaunchCost + float64(read+written)/p.Bandwidth)
}

// span returns the next span of the clock. The lock is held.
func (d *Device) span(cost time.Duration) backend.Span {
	start := d.ran
	d.ran += cost
	at := func(t time.Duration) time.Time { return time.Unix(0, int64(t)).UTC() }
	return backend.Span{Start: at(start), End: at(d.ran)}
}

// replaySpan is span for a replay, of the costs of its launches.
func (d *Device) replaySpan(costs []time.Duration) backend.Span {
	out := d.span(0)
	for i, c := range costs {
		s := d.span(c)
		out.Parts = append(out.Parts, backend.Part{Launch: i, Start: s.Start, End: s.End})
		out.End = s.End
	}
	return out
}
