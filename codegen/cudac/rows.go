package cudac

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
)

// The loops of templates that walk rows.
const (
	outerLoop = 0 // over rows: "x"
	innerLoop = 1 // over the elements of a row: "y"
)

// rowsTemplate reduces rows and uses the results at their elements. Its kinds:
//
//   - row-warp: neighbouring lanes of a warp take a row of at most a block of
//     elements. Tile: the lanes of a row, the elements of it each lane keeps in
//     registers; with 0 nothing is kept, later passes compute it again.
//   - row-warp-shared: a warp takes such a row, what is kept lies in shared memory.
//   - row-block: a block of threads takes a row, its warps whole blocks of elements;
//     what is kept lies in shared memory. Tile: warps, the longest row.
//   - row-long: the same with nothing kept. Tile as for row-block.
//   - row-split: each warp takes one block of elements of a row and writes what it
//     joined to scratch memory; a second entry joins those of a row. Two entries for
//     each pass. Any row of more than one block.
//   - column: 32 neighbouring rows, whose elements are neighbours in memory while
//     those of a row are far apart, side by side. Tile: lanes of a row, the longest
//     row.
//   - column-split: as row-split, with the loads of column.
type rowsTemplate struct{}

const (
	// rowThreads is how many threads a block has whose warps take a row each.
	rowThreads = 128
	// splitThreads is how many a block has whose warps take a block of elements each.
	splitThreads = 256
	// tileRows is how many rows are walked side by side.
	tileRows = 32
	// fewRows is how many neighbouring rows make it worth while.
	fewRows = 16
	// maxRowWarps is the most warps that share a row.
	maxRowWarps = 16
	// maxKept is the most bytes a thread keeps in registers.
	maxKept = 256
	// maxUnrolled is how many instructions the unrolled loops over a thread's
	// registers may have, as weigh counts them.
	maxUnrolled = 400
)

func (rowsTemplate) loops(b *binding) { layRows(b) }

// layRows lays the loops over rows and over the elements of a row. Rows are in the
// order that follows the memory of their elements, so that neighbours there are
// walked side by side.
func layRows(b *binding) {
	outer := axes(0, b.k.Outer)
	if i := firstElements(b); i >= 0 {
		s := b.l.Access[i].Strides
		slices.SortStableFunc(outer, func(x, y int) int { return magnitude(s[y]) - magnitude(s[x]) })
	}
	b.lay("x", outer)
	b.lay("y", axes(b.k.Outer, b.k.Axes()))
}

// firstElements returns the access of the first load of elements that depends on
// both rows and elements, -1 if there is none.
func firstElements(b *binding) int {
	moves := func(access, from, to int) bool {
		for axis := from; axis < to; axis++ {
			if b.l.Access[access].Strides[axis] != 0 && b.l.Dims[axis] > 1 {
				return true
			}
		}
		return false
	}
	for i := range b.k.Body {
		in := &b.k.Body[i]
		if in.Op == codegen.OpLoad && in.Level == codegen.Element && moves(in.Access, 0, b.k.Outer) && moves(in.Access, b.k.Outer, b.k.Axes()) {
			return in.Access
		}
	}
	return -1
}

// sideBySide decides whether neighbouring rows are walked together: when they lie
// closer in memory than neighbouring elements of a row.
func sideBySide(b *binding) bool {
	i := firstElements(b)
	x, y := b.loops[outerLoop], b.loops[innerLoop]
	if i < 0 || len(x.dims) == 0 || len(y.dims) == 0 || x.dims[len(x.dims)-1] < fewRows {
		return false
	}
	across, along := magnitude(x.strides[i][len(x.dims)-1]), magnitude(y.strides[i][len(y.dims)-1])
	return across != 0 && across < along
}

