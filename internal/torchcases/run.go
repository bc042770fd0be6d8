package torchcases

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// Excluded returns why a case is not run, "" if it is.
func (p *Corpus) Excluded(c *Case) string {
	if reason := p.excluded(c); reason != "" {
		return reason
	}
	for i := range exclusions {
		if e := &exclusions[i]; e.match(c) {
			return e.reason
		}
	}
	return ""
}

// Faulty returns what is known to be wrong with a case that is run and fails,
// "" if nothing is.
func Faulty(c *Case) string {
	for i := range faults {
		if e := &faults[i]; e.match(c) {
			return e.reason
		}
	}
	return ""
}

// Run makes the call of a case on a device and returns its outputs, nil where
// there is no counterpart. With detour, each operand is first computed by
// operations that change nothing, so that the device has something to fuse.
func Run(ctx context.Context, dev *sinter.Device, c *Case, detour bool) ([]*Host, error) {
	ts, err := outputs(c, dev, detour)
	if err != nil {
		return nil, err
	}
	out, err := read(ctx, ts)
	if err != nil {
		return nil, err
	}
	return out, dev.Flush(ctx) // tells of effects that failed
}

// Replay captures the call of a case, with the detour of [Run], and returns the
// outputs of the second replay.
func Replay(ctx context.Context, s *sinter.Stream, c *Case) ([]*Host, error) {
	var counterpart []bool // which outputs there are
	g, err := graphapi.Capture(ctx, s, func(s *sinter.Stream, _ []*sinter.Tensor) (out []*sinter.Tensor, err error) {
		ts, err := outputs(c, s, true)
		counterpart = counterpart[:0]
		for _, t := range ts {
			counterpart = append(counterpart, t != nil)
			if t != nil {
				out = append(out, t)
			}
		}
		return out, err
	}, nil, graphapi.RequireHardware())
	if err != nil {
		return nil, err
	}
	for range 2 {
		if err := g.Replay(); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	ts, n := make(tensors, len(counterpart)), 0
	for i := range ts {
		if counterpart[i] {
			ts[i] = g.Out(n)
			n++
		}
	}
	out, err := read(ctx, ts)
	return out, errors.Join(err, g.Close())
}

// outputs makes the call of a case.
func outputs(c *Case, at sinter.Placer, detour bool) (out tensors, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(callError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	a, ok := lookup(c)
	if !ok {
		return nil, callError("no adapter for " + c.Key())
	}
	out = a.make(&Call{Case: c, at: at, detour: detour})
	if len(out) != len(c.OutName) {
		return nil, fmt.Errorf("%d outputs, want %d", len(out), len(c.OutName))
	}
	if !slices.ContainsFunc(out, func(t *tensor) bool { return t != nil }) {
		return nil, callError("no output is compared")
	}
	return out, nil
}

func read(ctx context.Context, ts tensors) ([]*Host, error) {
	out := make([]*Host, len(ts))
	for i, t := range ts {
		if t == nil {
			continue
		}
		data, err := sinter.ReadBytes(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		out[i] = &Host{DType: t.DType().String(), Shape: append([]int{}, t.Shape()...), Data: data}
	}
	return out, nil
}

// Compare returns how the outputs of a call differ from PyTorch's.
func (p *Corpus) Compare(c *Case, out []*Host) error {
	a, _ := lookup(c)
	for i, got := range out {
		if got == nil {
			continue
		}
		if err := p.compare(c, i, *got, a.tolerance(c, i)); err != nil {
			return err
		}
	}
	return nil
}

// exclusion is why cases are left out, or known to fail.
type exclusion struct {
	pattern string             // path.Match on names of cases
	when    func(c *Case) bool // nil: all of the pattern
	reason  string
}

func (e *exclusion) match(c *Case) bool {
	return match(e.pattern, c.Name) && (e.when == nil || e.when(c))
}
