package ir

import (
	"slices"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// ref returns an operand without an id.
func ref(d DType, lengths ...int) TensorRef { return TensorRef{Shape: lengths, DType: d} }

// sample returns a small legal operation of a kind, its operands, as far as
// the kind leaves a choice, being d.
func sample(k Kind, d DType) Operation {
	o := Operation{Kind: k}
	one := scalarOf(d, 1)
	switch k {
	case Cast:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.DType = BF16
	case Bitcast:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.DType = map[int]DType{1: U8, 2: U16, 4: U32, 8: U64}[d.Size()]
	case PRelu, ReluBackward, SeluBackward, SigmoidBackward, TanhBackward, LogSigmoidBackward, HardSigmoidBackward, SiluBackward,
		HardSwishBackward, MishBackward, GeluBackward, GeluTanhBackward, SoftplusBackward, SoftsignBackward:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 3)}
	case LeakyReluBackward, EluBackward, CeluBackward:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 3)}
		o.Scalars = []Scalar{one}
	case Elu, Celu, LeakyRelu:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Scalars = []Scalar{one}
	case Add, Sub, Mul, Div, FloorDiv, Remainder, Fmod, Pow, Atan2, Hypot, CopySign, BitwiseAnd, BitwiseOr, BitwiseXor, ShiftLeft, ShiftRight, Maximum, Minimum, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or, Xor:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 3)}
	case Where:
		o.Inputs = []TensorRef{ref(Bool, 2, 1), ref(d, 3), ref(d)}
	case Clamp:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Scalars = []Scalar{scalarOf(d, 0), one}
	case MulAdd:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 3), ref(d, 2, 1)}
	case Full:
		o.Attrs = Attrs{Shape: Shape{2, 3}, DType: d}
		o.Scalars = []Scalar{one}
	case Arange:
		o.Attrs = Attrs{Shape: Shape{5}, DType: d}
		o.Scalars = []Scalar{F64Scalar(0.5), F64Scalar(0.1)}
		if d.IsInt() {
			o.Scalars = []Scalar{I64Scalar(-3), I64Scalar(2)}
		}
	case Uniform, Normal:
		o.Attrs = Attrs{Shape: Shape{2, 3}, DType: d}
		o.Scalars = []Scalar{I64Scalar(7), I64Scalar(0), FloatScalar(d, -1), FloatScalar(d, 2)}
	case Bernoulli:
		o.Attrs = Attrs{Shape: Shape{2, 3}, DType: d}
		o.Scalars = []Scalar{I64Scalar(7), I64Scalar(0), F32Scalar(0.25)}
	case RandInt:
		o.Attrs = Attrs{Shape: Shape{2, 3}, DType: d}
		o.Scalars = []Scalar{I64Scalar(7), I64Scalar(0), I64Scalar(2), I64Scalar(5)}
	case Reshape:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Shape = Shape{3, 2}
	case Permute:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Axes = []int{1, 0}
	case Expand:
		o.Inputs = []TensorRef{ref(d, 1, 3)}
		o.Attrs.Shape = Shape{4, 2, 3}
	case Slice:
		o.Inputs = []TensorRef{ref(d, 2, 7)}
		o.Ranges = []Range{{0, 2, 1, 0}, {6, 3, -2, 0}}
	case Unfold:
		o.Inputs = []TensorRef{ref(d, 2, 7)}
		o.Attrs = Attrs{Axes: []int{1}, Ints: []int{3, 2}}
	case Diagonal:
		o.Inputs = []TensorRef{ref(d, 2, 7, 3)}
		o.Attrs = Attrs{Axes: []int{2, 0}, N: 1}
	case GatherND:
		o.Inputs = []TensorRef{ref(d, 2, 7, 3), ref(I64, 5, 2)}
	case SliceAssign:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 1, 2)}
		o.Ranges = []Range{{1, 1, 1, 0}, {0, 2, 2, 0}}
	case SelectAssign:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(I64, 5), ref(d, 2, 5)}
		o.Attrs.Axes = []int{1}
	case Scatter:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(I64, 1, 5), ref(d, 1, 5)}
		o.Attrs.Axes = []int{1}
	case ScatterND:
		o.Inputs = []TensorRef{ref(d, 2, 7, 3), ref(I64, 5, 2), ref(d, 5, 3)}
	case Sort, ArgSort:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs = Attrs{Axes: []int{1}, Reverse: true}
	case TopK, ArgTopK:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs = Attrs{Axes: []int{1}, N: 2}
	case IntMatMul:
		o.Inputs = []TensorRef{ref(d, 5, 2, 3), ref(U8, 3, 4)}
	case GroupNorm:
		o.Inputs = []TensorRef{ref(d, 2, 6, 5), ref(d, 6), ref(d, 6)}
		o.Attrs.N = 3
		o.Scalars = []Scalar{one}
	case BatchNorm:
		o.Inputs = []TensorRef{ref(d, 2, 6, 5), ref(d, 6), ref(d, 6), ref(d, 6), ref(d, 6)}
		o.Scalars = []Scalar{one}
	case SoftmaxBackward, LogSoftmaxBackward:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 2, 3)}
		o.Attrs.Axes = []int{1}
	case LayerNormBackward, RMSNormBackward:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 2, 3), ref(d, 3)}
		o.Scalars = []Scalar{one}
	case Norm:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Axes = []int{1}
		o.Scalars = []Scalar{one}
	case Custom:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs = Attrs{Name: sampleCustom, Ints: []int{4}}
	case Flip, CumSum, CumProd, CumMax, CumMin:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Axes = []int{1}
	case Cat:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 2, 4), ref(d, 2, 0)}
		o.Attrs.Axes = []int{1}
	case Repeat:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Ints = []int{1, 2}
	case Pad:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Ints = []int{1, 2, -1, 0}
		o.Scalars = []Scalar{one}
	case Select:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(I64, 5)}
		o.Attrs.Axes = []int{1}
	case Gather:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(I64, 1, 5)}
		o.Attrs.Axes = []int{1}
	case Embedding:
		o.Inputs = []TensorRef{ref(d, 9, 4), ref(I64, 2, 3)}
	case Set:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 2, 3)}
	case SetSlice:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 1, 2)}
		o.Ranges = []Range{{1, 1, 1, 0}, {0, 2, 2, 0}}
	case SetSelect, ScatterAdd:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(I64, 5), ref(d, 2, 5)}
		o.Attrs.Axes = []int{1}
	case Sum, Mean, Prod, Max, Min, ArgMax, ArgMin, Any, All, LogSumExp, L2Norm, Softmax, LogSoftmax:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs.Axes = []int{1}
	case Var, Std:
		o.Inputs = []TensorRef{ref(d, 2, 3)}
		o.Attrs = Attrs{Axes: []int{0, 1}, N: 1}
	case MatMul:
		o.Inputs = []TensorRef{ref(d, 5, 2, 3), ref(d, 3, 4)}
	case Linear:
		o.Inputs = []TensorRef{ref(d, 5, 3), ref(d, 3, 4), ref(d, 4)}
	case LayerNorm:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 3), ref(d, 3)}
		o.Scalars = []Scalar{one}
	case RMSNorm:
		o.Inputs = []TensorRef{ref(d, 2, 3), ref(d, 3)}
		o.Scalars = []Scalar{one}
	case Attention:
		o.Inputs = []TensorRef{ref(d, 2, 6, 5, 8), ref(d, 2, 3, 7, 8), ref(d, 2, 3, 7, 4), ref(Bool, 5, 7)}
		o.Attrs = Attrs{Flag: true, N: 2}
		o.Scalars = []Scalar{one}
	default: // element-wise, one operand
		o.Inputs = []TensorRef{ref(d, 2, 3)}
	}
	return o
}

