package kerneltest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// kernel reads a kernel whose first line has the given indentation.
func (p *parser) kernel(indent string) *codegen.Kernel {
	line, ok := strings.CutPrefix(p.next(), indent+"kernel ")
	head, quoted, found := strings.Cut(line, ` "`)
	name, err := strconv.Unquote(`"` + quoted)
	fields := strings.Fields(head)
	if !ok || !found || err != nil || len(fields) != 3 {
		p.fail("no kernel")
	}
	k := &codegen.Kernel{Name: name, Template: named(p, fields[0], codegen.Map, codegen.Parts)}
	k.Outer, k.Inner = p.ref("outer=", fields[1]), p.ref("inner=", fields[2])
	for {
		rest, ok := p.item(indent + "  ")
		if !ok {
			return k
		}
		key, rest, _ := strings.Cut(rest, " ")
		w := words(rest)
		switch key[:min(1, len(key))] {
		case "b":
			p.inOrder(key, "b", len(k.Buffers))
			p.want(w, 2)
			k.Buffers = append(k.Buffers, codegen.Buffer{Mode: named(p, w[0], codegen.In, codegen.InOut), DType: p.dtype(w[1])})
		case "a":
			p.inOrder(key, "a", len(k.Accesses))
			k.Accesses = append(k.Accesses, p.access(w))
		case "p":
			if key == "part" {
				k.Parts = append(k.Parts, p.part(w, indent))
				continue
			}
			p.inOrder(key, "p", len(k.Params))
			p.want(w, 1)
			k.Params = append(k.Params, p.dtype(w[0]))
		case "%":
			p.inOrder(key, "%", len(k.Body))
			k.Body = append(k.Body, p.instr(k, w))
		case "s":
			k.Stores = append(k.Stores, p.store(w))
		default:
			p.fail("unknown line")
		}
	}
}

// inOrder checks that a line is about the next of its kind.
func (p *parser) inOrder(key, kind string, n int) {
	if want := fmt.Sprint(kind, n, ":"); key != want {
		p.fail("%q where %q comes", key, want)
	}
}

// words splits at spaces, commas and brackets.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,[]", r) })
}

// want checks that there are at least n words.
func (p *parser) want(w []string, n int) {
	if len(w) < n {
		p.fail("the line is too short")
	}
}

func (p *parser) access(w []string) codegen.Access {
	p.want(w, 1)
	a := codegen.Access{Buffer: p.ref("b", w[0])}
	for _, x := range w[1:] {
		if x == "masked" {
			a.Masked = true
		} else {
			a.Indices = p.ref("indices=", x)
		}
	}
	return a
}

func (p *parser) part(w []string, indent string) codegen.Part {
	var part codegen.Part
	p.want(w, 1)
	for _, x := range w[1:] {
		part.Buffers = append(part.Buffers, p.ref("b", x))
	}
	part.Kernel = p.kernel(indent + "    ")
	return part
}

func (p *parser) store(w []string) codegen.Store {
	p.want(w, 2)
	s := codegen.Store{Access: p.ref("a", w[0])}
	for _, x := range w[1 : len(w)-1] {
		if strings.HasPrefix(x, "%") {
			s.Index = append(s.Index, codegen.Value(p.ref("%", x)))
		} else {
			s.Mode = named(p, x, ir.Assign, ir.ScatterMax)
		}
	}
	s.Value = codegen.Value(p.ref("%", w[len(w)-1]))
	return s
}

// instr reads "type [level] = op …".
func (p *parser) instr(k *codegen.Kernel, w []string) codegen.Instr {
	p.want(w, 3)
	in := codegen.Instr{Type: p.dtype(w[0])}
	if w[1] != "=" {
		in.Level = named(p, w[1], codegen.Element, codegen.Right)
		w = w[1:]
		p.want(w, 3)
	}
	op, w := w[2], w[3:]
	for o := codegen.OpConst; o <= codegen.OpAttention; o++ {
		if o != codegen.OpApply && o.String() == op {
			in.Op = o
		}
	}
	if in.Op == codegen.OpInvalid {
		in.Op = codegen.OpApply
		for _, fn := range ir.ScalarOps() {
			if fn.String() == op {
				in.Fn = fn
			}
		}
		if in.Fn == ir.SNone {
			p.fail("%q is no instruction or function", op)
		}
	}
	p.operands(k, &in, w)
	return in
}

