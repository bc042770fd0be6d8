package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
)

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeJSON prints what a command shows of each segment.
func (d *document) writeJSON(w io.Writer, segments any) error {
	out := struct {
		Trace    *trace.Header  `json:"trace,omitempty"`    // of the first device
		Devices  []trace.Header `json:"devices,omitempty"`  // of several
		Complete bool           `json:"complete,omitempty"` // the trace was closed
		Profile  *trace.Profile `json:"profile,omitempty"`  // a program was planned with
		Segments any            `json:"segments"`
	}{Trace: d.header, Complete: d.complete, Segments: segments}
	if len(d.devices) > 1 {
		out.Devices = d.devices
	}
	if d.header == nil && d.profile != (trace.Profile{}) {
		out.Profile = &d.profile
	}
	return writeJSON(w, out)
}

// table prints lines with tabs between columns, aligned.
func table(w io.Writer, f func(w io.Writer)) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	f(t)
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// tensor is a tensor as irdump prints it.
type tensor struct {
	ID    ir.TensorID `json:"id"`
	Name  string      `json:"name,omitempty"`
	DType string      `json:"dtype"`
	Shape ir.Shape    `json:"shape"`
}

func tensorOf(p *ir.Program, t ir.TensorRef) tensor {
	out := tensor{ID: t.ID, Name: p.Names[t.ID], DType: t.DType.String(), Shape: t.Shape}
	if out.Shape == nil {
		out.Shape = ir.Shape{}
	}
	return out
}

// operation is an operation as irdump prints it.
type operation struct {
	Position int           `json:"position"`
	Kind     string        `json:"kind"`
	Class    string        `json:"class"`
	Inputs   []ir.TensorID `json:"inputs"`
	Output   tensor        `json:"output"`
	Call     string        `json:"call"` // with operands, attributes and scalars, as in the text form but for decimal scalars
	At       string        `json:"at,omitempty"`
}

func operationOf(p *ir.Program, pos int) operation {
	op := &p.Ops[pos]
	out := operation{
		Position: pos, Kind: op.Kind.String(), Class: ir.Lookup(op.Kind).Class.String(),
		Inputs: []ir.TensorID{}, Output: tensorOf(p, op.Outputs[0]), Call: call(op), At: p.Position(pos),
	}
	for _, in := range op.Inputs {
		out.Inputs = append(out.Inputs, in.ID)
	}
	return out
}

// call prints an operation without its output, scalars in decimal.
func call(op *ir.Operation) string {
	bare := *op
	bare.Scalars = nil
	_, text, _ := strings.Cut(bare.String(), " = ")
	for i, s := range op.Scalars {
		if i == 0 {
			text += " scalars("
		} else {
			text += ", "
		}
		text += scalar(s)
	}
	if len(op.Scalars) > 0 {
		text += ")"
	}
	return text
}

func scalar(s ir.Scalar) string {
	switch {
	case s.Input != 0:
		return "$" + strconv.Itoa(int(s.Input))
	case s.DType == ir.F32:
		return strconv.FormatFloat(float64(s.Float32()), 'g', -1, 32)
	case s.DType == ir.Invalid:
		return strconv.FormatFloat(s.Float64(), 'g', -1, 64)
	case s.DType == ir.Bool:
		return strconv.FormatBool(s.Bits != 0)
	}
	return strconv.FormatInt(s.Int64(), 10)
}

// definition prints a tensor with name and type: %3 "scores" f32[2,3].
func (t tensor) definition() string {
	name := ""
	if t.Name != "" {
		name = strconv.Quote(t.Name) + " "
	}
	return fmt.Sprintf("%%%d %s%s%v", t.ID, name, t.DType, t.Shape)
}

// row prints an operation as columns of a table.
func (o operation) row() string {
	return fmt.Sprintf("%s\t= %s\t%s", o.Output.definition(), o.Call, o.At)
}

// label prints an operation in one word or two: %3 Add.
func label(p *ir.Program, pos int) string {
	return fmt.Sprintf("%%%d %v", p.Ops[pos].Outputs[0].ID, p.Ops[pos].Kind)
}

func ids(list []ir.TensorID) string {
	words := make([]string, len(list))
	for i, id := range list {
		words[i] = fmt.Sprintf("%%%d", id)
	}
	return strings.Join(words, ", ")
}

// inDetails is how fusers and planner name tensors and operations.
var inDetails = regexp.MustCompile(`\b(?:t|tensor )(\d+)\b`)

// detail returns the detail of a decision with tensors named as everywhere
// else.
func detail(text string) string { return inDetails.ReplaceAllString(text, "%$1") }

// ns prints nanoseconds to a tenth.
func ns(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " ns"
}

// signed is ns with a sign.
func signed(v float64) string {
	if v < 0 {
		return "- " + ns(-v)
	}
	return "+ " + ns(v)
}

// heading prints what is known of a segment of a trace; a program has none.
func (d *document) heading(w io.Writer, s *trace.Traced) {
	if d.header == nil {
		return
	}
	fmt.Fprintf(w, "segment %d", s.ID)
	if len(d.devices) > 1 {
		fmt.Fprintf(w, " on device %d", s.Device+1)
	}
	fmt.Fprintf(w, ": ran %d times", s.Total())
	for i, r := range s.Runs {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		name := fmt.Sprintf("stream %d", r.Stream)
		if r.Stream == 0 {
			name = "other streams"
		}
		fmt.Fprintf(w, "%s%d on %s", sep, r.Count, name)
	}
	if !d.complete {
		fmt.Fprint(w, " or more")
	}
	if s.Plan > 1 {
		fmt.Fprintf(w, "; plan %d of sequence %d", s.Plan, s.Sequence)
	}
	if s.Why != "" {
		fmt.Fprintf(w, "; not recorded: %s", s.Why)
	}
	fmt.Fprintln(w)
}

// each prints every segment, an empty line between them.
func (d *document) each(w io.Writer, f func(s *trace.Traced) error) error {
	for i, h := range d.devices {
		number := ""
		if len(d.devices) > 1 {
			number = fmt.Sprintf(" %d:", i+1)
		}
		fusers := strings.Join(h.Fusers, " ")
		if fusers == "" {
			fusers = "none"
		}
		if len(h.Disable) > 0 {
			fusers += ", without " + strings.Join(h.Disable, " ")
		}
		fmt.Fprintf(w, "trace of device%s %s, fusers %s, %s %s\n", number, h.Device, fusers, h.Go, h.System)
	}
	for i := range d.segments {
		if d.header != nil {
			fmt.Fprintln(w)
		}
		d.heading(w, &d.segments[i])
		if err := f(&d.segments[i]); err != nil {
			return err
		}
	}
	return nil
}
