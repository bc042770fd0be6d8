package ir

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// SyntaxError says where a program's text is wrong.
type SyntaxError struct {
	Line, Col int // from 1, columns in bytes
	Msg       string
	Err       error // the operation's or program's failure, if that is what is wrong
}

// Error formats e as "line:col: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg) }

// Unwrap returns the failure behind e, or nil.
func (e *SyntaxError) Unwrap() error { return e.Err }

// ParseProgram reads the text form of a program (see Program.AppendText) and
// validates it. A failure is a *SyntaxError. Axes may be negative and axis
// lists left out as for Check; they come out normalised. What parsing
// allocates is bounded by a multiple of the text's length.
func ParseProgram(text string) (*Program, error) {
	p := &parser{program: &Program{}, tensors: newValidator()}
	for line := range strings.Lines(text) {
		p.line++
		p.lexer = lexer{s: strings.TrimRight(line, "\r\n")}
		if p.line == 1 {
			p.header()
		} else if !p.atEnd() {
			p.statement()
		}
		if p.err != nil {
			p.err.Line = p.line
			return nil, p.err
		}
	}
	if p.line == 0 {
		return nil, &SyntaxError{Line: 1, Col: 1, Msg: "no program: want the header " + TextHeader}
	}
	return p.program, nil
}

type parser struct {
	lexer
	line    int
	start   int // where in the line the thing that is checked begins
	program *Program
	tensors *validator
	outputs bool // the output line was read
}

func (p *parser) header() {
	if got := strings.TrimSpace(p.s); got != TextHeader {
		p.fail("want the header %q", TextHeader)
	}
}

// statement reads one line.
func (p *parser) statement() {
	if p.start = p.i; p.peek() == '%' {
		p.operation()
	} else {
		switch word := p.word(); word {
		case "input":
			t := p.definition()
			p.check(func() error { return p.tensors.define(t) })
			p.program.Inputs = append(p.program.Inputs, t)
		case "var":
			t := p.definition()
			p.check(func() error { return p.tensors.defineVar(t) })
			p.program.Vars = append(p.program.Vars, t)
		case "constant":
			c := Constant{TensorRef: p.definition(), Data: p.bytes()}
			p.check(func() error { return p.tensors.defineConstant(&c) })
			p.program.Constants = append(p.program.Constants, c)
		case "output":
			p.outputLine()
		default:
			p.fail("want input, var, constant, output or %%, got %q", word)
		}
	}
	if p.err == nil && !p.atEnd() {
		p.fail("want the end of the line")
	}
}

// check runs a check of what was just read, unless reading it failed.
func (p *parser) check(f func() error) {
	if p.err != nil {
		return
	}
	if err := f(); err != nil {
		p.i = p.start
		p.fail("%v", err)
		p.err.Err = err
	}
}

func (p *parser) outputLine() {
	if p.outputs {
		p.fail("outputs are given twice")
	}
	p.outputs = true
	for more := true; more && p.err == nil; more = p.accept(',') {
		id := p.id()
		if _, ok := p.tensors.defs[id]; !ok {
			p.fail("%%%d is not defined", id)
		}
		p.program.Outputs = append(p.program.Outputs, id)
	}
}

// definition reads an id with status, name and type.
func (p *parser) definition() TensorRef {
	t := TensorRef{ID: p.id(), Status: p.status()}
	if p.peek() == '"' {
		name := p.quoted()
		if p.err == nil {
			if p.program.Names == nil {
				p.program.Names = map[TensorID]string{}
			}
			p.program.Names[t.ID] = name
		}
	}
	t.DType = p.dtype()
	t.Shape = p.list()
	return t
}

func (p *parser) id() TensorID {
	p.expect('%')
	return TensorID(p.unsigned(64))
}

func (p *parser) status() Status {
	for s := ReadWrite; s <= NotInit; s++ {
		if p.acceptHere(statusMarks[s][0]) {
			return s
		}
	}
	return ReadOnly
}

func (p *parser) dtype() DType {
	word := p.word()
	d, ok := ParseDType(word)
	if !ok {
		p.fail("want a dtype, got %q", word)
	}
	return d
}

// bytes reads hexadecimal bytes, possibly none.
func (p *parser) bytes() []byte {
	p.space()
	digits := p.while(isWordByte)
	if digits == "" || p.err != nil {
		return nil
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		p.fail("want an even number of hexadecimal digits")
	}
	return data
}

func (p *parser) operation() {
	out := p.definition()
	p.expect('=')
	p.space()
	p.start = p.i
	name := p.word()
	kind, ok := ParseKind(name)
	if !ok {
		p.fail("there is no kind %q", name)
	}
	o := Operation{Kind: kind}
	if p.peek() == '%' {
		for more := true; more && p.err == nil; more = p.accept(',') {
			t := p.tensors.defs[p.operand()]
			t.Status = p.status()
			o.Inputs = append(o.Inputs, t)
		}
	}
	p.attributes(&o)
	p.check(func() error {
		// The types are inferred; axes come out normalised.
		checked := o
		if err := checked.Check(); err != nil {
			return err
		}
		o.Attrs.Axes = checked.Attrs.Axes
		o.Outputs = []TensorRef{out}
		return p.tensors.add(&o)
	})
	if p.accept('@') {
		p.position()
	}
	p.program.Ops = append(p.program.Ops, o)
}

// operand reads the id of a tensor defined before.
func (p *parser) operand() TensorID {
	id := p.id()
	if _, ok := p.tensors.defs[id]; !ok {
		p.fail("%%%d is not defined", id)
	}
	return id
}

func (p *parser) position() {
	at := ""
	if p.peekHere() == '"' {
		at = p.quoted()
	} else {
		at = p.while(func(c byte) bool { return ' ' < c && c <= '~' })
	}
	if at == "" {
		p.fail("want a position")
	}
	if p.program.Positions == nil {
		p.program.Positions = map[int]string{}
	}
	p.program.Positions[len(p.program.Ops)] = at
}

// attributes reads attributes, scalars and ranges, in any order, each once.
func (p *parser) attributes(o *Operation) {
	given := map[string]bool{}
	for p.err == nil && isWordByte(p.peek()) {
		name := p.word()
		if given[name] {
			p.fail("%s is given twice", name)
		}
		given[name] = true
		switch name {
		case "axes":
			o.Attrs.Axes = p.list()
		case "shape":
			o.Attrs.Shape = p.list()
		case "ints":
			o.Attrs.Ints = p.list()
		case "n":
			p.expect('=')
			o.Attrs.N = p.signed()
		case "dtype":
			p.expect('=')
			o.Attrs.DType = p.dtype()
		case "flag":
			o.Attrs.Flag = true
		case "reverse":
			o.Attrs.Reverse = true
		case "mode":
			p.expect('=')
			word, ok := p.word(), false
			if o.Attrs.Mode, ok = ParseScatterMode(word); !ok {
				p.fail("there is no scatter mode %q", word)
			}
		case "name":
			p.expect('=')
			o.Attrs.Name = p.quoted()
		case "scalars":
			p.expect('(')
			for more := true; more && p.err == nil; more = p.accept(',') {
				o.Scalars = append(o.Scalars, p.scalar())
			}
			p.expect(')')
		case "ranges":
			p.expect('(')
			for more := true; more && p.err == nil; more = p.accept(',') {
				o.Ranges = append(o.Ranges, p.rangeOf())
			}
			p.expect(')')
		default:
			p.fail("there is no attribute %q", name)
		}
	}
}
