package cudac

import "fmt"

// block writes the kinds in which a block of threads takes a row: its warps take
// whole blocks of elements in turn, and write what they joined to shared memory.
// What a thread keeps it alone reads again.
func (w *rowsWriter) block() {
	g := w.g
	warps := g.v.Tile[0]
	w.begin(g.v.Kind == "row-block")
	var bytes func(b *binding) int
	shape := func(b *binding) (int, int, int) { return b.loops[outerLoop].n, warps * 32, bytes(b) }
	g.entry(g.title(g.v.Kind), warps*32, shape, func() {
		g.line("const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;")
		g.line("const idx row = (idx)blockIdx.x;")
		g.coordinates(outerLoop, "row")
		var arrays []array
		for slot, t := range w.plan.slots {
			arrays = append(arrays, array{name: fmt.Sprintf("kept%d", slot), t: t, expr: g.length(),
				length: func(b *binding) int { return b.loops[innerLoop].n }})
		}
		for i := range w.plan.passes {
			arrays = append(arrays, g.recordArrays(w.plan.passes[i].folds, 1)...)
		}
		bytes = g.shared(arrays)
		w.kept = func(slot int) string { return fmt.Sprintf("kept%d[i]", slot) }
		for i := range w.plan.passes {
			w.blockPass(i, warps)
		}
		w.rowStores("threadIdx.x == 0", "__syncthreads();")
	})
}

func (w *rowsWriter) blockPass(i, warps int) {
	g, p := w.g, &w.plan.passes[i]
	w.heading(i)
	w.rowValues(p.rows)
	if !p.walks() {
		return
	}
	g.open("for (idx block = warp; block < %s; block += %d)", w.blocks(), warps)
	for _, f := range p.folds {
		g.foldBegin(f)
	}
	w.blockLoop(p, "block", "lane", 32)
	if len(p.folds) > 0 {
		g.foldTree(p.folds, 32)
		g.open("if (lane == 0)")
		for _, f := range p.folds {
			g.move(f, g.records(f, "block"), g.local(f))
		}
		g.close("")
	}
	g.close("")
	if len(p.folds) == 0 {
		return
	}
	g.line("__syncthreads();")
	g.joinBlocks(p.folds, g.records, "warp", warps, "__syncthreads();")
	root := g.root()
	w.results(p.folds, func(f fold) record { return g.records(f, root) })
}

// records returns where record i of a fold lies in its arrays.
func (g *generator) records(f fold, i string) record {
	r := record{value: fmt.Sprintf("%s_part[%s]", g.name(f.v), i)}
	if f.positions() {
		r.at = fmt.Sprintf("%s_part_at[%s]", g.name(f.v), i)
	}
	return r
}

// recordArrays are the arrays of the records of so many rows.
func (g *generator) recordArrays(folds []fold, rows int) []array {
	each := g.count("records", func(b *binding) int { return recordsOf(b.loops[innerLoop].n) })
	var list []array
	for _, f := range folds {
		a := array{name: g.name(f.v) + "_part", t: f.t, expr: fmt.Sprintf("%d * %s", rows, each),
			length: func(b *binding) int { return rows * recordsOf(b.loops[innerLoop].n) }}
		list = append(list, a)
		if f.positions() {
			a.name += "_at"
			a.t = g.idxType()
			list = append(list, a)
		}
	}
	return list
}

// root asks for the number of the record of a whole row.
func (g *generator) root() string {
	return g.count("root", func(b *binding) int { return recordsOf(b.loops[innerLoop].n) - 1 })
}
