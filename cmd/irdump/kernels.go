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
	CUDA    []*cudaView   `json:"cuda,omitempty"` // of each call
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
	var cuda *cudaRunner
	if c.CUDA {
		if doc.planned == nil {
			return &usageError{"-cuda is for programs: a trace holds the text of kernels alone"}
		}
		if cuda, err = newCUDA(doc.planned, c.Arch, c.Show); err != nil {
			return err
		}
	}
	all := []kernelsView{}
	found := false
	for i := range doc.segments {
		v := c.view(&doc.segments[i])
		if err := v.run(cuda); err != nil {
			return err
		}
		found = found || len(v.Blocks) > 0
		all = append(all, v)
	}
	if c.Block >= 0 && !found {
		return fmt.Errorf("%s: there is no block %d", c.name(), c.Block)
	}
	if c.JSON {
		return doc.writeJSON(s.out, all)
	}
	next := 0
	return doc.each(s.out, func(*trace.Traced) error { next++; return all[next-1].print(s.out) })
}

// run adds what the blocks' launches are in CUDA, if that is wanted.
func (v *kernelsView) run(cuda *cudaRunner) error {
	if cuda == nil {
		return nil
	}
	for i := range v.Blocks {
		b := &v.Blocks[i]
		for call := range b.Calls {
			launch, err := cuda.launch(b.Block, call)
			if err != nil {
				return err
			}
			b.CUDA = append(b.CUDA, launch)
		}
	}
	return nil
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
		for k, call := range b.Calls {
			fmt.Fprintf(out, "  launch over %s, buffers %s\n", spaces(call), ids(call.Tensors))
			fmt.Fprint(out, indent(4, call.Kernel))
			if b.CUDA != nil {
				if err := b.CUDA[k].print(out); err != nil {
					return err
				}
			}
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
