package cudac

import (
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// vectorPrefix marks the definition of a vector type among the names of needed
// functions.
const vectorPrefix = "vector "

// vectorType returns the type of n neighbouring elements that are read or written
// at once.
func (g *generator) vectorType(t ir.DType, n int) string {
	name := fmt.Sprintf("%v_x%d", t, n)
	g.need(vectorPrefix + fmt.Sprintf("struct alignas(%d) %s { %s e[%d]; };    // %d %v at once\n", n*t.Size(), name, rawtype(t), n, n, t))
	return name
}

// span is a run of neighbouring points along the last dimension of a loop, which a
// thread takes together: accesses whose elements are neighbours there are read and
// written at once, those that do not move are read once, the rest element by
// element.
type span struct {
	width int
	loops []int  // in scope
	along int    // the loop with the neighbours
	uses  []bool // the accesses of the points' program
}

// vectors reports whether the elements of an access are neighbours in memory along
// a span, and nothing else decides where they are.
func (s *span) vectors(b *binding, access int) bool {
	strides := b.loops[s.along].strides[access]
	return s.uses[access] && b.k.Accesses[access].Indices == 0 && len(b.l.Access[access].Window) == 0 &&
		len(strides) > 0 && strides[len(strides)-1] == 1
}

// widest returns how many points a span may have at most: as many as 16 bytes hold
// of its widest vectors, 1 if there are none.
func (s *span) widest(b *binding) int {
	size := 0
	for i, a := range b.k.Accesses {
		if s.vectors(b, i) {
			size = max(size, b.k.Buffers[a.Buffer].DType.Size())
		}
	}
	if size == 0 {
		return 1
	}
	return vectorBytes / size
}

// fits reports whether the length of the last dimension and the place of every
// vector divide by the width of a span.
func (s *span) fits(b *binding) bool {
	x := b.loops[s.along]
	last := len(x.dims) - 1
	if last < 0 || x.dims[last]%s.width != 0 {
		return false
	}
	for i := range b.k.Accesses {
		if !s.vectors(b, i) {
			continue
		}
		if b.slots.list[i].offset%s.width != 0 {
			return false
		}
		for _, loop := range s.loops {
			for d, stride := range b.loops[loop].strides[i] {
				if stride%s.width != 0 && (loop != s.along || d != last) {
					return false
				}
			}
		}
	}
	return true
}

// points writes the program and the stores of the points of a span, the first of
// which is in scope: vectors are read before and written after the loop over the
// points, in which program writes the values that are stored.
func (g *generator) points(s *span, program func(p *point)) {
	last := g.v.loops[s.along].rank - 1
	vectors := map[int]bool{}
	for access, read := range g.reads() {
		if read && s.vectors(g.l, access) {
			vectors[access] = true
			b := g.k.Accesses[access].Buffer
			v := g.vectorType(g.k.Buffers[b].DType, s.width)
			g.line("const %s a%d_v = *(const %s*)(%s + (%s));", v, access, v, g.buffer(b), g.at(access, s.loops...))
		}
	}
	written := map[int]bool{}
	for i := range g.k.Stores {
		if a := g.k.Stores[i].Access; s.vectors(g.l, a) {
			written[i] = true
			g.line("%s s%d_v;", g.vectorType(g.k.Buffers[g.k.Accesses[a].Buffer].DType, s.width), i)
		}
	}
	g.line("#pragma unroll")
	g.open("for (int j = 0; j < %d; j++)", s.width)
	g.coord = map[[2]int]string{{s.along, last}: fmt.Sprintf("(%s%d + j)", g.l.loops[s.along].name, last)}
	p := &point{loops: s.loops, raw: func(access int) string {
		if vectors[access] {
			return fmt.Sprintf("a%d_v.e[j]", access)
		}
		return ""
	}}
	program(p)
	for i := range g.k.Stores {
		x := &g.k.Stores[i]
		if written[i] {
			g.line("s%d_v.e[j] = %s;", i, g.asStored(g.k.Accesses[x.Access].Buffer, x.Value))
			continue
		}
		g.store(x, p)
	}
	g.coord = nil
	g.close("")
	for i := range g.k.Stores {
		if written[i] {
			a := g.k.Stores[i].Access
			b := g.k.Accesses[a].Buffer
			g.line("*(%s*)(%s + (%s)) = s%d_v;", g.vectorType(g.k.Buffers[b].DType, s.width), g.buffer(b), g.at(a, s.loops...), i)
		}
	}
}

// stored returns the values that are stored.
func (g *generator) stored() []codegen.Value {
	var out []codegen.Value
	for i := range g.k.Stores {
		out = append(out, g.k.Stores[i].Value)
	}
	return out
}

// vectorCoordinates declares the coordinates of the first point of group i.
func (g *generator) vectorCoordinates(width, last int) {
	if last == 0 {
		g.line("const idx x0 = i * %d;", width)
		return
	}
	g.need("quotient")
	along := g.count("x_groups", func(b *binding) int { return b.loops[0].dims[last] / width })
	g.line("const idx x%d = modulo(i, %s) * %d;", last, along, width)
	rest := fmt.Sprintf("quotient(i, %s)", along)
	if last > 1 {
		g.line("const idx x_q%d = %s;", last, rest)
		rest = fmt.Sprintf("x_q%d", last)
	}
	g.fold(0, last, rest)
}

// reads reports which accesses the program reads element by element.
func (g *generator) reads() []bool {
	out := make([]bool, len(g.k.Accesses))
	for i := range g.k.Body {
		if in := &g.k.Body[i]; in.Op == codegen.OpLoad {
			out[in.Access] = true
		}
	}
	return out
}

// fold declares the coordinates of the dimensions of a loop before end from their
// row-major number.
func (g *generator) fold(loop, end int, number string) {
	x := g.l.loops[loop]
	for d := end - 1; d > 0; d-- {
		length := g.count(fmt.Sprintf("%s_d%d", x.name, d), func(b *binding) int { return b.loops[loop].dims[d] })
		g.line("const idx %s%d = modulo(%s, %s);", x.name, d, number, length)
		rest := fmt.Sprintf("quotient(%s, %s)", number, length)
		if d > 1 {
			g.line("const idx %s_q%d = %s;", x.name, d, rest)
			number = fmt.Sprintf("%s_q%d", x.name, d)
		} else {
			number = rest
		}
	}
	if end > 0 {
		g.line("const idx %s0 = %s;", x.name, strings.TrimSpace(number))
	}
}
