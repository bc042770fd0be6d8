package ir

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSampleProgramIsValid(t *testing.T) {
	p := sampleProgram()
	require.NoError(t, p.Validate())
	defs := p.Definitions()
	assert.Equal(t, len(p.Inputs)+len(p.Vars)+len(p.Constants)+len(p.Ops), len(defs))
	for i, id := range p.Outputs {
		assert.Equal(t, Definition{FromOp, i}, defs[id])
	}
	assert.Equal(t, Definition{FromVar, 0}, defs[p.Vars[0].ID])
	assert.Equal(t, Definition{FromInput, 2}, defs[p.Inputs[2].ID])
	assert.Equal(t, Definition{FromConstant, 1}, defs[p.Constants[1].ID])
	for i, id := range p.FinalVersions() {
		o := p.Ops[defs[id].Index]
		assert.Equal(t, p.Vars[i].ID, o.Inputs[0].ID)
	}
}

// Versions of two Vars, one written twice, one never.
func TestFinalVersions(t *testing.T) {
	p, err := ParseProgram(`sinter.program v1
input %0 f32[2]
var %1 f32[2]
var %2 f32[2]
%3 f32[2] = Set %1, %0
%4 f32[2] = Add %3, %1
%5 f32[2] = Set %3, %4
output %4`)
	require.NoError(t, err)
	assert.Equal(t, []TensorID{5, 2}, p.FinalVersions())
}

func TestValidateRefuses(t *testing.T) {
	base := func() *Program {
		p, err := ParseProgram(`sinter.program v1
input %0 f32[2,3]
var %1 f32[2,3]
constant %2 bool[2] 0001
%3 "sum" f32[2,1] = Sum %0 axes[1] @a.go:1
%4 f32[2,3] = Set %1, %0
output %3`)
		require.NoError(t, err)
		return p
	}
	require.NoError(t, base().Validate())
	for _, c := range []struct {
		name   string
		change func(*Program)
		op     int
		msg    string
	}{
		{"input twice", func(p *Program) { p.Inputs = append(p.Inputs, p.Inputs[0]) }, -1, "input 1: %0 is defined twice"},
		{"var's dtype", func(p *Program) { p.Vars[0].DType = Invalid }, -1, "var 0: %1 has no valid dtype (invalid)"},
		{"input's shape", func(p *Program) { p.Inputs[0].Shape = Shape{-2} }, -1, "input 0: axis 0 has the negative length -2"},
		{"constant's size", func(p *Program) { p.Constants[0].Data = nil }, -1, "constant 0: %2 is bool[2], which takes 2 bytes, got 0"},
		{"constant's values", func(p *Program) { p.Constants[0].Data = []byte{1, 2} }, -1, "constant 0: %2: element 1 of a bool is 2"},
		{"use before definition", func(p *Program) { p.Ops[0].Inputs[0].ID = 4 }, 0, "operation 0: operand 0, %4, is not defined before"},
		{"status", func(p *Program) { p.Ops[0].Inputs[0].Status = 3 }, 0, "operation 0: operand 0, %0, has no valid status (3)"},
		{"output's status", func(p *Program) { p.Ops[0].Outputs[0].Status = 9 }, 0, "operation 0: %3 has no valid status (9)"},
		{"another type", func(p *Program) { p.Ops[0].Inputs[0].DType = BF16 }, 0, "operation 0: operand 0, %0, is bf16[2,3] here and f32[2,3] where defined"},
		{"output's shape", func(p *Program) { p.Ops[0].Outputs[0].Shape = Shape{2} }, 0, "operation 0: %3 is recorded as f32[2] but is f32[2,1]"},
		{"output's dtype", func(p *Program) { p.Ops[0].Outputs[0].DType = I64 }, 0, "operation 0: %3 is recorded as i64[2,1] but is f32[2,1]"},
		{"no output", func(p *Program) { p.Ops[0].Outputs = nil }, 0, "operation 0: has 0 outputs instead of one"},
		{"redefinition", func(p *Program) { p.Ops[0].Outputs[0].ID = 2 }, 0, "operation 0: %2 is defined twice"},
		{"axes", func(p *Program) { p.Ops[0].Attrs.Axes = []int{-1} }, 0, "operation 0: axes [-1] are not normalised, want [1]"},
		{"operation", func(p *Program) { p.Ops[0].Attrs.Axes = []int{7} }, 0, "operation 0: Sum([2,3]): axis 7 is out of range for rank 2"},
		{"effect on an input", func(p *Program) { p.Ops[1].Inputs[0].ID = 0 }, 1, "operation 1: operand 0, %0, is not a Var's current version"},
		{"effect on an old version", func(p *Program) {
			o := p.Ops[1]
			o.Outputs = []TensorRef{{ID: 9, Shape: Shape{2, 3}, DType: F32}}
			p.Ops = append(p.Ops, o)
		}, 2, "operation 2: operand 0, %1, is not a Var's current version"},
		{"output", func(p *Program) { p.Outputs[0] = 77 }, -1, "output 0: %77 is not defined"},
		{"name", func(p *Program) { p.Names = map[TensorID]string{77: "x"} }, -1, `name "x": %77 is not defined`},
		{"name's text", func(p *Program) { p.Names[3] = "\xff" }, -1, `name "\xff" of %3 is not valid UTF-8`},
		{"position", func(p *Program) { p.Positions[2] = "b.go:2" }, -1, `position "b.go:2": there is no operation 2`},
		{"position's text", func(p *Program) { p.Positions[1] = "\xff" }, -1, `position "\xff" of operation 1 is not valid UTF-8`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := base()
			c.change(p)
			var e *ProgramError
			require.ErrorAs(t, p.Validate(), &e)
			assert.Equal(t, c.op, e.Op)
			assert.Equal(t, c.msg, e.Error())
		})
	}
}

func TestProgramEqual(t *testing.T) {
	changes := map[string]func(*Program){
		"input":    func(p *Program) { p.Inputs[1].DType = I64 },
		"var":      func(p *Program) { p.Vars = p.Vars[1:] },
		"constant": func(p *Program) { p.Constants[2].Data[0]++ },
		"kind":     func(p *Program) { p.Ops[0].Kind = Log },
		"operand":  func(p *Program) { p.Ops[1].Inputs[0].ID++ },
		"status":   func(p *Program) { p.Ops[1].Inputs[0].Status = NotInit },
		"scalar":   func(p *Program) { p.Ops[len(p.Ops)-2].Scalars[0].DType = I64 },
		"range":    func(p *Program) { p.Ops[len(p.Ops)-1].Ranges[1].Start-- },
		"axes":     func(p *Program) { p.Ops[len(p.Ops)-1].Attrs.Axes = []int{1} },
		"fewer":    func(p *Program) { p.Ops = p.Ops[1:] },
		"output":   func(p *Program) { p.Outputs[0]++ },
		"name":     func(p *Program) { p.Names[p.Outputs[0]] = "z" },
		"position": func(p *Program) { p.Positions[3] = "z.go:1" },
	}
	assert.True(t, sampleProgram().Equal(sampleProgram()))
	for name, change := range changes {
		p := sampleProgram()
		change(p)
		assert.False(t, p.Equal(sampleProgram()), name)
	}
}
