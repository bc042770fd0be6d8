package ir

import (
	"fmt"
	"math"
	"slices"
)

// TensorID names a tensor. Ids are never reused.
type TensorID uint64

// Status says what an operation may do with an operand's storage. It is
// computed when the queue is drained, from the segment's liveness.
type Status uint8

const (
	ReadOnly  Status = iota // somebody still reads it later
	ReadWrite               // last use: the storage may be taken
	NotInit                 // an output: nothing is stored yet
)

// TensorRef is an operand of an operation.
type TensorRef struct {
	ID     TensorID
	Shape  Shape
	DType  DType
	Status Status
}

// Scalar is a runtime scalar of an operation: a value, or, when Input is not
// zero, the element of the rank-0 operand Inputs[Input] (operand 0 is never a
// scalar's source). Scalars number by position in the relative form: a new
// value never makes a new plan.
type Scalar struct {
	DType DType  // a compute dtype: F64, F32 (also of 16-bit floats), an integer type or Bool
	Input uint8  // position of the operand that holds the value, 0: Bits does
	Bits  uint64 // the value: a float's own bits; integers extended to 64 bits by their sign or by zeros; Bool 0 or 1
}

// F32Scalar returns a float32 scalar.
func F32Scalar(v float32) Scalar { return Scalar{DType: F32, Bits: uint64(math.Float32bits(v))} }

// F64Scalar returns a float64 scalar.
func F64Scalar(v float64) Scalar { return Scalar{DType: F64, Bits: math.Float64bits(v)} }

// I64Scalar returns an int64 scalar.
func I64Scalar(v int64) Scalar { return Scalar{DType: I64, Bits: uint64(v)} }

// IntScalar returns a scalar of an integer type that holds v.
func IntScalar(d DType, v int64) Scalar { return Scalar{DType: d, Bits: uint64(v)} }

// FloatScalar returns v as a scalar of the compute dtype of a float type d.
func FloatScalar(d DType, v float64) Scalar {
	if d.Compute() == F64 {
		return F64Scalar(v)
	}
	return F32Scalar(float32(v))
}

// BoolScalar returns a bool scalar.
func BoolScalar(v bool) Scalar {
	s := Scalar{DType: Bool}
	if v {
		s.Bits = 1
	}
	return s
}

// Float32 returns the value of an F32 scalar.
func (s Scalar) Float32() float32 { return math.Float32frombits(uint32(s.Bits)) }

// Float64 returns the value of a scalar of a float type.
func (s Scalar) Float64() float64 {
	if s.DType == F32 {
		return float64(s.Float32())
	}
	return math.Float64frombits(s.Bits)
}

// Int64 returns the value of a scalar of an integer type; of U64 its bits.
func (s Scalar) Int64() int64 { return int64(s.Bits) }

// Range is one axis of a slice: Len elements from Start, Step apart. Step is
// never 0 and may be negative; Start then is the highest index. When Input is
// not zero, Start is the element of the rank-0 i64 operand Inputs[Input]; a
// start that leaves the tensor is then an IndexError at the read.
type Range struct {
	Start, Len, Step int
	Input            uint8
}

// Attrs are the literal attributes of an operation; the kind's table row says
// which of them it uses. Literal means: another value is another plan.
type Attrs struct {
	Axes    []int // the axes worked on, normalised to 0..rank-1
	Shape   Shape // target shape
	Ints    []int // Repeat: times per axis; Pad: low and high per axis, in turn; Unfold: size, step
	N       int   // Var, Std: correction; Attention: causal offset; Diagonal: offset; TopK: count; GroupNorm: groups
	DType   DType // target dtype
	Flag    bool  // scans: exclusive; Attention: causal; Cast: no saturation
	Reverse bool  // scans: from the end; orders: descending
	Mode    ScatterMode
	Name    string // Custom: the registered name
}

// ScatterMode is how updates join what is there.
type ScatterMode uint8

// The modes. Updates are taken in the row-major order of the values.
const (
	Assign ScatterMode = iota // the last wins
	ScatterSum
	ScatterMul
	ScatterMin
	ScatterMax
	numScatterModes
)

var scatterNames = [numScatterModes]string{"assign", "add", "mul", "min", "max"}

// String returns "assign", "add", "mul", "min" or "max".
func (m ScatterMode) String() string {
	if m >= numScatterModes {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return scatterNames[m]
}

// ParseScatterMode returns the mode with the given name.
func ParseScatterMode(name string) (ScatterMode, bool) {
	i := slices.Index(scatterNames[:], name)
	return ScatterMode(max(i, 0)), i >= 0
}

// Operation is one recorded tensor operation.
type Operation struct {
	Kind    Kind
	Inputs  []TensorRef
	Outputs []TensorRef
	Attrs   Attrs
	Scalars []Scalar
	Ranges  []Range
	PC      uintptr // the caller, made into file:line only when printed
}

// Visitor is called on the parts of an operation in one fixed order: inputs,
// outputs, scalars, ranges. Relative form, hashing and status rewriting are
// all driven by it. Nil functions are skipped.
type Visitor struct {
	Input  func(i int, t *TensorRef)
	Output func(i int, t *TensorRef)
	Scalar func(i int, s *Scalar)
	Range  func(i int, r *Range)
}

// Visit walks o in the fixed order.
func (o *Operation) Visit(v Visitor) {
	if v.Input != nil {
		for i := range o.Inputs {
			v.Input(i, &o.Inputs[i])
		}
	}
	if v.Output != nil {
		for i := range o.Outputs {
			v.Output(i, &o.Outputs[i])
		}
	}
	if v.Scalar != nil {
		for i := range o.Scalars {
			v.Scalar(i, &o.Scalars[i])
		}
	}
	if v.Range != nil {
		for i := range o.Ranges {
			v.Range(i, &o.Ranges[i])
		}
	}
}
