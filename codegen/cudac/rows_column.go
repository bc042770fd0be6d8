package cudac

import "fmt"

// column writes the kind in which 32 rows are walked side by side: a warp reads
// neighbouring rows, warp y as lane y of their sums. The lanes of a row are then
// exchanged through shared memory, so that neighbouring threads join them.
func (w *rowsWriter) column() {
	g := w.g
	lanes := g.v.Tile[0]
	w.begin(false)
	var bytes func(b *binding) int
	shape := func(b *binding) (int, int, int) { return columnTiles(b), tileRows * lanes, bytes(b) }
	g.entry(g.title(g.v.Kind), tileRows*lanes, shape, func() {
		var arrays []array
		for i := range w.plan.passes {
			arrays = append(arrays, g.tileArrays(w.plan.passes[i].folds, lanes)...)
			arrays = append(arrays, g.recordArrays(w.plan.passes[i].folds, tileRows)...)
		}
		bytes = g.shared(arrays)
		w.columnRow("blockIdx.x", lanes)
		for i := range w.plan.passes {
			w.columnPass(i, lanes)
		}
		w.rowStores("active && y == 0", "__syncthreads();")
	})
}

// columnTiles returns how many tiles of rows there are.
func columnTiles(b *binding) int { return (b.loops[outerLoop].n + tileRows - 1) / tileRows }

// columnRow declares what a thread is in a tile of rows: x is its row while it
// reads, y its lane; tree_row and tree_lane are while lanes are joined.
func (w *rowsWriter) columnRow(tile string, lanes int) {
	g := w.g
	g.line("const int x = (int)threadIdx.x %% %d, y = (int)threadIdx.x / %d;    // row of the tile and lane, reading", tileRows, tileRows)
	g.line("const int tree_row = (int)threadIdx.x / %d, lane = (int)threadIdx.x %% %d;    // the same, joining lanes", lanes, lanes)
	w.clamp(fmt.Sprintf("(idx)%s * %d + x", tile, tileRows), w.rows())
	g.coordinates(outerLoop, "row")
}

func (w *rowsWriter) columnPass(i, lanes int) {
	g, p := w.g, &w.plan.passes[i]
	w.heading(i)
	w.rowValues(p.rows)
	if !p.walks() {
		return
	}
	each := g.count("records", func(b *binding) int { return recordsOf(b.loops[innerLoop].n) })
	of := func(row string) func(f fold, i string) record {
		return func(f fold, i string) record { return g.records(f, fmt.Sprintf("%s * %s + %s", row, each, i)) }
	}
	g.line("#pragma unroll 1")
	g.open("for (idx block = 0; block < %s; block++)", w.blocks())
	w.columnBlock(p, lanes)
	if len(p.folds) > 0 {
		g.open("if (lane == 0)")
		for _, f := range p.folds {
			g.move(f, of("tree_row")(f, "block"), g.local(f))
		}
		g.close("")
		g.line("__syncthreads();")
	}
	g.close("")
	if len(p.folds) == 0 {
		return
	}
	if lanes == 32 { // else a row is one block
		g.joinBlocks(p.folds, of("tree_row"), "0", 1, "__syncwarp();")
		g.line("__syncthreads();")
	}
	root := g.root()
	w.results(p.folds, func(f fold) record { return of("x")(f, root) })
}

// columnBlock writes the walk of a tile over a block of elements and the joining
// of lanes, after which the threads of tree_row have its result.
func (w *rowsWriter) columnBlock(p *rowPass, lanes int) {
	g := w.g
	for _, f := range p.folds {
		g.foldBegin(f)
	}
	w.blockLoop(p, "block", "y", lanes)
	if len(p.folds) == 0 {
		return
	}
	for _, f := range p.folds {
		g.move(f, g.tile(f, "y", "x"), g.local(f))
	}
	g.line("__syncthreads();")
	for _, f := range p.folds {
		g.move(f, g.local(f), g.tile(f, "lane", "tree_row"))
	}
	g.foldTree(p.folds, lanes)
}

// tile returns where what lane y joined of row x lies. Rows are one longer than the
// tile is wide, so that neither way of walking it meets one bank twice.
func (g *generator) tile(f fold, y, x string) record {
	r := record{value: fmt.Sprintf("%s_tile[%s * %d + %s]", g.name(f.v), y, tileRows+1, x)}
	if f.positions() {
		r.at = fmt.Sprintf("%s_tile_at[%s * %d + %s]", g.name(f.v), y, tileRows+1, x)
	}
	return r
}

// tileArrays are the arrays of tile.
func (g *generator) tileArrays(folds []fold, lanes int) []array {
	var list []array
	n := lanes * (tileRows + 1)
	for _, f := range folds {
		a := array{name: g.name(f.v) + "_tile", t: f.t, expr: fmt.Sprint(n), length: func(*binding) int { return n }}
		list = append(list, a)
		if f.positions() {
			a.name += "_at"
			a.t = g.idxType()
			list = append(list, a)
		}
	}
	return list
}
