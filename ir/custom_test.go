package ir

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rules of custom operations that go wrong, registered once.
func init() {
	for name, rule := range map[string]CustomInfer{
		"test.panics":  func(o *Operation) (Shape, DType, error) { return o.Inputs[7].Shape, F32, nil },
		"test.refuses": func(*Operation) (Shape, DType, error) { return nil, Invalid, shapeErrorf("no shape will do") },
		"test.dtype":   func(*Operation) (Shape, DType, error) { return nil, Invalid, nil },
		"test.shape":   func(*Operation) (Shape, DType, error) { return Shape{-1}, F32, nil },
		"test.source":  func(o *Operation) (Shape, DType, error) { return o.Attrs.Ints, o.Attrs.DType, nil },
	} {
		if err := RegisterCustom(name, rule); err != nil {
			panic(err)
		}
	}
}

func TestRegisterCustom(t *testing.T) {
	same := func(o *Operation) (Shape, DType, error) { return nil, F32, nil }
	for name, rule := range map[string]CustomInfer{
		sampleCustom: same, "": same, strings.Repeat("x", 256): same, "\xff": same, "test.nil": nil,
	} {
		var e *ArgumentError
		assert.ErrorAs(t, RegisterCustom(name, rule), &e, name)
	}
}

func TestInferCustom(t *testing.T) {
	on := func(name string, in ...TensorRef) Operation {
		return Operation{Kind: Custom, Inputs: in, Attrs: Attrs{Name: name}}
	}
	x := ref(F8E4M3, 2, 3)
	source := on("test.source")
	source.Attrs.Ints, source.Attrs.DType = []int{4, 0}, U16
	scalar := on(sampleCustom, ref(F16, 4))
	scalar.Scalars = []Scalar{IntScalar(U8, 3), F64Scalar(1)}
	held := on(sampleCustom, ref(F16, 4), ref(I32))
	held.Scalars = []Scalar{{DType: I32, Input: 1}}
	half := on(sampleCustom, ref(I8, 4), ref(F16))
	half.Scalars = []Scalar{{DType: F32, Input: 1}}
	wrong := on(sampleCustom, ref(F16, 4), ref(I32))
	wrong.Scalars = []Scalar{{DType: I64, Input: 1}}
	runCases(t, []checkCase{
		{name: "any dtype", op: on(sampleCustom, x), shape: x.Shape, dtype: F8E4M3},
		{name: "without operands", op: source, shape: Shape{4, 0}, dtype: U16},
		{name: "scalars of any type", op: scalar, shape: Shape{4}, dtype: F16},
		{name: "scalar from an operand of its own type", op: held, shape: Shape{4}, dtype: F16},
		{name: "scalar from a half", op: half, shape: Shape{4}, dtype: I8},
		{name: "scalar from another type", op: wrong, err: dtypeErr(), msg: "scalar 0 comes from operand 1, which is i32 instead of i64"},
		{name: "unknown", op: on("none", x), err: argErr(), msg: "there is no custom operation \"none\""},
		{name: "no name", op: on("", x), err: argErr(), msg: "there is no custom operation \"\""},
		{name: "panic", op: on("test.panics", x), err: argErr(), msg: "the rule of custom operation \"test.panics\" panics: runtime error: index out of range [7] with length 1"},
		{name: "refusal", op: on("test.refuses", x), err: shapeErr(), msg: "no shape will do"},
		{name: "no dtype", op: on("test.dtype", x), err: dtypeErr(), msg: "custom operation \"test.dtype\" gives no valid dtype (invalid)"},
		{name: "no shape", op: on("test.shape", x), err: shapeErr(), msg: "axis 0 has the negative length -1"},
	})
}

// A custom operation keeps its name through text and JSON.
func TestCustomText(t *testing.T) {
	const text = `sinter.program v1
input %0 u8[2,3]
%1 u8[2,3] = Custom %0 ints[4,-1] dtype=f8e5m2 flag name="sample.same" scalars(u8:255, i16:-3)
%2 u8[2,3] = Scatter %1, %3, %1 axes[1] mode=min
`
	const index = "constant %3 i64[2,3] 000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\n"
	whole := strings.Replace(text, "%1 u8", index+"%1 u8", 1)
	p, err := ParseProgram(whole)
	require.NoError(t, err)
	assert.Equal(t, whole, p.String())
	data, err := p.MarshalJSON()
	require.NoError(t, err)
	var q Program
	require.NoError(t, q.UnmarshalJSON(data))
	assert.True(t, p.Equal(&q))
}
