package ir

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// MaxRank is the greatest rank of a tensor.
const MaxRank = 64

// MaxElements bounds the product of a tensor's lengths, counting length 0 as
// 1, so that offsets and strides never overflow.
const MaxElements = min(1<<48, math.MaxInt)

// Check checks o, normalises its axes (negative ones count from the end, an
// axis list that may name any axes is sorted, an empty one means all) and
// fills the shape and dtype of its one output; the output's shape may share
// memory with an operand's or the attributes', shapes being immutable. A
// failure is an *OpError around a *ShapeError, *DTypeError, *IndexError or
// *ArgumentError, and o's output is left alone. No operation, however
// malformed, makes Check panic.
func (o *Operation) Check() error {
	shape, dtype, err := o.infer()
	if err != nil {
		return o.Fail(err)
	}
	if len(o.Outputs) == 0 {
		o.Outputs = make([]TensorRef, 1)
	}
	o.Outputs[0].Shape, o.Outputs[0].DType = shape, dtype
	return nil
}

// Fail wraps a cause into the *OpError of o.
func (o *Operation) Fail(cause error) *OpError {
	shapes := make([]Shape, len(o.Inputs))
	for i := range o.Inputs {
		shapes[i] = o.Inputs[i].Shape
	}
	return &OpError{Op: o.Kind.String(), Shapes: shapes, PC: o.PC, Err: cause}
}

// Operands returns the inputs that are the kind's own operands: those before
// the first that holds a scalar's value or a range's start.
func (o *Operation) Operands() []TensorRef {
	n := len(o.Inputs)
	for i := range o.Scalars {
		if in := int(o.Scalars[i].Input); in != 0 && in < n {
			n = in
		}
	}
	for i := range o.Ranges {
		if in := int(o.Ranges[i].Input); in != 0 && in < n {
			n = in
		}
	}
	return o.Inputs[:n]
}

func (o *Operation) infer() (Shape, DType, error) {
	row := Lookup(o.Kind)
	if row.Infer == nil {
		return nil, Invalid, argumentErrorf("there is no kind %d", uint16(o.Kind))
	}
	if len(o.Outputs) > 1 {
		return nil, Invalid, argumentErrorf("has one output, got %d", len(o.Outputs))
	}
	if err := o.checkInputs(row); err != nil {
		return nil, Invalid, err
	}
	if err := o.checkAttrs(row); err != nil {
		return nil, Invalid, err
	}
	if err := o.checkScalars(row); err != nil {
		return nil, Invalid, err
	}
	shape, dtype, err := row.Infer(o)
	if err != nil {
		return nil, Invalid, err
	}
	if err := checkShape(shape); err != nil {
		return nil, Invalid, err
	}
	return shape, dtype, nil
}

// checkInputs checks the number of operands, each one's shape and dtype, and
// that the operands behind the kind's own are the sources of scalars and
// ranges and nothing else.
func (o *Operation) checkInputs(row *Info) error {
	own := len(o.Operands())
	if own < row.MinIn || row.MaxIn >= 0 && own > row.MaxIn {
		return argumentErrorf("takes %s, got %d", countWords(row.MinIn, row.MaxIn, "operand"), own)
	}
	for i := range o.Inputs {
		in := &o.Inputs[i]
		if !in.DType.Valid() {
			return dtypeErrorf("operand %d has no valid dtype (%v)", i, in.DType)
		}
		if err := checkShape(in.Shape); err != nil {
			return err
		}
	}
	if own > 0 && !row.DTypes.Has(o.Inputs[0].DType) {
		return dtypeErrorf("is not defined for %v, only for %v", o.Inputs[0].DType, row.DTypes)
	}
	return o.checkSources(own)
}

func (o *Operation) checkSources(own int) error {
	dtype := Invalid // of the tensor a scalar is combined with
	if own > 0 {
		dtype = o.Inputs[0].DType
	}
	var used [4]uint64 // a bit for each value of Input
	check := func(in uint8, what string, i int, want DType) error {
		if int(in) >= len(o.Inputs) {
			return argumentErrorf("%s %d comes from operand %d of %d", what, i, in, len(o.Inputs))
		}
		ref := &o.Inputs[in]
		if len(ref.Shape) != 0 {
			return shapeErrorf("%s %d comes from operand %d, which has shape %v instead of rank 0", what, i, in, ref.Shape)
		}
		if ref.DType != want {
			return dtypeErrorf("%s %d comes from operand %d, which is %v instead of %v", what, i, in, ref.DType, want)
		}
		used[in/64] |= 1 << (in % 64)
		return nil
	}
	for i := range o.Scalars {
		if s := &o.Scalars[i]; s.Input != 0 {
			if s.Bits != 0 {
				return argumentErrorf("scalar %d has both a value and a source", i)
			}
			want := dtype
			if o.Kind == Custom && int(s.Input) < len(o.Inputs) {
				// Its scalars have types of their own.
				if want = o.Inputs[s.Input].DType; want.Compute() != s.DType {
					want = s.DType
				}
			}
			if err := check(s.Input, "scalar", i, want); err != nil {
				return err
			}
		}
	}
	for i := range o.Ranges {
		if r := &o.Ranges[i]; r.Input != 0 {
			if r.Start != 0 {
				return argumentErrorf("range %d has both a start and a source", i)
			}
			if err := check(r.Input, "range", i, I64); err != nil {
				return err
			}
		}
	}
	for i := own; i < len(o.Inputs); i++ {
		if i > math.MaxUint8 || used[i/64]&(1<<(i%64)) == 0 {
			return argumentErrorf("operand %d is neither an operand nor a scalar's or range's source", i)
		}
	}
	return nil
}

