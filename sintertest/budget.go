// Package sintertest pins in a program's own tests what its steady state costs:
// launches, plans, compiles, allocations, copies and bytes, as counters and
// never as time.
//
//	func TestStep(t *testing.T) {
//		...
//		sintertest.Budget(t, dev, func() { step(model, batch) },
//			sintertest.Launches(11), sintertest.Plans(0), sintertest.Allocs(0))
//	}
//
// It is for tests and must not know graphs or models.
package sintertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sinter-ml/sinter"
)

// Target is what a budget counts the work of: a *sinter.Device, for all of it,
// or a *sinter.Stream.
type Target interface {
	Stats() sinter.Stats
	Flush(ctx context.Context) error
}

// settleRuns is how often a function is run at most before it is measured. A
// recorded sequence has its last plan by the third run.
const settleRuns = 8

// Budget runs fn until one run costs what the one before did, then once more,
// and fails the test if that run went over a limit. It names the operations
// that did, at file:line, as far as they ran on the stream or, of a device, on
// its default stream. After each run what fn recorded is executed.
//
// Counters that a limit does not name are free. A run that costs less than its
// limit passes. An error of an operation, and a target or limit that does not
// exist, end the test.
func Budget(t testing.TB, at Target, fn func(), limits ...Limit) {
	t.Helper()
	s := streamOf(at)
	switch {
	case s == nil:
		t.Fatalf("sintertest.Budget: the target is %T; want a *sinter.Device or a *sinter.Stream that is not nil", at)
		return
	case fn == nil || len(limits) == 0:
		t.Fatalf("sintertest.Budget: it needs a function and at least one limit, such as Launches(1)")
		return
	}
	b := &budget{t: t, at: at, s: s, fn: fn}
	if !b.settle() {
		return
	}
	b.allocsOnHeap(limits)
	used, report, ok := b.measure()
	if !ok {
		return
	}
	var over []string
	var why []string
	for _, l := range limits {
		n := l.count(&used, b.heap)
		if n <= l.max {
			continue
		}
		over = append(over, fmt.Sprintf("\t%s: %d, the budget is %d", l.name, n, l.max))
		if report != nil {
			why = append(why, l.explain(report, n)...)
		}
	}
	if len(over) == 0 {
		return
	}
	text := "over budget:\n" + strings.Join(over, "\n")
	if len(why) > 0 {
		text += "\n" + strings.Join(unique(why), "\n")
	}
	if report != nil {
		if n := used.Device.Launches - int64(len(report.Launches)); n > 0 {
			text += fmt.Sprintf("\n\tand %d launches on other streams", n)
		}
	}
	if !b.settled {
		text += fmt.Sprintf("\n\tafter %d runs each still cost something else than the one before", settleRuns)
	}
	t.Errorf("%s", text)
}

// streamOf returns the stream whose launches are listed, nil if there is none.
func streamOf(at Target) *sinter.Stream {
	switch x := at.(type) {
	case *sinter.Device:
		if x != nil {
			return x.Stream()
		}
	case *sinter.Stream:
		return x
	}
	return nil
}

// budget is one call of Budget.
type budget struct {
	t       testing.TB
	at      Target
	s       *sinter.Stream
	fn      func()
	settled bool
	heap    int64 // Go allocations of a run
}

// run runs the function and executes what it recorded.
func (b *budget) run() bool {
	b.t.Helper()
	b.fn()
	if err := b.at.Flush(context.Background()); err != nil {
		b.t.Fatalf("sintertest.Budget: %v", err)
		return false
	}
	return true
}

// cost is run that returns what was counted meanwhile.
func (b *budget) cost() (sinter.Stats, bool) {
	b.t.Helper()
	before := b.at.Stats()
	ok := b.run()
	used := b.at.Stats().Sub(before)
	used.Memory = sinter.Stats{}.Memory // a state, not a cost
	return used, ok
}

// settle runs the function until the cost of a run repeats.
func (b *budget) settle() bool {
	b.t.Helper()
	if err := b.at.Flush(context.Background()); err != nil {
		b.t.Fatalf("sintertest.Budget: before the first run: %v", err)
		return false
	}
	var last sinter.Stats
	for i := range settleRuns {
		used, ok := b.cost()
		if !ok {
			return false
		}
		if i > 0 && used == last {
			b.settled = true
			return true
		}
		last = used
	}
	return true
}

// allocsOnHeap counts Go allocations, without a window that would add some, and
// without those of a flush that finds nothing to do.
func (b *budget) allocsOnHeap(limits []Limit) {
	for _, l := range limits {
		if l.heap {
			flush := func() { _ = b.at.Flush(context.Background()) }
			b.heap = int64(testing.AllocsPerRun(heapRuns, func() { b.run() }) - testing.AllocsPerRun(heapRuns, flush))
			return
		}
	}
}

// heapRuns is how many runs the Go allocations are the mean of.
const heapRuns = 10

// measure runs the function once and returns what it cost and, if the device
// can tell, what was launched.
func (b *budget) measure() (used sinter.Stats, report *sinter.ProfileReport, ok bool) {
	b.t.Helper()
	ctx := context.Background()
	p, err := b.s.OpenProfile(ctx, sinter.ProfileOptions{})
	if err == nil {
		defer p.Abandon() // also when the function ends the test
	}
	if used, ok = b.cost(); !ok || err != nil {
		return used, nil, ok
	}
	if err := p.Close(ctx); err != nil {
		return used, nil, true
	}
	report, err = p.Report(ctx)
	if err != nil {
		return used, nil, true
	}
	return used, report, true
}
