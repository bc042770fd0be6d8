package kerneltest

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// requireRoundTrip checks that the text of a case reads back as the case.
func requireRoundTrip(t *testing.T, c Case) {
	t.Helper()
	text := c.Text()
	got, err := Parse(text)
	require.NoError(t, err, text)
	require.True(t, c.Kernel.Equal(got.Kernel), "%s\n%s", c.Kernel, got.Kernel)
	require.Equal(t, c.Kernel.Name, got.Kernel.Name)
	require.Equal(t, len(c.Mem), len(got.Mem))
	for b := range c.Mem {
		require.Equal(t, string(c.Mem[b]), string(got.Mem[b]), "buffer %d", b)
	}
	require.Equal(t, text, got.Text())
	require.NoError(t, got.Check())
}

func TestTextReadsBack(t *testing.T) {
	for _, c := range Golden() {
		requireRoundTrip(t, c)
	}
	for seed := range uint64(400) {
		requireRoundTrip(t, Random(rand.New(rand.NewPCG(seed, 5)), Options{AllFunctions: seed%2 == 0}))
	}
}

func TestTextOfConstants(t *testing.T) {
	m := NewBuilder(fixed(1), codegen.Map, 0)
	for _, ty := range ir.DTypes() {
		if ty != ty.Compute() {
			continue
		}
		for _, v := range Specials(ty) {
			m.Out(m.Const(codegen.Element, ty, v), ty)
		}
	}
	m.Out(m.Emit(codegen.Instr{Op: codegen.OpConst, Type: ir.F32, Bits: 0xffa00001}), ir.F32)
	m.Kernel.Name = `with "quotes"`
	requireRoundTrip(t, m.Case)
}

func TestText(t *testing.T) {
	m := NewBuilder(fixed(1), codegen.Map, 1, 3)
	m.Out(m.Apply(ir.SNeg, m.In(ir.F32, 0)), ir.F32, 0)
	m.Kernel.Name = "neg"
	m.Fill(0, func(i int) Value { return Value{F: float64(min(i, 1))} })
	m.Fill(1, func(i int) Value { return Value{F: math.NaN()} })
	assert.Equal(t, `kernel map outer=1 inner=0 "neg"
  b0: in f32
  b1: out f32
  a0: b0
  a1: b1
  %0: f32 = load a0
  %1: f32 = neg %0
  store a1 %1
launch dims=3
  a0: offset=0 strides=1
  a1: offset=0 strides=1
memory
  b0: 00000000 3f800000*2
  b1: 7fc00000*3
`, m.Text())
}

func TestParseNamesTheLine(t *testing.T) {
	m := NewBuilder(fixed(1), codegen.Map, 1, 3)
	m.Out(m.Apply(ir.SAdd, m.In(ir.F32, 0), m.In(ir.F32, 0)), ir.F32, 0)
	text := m.Text()
	for _, c := range []struct {
		from, to string
		line     int
		msg      string
	}{
		{"kernel map", "kernel mop", 1, `"mop" is no codegen.Template`},
		{"kernel map", "colonel map", 1, "no kernel"},
		{"outer=1", "outer=x", 1, `"x" is no number`},
		{"in f32", "in f31", 2, `"f31" is no dtype`},
		{"b2: out", "b2: off", 4, `"off" is no codegen.Mode`},
		{"a0: b0", "a0: c0", 5, `"c0" is no bN`},
		{"add", "ad", 10, `"ad" is no instruction or function`},
		{"load a0", "load", 8, "the line is too short"},
		{"load a0", "arange 0 from p0", 8, "the line is too short"},
		{"store a2 %2", "store a2", 11, "the line is too short"},
		{"store a2 %2", "stare", 11, "the line is too short"},
		{"launch dims=3", "lunch", 12, `no "launch dims="`},
		{"strides=1", "strides=1,y", 13, `"y" is no number`},
		{"strides=1", "stridor=1", 13, `unknown "stridor=1"`},
		{"strides=1", "window=1:2", 13, `"1:2" is not 3 numbers`},
		{"memory\n", "\n", 16, "no memory"},
		{"  b2: out", "  b3: out", 4, `"b3:" where "b2:" comes`},
		{"%1: f32", "%2: f32", 9, `"%2:" where "%1:" comes`},
		{"memory\n  b0: ", "memory\n  b0: g ", 17, `"g" are no bits`},
		{"memory\n  b0: ", "memory\n  b0: 0*0 ", 17, "0 elements"},
		{"memory\n  b0: ", "memory\n  b0: 0*1000000000 ", 17, "1000000000 elements"},
	} {
		require.Contains(t, text, c.from)
		_, err := Parse(strings.Replace(text, c.from, c.to, 1))
		var parse *ParseError
		if assert.ErrorAs(t, err, &parse, c.to) {
			assert.Equal(t, ParseError{c.line, c.msg}, *parse, c.to)
		}
	}
	_, err := Parse(text + "more")
	assert.EqualError(t, err, "line 20: text after the last buffer")
	_, err = Parse("")
	assert.EqualError(t, err, "line 1: no kernel")
	for cut := range strings.Count(text, "\n") { // no line may be missing at the end
		lines := strings.SplitAfter(text, "\n")
		_, err := Parse(strings.Join(lines[:cut], ""))
		assert.Error(t, err, "%d lines", cut)
	}
}

// Whatever the text, Parse gives a case or a *ParseError.
func FuzzParse(f *testing.F) {
	for _, c := range Golden() {
		if c.Points() < 100 {
			f.Add(c.Text())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err == nil {
			_ = c.Check()
		}
	})
}
