package cudac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// rowsWriter writes the entries of a Rows kernel.
type rowsWriter struct {
	g        *generator
	plan     *rowPlan
	declared []bool // the row values in scope
	// kept returns where a slot of the element at hand lies.
	kept func(slot int) string
	// guard is the condition under which a thread may store, "" if it always may.
	guard string
}

// begin makes the plan. Values are stored as soon as they are known unless that
// could overwrite what a later pass reads.
func (w *rowsWriter) begin(keep bool) {
	w.plan = planRows(w.g.k, !w.inPlace(), keep)
	w.enter()
}

// enter starts an entry: no row value is in scope.
func (w *rowsWriter) enter() { w.declared = make([]bool, len(w.g.k.Body)) }

// inPlace reports whether memory that is read may be written.
func (w *rowsWriter) inPlace() bool {
	return w.g.v.Alias || inOut(w.g.k)
}

// inOut reports whether a kernel reads a buffer and writes it.
func inOut(k *codegen.Kernel) bool {
	return slices.ContainsFunc(k.Buffers, func(b codegen.Buffer) bool { return b.Mode == codegen.InOut })
}

// results declares the results of folds.
func (w *rowsWriter) results(folds []fold, at func(f fold) record) {
	for _, f := range folds {
		w.g.foldResult(f, at(f))
		w.declared[f.v] = true
	}
}

// rowValues declares the row values that the given ones depend on, themselves
// included; results of reductions are in scope.
func (w *rowsWriter) rowValues(values []codegen.Value) {
	need := w.g.needed(func(v int) bool { return w.declared[v] }, values...)
	for v, ok := range need {
		w.declared[v] = w.declared[v] || ok
	}
	w.g.program(need, &point{loops: []int{outerLoop}})
}

// heading tells what a pass is for.
func (w *rowsWriter) heading(i int) {
	var names []string
	for _, f := range w.plan.passes[i].folds {
		names = append(names, w.g.name(f.v))
	}
	for _, s := range w.plan.passes[i].stores {
		names = append(names, fmt.Sprintf("a%d", s.Access))
	}
	if len(names) > 0 {
		w.g.line("")
		w.g.line("// pass %d of %d: %s", i+1, len(w.plan.passes), strings.Join(names, ", "))
	}
}

// element writes what pass p does at element i of the row.
func (w *rowsWriter) element(p *rowPass, i string) {
	g := w.g
	g.coordinates(innerLoop, i)
	for _, v := range p.reads {
		g.line("const %s %s = %s;  // kept", ctype(g.registerOf(v)), g.name(v), w.kept(w.plan.slotOf[v]))
	}
	at := &point{loops: []int{outerLoop, innerLoop}}
	g.program(p.elements, at)
	for _, v := range p.writes {
		g.line("%s = %s;", w.kept(w.plan.slotOf[v]), g.name(v))
	}
	for _, f := range p.folds {
		g.foldJoin(f, g.local(f), record{value: g.name(f.in.Args[0]), at: i})
	}
	g.stores(p.stores, at, w.guard)
}

// stores writes stores under a condition, "" for none.
func (g *generator) stores(list []*codegen.Store, at *point, condition string) {
	if len(list) == 0 {
		return
	}
	if condition != "" {
		g.open("if (%s)", condition)
	}
	for _, s := range list {
		g.store(s, at)
	}
	if condition != "" {
		g.close("")
	}
}

// allStores returns the stores of a kernel.
func (g *generator) allStores() []*codegen.Store {
	var list []*codegen.Store
	for i := range g.k.Stores {
		list = append(list, &g.k.Stores[i])
	}
	return list
}

// rowStores stores row values, once for a row: in the threads of a condition. sync
// waits until no thread reads row values any more.
func (w *rowsWriter) rowStores(condition, sync string) {
	if len(w.plan.stores) == 0 {
		return
	}
	w.g.line("")
	w.rowValues(w.plan.rows)
	if w.inPlace() && sync != "" {
		w.g.line("%s", sync)
	}
	w.g.stores(w.plan.stores, &point{loops: []int{outerLoop}}, condition)
}

// rows asks for the number of rows.
func (w *rowsWriter) rows() string {
	return w.g.count("rows", func(b *binding) int { return b.loops[outerLoop].n })
}

// blocks asks for the number of blocks of elements of a row.
func (w *rowsWriter) blocks() string {
	return w.g.count("blocks", func(b *binding) int { return blocksOf(b.loops[innerLoop].n) })
}

// blockLoop writes the loop of a lane over its elements of a block, and what body
// writes for each.
func (w *rowsWriter) blockLoop(p *rowPass, block, lane string, lanes int) {
	g := w.g
	g.line("const idx end = %s * %d + %d < n ? %s * %d + %d : %s;", block, codegen.BlockElems, codegen.BlockElems, block, codegen.BlockElems, codegen.BlockElems, g.length())
	g.line("#pragma unroll %d", w.unroll(p))
	g.open("for (idx i = %s * %d + %s; i < end; i += %d)", block, codegen.BlockElems, lane, lanes)
	w.element(p, "i")
	g.close("")
}

// unroll returns how many elements a lane takes in one turn of its loop, so that
// their loads are under way together: fewer where each takes long.
func (w *rowsWriter) unroll(p *rowPass) int {
	switch n := weigh(w.g.k, func(v int) bool { return p.elements[v] }); {
	case n <= 12:
		return 4
	case n <= 45:
		return 2
	}
	return 1
}

// array is an array in dynamic shared memory.
type array struct {
	name   string
	t      ir.DType
	length func(b *binding) int
	expr   string // the length in C++
}

// shared declares arrays in dynamic shared memory, the widest elements first so
// that each is aligned, and returns how many bytes they take.
func (g *generator) shared(list []array) func(b *binding) int {
	if len(list) == 0 {
		return func(*binding) int { return 0 }
	}
	slices.SortStableFunc(list, func(x, y array) int { return y.t.Size() - x.t.Size() })
	g.line("extern __shared__ double memory[];")
	start := "memory"
	for _, a := range list {
		g.line("%s* const %s = (%s*)(%s);", ctype(a.t), a.name, ctype(a.t), start)
		start = a.name + " + " + a.expr
	}
	return func(b *binding) int {
		n := 0
		for _, a := range list {
			n += a.t.Size() * a.length(b)
		}
		return n
	}
}

// idxType is the dtype of the source's places.
func (g *generator) idxType() ir.DType {
	if g.v.Wide {
		return ir.I64
	}
	return ir.I32
}
