package torchcases

import (
	"encoding/json"
	"path"
	"slices"
)

// Exception says where a case differs from the rules of this library.
type Exception struct {
	Pattern  string          `json:"pattern"` // path.Match on names of cases
	Action   string          `json:"action"`  // "exclude", "adapt", "tolerance"
	Reason   string          `json:"reason"`
	Out      int             `json:"out"`
	Elements json.RawMessage `json:"elements"` // flat indices into output Out, or "all"
	Matches  int             `json:"matches"`  // 0: one
}

func (e *Exception) match(c *Case) bool { return match(e.Pattern, c.Name) }

// match is path.Match with a pattern known to be well formed.
func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	if err != nil {
		panic(err)
	}
	return ok
}

// excluded returns why the rules leave a whole case out, "" if they do not.
func (p *Corpus) excluded(c *Case) string {
	for i := range p.Exceptions {
		if e := &p.Exceptions[i]; e.Action == "exclude" && e.Elements == nil && e.match(c) {
			return e.Reason
		}
	}
	return ""
}

// skipped returns which elements of output out the rules leave out: for an
// element, whether it is.
func (p *Corpus) skipped(c *Case, out int) (func(i int) bool, error) {
	var some []int
	for i := range p.Exceptions {
		e := &p.Exceptions[i]
		if e.Action != "exclude" || e.Elements == nil || e.Out != out || !e.match(c) {
			continue
		}
		if string(e.Elements) == `"all"` {
			return func(int) bool { return true }, nil
		}
		var list []int
		if err := json.Unmarshal(e.Elements, &list); err != nil {
			return nil, err
		}
		some = append(some, list...)
	}
	slices.Sort(some)
	return func(i int) bool { _, ok := slices.BinarySearch(some, i); return ok }, nil
}

// inaccurate reports whether PyTorch's output itself is known to be far from
// the true value, or to be a NaN or infinity where it is not.
func (p *Corpus) inaccurate(c *Case) bool {
	return slices.ContainsFunc(p.Exceptions, func(e Exception) bool { return e.Action == "tolerance" && e.match(c) })
}
