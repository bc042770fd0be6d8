package ir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonProgram is the JSON form of a program. It says what the text form says;
// scalars are written as there, so that every float keeps its bits.
type jsonProgram struct {
	Version    string          `json:"version"` // TextHeader
	Inputs     []jsonTensor    `json:"inputs,omitempty"`
	Vars       []jsonTensor    `json:"vars,omitempty"`
	Constants  []jsonTensor    `json:"constants,omitempty"`
	Operations []jsonOperation `json:"operations,omitempty"`
	Outputs    []TensorID      `json:"outputs,omitempty"`
}

type jsonTensor struct {
	ID     TensorID `json:"id"`
	Name   *string  `json:"name,omitempty"`
	DType  string   `json:"dtype"`
	Shape  []int    `json:"shape"`
	Status string   `json:"status,omitempty"`
	Data   []byte   `json:"data,omitempty"` // of constants, base64
}

type jsonOperand struct {
	ID     TensorID `json:"id"`
	Status string   `json:"status,omitempty"`
}

type jsonRange struct {
	Start int   `json:"start"`
	Len   int   `json:"len"`
	Step  int   `json:"step"`
	Input uint8 `json:"input,omitempty"`
}

type jsonOperation struct {
	Kind     string        `json:"kind"`
	Inputs   []jsonOperand `json:"inputs,omitempty"`
	Output   jsonTensor    `json:"output"`
	Axes     []int         `json:"axes,omitempty"`
	Shape    []int         `json:"shape,omitempty"`
	Ints     []int         `json:"ints,omitempty"`
	N        int           `json:"n,omitempty"`
	DType    string        `json:"dtype,omitempty"`
	Flag     bool          `json:"flag,omitempty"`
	Reverse  bool          `json:"reverse,omitempty"`
	Mode     string        `json:"mode,omitempty"`
	Name     string        `json:"name,omitempty"`
	Scalars  []string      `json:"scalars,omitempty"`
	Ranges   []jsonRange   `json:"ranges,omitempty"`
	Position string        `json:"position,omitempty"`
}

// statusNames is how the JSON form writes a tensor's status.
var statusNames = [...]string{ReadOnly: "", ReadWrite: "readwrite", NotInit: "notinit"}

// MarshalJSON returns the JSON form of p, which must be valid.
func (p *Program) MarshalJSON() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	j := jsonProgram{Version: TextHeader, Outputs: p.Outputs}
	for _, t := range p.Inputs {
		j.Inputs = append(j.Inputs, p.jsonTensor(t))
	}
	for _, t := range p.Vars {
		j.Vars = append(j.Vars, p.jsonTensor(t))
	}
	for i := range p.Constants {
		t := p.jsonTensor(p.Constants[i].TensorRef)
		t.Data = p.Constants[i].Data
		j.Constants = append(j.Constants, t)
	}
	for i := range p.Ops {
		j.Operations = append(j.Operations, p.jsonOperation(i))
	}
	return json.Marshal(j)
}

func (p *Program) jsonTensor(t TensorRef) jsonTensor {
	j := jsonTensor{ID: t.ID, DType: t.DType.String(), Shape: t.Shape, Status: statusNames[t.Status]}
	if j.Shape == nil {
		j.Shape = []int{}
	}
	if name, ok := p.Names[t.ID]; ok {
		j.Name = &name
	}
	return j
}

func (p *Program) jsonOperation(i int) jsonOperation {
	o := &p.Ops[i]
	a := &o.Attrs
	j := jsonOperation{
		Kind: o.Kind.String(), Output: p.jsonTensor(o.Outputs[0]),
		Axes: a.Axes, Shape: a.Shape, Ints: a.Ints, N: a.N, Flag: a.Flag, Reverse: a.Reverse, Name: a.Name,
		Position: p.Position(i),
	}
	if a.DType != Invalid {
		j.DType = a.DType.String()
	}
	if a.Mode != Assign {
		j.Mode = a.Mode.String()
	}
	for _, in := range o.Inputs {
		j.Inputs = append(j.Inputs, jsonOperand{in.ID, statusNames[in.Status]})
	}
	for _, s := range o.Scalars {
		j.Scalars = append(j.Scalars, s.String())
	}
	for _, r := range o.Ranges {
		j.Ranges = append(j.Ranges, jsonRange(r))
	}
	return j
}

