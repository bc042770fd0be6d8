package livemodel

import (
	"fmt"
	"slices"
)

// Compare runs p on e and on a Model and returns the first difference, with
// the program's text. If e is an Inspector, the model takes its blocks, and
// every decision must agree; and a recorded sequence of a steady program must
// get at most two plans, the last by its third drain.
// Otherwise values and errors are compared alone.
func Compare(e Engine, p *Program, cfg Config) error {
	follow := &follower{}
	_, inspected := e.(Inspector)
	if inspected {
		cfg.Planner = follow
	}
	m := New(cfg)
	theirs, ours := newRunner(e, p), newRunner(m, p)
	plans := Settling{}
	var diff error
	p.each(func(s *Step, iter int) bool {
		got := theirs.do(s, iter)
		follow.take(got)
		want := ours.do(s, iter)
		if !inspected {
			want = slices.DeleteFunc(want, func(ev Event) bool { return ev.Kind == EventDrain || ev.Kind == EventLate })
		}
		if diff = m.Fault(); diff == nil {
			diff = differ(got, want)
		}
		if diff == nil {
			diff = settles(plans, got, want, p.Steady())
		}
		if diff != nil {
			diff = fmt.Errorf("iteration %d, %v: %w\n%v", iter, s, diff, p)
		}
		return diff == nil
	})
	return diff
}

// differ returns the first difference of two steps' events.
func differ(got, want Trace) error {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("missing: %v", want[i])
		case i >= len(want):
			return fmt.Errorf("unexpected: %v", got[i])
		case !got[i].same(want[i]):
			return fmt.Errorf("differs\n  got  %v\n  want %v", got[i], want[i])
		}
	}
	return nil
}

// settles counts the engine's plans by the model's sequences.
func settles(plans Settling, got, want Trace, steady bool) error {
	for i, e := range want {
		if e.Kind == EventDrain {
			plans.add(e.Drain.sequence, got[i].Drain.Planned)
		}
	}
	n, last := plans.Worst()
	switch {
	case !steady:
		return nil
	case n > 2:
		return fmt.Errorf("a recorded sequence got plan number %d", n)
	case last > 3:
		return fmt.Errorf("a recorded sequence got a plan at its drain number %d", last)
	}
	return nil
}

// follower plans as an engine did: it hands out the blocks of the drains the
// engine reported, in order.
type follower struct {
	drains []*Drain
}

func (f *follower) take(t Trace) {
	f.drains = nil
	for _, ev := range t {
		if ev.Kind == EventDrain {
			f.drains = append(f.drains, ev.Drain)
		}
	}
}

// Plan implements Planner.
func (f *follower) Plan(s *Segment) (Plan, error) {
	if len(f.drains) == 0 {
		return Plan{}, fmt.Errorf("the engine did not drain %d operations", len(s.Ops))
	}
	d := f.drains[0]
	f.drains = f.drains[1:]
	var want []int
	for _, o := range s.Ops {
		want = append(want, o.Number)
	}
	if !slices.Equal(d.Ops, want) {
		return Plan{}, fmt.Errorf("the engine drained operations %v, not %v", d.Ops, want)
	}
	return Plan{Blocks: d.Blocks, Alias: d.Alias, Through: d.Through}, nil
}
