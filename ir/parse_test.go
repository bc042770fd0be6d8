package ir

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a person may write and the printer does not: blanks, comments, CRLF,
// attributes in any order, axes from the end or left out.
func TestParseLenient(t *testing.T) {
	p, err := ParseProgram("sinter.program v1\r\n" +
		"# a comment\r\n\r\n" +
		"  input %0 f32[ 2 , 3 ] # the input\r\n" +
		"%1 f32[1,1] = Sum  %0\n" +
		"%2 f32[2,1] = Var %0 n = 1 axes[-1] # over columns\n" +
		"%3 f32[2,3] = Mul %0 scalars( f32:1.5 ) @x.go:3 # half\n" +
		"output %2,%1")
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1}, p.Ops[0].Attrs.Axes)
	assert.Equal(t, []int{1}, p.Ops[1].Attrs.Axes)
	assert.Equal(t, F32Scalar(1.5), p.Ops[2].Scalars[0])
	assert.Equal(t, []TensorID{2, 1}, p.Outputs)
	require.NoError(t, p.Validate())
}

func TestSyntaxErrors(t *testing.T) {
	const head = "sinter.program v1\ninput %0 f32[2,3]\n"
	for _, c := range []struct {
		text      string
		line, col int
		msg       string
	}{
		{"", 1, 1, "no program: want the header sinter.program v1"},
		{"sinter.program v2\n", 1, 1, `want the header "sinter.program v1"`},
		{head + "inputs %1 f32[]", 3, 7, `want input, var, constant, output or %, got "inputs"`},
		{head + "input 1 f32[]", 3, 7, `want '%'`},
		{head + "input %1 f33[]", 3, 13, `want a dtype, got "f33"`},
		{head + "input %1 f32[2", 3, 15, `want ']'`},
		{head + "input %1 f32[x]", 3, 14, "want an integer of at most " + itoa(intBits) + " bits"},
		{head + "input %1 f32[-1]", 3, 1, "axis 0 has the negative length -1"},
		{head + "input %0 f32[1]", 3, 1, "%0 is defined twice"},
		{head + "input %99999999999999999999 f32[1]", 3, 28, "want a whole number of at most 64 bits"},
		{head + `input %1 "x f32[1]`, 3, 10, "want a closed string in double quotes"},
		{head + `input %1 "\xff" f32[1]`, 3, 10, "want a string of valid UTF-8 in double quotes"},
		{head + "input %1 f32[1] f32", 3, 17, "want the end of the line"},
		{head + "constant %1 f32[1] 0000", 3, 1, "%1 is f32[1], which takes 4 bytes, got 2"},
		{head + "constant %1 f32[1] 000", 3, 23, "want an even number of hexadecimal digits"},
		{head + "constant %1 f32[999999,999999] 00", 3, 1, constantTooBig},
		{head + "%1 f32[2,3] = Frob %0", 3, 19, `there is no kind "Frob"`},
		{head + "%1 f32[2,3] = Exp %5", 3, 21, "%5 is not defined"},
		{head + "%1 f32[2,3] Exp %0", 3, 13, `want '='`},
		{head + "%1 f32[2,3] = Exp %0 colour[1]", 3, 28, `there is no attribute "colour"`},
		{head + "%1 f32[2,3] = Sum %0 axes[0] axes[1]", 3, 34, "axes is given twice"},
		{head + "%1 f32[2,3] = Sum %0 axes[0]", 3, 15, "%1 is recorded as f32[2,3] but is f32[1,3]"},
		{head + "%1 f32[2,3] = Sum %0 axes[9]", 3, 15, "Sum([2,3]): axis 9 is out of range for rank 2"},
		{head + "%1 f32[2,3] = Set %0, %0", 3, 15, "operand 0, %0, is not a Var's current version"},
		{head + "%1 f32[2,3] = Add %0 scalars(f16:1)", 3, 33, `want the type of a scalar (f64, f32, an integer type or bool), got "f16"`},
		{head + "%1 f32[2,3] = Add %0 scalars(bf16:1)", 3, 34, `want the type of a scalar (f64, f32, an integer type or bool), got "bf16"`},
		{head + "%1 f32[2,3] = Add %0 scalars(f32:1e99)", 3, 34, `want a number that f32 holds, got "1e99"`},
		{head + "%1 f32[2,3] = Add %0 scalars(f32:NaN)", 3, 34, `want a number that f32 holds, got "NaN"`},
		{head + "%1 f32[2,3] = Add %0 scalars(f32:nan(1))", 3, 39, "want the bits of a NaN of f32"},
		{head + "%1 f32[2,3] = Add %0 scalars(f32:$0)", 3, 36, "operand 0 is never a source"},
		{head + "%1 f32[2,3] = Add %0 scalars(bool:1)", 3, 36, `want true or false, got "1"`},
		{head + "%1 f32[2,3] = Slice %0 ranges(0+2, 0)", 3, 37, `want '+'`},
		{head + "%1 f32[2,3] = Slice %0 ranges(0+2, 0+9)", 3, 15, "Slice([2,3]): range 1 of 9 elements in steps of 1 is longer than axis 1 of length 3"},
		{head + "%1 f32[2,3] = Exp %0 @", 3, 23, "want a position"},
		{head + "%1 f32[2,3], %2 f32[2,3] = Exp %0", 3, 12, `want '='`},
		{head + "output %7", 3, 10, "%7 is not defined"},
		{head + "output %0\noutput %0", 4, 7, "outputs are given twice"},
	} {
		p, err := ParseProgram(c.text)
		var e *SyntaxError
		if !assert.ErrorAs(t, err, &e, c.text) {
			continue
		}
		assert.Nil(t, p)
		assert.Equal(t, c.msg, e.Msg, c.text)
		assert.Equal(t, [2]int{c.line, c.col}, [2]int{e.Line, e.Col}, c.text)
	}
	_, err := ParseProgram(head + "%1 f32[2,3] = Sum %0 axes[9]")
	var e *OpError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "Sum", e.Op)
	assert.Equal(t, "3:15: Sum([2,3]): axis 9 is out of range for rank 2", err.Error())
}

var (
	intBits        = map[bool]int{true: 32, false: 64}[math.MaxInt == math.MaxInt32]
	constantTooBig = map[bool]string{
		true:  "shape [999999,999999] has more than 2147483647 elements",
		false: "%1 is f32[999999,999999], which takes 3999992000004 bytes, got 1",
	}[math.MaxInt == math.MaxInt32]
)

// Hostile text is refused without memory beyond a multiple of its length.
func TestParseHostile(t *testing.T) {
	for name, text := range map[string]string{
		"long list":   "input %0 f32[" + strings.Repeat("1,", 1<<16) + "1]",
		"open list":   "input %0 f32[" + strings.Repeat("1,", 1<<16),
		"deep":        "%0 f32[] = Exp " + strings.Repeat("(", 1<<16),
		"constant":    "constant %0 f32[100000000,1000000] 00",
		"many inputs": "%0 f32[] = Cat " + strings.Repeat("%1,", 1<<16),
		"no newline":  strings.Repeat("a", 1<<16),
	} {
		_, err := ParseProgram(TextHeader + "\n" + text)
		var e *SyntaxError
		assert.ErrorAs(t, err, &e, name)
	}
}
