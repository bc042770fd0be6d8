package graphapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// WriteDOT draws the graph for Graphviz: a node for each launch, with its
// operations and their file:line, and for each copy; an edge for each order; a
// box for each body of If and While. A graph without a recording is a
// *CaptureError.
func (g *Graph) WriteDOT(w io.Writer) error {
	if !g.made() {
		return errNoGraph
	}
	if g.rec == nil {
		return &sinter.CaptureError{Reason: "the graph runs the function again; there is nothing to draw", Err: g.reason}
	}
	return draw(w, g.rec.Drawing())
}

// WriteLastDOT draws the last capture on s, as far as it was recorded, whatever
// became of it. If nothing was, it is a *CaptureError.
func WriteLastDOT(w io.Writer, s *sinter.Stream) error {
	if s.Runtime() == nil {
		return &sinter.CaptureError{Reason: "the stream is nil"}
	}
	d := s.Runtime().Drawing()
	if d == nil {
		return &sinter.CaptureError{Reason: "nothing was recorded on the stream"}
	}
	return draw(w, d)
}

func draw(to io.Writer, d *fusion.Drawing) error {
	if to == nil {
		return &sinter.ArgumentError{Msg: "writer is nil"}
	}
	w := bufio.NewWriter(to)
	fmt.Fprintln(w, "digraph capture {\n\tnode [shape=box, fontname=monospace];\n\tcompound=true;")
	inside := make([][]int, len(d.Nodes)+1)
	for i := range d.Nodes {
		in := d.Nodes[i].Inside
		inside[in] = append(inside[in], i)
	}
	var list func(of int, indent string)
	list = func(of int, indent string) {
		for _, i := range inside[of] {
			n := &d.Nodes[i]
			if n.Kind != fusion.DrawnBody {
				fmt.Fprintf(w, "%sn%d [label=%s];\n", indent, i, label(n))
				continue
			}
			fmt.Fprintf(w, "%ssubgraph cluster_%d {\n%s\tlabel=%s;\n%s\tn%d [shape=diamond, label=%s];\n",
				indent, i, indent, quote(n.When), indent, i, quote(n.When))
			list(i+1, indent+"\t")
			fmt.Fprintf(w, "%s}\n", indent)
		}
	}
	list(0, "\t")
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if len(n.After) == 0 && n.Inside > 0 {
			fmt.Fprintf(w, "\tn%d -> n%d;\n", n.Inside-1, i)
		}
		for _, a := range n.After {
			fmt.Fprintf(w, "\tn%d -> n%d;\n", a, i)
		}
	}
	fmt.Fprintln(w, "}")
	return w.Flush()
}

// label describes a node.
func label(n *fusion.Drawn) string {
	lines := []string{fmt.Sprintf("%s of %d bytes", n.Kind, n.Bytes)}
	if l := n.Launch; l != nil {
		lines = []string{"launch " + l.Kernel}
		for _, op := range l.Ops {
			lines = append(lines, op.String())
		}
		lines = append(lines, fmt.Sprintf("reads %d bytes, writes %d", l.Read, l.Written))
	}
	return quote(append(lines, n.Stream)...)
}

// quote makes lines a DOT string, each flush left.
func quote(lines ...string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, l := range lines {
		b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l) + `\l`)
	}
	b.WriteByte('"')
	return b.String()
}

// ReplayError says which launch of a graph in debug mode failed.
type ReplayError struct {
	Launch     string   // the kernel, or what else it was
	Operations []string // what it computes, with file:line
	Err        error
}

func (e *ReplayError) Error() string {
	return fmt.Sprintf("launch %s (%s): %v", e.Launch, strings.Join(e.Operations, ", "), e.Err)
}
func (e *ReplayError) Unwrap() error { return e.Err }

// watch makes replays of a recording tell of each step.
func watch(rec *fusion.Recording, log *slog.Logger) error {
	return rec.Watch(func(n fusion.Drawn, err error) error {
		what, ops := string(n.Kind), []string(nil)
		if l := n.Launch; l != nil {
			what = l.Kernel
			for _, op := range l.Ops {
				ops = append(ops, op.String())
			}
		}
		if err != nil {
			log.Debug("sinter: replay failed", "launch", what, "operations", ops, "stream", n.Stream, "err", err)
			var known *ReplayError
			if errors.As(err, &known) {
				return err
			}
			return &ReplayError{Launch: what, Operations: ops, Err: err}
		}
		log.Debug("sinter: replay", "launch", what, "operations", ops, "bytes", n.Bytes, "stream", n.Stream)
		return nil
	})
}
