package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// side is one operand of a contraction. A line of it is what is multiplied with
// a line of the other: a row of the left, a column of the right operand.
type side struct {
	name   string // "left" or "right"
	level  codegen.Level
	loop   int           // the loop over its lines
	access int           // where it lies in memory, -1 if a prologue computes it
	value  codegen.Value // what the prologue computes
	dtype  ir.DType      // of factors
	stored ir.DType      // in memory
}

// sidesOf returns the contraction of a kernel and its operands.
func sidesOf(k *codegen.Kernel) (at int, sides [2]side) {
	for k.Body[at].Op != codegen.OpContract {
		at++
	}
	in := &k.Body[at]
	left, right := k.Factors(in)
	sides[0] = side{name: "left", level: codegen.Left, loop: loopM, access: in.Access, dtype: left}
	sides[1] = side{name: "right", level: codegen.Right, loop: loopN, access: in.Access2, dtype: right}
	for i := range sides {
		s := &sides[i]
		if len(in.Args) > 0 {
			s.value, s.access = in.Args[i], -1
			if load := &k.Body[s.value]; load.Op == codegen.OpLoad && len(load.Args) == 0 {
				s.access = load.Access
			}
		}
		if s.access >= 0 {
			s.stored = k.Buffers[k.Accesses[s.access].Buffer].DType
		}
	}
	return at, sides
}

// moves reports whether an operand depends on an axis.
func (s *side) moves(b *binding, axis int) bool {
	found := false
	s.each(b.k, func(access int) {
		a := &b.l.Access[access]
		found = found || a.Strides[axis] != 0
		for _, w := range a.Window {
			found = found || w.Axis == axis
		}
	}, func(coord int) { found = found || coord == axis })
	return found
}

// each calls access for every access an operand reads and coord for every axis
// whose coordinate it takes.
func (s *side) each(k *codegen.Kernel, access func(int), coord func(int)) {
	if s.access >= 0 {
		access(s.access)
		return
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.Level != s.level {
			continue
		}
		switch in.Op {
		case codegen.OpLoad:
			access(in.Access)
		case codegen.OpCoord, codegen.OpArange:
			coord(in.Index)
		}
	}
}

// loadMode is how an operand comes to shared memory.
type loadMode uint8

// The ways to read operands.
const (
	readEach loadMode = iota // each element through a register: any layout, prologues, conversions
	readCopy                 // each element of 4 or 8 bytes copied asynchronously: any layout
	readLine                 // 16 bytes at once of neighbouring lines
	readK                    // 16 bytes at once along k
)

var loadModes = [...]string{"each", "copy", "line", "k"}

func (m loadMode) String() string { return loadModes[m] }

// panelType returns the dtype of an operand's elements in shared memory.
func (s *side) panelType(c Class) ir.DType {
	if c.Instruction.tensor() {
		return s.dtype
	}
	return c.Accumulator
}

// direct reports whether the elements of an operand lie in memory as in its
// panels, so that they can be copied.
func (s *side) direct(c Class) bool {
	return s.access >= 0 && s.stored == s.dtype && s.stored.Size() == s.panelType(c).Size()
}

// best returns the best way to read an operand in a launch.
func (s *side) best(b *binding, c Class) loadMode {
	if !s.direct(c) {
		return readEach
	}
	modes := []loadMode{readLine, readCopy}
	if c.Instruction.tensor() {
		modes = []loadMode{readK}
		switch s.stored.Size() {
		case 2:
			modes = []loadMode{readK, readLine}
		case 4:
			modes = []loadMode{readK, readCopy}
		}
	}
	for _, m := range modes {
		if s.rule(b, m) == "" {
			return m
		}
	}
	return readEach
}

// rule returns what keeps an operand from being read in a mode, "" if nothing
// does: 16 bytes at once must be neighbours and lie at multiples of 16 bytes.
func (s *side) rule(b *binding, mode loadMode) string {
	if mode != readLine && mode != readK {
		return ""
	}
	width := vectorBytes / s.stored.Size()
	if offset := b.slots.list[s.access].offset; offset%width != 0 {
		return fmt.Sprintf("offset %d does not divide by %d", offset, width)
	}
	along := loopK
	if mode == readLine {
		along = s.loop
	}
	for _, i := range []int{loopBatch, s.loop, loopK} {
		x := b.loops[i]
		strides := x.strides[s.access]
		for d, stride := range strides {
			if i == along && d == len(strides)-1 {
				continue
			}
			if stride%width != 0 {
				return fmt.Sprintf("stride %d along %s%d does not divide by %d", stride, x.name, d, width)
			}
		}
	}
	x := b.loops[along]
	last := len(x.dims) - 1
	if last < 0 || x.strides[s.access][last] != 1 {
		return fmt.Sprintf("elements along %s are no neighbours", x.name)
	}
	if mode == readLine && x.dims[last]%width != 0 {
		return fmt.Sprintf("length %d along %s%d does not divide by %d", x.dims[last], x.name, last, width)
	}
	return ""
}

// walk is how threads are spread over the elements of a panel that are read one
// by one.
type walk uint8

const (
	walkK    walk = iota // neighbouring threads along k
	walkLine             // along lines
)

// walkOf returns the walk that reads neighbours in memory: of an operand with a
// prologue, of the first access that moves.
func (c *contraction) walkOf(s *side) walk {
	w, found := walkK, false
	s.each(c.k, func(access int) {
		if found {
			return
		}
		k, line := c.v.loops[loopK].strides[access], c.v.loops[s.loop].strides[access]
		switch {
		case len(k) > 0 && k[len(k)-1] == strideOne:
			found = true
		case len(line) > 0 && line[len(line)-1] == strideOne:
			w, found = walkLine, true
		}
	}, func(int) {})
	return w
}
