package cudac

import (
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// point says where the scalar program is evaluated: which loops' coordinates are
// in scope, and what was loaded before.
type point struct {
	loops []int
	// raw returns the element of an access that is in a register already, as it
	// lies in memory; "" if it must be loaded.
	raw func(access int) string
}

// name returns the C++ name of a value: what it is, and its number.
func (g *generator) name(v codegen.Value) string {
	in := &g.k.Body[v]
	word := in.Op.String()
	switch in.Op {
	case codegen.OpApply:
		word = in.Fn.String()
	case codegen.OpReduce, codegen.OpScan:
		word = in.Reduce.String()
	case codegen.OpConst:
		word = "constant"
	}
	return fmt.Sprintf("%s%d", word, v)
}

func (g *generator) names(vs []codegen.Value) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = g.name(v)
	}
	return out
}

// needed marks the values that the given ones depend on, themselves included;
// stop says where not to look further.
func (g *generator) needed(stop func(v int) bool, values ...codegen.Value) []bool {
	need := make([]bool, len(g.k.Body))
	var mark func(v codegen.Value)
	mark = func(v codegen.Value) {
		if need[v] || stop != nil && stop(int(v)) {
			return
		}
		need[v] = true
		for _, a := range g.k.Body[v].Args {
			mark(a)
		}
	}
	for _, v := range values {
		mark(v)
	}
	return need
}

// program writes the instructions marked, in order.
func (g *generator) program(need []bool, p *point) {
	for i := range g.k.Body {
		if need[i] {
			g.instr(i, p)
		}
	}
}

// instr writes one instruction that does not belong to a template.
func (g *generator) instr(i int, p *point) {
	in := &g.k.Body[i]
	if in.Op == codegen.OpLoad {
		g.load(i, in, p)
		return
	}
	g.define(i, g.value(in, p))
}

// define declares value i, with a comment that says what it is.
func (g *generator) define(i int, expr string) {
	g.line("const %s %s = %s;%s", ctype(g.k.Body[i].Type), g.name(codegen.Value(i)), expr, g.comment(i))
}

// comment tells what instruction i is, and of which operation.
func (g *generator) comment(i int) string {
	in := &g.k.Body[i]
	what := in.Op.String()
	switch in.Op {
	case codegen.OpApply:
		what = in.Fn.String()
	case codegen.OpCast:
		what = fmt.Sprintf("cast %v to %v", in.From, in.To)
	case codegen.OpBitcast:
		what = fmt.Sprintf("bits of %v as %v", in.From, in.To)
	case codegen.OpReduce, codegen.OpScan:
		what += " " + in.Reduce.String()
	case codegen.OpLoad:
		what = fmt.Sprintf("load a%d", in.Access)
	}
	if in.Origin != "" && !strings.EqualFold(in.Origin, what) {
		what += ", of " + in.Origin
	}
	return "  // " + what
}

// value returns the expression of an instruction.
func (g *generator) value(in *codegen.Instr, p *point) string {
	args := g.names(in.Args)
	switch in.Op {
	case codegen.OpConst:
		return literal(in.Type, in.Bits)
	case codegen.OpParam:
		return g.param(in.Index)
	case codegen.OpCoord:
		return "(long long)(" + g.at(g.l.slots.coord[in.Index], p.loops...) + ")"
	case codegen.OpApply:
		t := in.Type
		if len(in.Args) > 0 {
			t = g.registerOf(in.Args[len(in.Args)-1])
		}
		return g.using(applyExpr(in.Fn, t, args))
	case codegen.OpCast:
		return g.using(castExpr(in.From, in.To, in.Overflow, args[0]))
	case codegen.OpBitcast:
		return g.using(bitcastExpr(in.From, in.To, args[0]))
	case codegen.OpArange:
		return g.arange(in, p)
	case codegen.OpCount:
		return g.using(castExpr(ir.I64, in.Type, false, "(long long)"+g.length()))
	case codegen.OpPhilox:
		return g.using(philoxExpr(g.param(in.Index), g.param(in.Index+1), "(long long)("+g.at(g.l.slots.pos, p.loops...)+")"))
	case codegen.OpNormal:
		return g.using(normalExpr(in.Type, g.param(in.Index), g.param(in.Index+1), "(long long)("+g.at(g.l.slots.pos, p.loops...)+")"))
	}
	panic(fmt.Sprintf("cudac: %v belongs to a template", in.Op))
}

