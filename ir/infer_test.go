package ir

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkCase is an operation with what Check makes of it: a type, or an error
// of a given kind whose message contains the given words.
type checkCase struct {
	name  string
	op    Operation
	shape Shape
	dtype DType
	axes  []int  // normalised, if not nil
	err   any    // a pointer to the wanted error's type
	msg   string // the error in full, behind the operation
}

func runCases(t *testing.T, cases []checkCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.op.Kind.String()+"/"+c.name, func(t *testing.T) {
			o := c.op
			err := o.Check()
			if c.err != nil {
				var op *OpError
				require.ErrorAs(t, err, &op)
				assert.Equal(t, o.Kind.String(), op.Op)
				assert.Len(t, op.Shapes, len(o.Inputs))
				require.ErrorAs(t, err, c.err)
				assert.Equal(t, c.msg, op.Err.Error())
				assert.Empty(t, o.Outputs)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.shape.String(), o.Outputs[0].Shape.String())
			assert.Equal(t, c.dtype, o.Outputs[0].DType)
			if c.axes != nil {
				assert.Equal(t, c.axes, o.Attrs.Axes)
			}
		})
	}
}

var (
	shapeErr = func() any { return new(*ShapeError) }
	dtypeErr = func() any { return new(*DTypeError) }
	indexErr = func() any { return new(*IndexError) }
	argErr   = func() any { return new(*ArgumentError) }
)

// Every kind takes exactly the dtypes the rules list, and gives the dtype they
// say.
func TestDTypesOfEveryKind(t *testing.T) {
	for _, k := range Kinds() {
		for _, d := range DTypes() {
			o := sample(k, d)
			err := o.Check()
			if !slices.Contains(dtypesOf(k), d) {
				var e *DTypeError
				assert.ErrorAs(t, err, &e, "%v of %v", k, d)
				continue
			}
			if !assert.NoError(t, err, "%v of %v", k, d) {
				continue
			}
			want := d
			switch k {
			case IsNaN, IsInf, IsFinite, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
				want = Bool
			case ArgMax, ArgMin, ArgSort, ArgTopK:
				want = I64
			case IntMatMul:
				want = I32
			case Bitcast:
				want = o.Attrs.DType
			case Cast:
				want = BF16
			}
			assert.Equal(t, want, o.Outputs[0].DType, "%v of %v", k, d)
		}
	}
}

// Operands of different dtypes are refused: nothing is promoted. Masks and
// indices have a type of their own.
func TestNoPromotion(t *testing.T) {
	for _, k := range Kinds() {
		for i := range sample(k, dtypesOf(k)[0]).Inputs {
			o := sample(k, dtypesOf(k)[0])
			other := BF16
			if o.Inputs[i].DType == BF16 {
				other = F32
			}
			o.Inputs[i].DType = other
			if len(o.Inputs) == 1 || i == 0 && Lookup(k).Class == ClassGather {
				continue
			}
			var e *DTypeError
			assert.ErrorAs(t, o.Check(), &e, "%v, operand %d as %v", k, i, other)
		}
	}
}

func TestArity(t *testing.T) {
	for _, k := range Kinds() {
		row := Lookup(k)
		few, many := sample(k, dtypesOf(k)[0]), sample(k, dtypesOf(k)[0])
		many.Inputs = slices.Repeat(append(many.Inputs, ref(F32)), 5)
		var e *ArgumentError
		if row.MinIn > 0 {
			few.Inputs = few.Inputs[:row.MinIn-1]
			assert.ErrorAs(t, few.Check(), &e, k.String())
		}
		if row.MaxIn >= 0 {
			assert.ErrorAs(t, many.Check(), &e, k.String())
		}
		scalars := sample(k, dtypesOf(k)[0])
		scalars.Scalars = append(slices.Clone(scalars.Scalars), make([]Scalar, row.MaxScalars+1)...)
		assert.ErrorAs(t, scalars.Check(), &e, k.String())
		if row.MinScalars > 0 {
			scalars.Scalars = nil
			assert.ErrorAs(t, scalars.Check(), &e, k.String())
		}
		two := sample(k, dtypesOf(k)[0])
		two.Outputs = make([]TensorRef, 2)
		assert.ErrorAs(t, two.Check(), &e, k.String())
	}
	runCases(t, []checkCase{
		{name: "one", op: Operation{Kind: Exp}, err: argErr(), msg: "takes 1 operand, got 0"},
		{name: "some", op: Operation{Kind: Linear}, err: argErr(), msg: "takes 2 to 3 operands, got 0"},
		{name: "any", op: Operation{Kind: Cat}, err: argErr(), msg: "takes 1 or more operands, got 0"},
		{name: "none", op: Operation{Kind: KindInvalid}, err: argErr(), msg: "there is no kind 0"},
	})
}

