package ptx

import "strings"

// function reads an entry or function; the current token follows .entry or .func.
func (p *parser) function(entry bool, linkage Linkage, line int) {
	f := &Func{Entry: entry, Linkage: linkage, Line: line}
	p.fn, p.scope, p.taken = f, nil, map[string]bool{}
	p.open()
	if !entry && p.tok.kind == '(' {
		f.Returns = p.params(true)
	}
	f.Name = p.name()
	if p.tok.kind == '(' {
		f.Params = p.params(true)
	}
	if !entry && p.tok.kind == tokDot && p.tok.text == "noreturn" {
		f.NoReturn = true
		p.next()
	}
	p.directives()
	old := p.funcs[f.Name]
	if old != nil && old.Defined {
		p.fail("want a new name for the function " + f.Name)
	}
	p.funcs[f.Name] = f
	if p.accept(';') {
		if old == nil {
			p.mod.Funcs = append(p.mod.Funcs, f)
		}
	} else {
		p.want('{', "want { or ;")
		p.body()
		f.Defined = true
		if old != nil {
			p.forget(old)
		}
		p.mod.Funcs = append(p.mod.Funcs, f)
	}
	p.fn, p.scope = nil, nil
}

// forget drops a declaration of which the definition was read.
func (p *parser) forget(f *Func) {
	for i, x := range p.mod.Funcs {
		if x == f {
			p.mod.Funcs = append(p.mod.Funcs[:i], p.mod.Funcs[i+1:]...)
			return
		}
	}
}

// params reads a list of parameters in parentheses.
func (p *parser) params(named bool) []*Decl {
	p.want('(', "want (")
	var all []*Decl
	for p.tok.kind != ')' {
		d := p.declHead()
		if d.Space != Param {
			p.fail("want a .param")
		}
		p.declName(d)
		if named {
			p.declare(d)
		}
		all = append(all, d)
		if !p.accept(',') {
			break
		}
	}
	p.want(')', "want )")
	return all
}

// funcDirectives are the directives of a function that stand before its body.
var funcDirectives = map[string]bool{
	"maxntid": true, "reqntid": true, "minnctapersm": true, "maxnctapersm": true, "maxnreg": true,
	"explicitcluster": true, "reqnctapercluster": true, "maxclusterrank": true, "blocksareclusters": true,
}

func (p *parser) directives() {
	for p.tok.kind == tokDot {
		d := Directive{Name: p.tok.text}
		switch {
		case d.Name == "pragma":
			d.Text = p.pragma()
			p.fn.Directives = append(p.fn.Directives, d)
			continue
		case !funcDirectives[d.Name]:
			p.fail("want a directive of a function")
		}
		p.next()
		if p.tok.kind == tokInt {
			d.Args = append(d.Args, p.int())
			for p.accept(',') {
				d.Args = append(d.Args, p.int())
			}
		}
		p.fn.Directives = append(p.fn.Directives, d)
	}
}

func (p *parser) pragma() string {
	p.next()
	text := p.tok.text
	p.want(tokString, "want the text of the pragma")
	p.want(';', "want ;")
	return text
}

// body reads statements up to the brace that ends the function.
func (p *parser) body() {
	p.fn.Body = make([]Instr, 0, 128)
	for {
		switch p.tok.kind {
		case '{':
			p.next()
			p.open()
		case '}':
			p.close()
			p.next()
			if p.scope == nil {
				return
			}
		case ';':
			p.next()
		case tokDot:
			p.directive("")
		case tokIdent:
			p.labelOrInstr()
		case '@':
			p.guarded()
		default:
			p.fail("want an instruction or declaration")
		}
	}
}

