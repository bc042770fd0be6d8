package cudac

import "fmt"

// warp writes the kinds in which lanes of one warp take a row: lane j has elements
// j, j + lanes, …
func (w *rowsWriter) warp() {
	g := w.g
	lanes, each := g.v.Tile[0], 0
	inShared := g.v.Kind == "row-warp-shared"
	if !inShared {
		each = g.v.Tile[1]
	}
	perBlock := rowThreads / lanes
	w.begin(inShared || each > 0)
	bytes := func(*binding) int { return 0 }
	shape := func(b *binding) (int, int, int) {
		return (b.loops[outerLoop].n + perBlock - 1) / perBlock, rowThreads, bytes(b)
	}
	g.entry(g.title(g.v.Kind), rowThreads, shape, func() {
		rows := w.rows()
		if lanes > 1 {
			g.line("const int lane = (int)threadIdx.x %% %d;", lanes)
		}
		first := fmt.Sprintf("(idx)blockIdx.x * %d + (idx)threadIdx.x / %d", perBlock, lanes)
		one := ""
		if lanes == 32 {
			g.line("const idx row = %s;", first)
			g.line("if (row >= %s) return;", rows)
		} else {
			w.clamp(first, rows)
		}
		if lanes > 1 {
			one = "lane == 0"
		}
		g.coordinates(outerLoop, "row")
		if inShared {
			bytes = w.keepShared(perBlock, fmt.Sprintf("(idx)threadIdx.x / %d", lanes))
		} else {
			for slot, t := range w.plan.slots {
				g.line("%s kept%d[%d];", ctype(t), slot, each)
			}
			w.kept = func(slot int) string { return fmt.Sprintf("kept%d[r]", slot) }
		}
		for i := range w.plan.passes {
			w.warpPass(i, lanes, each)
		}
		if w.guard != "" && one != "" {
			one = w.guard + " && " + one
		} else if one == "" {
			one = w.guard
		}
		w.rowStores(one, "__syncwarp();")
	})
}

// clamp declares the row of a thread; threads past the last row compute the last
// once more, so that warps stay whole, and store nothing.
func (w *rowsWriter) clamp(first, rows string) {
	w.g.line("const idx own = %s;", first)
	w.g.line("const bool active = own < %s;", rows)
	w.g.line("const idx row = active ? own : %s - 1;", rows)
	w.guard = "active"
}

// keepShared declares the arrays of what is kept of the rows of a block.
func (w *rowsWriter) keepShared(rows int, row string) func(b *binding) int {
	var arrays []array
	n := w.g.length()
	for slot, t := range w.plan.slots {
		arrays = append(arrays, array{name: fmt.Sprintf("kept%d_rows", slot), t: t, expr: fmt.Sprintf("%d * %s", rows, n),
			length: func(b *binding) int { return rows * b.loops[innerLoop].n }})
	}
	bytes := w.g.shared(arrays)
	for slot, t := range w.plan.slots {
		w.g.line("%s* const kept%d = kept%d_rows + %s * %s;", ctype(t), slot, slot, row, n)
	}
	w.kept = func(slot int) string { return fmt.Sprintf("kept%d[i]", slot) }
	return bytes
}

func (w *rowsWriter) warpPass(i, lanes, each int) {
	g, p := w.g, &w.plan.passes[i]
	w.heading(i)
	w.rowValues(p.rows)
	for _, f := range p.folds {
		g.foldBegin(f)
	}
	lane := "lane"
	if lanes == 1 {
		lane = "0"
	}
	switch n := g.length(); {
	case !p.walks():
		return
	case each == 0:
		g.line("#pragma unroll %d", w.unroll(p))
		g.open("for (idx i = %s; i < %s; i += %d)", lane, n, lanes)
		w.element(p, "i")
		g.close("")
	default:
		g.line("#pragma unroll")
		g.open("for (int r = 0; r < %d; r++)", each)
		g.line("const idx i = %s + %d * r;", lane, lanes)
		g.open("if (i < %s)", n)
		w.element(p, "i")
		g.close("")
		g.close("")
	}
	g.foldTree(p.folds, lanes)
	w.results(p.folds, g.local)
}
