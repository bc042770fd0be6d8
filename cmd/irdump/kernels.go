package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
)

// kernelsView is a segment as the command kernels prints it.
type kernelsView struct {
	Segment int           `json:"segment"`
	Blocks  []blockOfCode `json:"blocks"`
}

type blockOfCode struct {
	Block   int           `json:"block"`
	Fuser   string        `json:"fuser"`
	Ops     []operation   `json:"operations"`
	Aliases []trace.Alias `json:"aliases"`
	Calls   []trace.Call  `json:"calls"`
}

func (c *kernelsCmd) view(s *trace.Traced) kernelsView {
	v := kernelsView{Segment: s.ID, Blocks: []blockOfCode{}}
	for i := range s.Blocks {
		if c.Block >= 0 && c.Block != i {
			continue
		}
		b := &s.Blocks[i]
		code := blockOfCode{Block: i, Fuser: b.Fuser, Ops: operationsOf(s.Program, b.Ops), Aliases: []trace.Alias{}, Calls: []trace.Call{}}
		code.Aliases = append(code.Aliases, b.Aliases...)
		code.Calls = append(code.Calls, b.Calls...)
		v.Blocks = append(v.Blocks, code)
	}
	return v
}

func operationsOf(p *ir.Program, positions []int) []operation {
	out := []operation{}
	for _, pos := range positions {
		out = append(out, operationOf(p, pos))
	}
	return out
}

// Run prints the kernels.
func (c *kernelsCmd) Run(s *streams) error {
	doc, err := c.load(s, &c.planning)
	if err != nil {
		return err
	}
	all := []kernelsView{}
	found := false
	for i := range doc.segments {
		v := c.view(&doc.segments[i])
		found = found || len(v.Blocks) > 0
		all = append(all, v)
	}
	if c.Block >= 0 && !found {
		return fmt.Errorf("%s: there is no block %d", c.name(), c.Block)
	}
	if c.JSON {
		return doc.writeJSON(s.out, all)
	}
	return doc.each(s.out, func(t *trace.Traced) error { return c.view(t).print(s.out) })
}

func (v kernelsView) print(out io.Writer) error {
	for i, b := range v.Blocks {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "block %d: %s\n", b.Block, b.Fuser)
		if err := operationTable(out, b.Ops); err != nil {
			return err
		}
		for _, a := range b.Aliases {
			fmt.Fprintf(out, "  %%%d is a view of %%%d\n", a.Tensor, a.Of)
		}
		for _, call := range b.Calls {
			fmt.Fprintf(out, "  launch over %s, buffers %s\n", spaces(call), ids(call.Tensors))
			fmt.Fprint(out, indent(4, call.Kernel))
		}
	}
	return nil
}

// spaces prints the space of a launch, or those of its parts.
func spaces(c trace.Call) string {
	if len(c.Parts) == 0 {
		return ir.Shape(c.Dims).String()
	}
	words := make([]string, len(c.Parts))
	for i, dims := range c.Parts {
		words[i] = ir.Shape(dims).String()
	}
	return strings.Join(words, " and ")
}

// operationTable prints operations below a heading.
func operationTable(out io.Writer, ops []operation) error {
	return table(out, func(w io.Writer) {
		for _, op := range ops {
			fmt.Fprintf(w, "  %d\t%s\n", op.Position, op.row())
		}
	})
}