// An attribute a kind does not use must be zero.
func TestUnusedAttributes(t *testing.T) {
	set := map[AttrSet]func(*Operation){
		HasAxes:    func(o *Operation) { o.Attrs.Axes = []int{0} },
		HasShape:   func(o *Operation) { o.Attrs.Shape = Shape{1} },
		HasInts:    func(o *Operation) { o.Attrs.Ints = []int{0} },
		HasN:       func(o *Operation) { o.Attrs.N = 1 },
		HasDType:   func(o *Operation) { o.Attrs.DType = F32 },
		HasFlag:    func(o *Operation) { o.Attrs.Flag = true },
		HasReverse: func(o *Operation) { o.Attrs.Reverse = true },
		HasRanges:  func(o *Operation) { o.Ranges = []Range{{Step: 1}} },
		HasMode:    func(o *Operation) { o.Attrs.Mode = ScatterMax },
		HasName:    func(o *Operation) { o.Attrs.Name = "x" },
	}
	require.Len(t, set, len(attrNames))
	for _, k := range Kinds() {
		for attr, put := range set {
			if Lookup(k).Attrs&attr != 0 {
				continue
			}
			o := sample(k, dtypesOf(k)[0])
			put(&o)
			var e *ArgumentError
			if assert.ErrorAs(t, o.Check(), &e, "%v with %v", k, attr) {
				assert.Equal(t, "does not use the given attributes ("+attr.String()+")", e.Msg)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	long := make([]int, MaxRank+1)
	for i := range long {
		long[i] = 1
	}
	cases := []checkCase{
		{name: "negative", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, 2, -1)}}, err: shapeErr(), msg: "axis 1 has the negative length -1"},
		{name: "rank", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, long...)}}, err: shapeErr(), msg: "rank 65 is above the greatest rank 64"},
		{name: "greatest rank", op: Operation{Kind: Sum, Inputs: []TensorRef{ref(F32, long[1:]...)}}, shape: long[1:], dtype: F32},
		{name: "dtype", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(Invalid, 2)}}, err: dtypeErr(), msg: "operand 0 has no valid dtype (invalid)"},
		{name: "target", op: Operation{Kind: Cast, Inputs: []TensorRef{ref(F32, 2)}}, err: dtypeErr(), msg: "has no valid target dtype (invalid)"},
		{name: "negative target", op: Operation{Kind: Full, Attrs: Attrs{Shape: Shape{-4}, DType: F32}, Scalars: []Scalar{F32Scalar(0)}}, err: shapeErr(), msg: "axis 0 has the negative length -4"},
	}
	if math.MaxInt > math.MaxInt32 {
		big := int(int64(MaxElements))
		cases = append(cases,
			checkCase{name: "greatest", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, big, 1)}}, shape: Shape{big, 1}, dtype: F32},
			checkCase{name: "too big", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, big, 2)}}, err: shapeErr(), msg: "shape [281474976710656,2] has more than 281474976710656 elements"},
			checkCase{name: "product wraps", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, big, big, big)}}, err: shapeErr(), msg: "shape [281474976710656,281474976710656,281474976710656] has more than 281474976710656 elements"},
			checkCase{name: "empty too big", op: Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, 0, big, 2)}}, err: shapeErr(), msg: "shape [0,281474976710656,2] has more than 281474976710656 elements"},
			checkCase{name: "result", op: Operation{Kind: Add, Inputs: []TensorRef{ref(F32, big, 1), ref(F32, 1, 2)}}, err: shapeErr(), msg: "shape [281474976710656,2] has more than 281474976710656 elements"},
		)
	}
	runCases(t, cases)
}

