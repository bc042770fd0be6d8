package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
)

// split writes the kinds that spread the blocks of a row over the device. For each
// pass one entry walks the elements, a second joins the records that the blocks
// left in scratch memory; row values are stored last.
func (w *rowsWriter) split() {
	g := w.g
	w.begin(false)
	column := g.v.Kind == "column-split"
	joined := false // whether row values are stored where the last records are joined
	for i := range w.plan.passes {
		p := &w.plan.passes[i]
		if p.walks() {
			w.enter()
			if column {
				w.splitColumns(i)
			} else {
				w.splitRows(i)
			}
		}
		if len(p.folds) > 0 {
			w.enter()
			joined = i == len(w.plan.passes)-2 && !w.plan.passes[i+1].walks() && len(w.plan.stores) > 0
			w.joinRows(i, joined)
		}
	}
	if len(w.plan.stores) > 0 && !joined {
		w.enter()
		w.storeRows()
	}
}

// scratchRecords asks for the arrays of folds in scratch memory and returns where
// record i of a row lies.
func (w *rowsWriter) scratchRecords(folds []fold) func(f fold, row, i string) record {
	g := w.g
	for _, a := range g.recordArrays(folds, 1) {
		g.scratch(ctype(a.t), a.name, func(b *binding) int { return b.loops[outerLoop].n * a.length(b) * a.t.Size() })
	}
	return func(f fold, row, i string) record {
		return g.records(f, fmt.Sprintf("%s * records + %s", row, i))
	}
}

// earlier declares row values and the results of earlier passes they depend on.
func (w *rowsWriter) earlier(values []codegen.Value) {
	var visit func(v codegen.Value)
	visit = func(v codegen.Value) {
		in := &w.g.k.Body[v]
		switch {
		case w.declared[v]:
		case in.Op == codegen.OpReduce:
			f := []fold{newFold(w.g.k, v)}
			at, root := w.scratchRecords(f), w.g.root()
			w.results(f, func(f fold) record { return at(f, "row", root) })
		default:
			for _, a := range in.Args {
				visit(a)
			}
		}
	}
	for _, v := range values {
		visit(v)
	}
	w.rowValues(values)
}

// splitRows writes the walk of pass i: each warp takes one block of a row.
func (w *rowsWriter) splitRows(i int) {
	g, p := w.g, &w.plan.passes[i]
	const perBlock = splitThreads / 32
	shape := func(b *binding) (int, int, int) {
		items := b.loops[outerLoop].n * blocksOf(b.loops[innerLoop].n)
		return (items + perBlock - 1) / perBlock, splitThreads, 0
	}
	g.entry(fmt.Sprintf("%s_pass%d", g.title(g.v.Kind), i+1), splitThreads, shape, func() {
		g.need("quotient")
		rows, blocks := w.rows(), w.blocks()
		w.heading(i)
		g.line("const int lane = (int)threadIdx.x %% 32;")
		g.line("const idx item = (idx)blockIdx.x * %d + (idx)threadIdx.x / 32;", perBlock)
		g.line("const idx row = quotient(item, %s), block = modulo(item, %s);", blocks, blocks)
		g.line("if (row >= %s) return;", rows)
		g.coordinates(outerLoop, "row")
		w.earlier(p.rows)
		for _, f := range p.folds {
			g.foldBegin(f)
		}
		w.blockLoop(p, "block", "lane", 32)
		w.leave(p, "row", "lane == 0")
	})
}

// splitColumns writes the walk of pass i: each block of threads takes one block of
// the elements of 32 rows.
func (w *rowsWriter) splitColumns(i int) {
	g, p := w.g, &w.plan.passes[i]
	lanes := g.v.Tile[0]
	var bytes func(b *binding) int
	shape := func(b *binding) (int, int, int) {
		return columnTiles(b) * blocksOf(b.loops[innerLoop].n), tileRows * lanes, bytes(b)
	}
	g.entry(fmt.Sprintf("%s_pass%d", g.title(g.v.Kind), i+1), tileRows*lanes, shape, func() {
		g.need("quotient")
		tiles := g.count("tiles", columnTiles)
		w.heading(i)
		bytes = g.shared(g.tileArrays(p.folds, lanes))
		g.line("const idx block = quotient((idx)blockIdx.x, %s), tile = modulo((idx)blockIdx.x, %s);", tiles, tiles)
		w.columnRow("tile", lanes)
		w.earlier(p.rows)
		w.columnBlock(p, lanes)
		if len(p.folds) > 0 {
			g.line("const idx joined = tile * %d + tree_row;", tileRows)
			w.leave(p, "joined", fmt.Sprintf("lane == 0 && joined < %s", w.rows()))
		}
	})
	w.guard = ""
}

// leave joins the lanes of a warp, if they are not, and writes the record of a
// block.
func (w *rowsWriter) leave(p *rowPass, row, condition string) {
	if len(p.folds) == 0 {
		return
	}
	g := w.g
	if row == "row" {
		g.foldTree(p.folds, 32)
	}
	at := w.scratchRecords(p.folds)
	g.open("if (%s)", condition)
	for _, f := range p.folds {
		g.move(f, at(f, row, "block"), g.local(f))
	}
	g.close("")
}

// joinRows writes the entry that joins the records of pass i, a block of threads
// for each row; stores says that it stores row values.
func (w *rowsWriter) joinRows(i int, stores bool) {
	g, p := w.g, &w.plan.passes[i]
	shape := func(b *binding) (int, int, int) { return b.loops[outerLoop].n, rowThreads, 0 }
	g.entry(fmt.Sprintf("%s_join%d", g.title(g.v.Kind), i+1), rowThreads, shape, func() {
		g.line("const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;")
		g.line("const idx row = (idx)blockIdx.x;")
		at := w.scratchRecords(p.folds)
		g.joinBlocks(p.folds, func(f fold, i string) record { return at(f, "row", i) }, "warp", rowThreads/32, "__syncthreads();")
		if stores {
			g.coordinates(outerLoop, "row")
			g.open("if (threadIdx.x == 0)")
			w.earlier(w.plan.rows)
			g.stores(w.plan.stores, &point{loops: []int{outerLoop}}, "")
			g.close("")
		}
	})
}

// storeRows writes the entry that stores row values, a thread for each row.
func (w *rowsWriter) storeRows() {
	g := w.g
	shape := func(b *binding) (int, int, int) {
		return (b.loops[outerLoop].n + rowThreads - 1) / rowThreads, rowThreads, 0
	}
	g.entry(g.title(g.v.Kind)+"_rows", rowThreads, shape, func() {
		rows := w.rows()
		g.line("const idx row = (idx)blockIdx.x * %d + (idx)threadIdx.x;", rowThreads)
		g.line("if (row >= %s) return;", rows)
		g.coordinates(outerLoop, "row")
		w.earlier(w.plan.rows)
		g.stores(w.plan.stores, &point{loops: []int{outerLoop}}, "")
	})
}
