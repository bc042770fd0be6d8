package ir

import (
	"encoding/hex"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// TextHeader is the first line of the text form of a program.
const TextHeader = "sinter.program v1"

// WriteText writes the text form of p; see AppendText.
func (p *Program) WriteText(w io.Writer) error {
	_, err := w.Write(p.AppendText(nil))
	return err
}

// String returns the text form of p.
func (p *Program) String() string { return string(p.AppendText(nil)) }

// AppendText appends the text form of p, which ParseProgram reads back:
//
//	sinter.program v1
//	input %0 "x" f32[2,3]
//	var %1 f32[3]
//	constant %2 bf16[2] 803f0040
//	%3 "scores" f32[2,3] = Add %0, %1 @model.go:12
//	%4 f32[2,3] = Mul %3 scalars(f32:0x1.8p+00)
//	%5 f32[2,2] = Slice %4 ranges(0+2, 2+2*-1)
//	output %3, %5
//
// A constant's elements are hexadecimal bytes, little endian. A float scalar
// is a hexadecimal float, inf, -inf or nan(bits); $2 in a scalar or range
// stands for the element of operand 2. A range is start+length*step. A tensor
// marked ! may give up its storage (ReadWrite), one marked ? has none yet
// (NotInit). A comment runs from # at the start of a word to the end of the
// line.
func (p *Program) AppendText(b []byte) []byte {
	b = append(b, TextHeader...)
	b = append(b, '\n')
	for i := range p.Inputs {
		b = append(b, "input "...)
		b = append(p.appendDefinition(b, &p.Inputs[i]), '\n')
	}
	for i := range p.Vars {
		b = append(b, "var "...)
		b = append(p.appendDefinition(b, &p.Vars[i]), '\n')
	}
	for i := range p.Constants {
		c := &p.Constants[i]
		b = append(b, "constant "...)
		b = append(p.appendDefinition(b, &c.TensorRef), ' ')
		b = append(hex.AppendEncode(b, c.Data), '\n')
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		for j := range o.Outputs {
			if j > 0 {
				b = append(b, ", "...)
			}
			b = p.appendDefinition(b, &o.Outputs[j])
		}
		b = append(b, " = "...)
		b = o.appendCall(b)
		if at := p.Position(i); at != "" {
			b = append(b, " @"...)
			b = appendPosition(b, at)
		}
		b = append(b, '\n')
	}
	for i, id := range p.Outputs {
		if i == 0 {
			b = append(b, "output "...)
		} else {
			b = append(b, ", "...)
		}
		b = appendID(b, id)
	}
	if len(p.Outputs) > 0 {
		b = append(b, '\n')
	}
	return b
}

// String returns o as in the text form, without the names of tensors.
func (o *Operation) String() string {
	var p Program
	var b []byte
	for j := range o.Outputs {
		if j > 0 {
			b = append(b, ", "...)
		}
		b = p.appendDefinition(b, &o.Outputs[j])
	}
	b = append(b, " = "...)
	return string(o.appendCall(b))
}

func appendID(b []byte, id TensorID) []byte {
	return strconv.AppendUint(append(b, '%'), uint64(id), 10)
}

// statusMarks is how the text form marks a tensor's status.
var statusMarks = [...]string{ReadOnly: "", ReadWrite: "!", NotInit: "?"}

func appendStatus(b []byte, s Status) []byte {
	if int(s) < len(statusMarks) {
		b = append(b, statusMarks[s]...)
	}
	return b
}

// appendDefinition appends a tensor with its name and type.
func (p *Program) appendDefinition(b []byte, t *TensorRef) []byte {
	b = appendStatus(appendID(b, t.ID), t.Status)
	b = append(b, ' ')
	if name, ok := p.Names[t.ID]; ok {
		b = strconv.AppendQuote(b, name)
		b = append(b, ' ')
	}
	b = append(b, t.DType.String()...)
	return t.Shape.append(b)
}

// appendCall appends the kind with operands, attributes, scalars and ranges.
func (o *Operation) appendCall(b []byte) []byte {
	b = append(b, o.Kind.String()...)
	for i := range o.Inputs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, ' ')
		b = appendStatus(appendID(b, o.Inputs[i].ID), o.Inputs[i].Status)
	}
	b = o.Attrs.append(b)
	for i := range o.Scalars {
		b = appendListHead(b, i, " scalars(")
		b = o.Scalars[i].append(b)
	}
	if len(o.Scalars) > 0 {
		b = append(b, ')')
	}
	for i := range o.Ranges {
		b = appendListHead(b, i, " ranges(")
		b = o.Ranges[i].append(b)
	}
	if len(o.Ranges) > 0 {
		b = append(b, ')')
	}
	return b
}