// operands reads what follows the name of an instruction.
func (p *parser) operands(k *codegen.Kernel, in *codegen.Instr, w []string) {
	var plain []string // what is no value and no flag
	for _, x := range w {
		switch {
		case strings.HasPrefix(x, "%"):
			in.Args = append(in.Args, codegen.Value(p.ref("%", x)))
		case x == "overflow":
			in.Overflow = true
		case x == "exclusive":
			in.Exclusive = true
		case x == "reverse", x == "descending":
			in.Reverse = true
		case x == "positions":
			in.Positions = true
		default:
			plain = append(plain, x)
		}
	}
	shape := map[codegen.Op]int{
		codegen.OpConst: 1, codegen.OpParam: 1, codegen.OpLoad: 1, codegen.OpCoord: 1, codegen.OpCast: 3, codegen.OpBitcast: 3,
		codegen.OpReduce: 1, codegen.OpScan: 1, codegen.OpArange: 5, codegen.OpPhilox: 4, codegen.OpNormal: 4,
	}
	p.want(plain, shape[in.Op])
	switch in.Op {
	case codegen.OpConst:
		in.Bits = p.constant(in.Type, plain[0])
	case codegen.OpParam:
		in.Index = p.ref("p", plain[0])
	case codegen.OpLoad:
		in.Access = p.ref("a", plain[0])
	case codegen.OpCoord:
		in.Index = p.int(plain[0])
	case codegen.OpCast, codegen.OpBitcast: // F32 to BF16
		in.From, in.To = p.dtype(plain[0]), p.dtype(plain[2])
	case codegen.OpReduce, codegen.OpScan:
		in.Reduce = named(p, plain[0], codegen.RSum, codegen.RAll)
	case codegen.OpArange: // 0 from p0 step p1, perhaps to BF16
		in.Index, in.Index2 = p.int(plain[0]), p.ref("p", plain[2])
		if len(plain) > 6 {
			in.To = p.dtype(plain[6])
		}
	case codegen.OpPhilox, codegen.OpNormal: // seed p0 offset p1
		in.Index = p.ref("p", plain[1])
	case codegen.OpContract:
		p.contract(k, in, plain)
	case codegen.OpAttention:
		for _, x := range plain {
			k.Attention.Causal = k.Attention.Causal || x == "causal"
			k.Attention.HasMask = k.Attention.HasMask || x == "mask" || x == "boolmask"
			k.Attention.BoolMask = k.Attention.BoolMask || x == "boolmask"
			k.Attention.ScaleRead = k.Attention.ScaleRead || x == "scale"
		}
	}
}

// contract reads the accesses of a contraction, or the dtypes of computed
// operands, which are those of their registers if they are not written.
func (p *parser) contract(k *codegen.Kernel, in *codegen.Instr, w []string) {
	switch {
	case len(in.Args) == 0:
		p.want(w, 2)
		in.Access, in.Access2 = p.ref("a", w[0]), p.ref("a", w[1])
	case len(w) > 0: // of F16, F32
		p.want(w, 3)
		in.From, in.To = p.dtype(w[1]), p.dtype(w[2])
	default:
		types := [2]ir.DType{}
		for i, a := range in.Args[:min(2, len(in.Args))] {
			if a >= 0 && int(a) < len(k.Body) {
				types[i] = k.Body[a].Type
			}
		}
		in.From, in.To = types[0], types[1]
	}
}

// constant reads a number of a register type; a NaN is written by its bits.
func (p *parser) constant(t ir.DType, s string) uint64 {
	var bits uint64
	var err error
	hex, isNaN := strings.CutPrefix(s, "nan(0x")
	switch {
	case isNaN:
		return p.bits(strings.TrimSuffix(hex, ")"))
	case t == ir.F32, t == ir.F64:
		var f float64
		f, err = strconv.ParseFloat(s, 8*t.Size())
		bits = ScalarBits(t, Value{F: f})
	case t == ir.Bool:
		var b bool
		b, err = strconv.ParseBool(s)
		bits = ScalarBits(t, Value{B: b})
	case t.IsUnsigned():
		bits, err = strconv.ParseUint(s, 10, 64)
	default:
		var i int64
		i, err = strconv.ParseInt(s, 10, 64)
		bits = uint64(i)
	}
	if err != nil {
		p.fail("%q is no %v", s, t)
	}
	return bits
}