// scalarOf returns a scalar of the compute type of d.
func scalarOf(d DType, v int64) Scalar {
	switch d = d.Compute(); {
	case d.IsFloat():
		return FloatScalar(d, float64(v))
	case d == Bool:
		return BoolScalar(v != 0)
	default:
		return IntScalar(d, v)
	}
}

// Custom operations that give their operand's shape and dtype.
const (
	sampleCustom = "sample.same"
	longCustom   = "123456789" // and its first 8 bytes
)

func init() {
	for _, name := range []string{sampleCustom, longCustom, longCustom[:8]} {
		err := RegisterCustom(name, func(o *Operation) (Shape, DType, error) {
			if len(o.Operands()) != 1 {
				return nil, Invalid, argumentErrorf("takes 1 operand, got %d", len(o.Operands()))
			}
			return o.Inputs[0].Shape, o.Inputs[0].DType, nil
		})
		if err != nil {
			panic(err)
		}
	}
}

// dtypesOf says in which dtypes a kind works, from the operation rules and
// apart from the table under test.
func dtypesOf(k Kind) []DType {
	floats := []DType{F64, F32, F16, BF16}
	ints := []DType{I64, I32, I16, I8, U64, U32, U16, U8}
	numbers := slices.Concat(floats, ints)
	computing := append(slices.Clone(numbers), Bool)
	stored := []DType{F8E4M3, F8E5M2}
	switch k {
	case Abs, Neg, Sign, Square, Add, Sub, Mul, Div, FloorDiv, Remainder, Fmod, Pow, Maximum, Minimum, Less, LessEqual, Greater, GreaterEqual,
		Clamp, MulAdd, Arange, ScatterAdd, Sum, Prod, Max, Min, CumSum, CumProd, CumMax, CumMin, MatMul:
		return numbers
	case Equal, NotEqual, Where, ArgMax, ArgMin, Sort, ArgSort, TopK, ArgTopK:
		return computing
	case Bitcast:
		return slices.Concat(numbers, stored)
	case Cast, Full, Reshape, Permute, Expand, Slice, Flip, Unfold, Diagonal, Cat, Repeat, Pad, Select, Gather, Embedding, GatherND,
		Set, SetSlice, SetSelect, SliceAssign, SelectAssign, Scatter, ScatterND, Custom:
		return append(computing, stored...)
	case Not, And, Or, Xor, Bernoulli, Any, All:
		return []DType{Bool}
	case BitwiseNot, BitwiseAnd, BitwiseOr, BitwiseXor, ShiftLeft, ShiftRight, RandInt:
		return ints
	case IntMatMul:
		return []DType{I8, U8}
	}
	return floats
}