// directive reads a directive inside a body; label is the name before it, if any.
func (p *parser) directive(label string) {
	switch p.tok.text {
	case "branchtargets":
		p.next()
		t := Table{Name: label}
		names := []token{p.tok}
		p.name()
		for p.accept(',') {
			names = append(names, p.tok)
			p.name()
		}
		t.Labels = make([]int, len(names))
		for i, n := range names {
			p.scope.wanted = append(p.scope.wanted, wantedLabel{name: n.text, pos: n.pos, line: n.line, table: &t.Labels[i]})
		}
		p.table(t)
	case "calltargets":
		p.next()
		t := Table{Name: label}
		for more := true; more; more = p.accept(',') {
			if p.funcs[p.tok.text] == nil {
				p.fail("want a function")
			}
			t.Funcs = append(t.Funcs, p.name())
		}
		p.table(t)
	case "callprototype":
		p.next()
		proto := Prototype{Name: p.unique(label)}
		if p.tok.kind == '(' {
			proto.Returns = p.params(false)
		}
		p.name()
		if p.tok.kind == '(' {
			proto.Params = p.params(false)
		}
		p.fn.Protos = append(p.fn.Protos, proto)
	case "reg":
		p.next()
		p.registers()
	case "loc", "file":
		p.restOfLine()
		return
	case "pragma":
		p.fn.Directives = append(p.fn.Directives, Directive{Name: "pragma", Text: p.pragma()})
		return
	default:
		if _, ok := spaces[p.tok.text]; !ok {
			p.fail("want a directive of a body")
		}
		for _, d := range p.decls(Internal, true) {
			p.declare(d)
			p.fn.Vars = append(p.fn.Vars, d)
		}
		return
	}
	p.want(';', "want ;")
}

func (p *parser) table(t Table) {
	if t.Name == "" {
		p.fail("want a name for the list before")
	}
	if p.scope.tables == nil {
		p.scope.tables = map[string]int{}
	}
	p.scope.tables[t.Name] = len(p.fn.Tables)
	t.Name = p.unique(t.Name)
	p.fn.Tables = append(p.fn.Tables, t)
}

// registers reads what follows .reg.
func (p *parser) registers() {
	typ, ok := typeByName[p.tok.text]
	if p.tok.kind != tokDot || !ok || typ != Pred && typ.Bits() < 8 {
		p.fail("want a type of registers")
	}
	p.next()
	for more := true; more; more = p.accept(',') {
		name := p.name()
		r := RegRange{Name: name, Type: typ, First: p.fn.regCount}
		n := 1
		if p.accept('<') {
			r.Count = p.int()
			p.want('>', "want >")
			n = r.Count
		}
		if n == 0 || p.fn.regCount+n > maxRegs {
			p.fail("want between 1 and 262144 registers")
		}
		s := p.scope
		if r.Count > 0 {
			s.ranges = append(s.ranges, scopedRange{name, r.First, r.Count})
		} else {
			if _, twice := s.regs[name]; twice {
				p.fail("want a new name for the register " + name)
			}
			if s.regs == nil {
				s.regs = map[string]int32{}
			}
			s.regs[name] = int32(r.First)
		}
		r.Name = p.uniqueRegs(name, r.Count)
		p.fn.regCount += n
		p.fn.Regs = append(p.fn.Regs, r)
	}
}

// declare enters a variable into the current scope under its name and gives it a
// name that is unique in the function.
func (p *parser) declare(d *Decl) {
	s := p.scope
	if s.vars == nil {
		s.vars = map[string]*Decl{}
	}
	if s.vars[d.Name] != nil {
		p.failAt(p.at.pos, p.at.line, d.Name, "want a new name for the variable")
	}
	s.vars[d.Name] = d
	d.Name = p.unique(d.Name)
}

// labelOrInstr reads a label with what follows it, or an instruction.
func (p *parser) labelOrInstr() {
	at := p.tok
	if after := p.pos; !strings.HasPrefix(p.src[after:], ".") {
		p.next()
		if p.tok.kind == ':' {
			p.next()
			p.label(at)
			return
		}
		p.pos, p.line = after, at.line
		p.tok = at
	}
	p.instr(-1, false)
}

// label declares a label, or reads the list that it names.
func (p *parser) label(at token) {
	if p.tok.kind == tokDot {
		switch p.tok.text {
		case "branchtargets", "calltargets", "callprototype":
			p.directive(at.text)
			return
		}
	}
	s := p.scope
	if s.labels == nil {
		s.labels = map[string]int{}
	}
	if _, twice := s.labels[at.text]; twice {
		p.failAt(at.pos, at.line, at.text, "want a new name for the label")
	}
	s.labels[at.text] = len(p.fn.Labels)
	p.fn.Labels = append(p.fn.Labels, Label{Name: p.unique(at.text), Pos: len(p.fn.Body)})
}
