package ptx

// guarded reads an instruction with a guard; the current token is @.
func (p *parser) guarded() {
	p.next()
	neg := p.accept('!')
	at := p.tok
	reg, ok := p.register(p.name())
	if !ok {
		p.failAt(at.pos, at.line, at.text, "want a register")
	}
	if p.fn.RegType(reg) != Pred {
		p.failAt(at.pos, at.line, at.text, "want a predicate register")
	}
	if p.tok.kind != tokIdent {
		p.fail("want an instruction after the guard")
	}
	p.instr(int(reg), neg)
}

// instr reads an instruction up to its semicolon; the current token is the
// mnemonic.
func (p *parser) instr(pred int, neg bool) {
	in := Instr{Pred: pred, Neg: neg, Line: p.tok.line}
	at := p.tok
	text := p.opcode()
	op := p.opcodes[text]
	if op == nil {
		var bad, rule string
		if op, bad, rule = decodeOpcode(text); op == nil {
			p.failAt(at.pos, at.line, bad, rule)
		}
		p.opcodes[text] = op
	}
	in.Opcode = op
	if op.Op == OpCall {
		p.call(&in)
	} else if p.tok.kind != ';' {
		p.operands(&in)
	}
	p.want(';', "want ; after the instruction")
	p.fn.Body = append(p.fn.Body, in)
}

// noDst are the mnemonics without destinations, apart from those whose first
// operand is an address.
var noDst = [opCount]bool{
	OpBra: true, OpBrx: true, OpRet: true, OpExit: true, OpTrap: true, OpBrkpt: true,
	OpMembar: true, OpFence: true, OpNanosleep: true, OpSetmaxnreg: true, OpPmevent: true,
	OpGriddepcontrol: true, OpCp: true,
}

func (o *Opcode) hasDst() bool {
	switch o.Op {
	case OpBar, OpBarrier:
		return o.Has(ModRed)
	case OpWgmma:
		return o.Has(ModMmaAsync)
	}
	return !noDst[o.Op]
}

// operands reads a list of operands and splits it into destinations and sources.
func (p *parser) operands(in *Instr) {
	if in.Op == OpBra {
		p.branch(in)
		return
	}
	start := len(p.ops)
	p.operand(0)
	dst := 1
	if p.accept('|') {
		p.operand(0)
		dst = 2
	}
	if !in.hasDst() || p.ops[start].Kind == Addr {
		if dst == 2 {
			p.fail("want no second destination before")
		}
		dst = 0
	}
	for p.accept(',') {
		if in.Op == OpBrx && p.tok.kind == tokIdent {
			p.tableRef()
			continue
		}
		p.operand(0)
	}
	all := p.ops[start:len(p.ops):len(p.ops)]
	if dst > 0 {
		in.Dst = all[:dst:dst]
	}
	if dst < len(all) {
		in.Src = all[dst:]
	}
	// What the next instruction appends must not move these.
	if cap(p.ops)-len(p.ops) < 16 {
		p.ops = make([]Operand, 0, 512)
	}
}

// branch reads the label of a bra; it is looked up when its scope ends.
func (p *parser) branch(in *Instr) {
	at := p.tok
	p.name()
	p.scope.wanted = append(p.scope.wanted, wantedLabel{name: at.text, pos: at.pos, line: at.line, instr: len(p.fn.Body)})
	in.Src = []Operand{{Kind: LabelRef}}
}

// push appends an operand. Slices already cut stay where they are: append moves
// only what the current instruction has read so far.
func (p *parser) push(o Operand) { p.ops = append(p.ops, o) }

func (p *parser) tableRef() {
	for s := p.scope; s != nil; s = s.outer {
		if i, ok := s.tables[p.tok.text]; ok {
			p.push(Operand{Kind: TableRef, Index: int32(i)})
			p.next()
			return
		}
	}
	p.fail("want a list of branch targets")
}

// operand reads one operand and appends it to p.ops.
func (p *parser) operand(depth int) {
	if depth == maxDepth {
		p.fail("want fewer nested braces")
	}
	switch p.tok.kind {
	case tokIdent:
		p.push(p.named())
	case '!':
		p.next()
		at := p.tok
		reg, ok := p.register(p.name())
		if !ok {
			p.failAt(at.pos, at.line, at.text, "want a register")
		}
		p.push(Operand{Kind: Reg, Reg: reg, Neg: true})
	case '{':
		p.next()
		p.push(Operand{Kind: Vec, Elems: p.elements('}', depth)})
	case '[':
		p.next()
		p.push(p.address(depth))
	default:
		p.push(p.constant())
	}
}