func TestScalars(t *testing.T) {
	x, s := ref(BF16, 2, 3), ref(BF16)
	runCases(t, []checkCase{
		{name: "value", op: Operation{Kind: Add, Inputs: []TensorRef{x}, Scalars: []Scalar{F32Scalar(2)}}, shape: x.Shape, dtype: BF16},
		{name: "bool", op: Operation{Kind: Xor, Inputs: []TensorRef{ref(Bool, 0)}, Scalars: []Scalar{BoolScalar(true)}}, shape: Shape{0}, dtype: Bool},
		{name: "operand", op: Operation{Kind: Add, Inputs: []TensorRef{x, s}, Scalars: []Scalar{{DType: F32, Input: 1}}}, shape: x.Shape, dtype: BF16},
		{name: "compared", op: Operation{Kind: Less, Inputs: []TensorRef{x, s}, Scalars: []Scalar{{DType: F32, Input: 1}}}, shape: x.Shape, dtype: Bool},
		{name: "one operand for two", op: Operation{Kind: Clamp, Inputs: []TensorRef{x, s}, Scalars: []Scalar{{DType: F32, Input: 1}, {DType: F32, Input: 1}}}, shape: x.Shape, dtype: BF16},
		{name: "behind weight", op: Operation{Kind: RMSNorm, Inputs: []TensorRef{x, ref(BF16, 3), s}, Scalars: []Scalar{{DType: F32, Input: 2}}}, shape: x.Shape, dtype: BF16},
		{name: "type", op: Operation{Kind: Add, Inputs: []TensorRef{x}, Scalars: []Scalar{I64Scalar(2)}}, err: dtypeErr(), msg: "scalar 0 is i64, want f32"},
		{name: "double", op: Operation{Kind: Add, Inputs: []TensorRef{x}, Scalars: []Scalar{F64Scalar(2)}}, err: dtypeErr(), msg: "scalar 0 is f64, want f32"},
		{name: "bits", op: Operation{Kind: Add, Inputs: []TensorRef{x}, Scalars: []Scalar{{DType: F32, Bits: 1 << 32}}}, err: argErr(), msg: "scalar 0 has bits 0x100000000 outside its type f32"},
		{name: "bool bits", op: Operation{Kind: And, Inputs: []TensorRef{ref(Bool, 2)}, Scalars: []Scalar{{DType: Bool, Bits: 2}}}, err: argErr(), msg: "scalar 0 has bits 0x2 outside its type bool"},
		{name: "rank", op: Operation{Kind: Add, Inputs: []TensorRef{x, ref(BF16, 1)}, Scalars: []Scalar{{DType: F32, Input: 1}}}, err: shapeErr(), msg: "scalar 0 comes from operand 1, which has shape [1] instead of rank 0"},
		{name: "operand's type", op: Operation{Kind: Add, Inputs: []TensorRef{x, ref(F32)}, Scalars: []Scalar{{DType: F32, Input: 1}}}, err: dtypeErr(), msg: "scalar 0 comes from operand 1, which is f32 instead of bf16"},
		{name: "beyond", op: Operation{Kind: Add, Inputs: []TensorRef{x}, Scalars: []Scalar{{DType: F32, Input: 9}}}, err: argErr(), msg: "scalar 0 comes from operand 9 of 1"},
		{name: "both", op: Operation{Kind: Add, Inputs: []TensorRef{x, s}, Scalars: []Scalar{{DType: F32, Input: 1, Bits: 1}}}, err: argErr(), msg: "scalar 0 has both a value and a source"},
		{name: "unused", op: Operation{Kind: Clamp, Inputs: []TensorRef{x, s, s}, Scalars: []Scalar{{DType: F32, Input: 1}, F32Scalar(1)}}, err: argErr(), msg: "operand 2 is neither an operand nor a scalar's or range's source"},
		{name: "none", op: Operation{Kind: Full, Inputs: []TensorRef{s}, Attrs: Attrs{DType: BF16}, Scalars: []Scalar{{DType: F32, Input: 1}}}, err: argErr(), msg: "takes 0 operands, got 1"},
		{name: "no operands", op: Operation{Kind: Full, Attrs: Attrs{DType: BF16}, Scalars: []Scalar{{DType: F32, Input: 1}}}, err: argErr(), msg: "scalar 0 comes from operand 1 of 0"},
	})
}

func TestOperands(t *testing.T) {
	o := Operation{Kind: Slice, Inputs: []TensorRef{ref(F32, 4, 4), ref(I64), ref(I64)}, Ranges: []Range{{Len: 1, Step: 1, Input: 2}, {Len: 1, Step: 1, Input: 1}}}
	require.NoError(t, o.Check())
	assert.Len(t, o.Operands(), 1)
	o = sample(MulAdd, F32)
	assert.Len(t, o.Operands(), 3)
}

// A failure names the operation, the shapes and the caller's line, and leaves
// the output as it was.
func TestCheckError(t *testing.T) {
	pc, _, _, _ := runtime.Caller(0)
	o := Operation{Kind: Add, Inputs: []TensorRef{ref(F32, 2, 3), ref(F32, 4)}, PC: pc, Outputs: []TensorRef{{ID: 5}}}
	err := o.Check()
	require.Error(t, err)
	assert.Regexp(t, `infer_test\.go:\d+: Add\(\[2,3\], \[4\]\): shapes \[2,3\] and \[4\] do not broadcast: lengths 3 and 4 at axis 1$`, err.Error())
	assert.Equal(t, []TensorRef{{ID: 5}}, o.Outputs)
}

// Ordinary operations are checked without allocating, but for a new shape.
func TestCheckAllocations(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		want float64
	}{{Exp, 0}, {Add, 0}, {Clamp, 0}, {Reshape, 0}, {Set, 0}, {Softmax, 0}, {Sum, 1}, {MatMul, 1}, {Permute, 1}, {Slice, 1}} {
		o := sample(c.kind, F32)
		require.NoError(t, o.Check())
		assert.Equal(t, c.want, testing.AllocsPerRun(10, func() { _ = o.Check() }), c.kind.String())
	}
}
