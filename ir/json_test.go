package ir

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONRoundTrip(t *testing.T) {
	p := sampleProgram()
	data, err := json.Marshal(p)
	require.NoError(t, err)
	var q Program
	require.NoError(t, json.Unmarshal(data, &q))
	assert.True(t, p.Equal(&q))
	assert.Equal(t, p.String(), q.String())
}

func TestJSONGolden(t *testing.T) {
	p, err := ParseProgram(`sinter.program v1
input %0 "x" f32[2,3]
constant %2 bool[2] 0001
%4? "y" f32[2,3] = Mul %0! scalars(f32:0x1.8p+00) @model.go:12
%5 f32[2,2] = Slice %4 ranges(0+2, 2+2*-1)
%6 bf16[2,2] = Cast %5 dtype=bf16
output %6`)
	require.NoError(t, err)
	data, err := json.Marshal(p)
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"version": "sinter.program v1",
		"inputs": [{"id": 0, "name": "x", "dtype": "f32", "shape": [2, 3]}],
		"constants": [{"id": 2, "dtype": "bool", "shape": [2], "data": "AAE="}],
		"operations": [
			{"kind": "Mul", "inputs": [{"id": 0, "status": "readwrite"}], "scalars": ["f32:0x1.8p+00"], "position": "model.go:12",
			 "output": {"id": 4, "name": "y", "dtype": "f32", "shape": [2, 3], "status": "notinit"}},
			{"kind": "Slice", "inputs": [{"id": 4}], "ranges": [{"start": 0, "len": 2, "step": 1}, {"start": 2, "len": 2, "step": -1}],
			 "output": {"id": 5, "dtype": "f32", "shape": [2, 2]}},
			{"kind": "Cast", "inputs": [{"id": 5}], "dtype": "bf16", "output": {"id": 6, "dtype": "bf16", "shape": [2, 2]}}
		],
		"outputs": [6]
	}`, string(data))
}

func TestJSONRefuses(t *testing.T) {
	const x = `{"version":"sinter.program v1","inputs":[{"id":0,"dtype":"f32","shape":[2]}]`
	op := func(fields string) string { return x + `,"operations":[{` + fields + `}]}` }
	const out = `"output":{"id":1,"dtype":"f32","shape":[2]}`
	for _, c := range []struct{ text, msg string }{
		{`{}`, `version is "", want "sinter.program v1"`},
		{`{"version":"sinter.program v9"}`, `version is "sinter.program v9", want "sinter.program v1"`},
		{`{"version":"sinter.program v1","inputs":[{"id":0,"dtype":"f99","shape":[]}]}`, `input 0: there is no dtype "f99"`},
		{`{"version":"sinter.program v1","vars":[{"id":0,"dtype":"f32","shape":[],"status":"lost"}]}`, `var 0: there is no status "lost"`},
		{`{"version":"sinter.program v1","inputs":[{"id":0,"dtype":"f32","shape":[1],"data":"AAAAAA=="}]}`, "input 0: %0 has data but is not a constant"},
		{`{"version":"sinter.program v1","constants":[{"id":0,"dtype":"f32","shape":[100000,100000],"data":"AAAAAA=="}]}`, ""},
		{op(`"kind":"Frob",` + out), `operation 0: there is no kind "Frob"`},
		{op(`"kind":"Exp","inputs":[{"id":1}],` + out), "operation 0: operand 0, %1, is not defined before"},
		{op(`"kind":"Exp","inputs":[{"id":0,"status":"x"}],` + out), `operation 0: there is no status "x"`},
		{op(`"kind":"Cast","inputs":[{"id":0}],"dtype":"u7",` + out), `operation 0: there is no dtype "u7"`},
		{op(`"kind":"Scatter","inputs":[{"id":0}],"mode":"sum",` + out), `operation 0: there is no scatter mode "sum"`},
		{op(`"kind":"Custom","inputs":[{"id":0}],"name":"none",` + out), `operation 0: Custom([2]): there is no custom operation "none"`},
		{op(`"kind":"Add","inputs":[{"id":0}],"scalars":["f32:1 f32:2"],` + out), `operation 0: scalar 0, "f32:1 f32:2": want the end`},
		{op(`"kind":"Sum","inputs":[{"id":0}],"axes":[-1],` + out), "operation 0: %1 is recorded as f32[2] but is f32[1]"},
		{op(`"kind":"Exp","inputs":[{"id":0}],"axes":[0],` + out), "operation 0: Exp([2]): does not use the given attributes (axes)"},
	} {
		var p Program
		err := p.UnmarshalJSON([]byte(c.text))
		var e *ProgramError
		if assert.ErrorAs(t, err, &e, c.text) && c.msg != "" {
			assert.Equal(t, c.msg, e.Error())
		}
		assert.Zero(t, p.Inputs)
	}
	for _, text := range []string{``, `[]`, `{"version":1}`, x + `,"colour":1}`, strings.Repeat(`{"inputs":[`, 1<<14), x + `} {}`} {
		assert.Error(t, new(Program).UnmarshalJSON([]byte(text)), text)
	}
	_, err := json.Marshal(&Program{Outputs: []TensorID{3}})
	var e *ProgramError
	assert.ErrorAs(t, err, &e)
}
