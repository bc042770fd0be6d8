package main

import (
	"fmt"
	"io"

	"github.com/sinter-ml/sinter/internal/trace"
)

// opsView is a segment as the command ops prints it.
type opsView struct {
	Segment    int          `json:"segment"`
	Runs       []trace.Runs `json:"runs,omitempty"`
	Inputs     []tensor     `json:"inputs"`
	Vars       []tensor     `json:"vars"`
	Constants  []tensor     `json:"constants"`
	Operations []operation  `json:"operations"`
	Outputs    []tensor     `json:"outputs"`
}

func opsOf(s *trace.Traced) opsView {
	p := s.Program
	v := opsView{Segment: s.ID, Runs: s.Runs, Inputs: []tensor{}, Vars: []tensor{}, Constants: []tensor{}, Operations: []operation{}, Outputs: []tensor{}}
	all := map[uint64]tensor{}
	note := func(to *[]tensor, t tensor) {
		all[uint64(t.ID)] = t
		if to != nil {
			*to = append(*to, t)
		}
	}
	for _, t := range p.Inputs {
		note(&v.Inputs, tensorOf(p, t))
	}
	for _, t := range p.Vars {
		note(&v.Vars, tensorOf(p, t))
	}
	for i := range p.Constants {
		note(&v.Constants, tensorOf(p, p.Constants[i].TensorRef))
	}
	for i := range p.Ops {
		op := operationOf(p, i)
		note(nil, op.Output)
		v.Operations = append(v.Operations, op)
	}
	for _, id := range p.Outputs {
		v.Outputs = append(v.Outputs, all[uint64(id)])
	}
	return v
}

// Run lists the operations.
func (c *opsCmd) Run(s *streams) error {
	doc, err := c.load(s, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		all := []opsView{}
		for i := range doc.segments {
			all = append(all, opsOf(&doc.segments[i]))
		}
		return doc.writeJSON(s.out, all)
	}
	return doc.each(s.out, func(t *trace.Traced) error { return opsOf(t).print(s.out) })
}

func (v opsView) print(out io.Writer) error {
	return table(out, func(w io.Writer) {
		for _, group := range []struct {
			word    string
			tensors []tensor
		}{{"input", v.Inputs}, {"var", v.Vars}, {"constant", v.Constants}} {
			for _, t := range group.tensors {
				fmt.Fprintf(w, "\t%s\t%s\n", group.word, t.definition())
			}
		}
		for _, op := range v.Operations {
			fmt.Fprintf(w, "%d\t%s\t%s\n", op.Position, op.Class, op.row())
		}
		for _, t := range v.Outputs {
			fmt.Fprintf(w, "\toutput\t%s\n", t.definition())
		}
	})
}
