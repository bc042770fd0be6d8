package cudac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// generator writes the source of one variant.
type generator struct {
	k *codegen.Kernel
	v *Variant
	t Target
	l *binding // of the launch the variant was made for: its loops have the variant's forms

	coord map[[2]int]string // how a loop's coordinate along a dimension is written where that is not its name

	writer             // of the body of the current entry
	args    []argument // of the current entry
	needs   []string   // device functions
	entries []*entry
	bodies  []string
	memory  []scratchPart
	// resident is how many blocks of the entry being written should fit a
	// multiprocessor at once; 0 leaves that to the compiler.
	resident int
}

// Generate writes the source of a variant of a kernel. The launch is the one the
// variant came from or any that fits it; nothing but its structure is looked
// at.
func Generate(k *codegen.Kernel, v *Variant, t Target, l *codegen.Launch) (*Source, error) {
	b := bind(k, l)
	if err := v.check(b); err != nil {
		return nil, err
	}
	g := &generator{k: k, v: v, t: t, l: b}
	templates[k.Template].write(g)
	return &Source{Kernel: k, Variant: v, Target: t, Text: g.text(), entries: g.entries, scratch: g.memory}, nil
}

// text puts the source together: what it is, the types of places, device
// functions, entries.
func (g *generator) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n// variant: %s\n", firstLine(g.k.String()), g.v.Key())
	place, count := "int", "unsigned int"
	if g.v.Wide {
		place, count = "long long", "unsigned long long"
	}
	fmt.Fprintf(&b, "\ntypedef %s idx;    // places and counts\ntypedef %s uidx;\n", place, count)
	b.WriteString(functions(g.needs))
	for _, body := range g.bodies {
		b.WriteString("\n" + body)
	}
	return b.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// need names device functions the source uses.
func (g *generator) need(names ...string) {
	for _, n := range names {
		if !slices.Contains(g.needs, n) {
			g.needs = append(g.needs, n)
		}
	}
}

// using returns an expression and notes what it needs.
func (g *generator) using(expr string, needs []string) string {
	g.need(needs...)
	return expr
}

// entry writes a __global__ function: body writes its lines and asks for
// arguments as it goes.
func (g *generator) entry(name string, threads int, shape func(b *binding) (blocks, threads, shared int), body func()) {
	g.writer, g.args, g.resident = writer{indent: 1}, nil, 0
	body()
	bounds := fmt.Sprint(threads)
	if g.resident > 0 {
		bounds += fmt.Sprintf(", %d", g.resident)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "extern \"C\" __global__ void __launch_bounds__(%s)\n%s(", bounds, name)
	sortArgs(g.args)
	for i, a := range g.args {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n    %s %s", a.ctype, a.name)
	}
	b.WriteString(")\n{\n" + g.writer.b.String() + "}\n")
	g.bodies = append(g.bodies, b.String())
	g.entries = append(g.entries, &entry{name: name, args: g.args, shape: shape})
}

// sortArgs puts pointers first.
func sortArgs(args []argument) {
	slices.SortStableFunc(args, func(x, y argument) int { return pointers(y) - pointers(x) })
}

func pointers(a argument) int { return strings.Count(a.ctype, "*") }

// arg asks for an argument of the current entry, of so many bytes, and returns its
// name.
func (g *generator) arg(ctype, name string, size int, value func(b *binding) Arg) string {
	if !slices.ContainsFunc(g.args, func(a argument) bool { return a.name == name }) {
		g.args = append(g.args, argument{ctype, name, size, value})
	}
	return name
}

// idxSize returns the size of the type idx.
func (g *generator) idxSize() int {
	if g.v.Wide {
		return 8
	}
	return 4
}

// count asks for an integer argument of type idx.
func (g *generator) count(name string, value func(b *binding) int) string {
	size := g.idxSize()
	return g.arg("const idx", name, size, func(b *binding) Arg { return Arg{Bytes: bytesOf(uint64(value(b)), size)} })
}

// long asks for an integer argument of 64 bits.
func (g *generator) long(name string, value func(b *binding) int) string {
	return g.arg("const long long", name, 8, func(b *binding) Arg { return Arg{Bytes: bytesOf(uint64(value(b)), 8)} })
}

// buffer asks for the pointer to a buffer.
func (g *generator) buffer(i int) string {
	buf := g.k.Buffers[i]
	ctype := rawtype(buf.DType) + "*"
	if buf.Mode == codegen.In {
		ctype = "const " + ctype
		if !g.v.Alias {
			ctype += " __restrict__"
		}
	}
	return g.arg(ctype, fmt.Sprintf("b%d", i), 8, func(*binding) Arg { return Arg{Kind: ArgBuffer, Index: i} })
}

// fault asks for the pointer to where an index out of range is reported.
func (g *generator) fault() string {
	return g.arg("unsigned long long*", "fault", 8, func(*binding) Arg { return Arg{Kind: ArgFault} })
}

// param asks for a parameter of the kernel.
func (g *generator) param(i int) string {
	t := g.k.Params[i]
	return g.arg("const "+ctype(t), fmt.Sprintf("p%d", i), t.Size(), func(b *binding) Arg { return Arg{Bytes: bytesOf(b.l.Params[i], t.Size())} })
}

// coordinates declares the coordinates of a loop at its point i: x0, x1, …
func (g *generator) coordinates(loop int, i string) {
	if g.v.loops[loop].rank > 1 {
		g.need("quotient")
	}
	g.fold(loop, g.v.loops[loop].rank, i)
}

// at returns the value of a slot at the coordinates of the given loops.
func (g *generator) at(s int, loops ...int) string {
	var terms []string
	if s < len(g.k.Accesses) {
		terms = append(terms, g.count(g.l.slots.list[s].name+"_off", func(b *binding) int { return b.slots.list[s].offset }))
	}
	return sum(append(terms, g.moves(s, loops...)...))
}

// moves returns what the coordinates of the given loops add to a slot.
func (g *generator) moves(s int, loops ...int) []string {
	var terms []string
	for _, n := range loops {
		x := g.l.loops[n]
		for d, st := range g.v.loops[n].strides[s] {
			coord := fmt.Sprintf("%s%d", x.name, d)
			if c, ok := g.coord[[2]int{n, d}]; ok {
				coord = c
			}
			switch st {
			case strideOne:
				terms = append(terms, coord)
			case strideAny:
				terms = append(terms, coord+" * "+g.step(s, n, d))
			}
		}
	}
	return terms
}

// sum adds up terms.
func sum(terms []string) string {
	if len(terms) == 0 {
		return "0"
	}
	return strings.Join(terms, " + ")
}

// step asks for the stride of a slot along dimension d of a loop.
func (g *generator) step(s, loop, d int) string {
	name := fmt.Sprintf("%s_%s%d", g.l.slots.list[s].name, g.l.loops[loop].name, d)
	return g.count(name, func(b *binding) int { return b.loops[loop].strides[s][d] })
}

// title names an entry after its kind and the first functions of its body.
func (g *generator) title(kind string) string {
	name := strings.ReplaceAll(kind, "-", "_")
	n := 0
	for i := range g.k.Body {
		in := &g.k.Body[i]
		word := ""
		switch in.Op {
		case codegen.OpApply:
			word = in.Fn.String()
		case codegen.OpReduce, codegen.OpScan:
			word = in.Reduce.String()
		}
		if word != "" && n < 4 && !strings.HasSuffix(name, "_"+word) {
			name += "_" + word
			n++
		}
	}
	return name
}

// registerOf returns the dtype of value i.
func (g *generator) registerOf(i codegen.Value) ir.DType { return g.k.Body[i].Type }
