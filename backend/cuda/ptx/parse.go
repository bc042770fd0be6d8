package ptx

import "math"

// Bounds on what a text may ask for, so that a bad one cannot exhaust memory.
const (
	maxRegs  = 1 << 18   // of a function
	maxDepth = 64        // of nested scopes and vectors
	maxBytes = 1<<31 - 1 // of a variable
)

// Parse reads a module. Its error is a *SyntaxError.
func Parse(src string) (m *Module, err error) {
	p := &parser{
		lexer:   lexer{src: src, line: 1},
		mod:     &Module{AddressSize: 32},
		opcodes: map[string]*Opcode{},
		globals: map[string]*Decl{},
		funcs:   map[string]*Func{},
	}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			m, err = nil, f.err
		}
	}()
	p.next()
	p.module()
	return p.mod, nil
}

type parser struct {
	lexer
	mod     *Module
	opcodes map[string]*Opcode
	globals map[string]*Decl
	funcs   map[string]*Func
	fn      *Func
	scope   *scope
	taken   map[string]bool // names of the function, flattened
	ops     []Operand       // from which the slices of instructions are cut
	at      token           // the last name of a variable, for messages
}

// accept passes a token of a kind, if it is there.
func (p *parser) accept(k tokenKind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(k tokenKind, rule string) {
	if !p.accept(k) {
		p.fail(rule)
	}
}

func (p *parser) name() string {
	s := p.tok.text
	p.want(tokIdent, "want a name")
	return s
}

// int reads a number that fits an int, without a sign.
func (p *parser) int() int {
	v := p.tok.bits
	if p.tok.kind != tokInt || v > math.MaxInt32 {
		p.fail("want a number")
	}
	p.next()
	return int(v)
}

func (p *parser) module() {
	p.version()
	for p.tok.kind != tokEOF {
		if p.tok.kind == '@' { // @@DWARF lines of old debug information
			p.restOfLine()
			continue
		}
		if p.tok.kind != tokDot {
			p.fail("want a directive")
		}
		switch p.tok.text {
		case "target":
			p.next()
			p.mod.Target = p.name()
			for p.accept(',') {
				p.mod.Options = append(p.mod.Options, p.name())
			}
		case "address_size":
			p.next()
			if p.mod.AddressSize = p.int(); p.mod.AddressSize != 32 && p.mod.AddressSize != 64 {
				p.fail("want an address size of 32 or 64 before")
			}
		case "file", "loc":
			p.restOfLine()
		case "section":
			p.section()
		case "pragma":
			p.next()
			p.want(tokString, "want the text of the pragma")
			p.want(';', "want ;")
		default:
			p.global()
		}
	}
}

func (p *parser) version() {
	if p.tok.kind != tokDot || p.tok.text != "version" {
		p.fail("want .version")
	}
	p.next()
	major, minor, ok := 0, 0, p.tok.kind == tokF64
	digits := &major
	for _, c := range []byte(p.tok.text) {
		switch {
		case c == '.':
			digits = &minor
		case c < '0' || c > '9' || *digits > 1000:
			ok = false
		default:
			*digits = *digits*10 + int(c-'0')
		}
	}
	if !ok {
		p.fail("want a version such as 8.8")
	}
	p.next()
	p.mod.Version = Version{major, minor}
}

// section passes a section of debug information.
func (p *parser) section() {
	for p.tok.kind != '{' && p.tok.kind != tokEOF {
		p.next()
	}
	for p.tok.kind != '}' && p.tok.kind != tokEOF {
		p.next()
	}
	p.want('}', "want the end of the section")
}

var linkages = map[string]Linkage{"visible": Visible, "extern": Extern, "weak": Weak, "common": Common}

var spaces = map[string]Space{"global": Global, "shared": Shared, "local": Local, "const": Const, "param": Param}

// global reads a variable or function of the module.
func (p *parser) global() {
	linkage := Internal
	line := p.tok.line
	for {
		l, ok := linkages[p.tok.text]
		if p.tok.kind != tokDot || !ok {
			break
		}
		linkage = l
		p.next()
	}
	if p.tok.kind != tokDot {
		p.fail("want .entry, .func or a state space")
	}
	switch text := p.tok.text; text {
	case "entry", "func":
		p.next()
		p.function(text == "entry", linkage, line)
	case "global", "const", "shared":
		for _, d := range p.decls(linkage, true) {
			if old := p.globals[d.Name]; old != nil && old.Linkage != Extern {
				p.failAt(p.at.pos, p.at.line, d.Name, "want a new name for the variable")
			}
			p.globals[d.Name] = d
			p.mod.Globals = append(p.mod.Globals, d)
		}
	default:
		p.fail("want .entry, .func or a state space")
	}
}

// decls reads a statement that declares variables, up to its semicolon; the
// current token is the space.
func (p *parser) decls(linkage Linkage, initial bool) []*Decl {
	d := p.declHead()
	d.Linkage = linkage
	var all []*Decl
	for {
		one := *d
		p.declName(&one)
		if p.tok.kind == '=' {
			if !initial || one.Space == Shared {
				p.fail("want no initial value here")
			}
			p.next()
			p.initial(&one)
		}
		all = append(all, &one)
		if !p.accept(',') {
			break
		}
	}
	p.want(';', "want ; after the declaration")
	return all
}

// declHead reads the space, alignment and type of a declaration.
func (p *parser) declHead() *Decl {
	d := &Decl{Line: p.tok.line}
	ok := false
	if d.Space, ok = spaces[p.tok.text]; p.tok.kind != tokDot || !ok {
		p.fail("want a state space")
	}
	p.next()
	for p.tok.kind == tokDot {
		switch text := p.tok.text; text {
		case "align":
			p.next()
			a := p.int()
			if a == 0 || a&(a-1) != 0 || a > 1<<20 {
				p.fail("want an alignment that is a power of 2 before")
			}
			if d.Pointer {
				d.PtrAlign = a
			} else {
				d.Align = a
			}
			continue
		case "ptr":
			d.Pointer = true
		case "v2", "v4":
			d.Vec = int(text[1] - '0')
		default:
			if s, ok := spaces[text]; ok && d.Pointer {
				d.PtrTo = s
			} else if t, ok := typeByName[text]; ok && d.Type == NoType && t.Bits() >= 8 {
				d.Type = t
			} else if text != "attribute" && text != "unified" {
				p.fail("want a type or alignment")
			} else {
				p.fail("want no attributes")
			}
		}
		p.next()
	}
	if d.Type == NoType {
		p.fail("want a type")
	}
	d.Size = d.Type.Bytes() * max(d.Vec, 1)
	if d.Align == 0 {
		d.Align = d.Size
	}
	return d
}

// declName reads the name and the extents of a declaration.
func (p *parser) declName(d *Decl) {
	p.at = p.tok
	d.Name = p.name()
	for p.accept('[') {
		n := 0
		if p.tok.kind != ']' {
			n = p.int()
		}
		p.want(']', "want ]")
		d.Array = true
		if n > 0 && d.Size > maxBytes/n {
			p.fail("want a smaller variable before")
		}
		d.Size *= n
	}
}

// initial reads what follows = in a declaration.
func (p *parser) initial(d *Decl) {
	p.initialPart(d, 0)
	switch {
	case d.Size == 0 && d.Array:
		d.Size = len(d.Init)
	case len(d.Init) > d.Size:
		p.fail("want no more initial values than the variable holds")
	}
}

func (p *parser) initialPart(d *Decl, depth int) {
	if p.accept('{') {
		if depth == maxDepth {
			p.fail("want fewer nested braces")
		}
		for p.tok.kind != '}' {
			p.initialPart(d, depth+1)
			if !p.accept(',') {
				break
			}
		}
		p.want('}', "want }")
		return
	}
	size := d.Type.Bytes()
	var bits uint64
	if p.tok.kind == tokIdent {
		r := Reloc{Offset: len(d.Init), Size: size}
		r.Symbol = p.name()
		if r.Symbol == "generic" && p.accept('(') {
			r.Generic = true
			r.Symbol = p.name()
			p.want(')', "want )")
		}
		r.Addend = p.offset()
		if size != 8 && size != 4 {
			p.fail("want a variable of 4 or 8 bytes for an address")
		}
		d.Relocs = append(d.Relocs, r)
	} else {
		o := p.constant()
		bits = o.Bits
		if o.Kind == ImmF64 && d.Type == F32 {
			bits = uint64(math.Float32bits(float32(math.Float64frombits(bits))))
		}
	}
	for range size {
		d.Init = append(d.Init, byte(bits))
		bits >>= 8
	}
}

// constant reads a number with an optional sign or ~.
func (p *parser) constant() Operand {
	negative, not := false, false
	for {
		if p.accept('-') {
			negative = !negative
		} else if p.accept('~') {
			not = !not
		} else {
			break
		}
	}
	o := Operand{Bits: p.tok.bits}
	switch p.tok.kind {
	case tokInt:
		o.Kind = Imm
		if negative {
			o.Bits = -o.Bits
		}
		if not {
			o.Bits = ^o.Bits
		}
	case tokF32:
		o.Kind = ImmF32
		if negative {
			o.Bits ^= 1 << 31
		}
	case tokF64:
		o.Kind = ImmF64
		if negative {
			o.Bits ^= 1 << 63
		}
	default:
		p.fail("want a number")
	}
	p.next()
	return o
}

// offset reads the constants added to a symbol or register, if any.
func (p *parser) offset() (v int64) {
	for p.tok.kind == '+' || p.tok.kind == '-' {
		p.accept('+')
		o := p.constant()
		if o.Kind != Imm {
			p.fail("want an integer before")
		}
		v += int64(o.Bits)
	}
	return v
}
