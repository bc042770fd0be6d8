package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// whyView answers why two operations are, or are not, in one block.
type whyView struct {
	Segment  int       `json:"segment"`
	A        operation `json:"a"`
	B        operation `json:"b"`
	BlocksA  []int     `json:"a_blocks"` // none: it is not computed
	BlocksB  []int     `json:"b_blocks"`
	Together bool      `json:"together"`
	Reasons  []reason  `json:"reasons"` // why not
}

// reason is a decision that kept two operations apart.
type reason struct {
	Event  string `json:"event"` // an optimize.Event
	Op     int    `json:"position"`
	Fuser  string `json:"fuser,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Detail string `json:"detail,omitempty"`
	Profit bool   `json:"profit,omitempty"`
	Doc    string `json:"doc,omitempty"` // what the rule means
}

// findError says that a name stands for no operation, or for several.
type findError struct{ msg string }

func (e *findError) Error() string { return e.msg }

// find returns the operation that a name stands for: %3 or 3, the name of a
// tensor, or file:line.
func find(p *ir.Program, name string) (int, error) {
	var found []int
	for i := range p.Ops {
		id := p.Ops[i].Outputs[0].ID
		if given, ok := p.Names[id]; ok && given == name {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		if id, err := strconv.ParseUint(strings.TrimPrefix(name, "%"), 10, 64); err == nil {
			d, ok := p.Definitions()[ir.TensorID(id)]
			switch {
			case !ok:
				return 0, &findError{fmt.Sprintf("there is no tensor %%%d", id)}
			case d.Source != ir.FromOp:
				return 0, &findError{fmt.Sprintf("%%%d is no operation's result: it is given", id)}
			}
			return d.Index, nil
		}
		for i := range p.Ops {
			if at := p.Position(i); at != "" && (at == name || strings.HasSuffix(at, "/"+name)) {
				found = append(found, i)
			}
		}
	}
	switch len(found) {
	case 0:
		return 0, &findError{fmt.Sprintf("%q names no operation: want %%3, a tensor's name, or file:line", name)}
	case 1:
		return found[0], nil
	}
	words := make([]string, len(found))
	for i, op := range found {
		words[i] = label(p, op)
	}
	return 0, &findError{fmt.Sprintf("%q names several operations: %s", name, strings.Join(words, ", "))}
}

// why answers for each segment that has both operations.
func (c *fuseCmd) why(s *streams, doc *document) error {
	all := []whyView{}
	var first error
	for i := range doc.segments {
		t := &doc.segments[i]
		a, err := find(t.Program, c.Why[0])
		if err == nil {
			var b int
			if b, err = find(t.Program, c.Why[1]); err == nil {
				all = append(all, whyOf(t, a, b))
			}
		}
		if first == nil {
			first = err
		}
	}
	if len(all) == 0 {
		if first == nil {
			first = &findError{"there are no operations"}
		}
		return fmt.Errorf("%s: %w", c.name(), first)
	}
	if c.JSON {
		return doc.writeJSON(s.out, all)
	}
	for i, v := range all {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		if doc.header != nil {
			fmt.Fprintf(s.out, "segment %d: ", v.Segment)
		}
		v.print(s.out)
	}
	return nil
}

func whyOf(t *trace.Traced, a, b int) whyView {
	v := whyView{
		Segment: t.ID, A: operationOf(t.Program, a), B: operationOf(t.Program, b),
		BlocksA: append([]int{}, blocksOf(t.Segment, a)...), BlocksB: append([]int{}, blocksOf(t.Segment, b)...), Reasons: []reason{},
	}
	v.Together = a == b || slices.ContainsFunc(v.BlocksA, func(i int) bool { return slices.Contains(v.BlocksB, i) })
	if v.Together {
		return v
	}
	for _, d := range t.Log.Why(a, b) {
		e := explain(d.Rule)
		v.Reasons = append(v.Reasons, reason{string(d.Event), d.Op, d.Fuser, d.Rule, detail(d.Detail), e.Profit, e.Doc})
	}
	return v
}

func (v whyView) print(out io.Writer) {
	a, b := v.A.place(), v.B.place()
	if v.Together {
		fmt.Fprintf(out, "%s and %s are in one block, %s\n", a, b, numbers(v.shared()))
		return
	}
	fmt.Fprintf(out, "%s %s\n%s %s\n", a, where(v.BlocksA), b, where(v.BlocksB))
	explained := map[string]bool{}
	for _, r := range v.Reasons {
		fmt.Fprintf(out, "  %s\n", r.text(v))
		if r.Doc != "" && !explained[r.Rule] {
			explained[r.Rule] = true
			kind := ""
			if r.Profit {
				kind = " (a matter of cost)"
			}
			fmt.Fprintf(out, "    %s: %s%s\n", r.Rule, r.Doc, kind)
		}
	}
}

// shared returns the blocks with both operations.
func (v whyView) shared() []int {
	return slices.DeleteFunc(slices.Clone(v.BlocksA), func(i int) bool { return !slices.Contains(v.BlocksB, i) })
}

func where(blocks []int) string {
	if len(blocks) == 0 {
		return "is not computed"
	}
	return "is in block " + numbers(blocks)
}

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " and ")
}

// place prints an operation with its position: %3 Add (model.go:4).
func (o operation) place() string {
	s := fmt.Sprintf("%%%d %s", o.Output.ID, o.Kind)
	if o.At != "" {
		s += " (" + o.At + ")"
	}
	return s
}

func (r reason) text(v whyView) string {
	name := "operation " + strconv.Itoa(r.Op)
	for _, o := range []operation{v.A, v.B} {
		if o.Position == r.Op {
			name = fmt.Sprintf("%%%d %s", o.Output.ID, o.Kind)
		}
	}
	var s string
	switch optimize.Event(r.Event) {
	case optimize.EventRewrite:
		s = fmt.Sprintf("pass %s rewrote %s", r.Rule, name)
	case optimize.EventOffer:
		s = fmt.Sprintf("fuser %s refused %s: %s", r.Fuser, name, r.Rule)
	case optimize.EventRefuse:
		by := "the planner"
		if r.Fuser != "" {
			by = "fuser " + r.Fuser
		}
		s = fmt.Sprintf("%s refused %s: %s", by, name, r.Rule)
	case optimize.EventDissolved:
		s = "the block of both came apart"
		if r.Rule != "" {
			s += ": " + r.Rule
		}
	case optimize.EventFailed:
		s = fmt.Sprintf("fuser %s could not finish the block of %s", r.Fuser, name)
	default:
		return r.Detail
	}
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}
