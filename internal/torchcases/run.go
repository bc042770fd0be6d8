package torchcases

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter"
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
func Run(ctx context.Context, dev *sinter.Device, c *Case, detour bool) (out []*Host, err error) {
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
	ts := a.make(&Call{Case: c, at: dev, detour: detour})
	if len(ts) != len(c.OutName) {
		return nil, fmt.Errorf("%d outputs, want %d", len(ts), len(c.OutName))
	}
	some := false
	for i, t := range ts {
		if t == nil {
			out = append(out, nil)
			continue
		}
		data, err := sinter.ReadBytes(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		out = append(out, &Host{DType: t.DType().String(), Shape: append([]int{}, t.Shape()...), Data: data})
		some = true
	}
	if !some {
		return nil, callError("no output is compared")
	}
	return out, dev.Flush(ctx) // tells of effects that failed
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