// elements reads operands up to a closing token.
func (p *parser) elements(end tokenKind, depth int) []Operand {
	outer := p.ops
	p.ops = make([]Operand, 0, 4)
	for p.tok.kind != end {
		p.operand(depth + 1)
		if !p.accept(',') {
			break
		}
	}
	p.want(end, "want the end of the list")
	elems := p.ops
	p.ops = outer
	return elems
}

// address reads what stands in brackets.
func (p *parser) address(depth int) Operand {
	o := Operand{Base: Imm}
	if p.tok.kind == tokIdent {
		at := p.tok
		o = p.named()
		if o.Kind != Reg && o.Kind != Sym {
			p.failAt(at.pos, at.line, at.text, "want a register or variable")
		}
		o.Base = o.Kind
		o.Off += p.offset()
	} else {
		c := p.constant()
		if c.Kind != Imm {
			p.fail("want an address before")
		}
		o.Off = int64(c.Bits)
	}
	o.Kind = Addr
	if p.accept(',') {
		p.want('{', "want the coordinates")
		o.Elems = p.elements('}', depth)
	}
	p.want(']', "want ]")
	return o
}

// named reads an operand that is a name: register, special register, variable
// or function.
func (p *parser) named() Operand {
	at := p.tok
	p.next()
	name := at.text
	if reg, ok := p.register(name); ok {
		return Operand{Kind: Reg, Reg: reg}
	}
	if name == "_" {
		return Operand{Kind: Discard}
	}
	if name[0] == '%' {
		if p.tok.kind == tokDot && p.tok.pos == at.pos+len(name) {
			name += "." + p.tok.text
			p.next()
		}
		if s := specialByName[name]; s != NoSpecial {
			return Operand{Kind: Special, Special: s}
		}
		p.failAt(at.pos, at.line, name, "want a declared register or a special one")
	}
	if d := p.variable(name); d != nil {
		return Operand{Kind: Sym, Sym: d.Name, Var: d, Off: p.offset()}
	}
	if p.funcs[name] != nil {
		return Operand{Kind: Sym, Sym: name}
	}
	p.failAt(at.pos, at.line, name, "want a declared name")
	return Operand{}
}

// register finds a register by the name it has in the current scope.
func (p *parser) register(name string) (int32, bool) {
	prefix, n, numbered := splitNumber(name)
	for s := p.scope; s != nil; s = s.outer {
		if s.regs != nil {
			if r, ok := s.regs[name]; ok {
				return r, true
			}
		}
		if numbered {
			for i := range s.ranges {
				if r := &s.ranges[i]; r.name == prefix && n < r.count {
					return int32(r.first + n), true
				}
			}
		}
	}
	return 0, false
}

// variable finds a variable by the name it has in the current scope.
func (p *parser) variable(name string) *Decl {
	for s := p.scope; s != nil; s = s.outer {
		if d := s.vars[name]; d != nil {
			return d
		}
	}
	return p.globals[name]
}

// call reads what follows the opcode of a call.
func (p *parser) call(in *Instr) {
	c := &Call{}
	if p.tok.kind == '(' {
		c.Returns = p.callParams()
		p.want(',', "want ,")
	}
	at := p.tok
	if p.tok.kind != tokIdent {
		p.fail("want a function")
	}
	c.Target = p.named()
	if c.Target.Kind != Reg && (c.Target.Kind != Sym || c.Target.Var != nil) {
		p.failAt(at.pos, at.line, at.text, "want a function")
	}
	if p.accept(',') {
		if p.tok.kind == '(' {
			c.Args = p.callParams()
			if p.accept(',') {
				c.Table = p.listName()
			}
		} else {
			c.Table = p.listName()
		}
	}
	in.Call = c
}

// listName reads the name of a prototype or of a list of targets.
func (p *parser) listName() string {
	at := p.tok
	name := p.name()
	for s := p.scope; s != nil; s = s.outer {
		if i, ok := s.tables[name]; ok {
			return p.fn.Tables[i].Name
		}
	}
	for i := len(p.fn.Protos) - 1; i >= 0; i-- {
		if p.fn.Protos[i].Name == name {
			return name
		}
	}
	p.failAt(at.pos, at.line, name, "want a prototype or a list of targets")
	return ""
}

// callParams reads the variables of a call in parentheses.
func (p *parser) callParams() []*Decl {
	p.want('(', "want (")
	var all []*Decl
	for p.tok.kind != ')' {
		d := p.variable(p.tok.text)
		if p.tok.kind != tokIdent || d == nil || d.Space != Param {
			p.fail("want a .param variable")
		}
		p.next()
		all = append(all, d)
		if !p.accept(',') {
			break
		}
	}
	p.want(')', "want )")
	return all
}
