package livemodel

import (
	"errors"
	"fmt"
	"slices"
)

// Segment is what a Planner sees: the operations of a drain by position.
type Segment struct {
	Ops []SegmentOp
}

// SegmentOp is one operation of a segment.
type SegmentOp struct {
	Number int // among all recorded operations
	Call   Call
	Live   bool // is computed; the others belong to no block
	Shape  []int
	In     []int   // positions of the operands, -1: made before
	Shapes [][]int // of the operands
	// After lists the positions that must run before: operands, and, for an
	// effect that writes in place, the earlier readers of the version before.
	After []int
}

// Plan is how a segment runs.
type Plan struct {
	// Blocks lists positions, ascending in each block, in the order the blocks
	// run. A view is in every block that reads through it.
	Blocks [][]int
	Alias  []bool // by position: stored as a view of its operand's storage; nil: none
	// Through tells of views that no block computes: their readers read through
	// them, so no block could store them. Nil: none.
	Through []bool
}

// Planner partitions segments into blocks. Equal segments must get equal plans.
type Planner interface {
	Plan(s *Segment) (Plan, error)
}

// describe returns the segment as planners see it.
func (s *segment) describe() *Segment {
	out := &Segment{Ops: make([]SegmentOp, len(s.ops))}
	for i, o := range s.ops {
		d := SegmentOp{Number: o.op, Call: o.call, Live: s.live[i], Shape: o.shape}
		for _, x := range o.in {
			p, ok := s.pos[x]
			if !ok {
				p = -1
			} else {
				d.After = append(d.After, p)
			}
			d.In = append(d.In, p)
			d.Shapes = append(d.Shapes, x.shape)
		}
		if o.effect() && (o.call.Op == OpSetSlice || !s.keeps[i]) {
			for j := range i {
				// A view reads nothing; who reads through it does.
				if s.ops[j].call.Op.Class() != ClassView && anyReads(s.ops[j:j+1], o.old()) {
					d.After = append(d.After, j)
				}
			}
		}
		out.Ops[i] = d
	}
	return out
}

// legal checks that blocks hold each computed operation once, views aside, and
// that no block runs before one it must follow: so no path leaves a block and
// re-enters it.
func (s *segment) legal(blocks [][]int) error {
	return s.describe().legal(blocks)
}

func (s *Segment) legal(blocks [][]int) error {
	ran := make([]bool, len(s.Ops))
	for _, b := range blocks {
		if !slices.IsSorted(b) {
			return errors.New("a block's operations are out of order")
		}
		for _, i := range b {
			if i < 0 || i >= len(ran) || ran[i] && s.Ops[i].Call.Op.Class() != ClassView || !s.Ops[i].Live {
				return fmt.Errorf("position %d is not there, dead, or in two blocks", i)
			}
			for _, p := range s.Ops[i].After {
				if s.Ops[p].Live && !ran[p] {
					return fmt.Errorf("position %d runs before %d", i, p)
				}
			}
			ran[i] = true
		}
	}
	for i, o := range s.Ops {
		if o.Live && !ran[i] {
			return fmt.Errorf("position %d is in no block", i)
		}
	}
	return nil
}

// Single runs every operation alone.
func Single(s *Segment) Plan {
	var p Plan
	for i, o := range s.Ops {
		if o.Live {
			p.Blocks = append(p.Blocks, []int{i})
		}
	}
	return p
}
