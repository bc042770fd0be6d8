package ir

import (
	"bytes"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Constant is a tensor with its elements, little endian, in row-major order.
type Constant struct {
	TensorRef
	Data []byte
}

// Program is a list of operations in the order they run, with the tensors
// they start from and the ones wanted. Every tensor is defined once, before
// its uses. Effects are functional: input 0 of an effect is the current
// version of a Var, its output the next one.
type Program struct {
	Inputs    []TensorRef
	Vars      []TensorRef // each Var's first version
	Constants []Constant
	Ops       []Operation // each with one output
	Outputs   []TensorID

	Names     map[TensorID]string // of tensors that have one
	Positions map[int]string      // "file:line" by operation, where no Operation.PC tells it
}

// ProgramError says what makes a program malformed.
type ProgramError struct {
	Op  int // position in Program.Ops, -1: not an operation
	Err error
}

// Error formats e as "operation 3: cause".
func (e *ProgramError) Error() string {
	if e.Op < 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("operation %d: %v", e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *ProgramError) Unwrap() error { return e.Err }

// Source is where a tensor of a program comes from.
type Source uint8

// The sources.
const (
	FromInput Source = iota
	FromVar
	FromConstant
	FromOp
)

// Definition is the one place of a program that defines a tensor.
type Definition struct {
	Source Source
	Index  int // into Inputs, Vars, Constants or Ops
}

// Definitions tells where each tensor of a valid program comes from.
func (p *Program) Definitions() map[TensorID]Definition {
	defs := make(map[TensorID]Definition, len(p.Inputs)+len(p.Vars)+len(p.Constants)+len(p.Ops))
	for i := range p.Inputs {
		defs[p.Inputs[i].ID] = Definition{FromInput, i}
	}
	for i := range p.Vars {
		defs[p.Vars[i].ID] = Definition{FromVar, i}
	}
	for i := range p.Constants {
		defs[p.Constants[i].ID] = Definition{FromConstant, i}
	}
	for i := range p.Ops {
		for _, out := range p.Ops[i].Outputs {
			defs[out.ID] = Definition{FromOp, i}
		}
	}
	return defs
}

// FinalVersions returns the last version of each Var of a valid program, in
// the order of Vars.
func (p *Program) FinalVersions() []TensorID {
	final := make([]TensorID, len(p.Vars))
	varOf := make(map[TensorID]int, len(p.Vars))
	for i := range p.Vars {
		final[i] = p.Vars[i].ID
		varOf[p.Vars[i].ID] = i
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		if Lookup(o.Kind).Class != ClassEffect {
			continue
		}
		v, out := varOf[o.Inputs[0].ID], o.Outputs[0].ID
		final[v], varOf[out] = out, v
	}
	return final
}

// Position returns "file:line" of an operation, or "".
func (p *Program) Position(op int) string {
	if at, ok := p.Positions[op]; ok {
		return at
	}
	return Position(p.Ops[op].PC)
}

// Validate checks that every tensor is defined once and before its uses, that
// the recorded shapes and dtypes are those Check infers, that effects follow
// their Var's versions, and that constants have the bytes of their shape. A
// failure is a *ProgramError.
func (p *Program) Validate() error {
	v := newValidator()
	for i := range p.Inputs {
		if err := v.define(p.Inputs[i]); err != nil {
			return &ProgramError{-1, fmt.Errorf("input %d: %w", i, err)}
		}
	}
	for i := range p.Vars {
		if err := v.defineVar(p.Vars[i]); err != nil {
			return &ProgramError{-1, fmt.Errorf("var %d: %w", i, err)}
		}
	}
	for i := range p.Constants {
		if err := v.defineConstant(&p.Constants[i]); err != nil {
			return &ProgramError{-1, fmt.Errorf("constant %d: %w", i, err)}
		}
	}
	for i := range p.Ops {
		if err := v.add(&p.Ops[i]); err != nil {
			return &ProgramError{i, err}
		}
	}
	for i, id := range p.Outputs {
		if _, ok := v.defs[id]; !ok {
			return &ProgramError{-1, fmt.Errorf("output %d: %%%d is not defined", i, id)}
		}
	}
	if err := p.validateLabels(v); err != nil {
		return &ProgramError{-1, err}
	}
	return nil
}

// validateLabels checks names and positions.
func (p *Program) validateLabels(v *validator) error {
	for id, name := range p.Names {
		if _, ok := v.defs[id]; !ok {
			return argumentErrorf("name %q: %%%d is not defined", name, id)
		}
		if !utf8.ValidString(name) {
			return argumentErrorf("name %q of %%%d is not valid UTF-8", name, id)
		}
	}
	for i, at := range p.Positions {
		if i < 0 || i >= len(p.Ops) {
			return argumentErrorf("position %q: there is no operation %d", at, i)
		}
		if !utf8.ValidString(at) {
			return argumentErrorf("position %q of operation %d is not valid UTF-8", at, i)
		}
	}
	return nil
}

// validator holds the tensors defined so far.
type validator struct {
	defs    map[TensorID]TensorRef
	current map[TensorID]bool // the Vars' current versions
}

func newValidator() *validator {
	return &validator{defs: map[TensorID]TensorRef{}, current: map[TensorID]bool{}}
}

func (v *validator) define(t TensorRef) error {
	if _, twice := v.defs[t.ID]; twice {
		return argumentErrorf("%%%d is defined twice", t.ID)
	}
	if !t.DType.Valid() {
		return dtypeErrorf("%%%d has no valid dtype (%v)", t.ID, t.DType)
	}
	if err := checkShape(t.Shape); err != nil {
		return err
	}
	if t.Status > NotInit {
		return argumentErrorf("%%%d has no valid status (%d)", t.ID, t.Status)
	}
	v.defs[t.ID] = t
	return nil
}

func (v *validator) defineVar(t TensorRef) error {
	v.current[t.ID] = true
	return v.define(t)
}

func (v *validator) defineConstant(c *Constant) error {
	if err := v.define(c.TensorRef); err != nil {
		return err
	}
	hi, want := bits.Mul64(uint64(c.Shape.NumElements()), uint64(c.DType.Size()))
	if hi != 0 || want != uint64(len(c.Data)) {
		return argumentErrorf("%%%d is %v%v, which takes %d bytes, got %d", c.ID, c.DType, c.Shape, want, len(c.Data))
	}
	if c.DType == Bool {
		for i, b := range c.Data {
			if b > 1 {
				return argumentErrorf("%%%d: element %d of a bool is %d", c.ID, i, b)
			}
		}
	}
	return nil
}

func (v *validator) add(o *Operation) error {
	if len(o.Outputs) != 1 {
		return argumentErrorf("has %d outputs instead of one", len(o.Outputs))
	}
	for i := range o.Inputs {
		in := &o.Inputs[i]
		def, ok := v.defs[in.ID]
		if !ok {
			return argumentErrorf("operand %d, %%%d, is not defined before", i, in.ID)
		}
		if in.Status > NotInit {
			return argumentErrorf("operand %d, %%%d, has no valid status (%d)", i, in.ID, in.Status)
		}
		if in.DType != def.DType || !in.Shape.Equal(def.Shape) {
			return argumentErrorf("operand %d, %%%d, is %v%v here and %v%v where defined", i, in.ID, in.DType, in.Shape, def.DType, def.Shape)
		}
	}
	again := *o
	again.Outputs = nil
	if err := again.Check(); err != nil {
		return err
	}
	out, want := &o.Outputs[0], &again.Outputs[0]
	if out.DType != want.DType || !out.Shape.Equal(want.Shape) {
		return argumentErrorf("%%%d is recorded as %v%v but is %v%v", out.ID, out.DType, out.Shape, want.DType, want.Shape)
	}
	if !slices.Equal(o.Attrs.Axes, again.Attrs.Axes) {
		return argumentErrorf("axes %v are not normalised, want %v", Shape(o.Attrs.Axes), Shape(again.Attrs.Axes))
	}
	if Lookup(o.Kind).Class == ClassEffect {
		old := o.Inputs[0].ID
		if !v.current[old] {
			return argumentErrorf("operand 0, %%%d, is not a Var's current version", old)
		}
		delete(v.current, old)
		v.current[out.ID] = true
	}
	return v.define(*out)
}

// Equal reports whether both programs say the same: nil and empty lists are
// alike, scalars and constants compare by bits, and call sites by position.
func (p *Program) Equal(q *Program) bool {
	equalOps := len(p.Ops) == len(q.Ops)
	for i := 0; equalOps && i < len(p.Ops); i++ {
		equalOps = p.Ops[i].equal(&q.Ops[i]) && p.Position(i) == q.Position(i)
	}
	return equalOps && equalRefs(p.Inputs, q.Inputs) && equalRefs(p.Vars, q.Vars) &&
		slices.EqualFunc(p.Constants, q.Constants, func(a, b Constant) bool {
			return a.TensorRef.equal(b.TensorRef) && bytes.Equal(a.Data, b.Data)
		}) &&
		slices.Equal(p.Outputs, q.Outputs) && maps.Equal(p.Names, q.Names)
}

func (o *Operation) equal(p *Operation) bool {
	a, b := &o.Attrs, &p.Attrs
	return o.Kind == p.Kind && equalRefs(o.Inputs, p.Inputs) && equalRefs(o.Outputs, p.Outputs) &&
		slices.Equal(a.Axes, b.Axes) && a.Shape.Equal(b.Shape) && slices.Equal(a.Ints, b.Ints) &&
		a.N == b.N && a.DType == b.DType && a.Flag == b.Flag && a.Reverse == b.Reverse &&
		slices.Equal(o.Scalars, p.Scalars) && slices.Equal(o.Ranges, p.Ranges)
}

func (t TensorRef) equal(u TensorRef) bool {
	return t.ID == u.ID && t.DType == u.DType && t.Status == u.Status && t.Shape.Equal(u.Shape)
}

func equalRefs(a, b []TensorRef) bool { return slices.EqualFunc(a, b, TensorRef.equal) }
