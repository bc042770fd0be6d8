package cudac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
)

// partsTemplate runs several maps in one launch: each has blocks of its own.
// Parts with the same program share its code, their arguments lie in a table.
type partsTemplate struct{}

func (partsTemplate) loops(*binding) {}

func (partsTemplate) variants(b *binding, t Target) []*Variant {
	best, last := &Variant{Kind: "parts", Vector: 1}, &Variant{Kind: "parts", Vector: 1}
	for _, p := range b.parts {
		list := candidates(p, t)
		best.parts, last.parts = append(best.parts, list[0]), append(last.parts, list[len(list)-1])
	}
	if best.Key() == last.Key() {
		return []*Variant{last}
	}
	return []*Variant{best, last}
}

func (partsTemplate) check(b *binding, v *Variant) string {
	if len(v.parts) != len(b.parts) {
		return fmt.Sprintf("%d parts, not %d", len(b.parts), len(v.parts))
	}
	for i, p := range b.parts {
		if err := v.parts[i].check(p); err != nil {
			return err.Error()
		}
	}
	return ""
}

// maxArgBytes is how many bytes of arguments an entry may have on every driver.
const maxArgBytes = 4096

// program is a device function that parts share, and its arguments.
type program struct {
	kernel  *codegen.Kernel
	variant *Variant
	name    string
	args    []argument
	offsets []int
	first   int // the offset of first_block, which blocks follows
	size    int
}

func (partsTemplate) write(g *generator) {
	var programs []*program
	of := make([]*program, len(g.k.Parts))
	for i := range g.k.Parts {
		k, v := g.k.Parts[i].Kernel, g.v.parts[i]
		n := slices.IndexFunc(programs, func(p *program) bool { return p.kernel.Equal(k) && p.variant.Key() == v.Key() })
		if n < 0 {
			n = len(programs)
			programs = append(programs, g.partProgram(n, i))
		}
		of[i] = programs[n]
	}
	for first := 0; first < len(of); {
		end, bytes := first, 0
		for end < len(of) && (end == first || bytes+of[end].size <= maxArgBytes) {
			bytes += of[end].size
			end++
		}
		g.partsEntry(of, first, end)
		first = end
	}
}

// partProgram writes the program of part i as a device function that takes its
// arguments from a struct.
func (g *generator) partProgram(n, i int) *program {
	p := &program{kernel: g.k.Parts[i].Kernel, variant: g.v.parts[i], name: fmt.Sprintf("part%d", n)}
	sub := &generator{k: p.kernel, v: p.variant, t: g.t, l: g.l.parts[i], needs: g.needs}
	sub.indent = 1
	sub.mapLoop("block", "blocks")
	g.needs = sub.needs
	p.args = sub.args
	p.lay()
	var b strings.Builder
	fmt.Fprintf(&b, "// %s, %s\nstruct %s {\n", firstLine(p.kernel.String()), p.variant.Key(), p.name)
	for _, a := range p.args {
		fmt.Fprintf(&b, "    %s %s;\n", field(a.ctype), a.name)
	}
	fmt.Fprintf(&b, "    int first_block, blocks;\n};\n\n__device__ __forceinline__ void run_%s(const %s& part, int block, int blocks)\n{\n", p.name, p.name)
	for _, a := range p.args {
		fmt.Fprintf(&b, "    %s %s = part.%s;\n", a.ctype, a.name, a.name)
	}
	b.WriteString(sub.writer.b.String() + "}\n")
	g.bodies = append(g.bodies, b.String())
	return p
}

// field is the type of an argument as a member.
func field(ctype string) string {
	if strings.Contains(ctype, "*") {
		return strings.TrimSuffix(ctype, " __restrict__")
	}
	return strings.TrimPrefix(ctype, "const ")
}

// lay places the arguments in the struct, as C++ does: every member at a multiple
// of its size, the whole a multiple of 8.
func (p *program) lay() {
	sortArgs(p.args)
	at := func(size int) int {
		p.size = (p.size + size - 1) / size * size
		p.size += size
		return p.size - size
	}
	for _, a := range p.args {
		p.offsets = append(p.offsets, at(a.size))
	}
	p.first = at(4)
	at(4)
	p.size = (p.size + 7) / 8 * 8
}

// partsEntry writes the entry that runs parts first … end-1: a block finds the
// part it belongs to in the tables.
func (g *generator) partsEntry(of []*program, first, end int) {
	t := g.t
	blocks := func(b *binding, i int) int {
		return gridFor(mapGroups(b.parts[i], of[i].variant.Vector), mapThreads, t)
	}
	shape := func(b *binding) (total, threads, shared int) {
		for i := first; i < end; i++ {
			total += blocks(b, i)
		}
		return total, mapThreads, 0
	}
	var tables strings.Builder
	name := "parts"
	if first > 0 {
		name = fmt.Sprintf("parts_from_%d", first)
	}
	g.entry(name, mapThreads, shape, func() {
		g.line("const int block = (int)blockIdx.x;")
		for n, p := range distinct(of[first:end]) {
			var list []int // the parts with this program
			for i := first; i < end; i++ {
				if of[i] == p {
					list = append(list, i)
				}
			}
			table := fmt.Sprintf("%s_table%d", name, n)
			fmt.Fprintf(&tables, "struct %s { %s list[%d]; };    // parts %v\n", table, p.name, len(list), list)
			g.arg("const __grid_constant__ "+table, fmt.Sprintf("table%d", n), p.size*len(list), func(b *binding) Arg {
				all := Arg{Kind: ArgStruct, Index: p.size * len(list)}
				for row, i := range list {
					before := 0
					for j := first; j < i; j++ {
						before += blocks(b, j)
					}
					all.Fields = append(all.Fields, p.row(b, i, row*p.size, before, blocks(b, i))...)
				}
				return all
			})
			g.line("#pragma unroll 1")
			g.open("for (int i = 0; i < %d; i++)", len(list))
			g.line("const %s& part = table%d.list[i];", p.name, n)
			g.line("const int mine = block - part.first_block;")
			g.line("if ((unsigned int)mine < (unsigned int)part.blocks) run_%s(part, mine, part.blocks);", p.name)
			g.close("")
		}
	})
	last := len(g.bodies) - 1
	g.bodies[last] = tables.String() + "\n" + g.bodies[last]
}

// row returns the fields of part i in a table, at an offset.
func (p *program) row(b *binding, i, offset, firstBlock, blocks int) []Field {
	var fields []Field
	for n, a := range p.args {
		x := a.value(b.parts[i])
		if x.Kind == ArgBuffer {
			x.Index = b.k.Parts[i].Buffers[x.Index]
		}
		fields = append(fields, Field{offset + p.offsets[n], x})
	}
	return append(fields,
		Field{offset + p.first, Arg{Bytes: bytesOf(uint64(firstBlock), 4)}},
		Field{offset + p.first + 4, Arg{Bytes: bytesOf(uint64(blocks), 4)}})
}

// distinct returns the programs among those of parts, in order.
func distinct(of []*program) []*program {
	var out []*program
	for _, p := range of {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