// sampleProgram returns a valid program with every kind in every dtype it
// has, and with names, positions, statuses and scalars from operands.
func sampleProgram() *Program {
	p := &Program{Names: map[TensorID]string{}, Positions: map[int]string{}}
	next := TensorID(0)
	id := func() TensorID { next++; return next - 1 }
	add := func(o Operation) {
		for i := range o.Inputs {
			o.Inputs[i].ID = id()
			if i == 0 && Lookup(o.Kind).Class == ClassEffect {
				p.Vars = append(p.Vars, o.Inputs[i])
			} else {
				p.Inputs = append(p.Inputs, o.Inputs[i])
			}
		}
		if err := o.Check(); err != nil {
			panic(err)
		}
		o.Outputs[0].ID = id()
		if len(p.Ops)%3 == 0 {
			o.Outputs[0].Status = NotInit
			if len(o.Inputs) > 0 {
				o.Inputs[0].Status = ReadWrite
			}
		}
		p.Names[o.Outputs[0].ID] = o.Kind.String() + " \"é\"\n"
		p.Positions[len(p.Ops)] = "dir/model.go:12"
		p.Outputs = append(p.Outputs, o.Outputs[0].ID)
		p.Ops = append(p.Ops, o)
	}
	for _, k := range Kinds() {
		for _, d := range dtypesOf(k) {
			add(sample(k, d))
		}
	}
	// The second operand, and the starts of a slice, from operands.
	add(Operation{Kind: Add, Inputs: []TensorRef{ref(BF16, 2), ref(BF16)}, Scalars: []Scalar{{DType: F32, Input: 1}}})
	add(Operation{Kind: Slice, Inputs: []TensorRef{ref(F32, 5, 6), ref(I64)}, Ranges: []Range{{Len: 2, Step: 1, Input: 1}, {Start: 5, Len: 3, Step: -2}}})
	p.Positions[len(p.Ops)-1] = "dir with space/model.go:12"
	data := []byte{0, 1, 1, 0, 1, 0}
	p.Constants = []Constant{
		{TensorRef{ID: id(), DType: Bool, Shape: Shape{2, 3}}, data},
		{TensorRef{ID: id(), DType: I64, Shape: Shape{3, 0}}, nil},
		{TensorRef{ID: id(), DType: BF16}, []byte{0x80, 0x3f}},
	}
	return p
}
