package trace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// check reports what is wrong with a segment that was read: everything that
// names an operation or a tensor must name one of the program, which was
// validated when it was read.
func (s *Segment) check() error {
	if s.Program == nil {
		return errors.New("there is no program")
	}
	if s.Log == nil {
		return errors.New("there is no log")
	}
	c := checker{ops: len(s.Program.Ops), defined: s.Program.Definitions()}
	for i := range s.Tensors {
		t := &s.Tensors[i]
		c.tensors("tensor", t.ID)
		if rank := c.rank(s.Program, t.ID); t.Strides != nil && len(t.Strides) != rank {
			c.fail("tensor %d has %d strides and rank %d", t.ID, len(t.Strides), rank)
		}
	}
	c.positions("in_place", s.InPlace)
	c.positions("forced", s.Forced)
	for i := range s.Blocks {
		b := &s.Blocks[i]
		if len(b.Ops) == 0 || !slices.IsSorted(b.Ops) {
			c.fail("block %d: operations %v are not ascending", i, b.Ops)
		}
		c.positions("block", b.Ops)
		c.tensors("stored", b.Stored...)
		for _, a := range b.Aliases {
			c.tensors("alias", a.Tensor, a.Of)
		}
		for _, t := range b.Takes {
			c.tensors("take", t.Tensor, t.From)
		}
		for k := range b.Calls {
			c.tensors("call", b.Calls[k].Tensors...)
		}
	}
	for _, r := range s.Recipes {
		c.tensors("recipe", r.Tensor)
		c.positions("recipe", r.Ops)
	}
	for i := range s.Log.Decisions {
		c.positions("decision", []int{s.Log.Decisions[i].Op})
	}
	return c.err
}

type checker struct {
	ops     int
	defined map[ir.TensorID]ir.Definition
	err     error // the first one
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) positions(where string, ops []int) {
	for _, op := range ops {
		if op < 0 || op >= c.ops {
			c.fail("%s: there is no operation %d", where, op)
		}
	}
}

func (c *checker) tensors(where string, ids ...ir.TensorID) {
	for _, id := range ids {
		if _, ok := c.defined[id]; !ok {
			c.fail("%s: there is no tensor %d", where, id)
		}
	}
}

func (c *checker) rank(p *ir.Program, id ir.TensorID) int {
	d, ok := c.defined[id]
	if !ok {
		return 0
	}
	switch d.Source {
	case ir.FromInput:
		return len(p.Inputs[d.Index].Shape)
	case ir.FromVar:
		return len(p.Vars[d.Index].Shape)
	case ir.FromConstant:
		return len(p.Constants[d.Index].Shape)
	}
	return len(p.Ops[d.Index].Outputs[0].Shape)
}