// arange is start + i·step, in f64 or i64, rounded once.
func (g *generator) arange(in *codegen.Instr, p *point) string {
	i := g.at(g.l.slots.coord[in.Index], p.loops...)
	start, step := g.param(in.Index2), g.param(in.Index2+1)
	if in.Type.IsInt() {
		return fmt.Sprintf("(%s)((unsigned long long)%s + (unsigned long long)(%s) * (unsigned long long)%s)", ctype(in.Type), start, i, step)
	}
	to := in.To
	if to == ir.Invalid {
		to = in.Type
	}
	expr := fmt.Sprintf("(%s + (double)(%s) * %s)", start, i, step)
	if to == ir.F64 {
		return expr
	}
	return g.using(castExpr(ir.F64, to, false, expr))
}

// load writes the read of an access: plain, or inside its windows at the place
// its indices say, the fill value elsewhere.
func (g *generator) load(i int, in *codegen.Instr, p *point) {
	access := in.Access
	a := &g.k.Accesses[access]
	dt := g.k.Buffers[a.Buffer].DType
	if p.raw != nil {
		if raw := p.raw(access); raw != "" {
			g.define(i, g.using(loadExpr(dt, raw)))
			return
		}
	}
	place := g.indexed(access, in.Args[:a.Indices], p)
	read := g.using(loadExpr(dt, fmt.Sprintf("%s[%s]", g.buffer(a.Buffer), place)))
	conditions := append(g.inside(access, p), g.inRange(access, in.Args[:a.Indices])...)
	if len(conditions) == 0 {
		g.define(i, read)
		return
	}
	fill := literal(in.Type, 0)
	if a.Masked {
		fill = g.name(in.Args[a.Indices])
	}
	g.define(i, fmt.Sprintf("%s ? %s : %s", strings.Join(conditions, " && "), read, fill))
}

// indexed returns the place of an access where index values say.
func (g *generator) indexed(access int, indices []codegen.Value, p *point) string {
	place := g.at(access, p.loops...)
	for n, x := range indices {
		stride := g.count(fmt.Sprintf("a%d_i%d", access, n), func(b *binding) int { return b.l.Access[access].Index[n].Stride })
		place += fmt.Sprintf(" + (idx)%s * %s", g.name(x), stride)
	}
	return place
}

// inside returns the conditions that a point lies in the windows of an access.
func (g *generator) inside(access int, p *point) []string {
	var out []string
	for n, axis := range g.v.windows[access] {
		c := g.at(g.l.slots.coord[axis], p.loops...)
		lo := g.count(fmt.Sprintf("a%d_lo%d", access, n), func(b *binding) int { return b.l.Access[access].Window[n].Lo })
		hi := g.count(fmt.Sprintf("a%d_hi%d", access, n), func(b *binding) int { return b.l.Access[access].Window[n].Hi })
		out = append(out, fmt.Sprintf("%s >= %s", c, lo), fmt.Sprintf("%s < %s", c, hi))
	}
	return out
}

// inRange returns the conditions that index values are inside their axes; one
// that is not is reported.
func (g *generator) inRange(access int, indices []codegen.Value) []string {
	var out []string
	for n, x := range indices {
		extent := g.count(fmt.Sprintf("a%d_n%d", access, n), func(b *binding) int { return b.l.Access[access].Index[n].Extent })
		g.need("in_range")
		out = append(out, fmt.Sprintf("in_range(%s, %s, %s)", g.name(x), extent, g.fault()))
	}
	return out
}

// store writes a value through an access at a point.
func (g *generator) store(s *codegen.Store, p *point) {
	b := g.k.Accesses[s.Access].Buffer
	write := fmt.Sprintf("%s[%s] = %s;", g.buffer(b), g.at(s.Access, p.loops...), g.asStored(b, s.Value))
	if conditions := g.inside(s.Access, p); len(conditions) > 0 {
		write = "if (" + strings.Join(conditions, " && ") + ") " + write
	}
	g.line("%s", write)
}

// asStored returns a value as it lies in a buffer.
func (g *generator) asStored(buffer int, v codegen.Value) string {
	dt, in := g.k.Buffers[buffer].DType, &g.k.Body[v]
	if in.Op == codegen.OpCast && in.To == dt {
		return g.using(storeExactExpr(dt, g.name(v)))
	}
	return g.using(storeExpr(dt, g.name(v)))
}