// UnmarshalJSON reads the JSON form into p and validates it. What the JSON
// package refuses is its error; any other failure is a *ProgramError.
func (p *Program) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var j jsonProgram
	if err := d.Decode(&j); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &ProgramError{-1, errors.New("there is something behind the program")}
	}
	if j.Version != TextHeader {
		return &ProgramError{-1, fmt.Errorf("version is %q, want %q", j.Version, TextHeader)}
	}
	r := jsonReader{types: map[TensorID]TensorRef{}}
	if err := r.read(&j); err != nil {
		return err
	}
	if err := r.program.Validate(); err != nil {
		return err
	}
	*p = r.program
	return nil
}

type jsonReader struct {
	program Program
	types   map[TensorID]TensorRef // of the tensors read so far
}

func (r *jsonReader) read(j *jsonProgram) error {
	p := &r.program
	for i := range j.Inputs {
		t, err := r.tensor(&j.Inputs[i])
		if err != nil {
			return &ProgramError{-1, fmt.Errorf("input %d: %w", i, err)}
		}
		p.Inputs = append(p.Inputs, t)
	}
	for i := range j.Vars {
		t, err := r.tensor(&j.Vars[i])
		if err != nil {
			return &ProgramError{-1, fmt.Errorf("var %d: %w", i, err)}
		}
		p.Vars = append(p.Vars, t)
	}
	for i := range j.Constants {
		c := j.Constants[i]
		data := c.Data
		c.Data = nil
		t, err := r.tensor(&c)
		if err != nil {
			return &ProgramError{-1, fmt.Errorf("constant %d: %w", i, err)}
		}
		p.Constants = append(p.Constants, Constant{t, data})
	}
	for i := range j.Operations {
		o, err := r.operation(&j.Operations[i])
		if err != nil {
			return &ProgramError{i, err}
		}
		p.Ops = append(p.Ops, o)
		if at := j.Operations[i].Position; at != "" {
			if p.Positions == nil {
				p.Positions = map[int]string{}
			}
			p.Positions[i] = at
		}
	}
	p.Outputs = j.Outputs
	return nil
}

func (r *jsonReader) tensor(j *jsonTensor) (TensorRef, error) {
	t := TensorRef{ID: j.ID, Shape: j.Shape}
	if len(j.Data) != 0 {
		return t, argumentErrorf("%%%d has data but is not a constant", j.ID)
	}
	var err error
	if t.DType, err = parseDType(j.DType); err != nil {
		return t, err
	}
	if t.Status, err = parseStatus(j.Status); err != nil {
		return t, err
	}
	if j.Name != nil {
		if r.program.Names == nil {
			r.program.Names = map[TensorID]string{}
		}
		r.program.Names[j.ID] = *j.Name
	}
	r.types[t.ID] = t
	return t, nil
}

func parseDType(name string) (DType, error) {
	d, ok := ParseDType(name)
	if !ok {
		return Invalid, dtypeErrorf("there is no dtype %q", name)
	}
	return d, nil
}

func parseStatus(name string) (Status, error) {
	for s, n := range statusNames {
		if n == name {
			return Status(s), nil
		}
	}
	return ReadOnly, argumentErrorf("there is no status %q", name)
}

func (r *jsonReader) operation(j *jsonOperation) (Operation, error) {
	o := Operation{Attrs: Attrs{Axes: j.Axes, Shape: j.Shape, Ints: j.Ints, N: j.N, Flag: j.Flag, Reverse: j.Reverse, Name: j.Name}}
	var ok bool
	var err error
	if o.Kind, ok = ParseKind(j.Kind); !ok {
		return o, argumentErrorf("there is no kind %q", j.Kind)
	}
	if j.DType != "" {
		if o.Attrs.DType, err = parseDType(j.DType); err != nil {
			return o, err
		}
	}
	if j.Mode != "" {
		if o.Attrs.Mode, ok = ParseScatterMode(j.Mode); !ok {
			return o, argumentErrorf("there is no scatter mode %q", j.Mode)
		}
	}
	for i, in := range j.Inputs {
		t, ok := r.types[in.ID]
		if !ok {
			return o, argumentErrorf("operand %d, %%%d, is not defined before", i, in.ID)
		}
		if t.Status, err = parseStatus(in.Status); err != nil {
			return o, err
		}
		o.Inputs = append(o.Inputs, t)
	}
	for i, text := range j.Scalars {
		l := lexer{s: text}
		s := l.scalar()
		if l.err == nil && !l.atEnd() {
			l.fail("want the end")
		}
		if l.err != nil {
			return o, argumentErrorf("scalar %d, %q: %s", i, text, l.err.Msg)
		}
		o.Scalars = append(o.Scalars, s)
	}
	for _, g := range j.Ranges {
		o.Ranges = append(o.Ranges, Range(g))
	}
	out, err := r.tensor(&j.Output)
	o.Outputs = []TensorRef{out}
	return o, err
}
