package ir

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTextRoundTrip(t *testing.T) {
	p := sampleProgram()
	text := p.String()
	q, err := ParseProgram(text)
	require.NoError(t, err)
	assert.True(t, p.Equal(q))
	assert.Equal(t, text, q.String())

	var b strings.Builder
	require.NoError(t, p.WriteText(&b))
	assert.Equal(t, text, b.String())
}

// The text form, written by hand: it is a promise to other programs.
func TestTextGolden(t *testing.T) {
	const text = `sinter.program v1
input %0 "x" f32[2,3]
input %7 i64[]
var %1 f32[2,3]
constant %2 bf16[2] 803f0040
constant %3 bool[0] 
%4? "scores" f32[2,3] = Add %0!, %1 @model.go:12
%5 f32[2,3] = Clamp %4 scalars(f32:-inf, f32:0x1.8p+00)
%6 f32[2,2] = Slice %5, %7 ranges(0+2, $1+2*-1) @"a b.go:3"
%8 bool[2,3] = Less %5 scalars(f32:nan(7fc00001))
%9 bf16[3] = Arange shape[3] dtype=bf16 scalars(f64:0x1p-01, f64:-0x0p+00)
%10 f32[2,3] = CumSum %5 axes[1] flag reverse
%11 f32[1,1] = Var %10 axes[0,1] n=1
%12 f32[3,3] = Pad %11 ints[1,1,0,2] scalars(f32:0x0p+00)
output %6, %12
`
	p, err := ParseProgram(text)
	require.NoError(t, err)
	assert.Equal(t, text, p.String())
	assert.Equal(t, "scores", p.Names[4])
	assert.Equal(t, map[int]string{0: "model.go:12", 2: "a b.go:3"}, p.Positions)
	assert.Equal(t, NotInit, p.Ops[0].Outputs[0].Status)
	assert.Equal(t, ReadWrite, p.Ops[0].Inputs[0].Status)
	assert.Equal(t, []Range{{0, 2, 1, 0}, {0, 2, -1, 1}}, p.Ops[2].Ranges)
	assert.Equal(t, uint64(0x7fc00001), p.Ops[3].Scalars[0].Bits)
	assert.Equal(t, "%5 f32[2,3] = Clamp %4 scalars(f32:-inf, f32:0x1.8p+00)", p.Ops[1].String())
}

// A recorded call site prints as its position.
func TestTextOfCallSite(t *testing.T) {
	p := sampleProgram()
	p.Positions = nil
	p.Ops[0].PC, _, _, _ = runtime.Caller(0)
	assert.Regexp(t, `@\S*text_test\.go:\d+\n`, p.String())
	q, err := ParseProgram(p.String())
	require.NoError(t, err)
	assert.True(t, p.Equal(q))
}

func TestScalarText(t *testing.T) {
	for _, s := range []Scalar{
		F32Scalar(0), F32Scalar(float32(math.Copysign(0, -1))), F32Scalar(1.0 / 3), F32Scalar(math.MaxFloat32),
		F32Scalar(math.SmallestNonzeroFloat32), F32Scalar(float32(math.Inf(1))), {DType: F32, Bits: 0xffc12345}, {DType: F32, Bits: 0x7f800001},
		F64Scalar(0.1), F64Scalar(math.MaxFloat64), F64Scalar(5e-324), F64Scalar(math.Inf(-1)), F64Scalar(math.NaN()),
		I64Scalar(math.MinInt64), I64Scalar(math.MaxInt64), BoolScalar(true), BoolScalar(false), {DType: I64, Input: 255},
		IntScalar(I8, -128), IntScalar(I16, math.MinInt16), IntScalar(I32, math.MaxInt32), IntScalar(U8, 255), IntScalar(U16, 65535),
		IntScalar(U32, math.MaxUint32), IntScalar(U64, -1), {DType: U16, Input: 2},
	} {
		l := lexer{s: s.String()}
		got := l.scalar()
		require.Nil(t, l.err, s.String())
		assert.True(t, l.atEnd(), s.String())
		assert.Equal(t, s, got, s.String())
	}
	assert.Equal(t, "f32:0x1.8p+00", F32Scalar(1.5).String())
	assert.Equal(t, "i64:$3", Scalar{DType: I64, Input: 3}.String())
	assert.Equal(t, "$2+4*-3", Range{Len: 4, Step: -3, Input: 2}.String())
}

// Printing must not need a valid program.
func TestTextOfInvalid(t *testing.T) {
	p := &Program{Ops: []Operation{{Kind: 9999, Outputs: make([]TensorRef, 2), Inputs: []TensorRef{{Status: 77, DType: 99}}}, {}}}
	assert.Equal(t, "sinter.program v1\n%0 invalid[], %0 invalid[] = Invalid %0\n = Invalid\n", p.String())
}
