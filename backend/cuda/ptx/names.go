package ptx

import "strconv"

// scope holds the names of one pair of braces.
type scope struct {
	outer  *scope
	depth  int
	regs   map[string]int32
	ranges []scopedRange
	vars   map[string]*Decl
	labels map[string]int
	tables map[string]int
	wanted []wantedLabel
}

// scopedRange is a range of registers under the name it has in the scope, which
// may differ from its flattened name.
type scopedRange struct {
	name         string
	first, count int
}

// wantedLabel is a use of a label, which may be declared later: by the branch
// instr of the body or, if table is not nil, in a list of targets.
type wantedLabel struct {
	name      string
	pos, line int
	instr     int
	table     *int
}

func (p *parser) open() {
	depth := 0
	if p.scope != nil {
		if depth = p.scope.depth + 1; depth > maxDepth {
			p.fail("want fewer nested scopes")
		}
	}
	p.scope = &scope{outer: p.scope, depth: depth}
}

// close ends a scope: uses of labels that it does not declare are left to the
// scope around it.
func (p *parser) close() {
	s := p.scope
	for _, w := range s.wanted {
		i, ok := s.labels[w.name]
		switch {
		case ok && w.table != nil:
			*w.table = i
		case ok:
			p.fn.Body[w.instr].Src[0].Index = int32(i)
		case s.outer == nil:
			p.failAt(w.pos, w.line, w.name, "want a label of this function")
		default:
			s.outer.wanted = append(s.outer.wanted, w)
		}
	}
	p.scope = s.outer
}

// unique returns the name, changed if the function already has it.
func (p *parser) unique(name string) string { return p.uniqueRegs(name, 0) }

func (p *parser) uniqueRegs(name string, count int) string {
	flat := name
	for i := 1; p.clashes(flat, count); i++ {
		flat = name + "_" + strconv.Itoa(i)
		if count > 0 {
			flat += "_"
		}
	}
	p.taken[flat] = true
	return flat
}

// clashes reports whether a name, or a range of count registers of that prefix,
// meets a name of the function.
func (p *parser) clashes(name string, count int) bool {
	if p.taken[name] {
		return true
	}
	if count == 0 {
		prefix, n, ok := splitNumber(name)
		if !ok {
			return false
		}
		for _, r := range p.fn.Regs {
			if r.Name == prefix && n < r.Count {
				return true
			}
		}
		return false
	}
	for other := range p.taken {
		if prefix, n, ok := splitNumber(other); ok && prefix == name && n < count {
			return true
		}
	}
	return false
}

// splitNumber cuts %r12 into %r and 12.
func splitNumber(name string) (prefix string, n int, ok bool) {
	i := len(name)
	for i > 0 && chars[name[i-1]]&charDigit != 0 {
		i--
	}
	digits := name[i:]
	if digits == "" || len(digits) > 6 || digits[0] == '0' && len(digits) > 1 {
		return "", 0, false
	}
	for _, c := range []byte(digits) {
		n = n*10 + int(c-'0')
	}
	return name[:i], n, true
}