func appendListHead(b []byte, i int, head string) []byte {
	if i == 0 {
		return append(b, head...)
	}
	return append(b, ", "...)
}

func (a *Attrs) append(b []byte) []byte {
	if len(a.Axes) > 0 {
		b = Shape(a.Axes).append(append(b, " axes"...))
	}
	if len(a.Shape) > 0 {
		b = a.Shape.append(append(b, " shape"...))
	}
	if len(a.Ints) > 0 {
		b = Shape(a.Ints).append(append(b, " ints"...))
	}
	if a.N != 0 {
		b = strconv.AppendInt(append(b, " n="...), int64(a.N), 10)
	}
	if a.DType != Invalid {
		b = append(b, " dtype="...)
		b = append(b, a.DType.String()...)
	}
	if a.Flag {
		b = append(b, " flag"...)
	}
	if a.Reverse {
		b = append(b, " reverse"...)
	}
	if a.Mode != Assign {
		b = append(append(b, " mode="...), a.Mode.String()...)
	}
	if a.Name != "" {
		b = strconv.AppendQuote(append(b, " name="...), a.Name)
	}
	return b
}

// String returns the scalar as in the text form, such as "f32:0x1.8p+00".
func (s Scalar) String() string { return string(s.append(nil)) }

func (s Scalar) append(b []byte) []byte {
	b = append(b, s.DType.String()...)
	b = append(b, ':')
	if s.Input != 0 {
		return strconv.AppendUint(append(b, '$'), uint64(s.Input), 10)
	}
	switch {
	case s.DType == F32:
		return appendFloat(b, float64(s.Float32()), s.Bits, 32)
	case s.DType == F64:
		return appendFloat(b, s.Float64(), s.Bits, 64)
	case s.DType == Bool:
		return strconv.AppendBool(b, s.Bits != 0)
	case s.DType.IsUnsigned():
		return strconv.AppendUint(b, s.Bits, 10)
	default:
		return strconv.AppendInt(b, s.Int64(), 10)
	}
}

// appendFloat appends a float exactly: NaNs by their bits.
func appendFloat(b []byte, f float64, raw uint64, size int) []byte {
	switch {
	case math.IsNaN(f):
		b = append(b, "nan("...)
		b = strconv.AppendUint(b, raw, 16)
		return append(b, ')')
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, f, 'x', -1, size)
}

// String returns the range as in the text form: start+length*step.
func (r Range) String() string { return string(r.append(nil)) }

func (r Range) append(b []byte) []byte {
	if r.Input != 0 {
		b = strconv.AppendUint(append(b, '$'), uint64(r.Input), 10)
	} else {
		b = strconv.AppendInt(b, int64(r.Start), 10)
	}
	b = strconv.AppendInt(append(b, '+'), int64(r.Len), 10)
	if r.Step != 1 {
		b = strconv.AppendInt(append(b, '*'), int64(r.Step), 10)
	}
	return b
}

// appendPosition appends a position, quoted unless it is one plain word.
func appendPosition(b []byte, at string) []byte {
	plain := !strings.HasPrefix(at, `"`) && !slices.ContainsFunc([]rune(at), func(r rune) bool {
		return r <= ' ' || r > '~'
	})
	if plain {
		return append(b, at...)
	}
	return strconv.AppendQuote(b, at)
}
