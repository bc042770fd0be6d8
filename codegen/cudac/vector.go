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

// mapVectors writes the body of width neighbouring points, the first of which is
// group i: vectors are read before and written after the program of the points.
func (g *generator) mapVectors(width int) {
	last := g.v.loops[0].rank - 1
	g.vectorCoordinates(width, last)
	place := point{loops: []int{0}}
	vectors := map[int]bool{}
	for access, read := range g.reads() {
		if read && vectorAccess(g.l, access) {
			vectors[access] = true
			b := g.k.Accesses[access].Buffer
			v := g.vectorType(g.k.Buffers[b].DType, width)
			g.line("const %s a%d_v = *(const %s*)(%s + (%s));", v, access, v, g.buffer(b), g.at(access, place.loops...))
		}
	}
	written := map[int]bool{}
	for i := range g.k.Stores {
		if a := g.k.Stores[i].Access; vectorAccess(g.l, a) {
			written[i] = true
			g.line("%s s%d_v;", g.vectorType(g.k.Buffers[g.k.Accesses[a].Buffer].DType, width), i)
		}
	}
	g.line("#pragma unroll")
	g.open("for (int j = 0; j < %d; j++)", width)
	g.coord = map[[2]int]string{{0, last}: fmt.Sprintf("(x%d + j)", last)}
	p := &point{loops: []int{0}, raw: func(access int) string {
		if vectors[access] {
			return fmt.Sprintf("a%d_v.e[j]", access)
		}
		return ""
	}}
	var stored []codegen.Value
	for i := range g.k.Stores {
		stored = append(stored, g.k.Stores[i].Value)
	}
	g.program(g.needed(nil, stored...), p)
	for i := range g.k.Stores {
		s := &g.k.Stores[i]
		if written[i] {
			dt := g.k.Buffers[g.k.Accesses[s.Access].Buffer].DType
			g.line("s%d_v.e[j] = %s;", i, g.using(storeExpr(dt, g.name(s.Value))))
			continue
		}
		g.store(s, p)
	}
	g.coord = nil
	g.close("")
	for i := range g.k.Stores {
		if written[i] {
			a := g.k.Stores[i].Access
			b := g.k.Accesses[a].Buffer
			g.line("*(%s*)(%s + (%s)) = s%d_v;", g.vectorType(g.k.Buffers[b].DType, width), g.buffer(b), g.at(a, place.loops...), i)
		}
	}
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