// checkAttrs checks that only attributes the kind uses are set, and that the
// target shape and dtype are possible.
func (o *Operation) checkAttrs(row *Info) error {
	a := &o.Attrs
	if extra := a.given(o.Ranges) &^ row.Attrs; extra != 0 {
		return argumentErrorf("does not use the given attributes (%v)", extra)
	}
	if row.Attrs&HasShape != 0 {
		if err := checkShape(a.Shape); err != nil {
			return err
		}
	}
	if a.Mode >= numScatterModes {
		return argumentErrorf("there is no scatter mode %d", uint8(a.Mode))
	}
	if row.Attrs&HasDType != 0 && row.Class != ClassOpaque {
		if !a.DType.Valid() {
			return dtypeErrorf("has no valid target dtype (%v)", a.DType)
		}
		if row.MaxIn == 0 && !row.DTypes.Has(a.DType) {
			return dtypeErrorf("is not defined for %v, only for %v", a.DType, row.DTypes)
		}
	}
	return nil
}

// given returns the fields of a that are not zero.
func (a *Attrs) given(ranges []Range) AttrSet {
	var set AttrSet
	if len(a.Axes) != 0 {
		set |= HasAxes
	}
	if len(a.Shape) != 0 {
		set |= HasShape
	}
	if len(a.Ints) != 0 {
		set |= HasInts
	}
	if a.N != 0 {
		set |= HasN
	}
	if a.DType != Invalid {
		set |= HasDType
	}
	if a.Flag {
		set |= HasFlag
	}
	if a.Reverse {
		set |= HasReverse
	}
	if a.Mode != Assign {
		set |= HasMode
	}
	if a.Name != "" {
		set |= HasName
	}
	if len(ranges) != 0 {
		set |= HasRanges
	}
	return set
}

var attrNames = [...]string{"axes", "shape", "ints", "n", "dtype", "flag", "reverse", "ranges", "mode", "name"}

// String lists the attributes' names as in the text form.
func (s AttrSet) String() string {
	var names []string
	for i, name := range attrNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// checkScalars checks number, type and range of the scalars. The kinds with
// operands share one rule, that a scalar has the compute type of operand 0.
func (o *Operation) checkScalars(row *Info) error {
	if n := len(o.Scalars); n < row.MinScalars || n > row.MaxScalars {
		return argumentErrorf("takes %s, got %d", countWords(row.MinScalars, row.MaxScalars, "scalar"), n)
	}
	for i := range o.Scalars {
		s := &o.Scalars[i]
		if !s.Canonical() {
			return argumentErrorf("scalar %d has bits %#x outside its type %v", i, s.Bits, s.DType)
		}
		if row.MinIn > 0 && row.Class != ClassOpaque {
			if err := o.scalarIs(i, o.Inputs[0].DType.Compute()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Canonical reports whether the bits of a scalar are those of its type.
func (s Scalar) Canonical() bool {
	switch {
	case s.DType == F32:
		return s.Bits <= math.MaxUint32
	case s.DType == Bool:
		return s.Bits <= 1
	case s.DType.IsInt():
		return s.DType.Wrap(int64(s.Bits)) == int64(s.Bits)
	}
	return s.DType == F64
}

// scalarIs checks the type of scalar i.
func (o *Operation) scalarIs(i int, want DType) error {
	if got := o.Scalars[i].DType; got != want {
		return dtypeErrorf("scalar %d is %v, want %v", i, got, want)
	}
	return nil
}

// checkShape checks rank, signs and size.
func checkShape(s Shape) error {
	if len(s) > MaxRank {
		return shapeErrorf("rank %d is above the greatest rank %d", len(s), MaxRank)
	}
	n := uint64(1)
	for i, d := range s {
		if d < 0 {
			return shapeErrorf("axis %d has the negative length %d", i, d)
		}
		hi, lo := bits.Mul64(n, uint64(max(d, 1)))
		if hi != 0 || lo > MaxElements {
			return shapeErrorf("shape %v has more than %d elements", s, int64(MaxElements))
		}
		n = lo
	}
	return nil
}

// countWords says how many of something a kind takes, as in "1 to 3 operands".
func countWords(least, most int, noun string) string {
	var b []byte
	b = strconv.AppendInt(b, int64(least), 10)
	switch {
	case most < 0:
		b = append(b, " or more"...)
	case most > least:
		b = append(b, " to "...)
		b = strconv.AppendInt(b, int64(most), 10)
	}
	b = append(b, ' ')
	b = append(b, noun...)
	if least != 1 || most != 1 {
		b = append(b, 's')
	}
	return string(b)
}