func (rowsTemplate) variants(b *binding, t Target) []*Variant {
	rows, n := b.loops[outerLoop].n, b.loops[innerLoop].n
	plan := planRows(b.k, false, true) // the most that is kept
	keeps := planRows(b.k, !inOut(b.k), true).bytes() > 0
	var list []*Variant
	add := func(kind string, tile ...int) { list = append(list, &Variant{Kind: kind, Vector: 1, Tile: tile}) }
	if sideBySide(b) && n > 0 {
		lanes := min(powerOfTwo(n), codegen.Lanes)
		tiles := (rows + tileRows - 1) / tileRows
		split := lanes == codegen.Lanes && blocksOf(n) > 1 && columnBytes(plan, lanes, 0) <= t.Shared
		if split && tiles < t.SMs {
			add("column-split", lanes)
		}
		if longest := powerOfTwo(n); columnBytes(plan, lanes, longest) <= t.Shared {
			add("column", lanes, longest)
		}
		if split && tiles >= t.SMs {
			add("column-split", lanes)
		}
	}
	if n <= codegen.BlockElems {
		lanes := min(powerOfTwo(n), codegen.Lanes)
		each := powerOfTwo((n + lanes - 1) / lanes)
		if kept := plan.bytes(); keeps {
			if max(kept, 4)*each <= maxKept && (each <= 4 || each*weigh(b.k, all) <= maxUnrolled) {
				add("row-warp", lanes, each)
			}
			if lanes == codegen.Lanes && kept*codegen.BlockElems*rowThreads/32 <= t.Shared {
				add("row-warp-shared", lanes)
			}
		}
		add("row-warp", lanes, 0)
		return list
	}
	longest := powerOfTwo(n)
	warps := min(powerOfTwo(blocksOf(n)), maxRowWarps)
	idle := rows*warps < t.SMs*maxRowWarps // one block of threads a row does not fill the device
	if idle && blocksOf(n) > 4 {
		add("row-split")
	}
	if blockBytes(plan, true, longest) > t.Shared {
		longest = n / codegen.BlockElems * codegen.BlockElems
		longest += codegen.BlockElems
	}
	if blockBytes(plan, true, longest) <= t.Shared {
		add("row-block", warps, longest)
	}
	if longest = powerOfTwo(n); keeps && blockBytes(plan, false, longest) <= t.Shared {
		add("row-long", warps, longest)
	}
	if !idle || blocksOf(n) <= 4 {
		add("row-split")
	}
	return list
}

// powerOfTwo returns the least power of two that is not below n.
func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// weigh counts the instructions of a kernel that are marked, functions that are
// not one instruction of a machine as several.
func weigh(k *codegen.Kernel, marked func(v int) bool) int {
	n := 0
	for i := range k.Body {
		if !marked(i) {
			continue
		}
		n++
		if sig := k.Body[i].Fn.Sig(); k.Body[i].Op == codegen.OpApply && sig.Float && !sig.Int {
			n += 5 * k.Body[i].Type.Size()
		}
	}
	return n
}

// all marks every instruction.
func all(int) bool { return true }

// blockBytes returns the shared memory that row-block needs for rows of n elements,
// or, with nothing kept, row-long.
func blockBytes(plan *rowPlan, keep bool, n int) int {
	bytes := plan.foldBytes() * recordsOf(n)
	if keep {
		bytes += plan.bytes() * n
	}
	return bytes
}

// columnBytes returns the shared memory that column needs for rows of n elements;
// with n = 0 that of column-split.
func columnBytes(plan *rowPlan, lanes, n int) int {
	return plan.foldBytes() * (tileRows*recordsOf(n) + lanes*(tileRows+1))
}

func (rowsTemplate) check(b *binding, v *Variant) string {
	n := b.loops[innerLoop].n
	switch most := longestRow(v); {
	case n > most && most > 0:
		return fmt.Sprintf("rows of %d elements are longer than %d", n, most)
	case v.Kind == "row-split" && n <= codegen.BlockElems, v.Kind == "column-split" && n <= codegen.BlockElems:
		return fmt.Sprintf("rows of %d elements are one block", n)
	case v.Kind == "column" && n == 0:
		return "rows are empty"
	case (v.Kind == "row-block" || v.Kind == "row-long") && n == 0:
		return "rows are empty"
	}
	return ""
}

// longestRow returns the most elements a row of a variant may have, 0: any.
func longestRow(v *Variant) int {
	switch v.Kind {
	case "row-warp":
		lanes, each := v.Tile[0], v.Tile[1]
		if each == 0 && lanes == codegen.Lanes {
			return codegen.BlockElems
		}
		return lanes * max(each, 1)
	case "row-warp-shared":
		return codegen.BlockElems
	case "row-block", "row-long":
		return v.Tile[1]
	case "column":
		if v.Tile[0] < codegen.Lanes {
			return v.Tile[0]
		}
		return v.Tile[1]
	}
	return 0
}

func (rowsTemplate) write(g *generator) {
	w := &rowsWriter{g: g}
	switch g.v.Kind {
	case "row-warp", "row-warp-shared":
		w.warp()
	case "row-block", "row-long":
		w.block()
	case "column":
		w.column()
	default:
		w.split()
	}
}
