package cudac

import (
	"fmt"
	"slices"
)

// maxMerges is how often a row may be merged: enough for any length.
const maxMerges = 40

// mergesOf returns how often the pieces of a row of n elements are merged.
func mergesOf(n int) int {
	k := 0
	for width := pieceElems; width < n; width *= 2 {
		k++
	}
	return k
}

// merge writes the kind for rows of any length. For each sorting one entry sorts
// pieces of the rows into scratch memory, and one merges two neighbouring runs
// each; it is called once for each doubling of the runs, from one half of the
// arrays into the other. The last entry stores.
func (w *sortWriter) merge() {
	g := w.g
	w.order = func(s *sorting, i string) string { return fmt.Sprintf("order%d[row * n + %s]", s.id, i) }
	w.value = func(s *sorting, i string) string { return fmt.Sprintf("values%d[row * n + %s]", s.id, i) }
	for _, s := range w.plan.list {
		w.pieces(s)
		w.merges(s)
	}
	g.entry(g.title(g.v.Kind)+"_store", mergeThreads, elementShape, func() {
		w.element()
		w.sorted(func(s *sorting) bool { return true })
		w.store("i", "")
	})
}

// elementShape is a grid with a thread for each element of each row.
func elementShape(b *binding) (int, int, int) {
	points := b.loops[outerLoop].n * b.loops[innerLoop].n
	return (points + mergeThreads - 1) / mergeThreads, mergeThreads, 0
}

// element declares the row and the element of a thread of elementShape.
func (w *sortWriter) element() {
	g := w.g
	g.need("quotient")
	n := g.length()
	rows := g.count("rows", func(b *binding) int { return b.loops[outerLoop].n })
	g.line("const idx point = (idx)blockIdx.x * %d + (idx)threadIdx.x;", mergeThreads)
	g.line("const idx row = quotient(point, %s), i = modulo(point, %s);", n, n)
	g.line("if (row >= %s) return;", rows)
	g.coordinates(outerLoop, "row")
}

// points returns how many elements a launch has.
func points(b *binding) int { return b.loops[outerLoop].n * b.loops[innerLoop].n }

// halves asks for an array in scratch memory with two halves, each with an element
// for each of the launch.
func (w *sortWriter) halves(ctype, name string, size int) string {
	return w.g.scratch(ctype, name, func(b *binding) int { return 2 * points(b) * size })
}

func (w *sortWriter) idxBytes() int { return w.g.idxType().Size() }

// sorted declares the order and asks for the values of the sortings that are known
// and wanted.
func (w *sortWriter) sorted(known func(s *sorting) bool) {
	g := w.g
	for _, s := range w.plan.list {
		if !known(s) {
			continue
		}
		half := g.long("last_half", func(b *binding) int { return mergesOf(b.loops[innerLoop].n) % 2 * points(b) })
		g.line("const idx* const order%d = %s + %s;", s.id, w.halves("idx", fmt.Sprintf("order%d_halves", s.id), w.idxBytes()), half)
		w.values(s)
	}
}

// values asks for the array of a sorting's values, as they were.
func (w *sortWriter) values(s *sorting) {
	if s.values {
		w.g.scratch(ctype(s.t), fmt.Sprintf("values%d", s.id), func(b *binding) int { return points(b) * s.t.Size() })
	}
}

// keys asks for the array of keys, which sortings use in turn.
func (w *sortWriter) keys(s *sorting) string {
	size := 0
	for _, x := range w.plan.list {
		size = max(size, x.keyBytes())
	}
	memory := w.halves("unsigned long long", "keys_halves", size)
	return fmt.Sprintf("((%s*)%s)", s.keyType(), memory)
}

// pieces writes the entry that sorts pieces of rows in shared memory.
func (w *sortWriter) pieces(s *sorting) {
	g := w.g
	piecesOf := func(b *binding) int { return (b.loops[innerLoop].n + pieceElems - 1) / pieceElems }
	shape := func(b *binding) (int, int, int) { return b.loops[outerLoop].n * piecesOf(b), maxSortThreads, 0 }
	g.entry(fmt.Sprintf("sort_pieces%d", s.id), maxSortThreads, shape, func() {
		g.need("quotient")
		n, pieces := g.length(), g.count("pieces", piecesOf)
		g.line("__shared__ %s keys[%d];", s.keyType(), pieceElems)
		g.line("__shared__ int from[%d];", pieceElems)
		g.line("const int thread = (int)threadIdx.x;")
		g.line("const idx row = quotient((idx)blockIdx.x, %s), first = modulo((idx)blockIdx.x, %s) * %d;", pieces, pieces, pieceElems)
		g.coordinates(outerLoop, "row")
		w.sorted(func(x *sorting) bool { return x.phase < s.phase })
		w.values(s)
		g.open("for (int j = thread; j < %d; j += %d)", pieceElems, maxSortThreads)
		g.line("from[j] = j;")
		g.line("keys[j] = %s;", s.greatest())
		g.line("const idx i = first + j;")
		g.open("if (i < %s)", n)
		w.elements("i", s.arg)
		g.line("keys[j] = %s;", g.key(s, g.name(s.arg)))
		if s.values {
			g.line("%s = %s;", w.value(s, "i"), g.name(s.arg))
		}
		g.close("")
		g.close("")
		g.line("__syncthreads();")
		g.line("%s(keys, from, %d, thread, %d);", g.needSort(maxSortThreads), pieceElems, maxSortThreads)
		g.line("%s* const row_keys = %s + row * %s + first;", s.keyType(), w.keys(s), n)
		g.line("idx* const row_order = %s + row * %s + first;", w.halves("idx", fmt.Sprintf("order%d_halves", s.id), w.idxBytes()), n)
		g.open("for (int j = thread; j < %d && first + j < %s; j += %d)", pieceElems, n, maxSortThreads)
		g.line("row_keys[j] = keys[j];")
		g.line("row_order[j] = first + from[j];")
		g.close("")
	})
}

// merges writes the entry that merges runs, and calls it for each doubling.
func (w *sortWriter) merges(s *sorting) {
	g := w.g
	shape := func(k int) func(b *binding) (int, int, int) {
		return func(b *binding) (int, int, int) {
			if k >= mergesOf(b.loops[innerLoop].n) {
				return 0, mergeThreads, 0
			}
			return elementShape(b)
		}
	}
	shift := func(k int) func(b *binding) Arg {
		return func(*binding) Arg { return Arg{Bytes: bytesOf(uint64(pieceShift+k), 4)} }
	}
	half := func(k int) func(b *binding) Arg {
		return func(b *binding) Arg { return Arg{Bytes: bytesOf(uint64(k%2*points(b)), 8)} }
	}
	g.entry(fmt.Sprintf("sort_merge%d", s.id), mergeThreads, shape(0), func() {
		n := g.length()
		w.element()
		runs := g.arg("const int", "run_shift", 4, shift(0))
		from := g.arg("const long long", "from_half", 8, half(0))
		to := g.arg("const long long", "to_half", 8, half(1))
		keys, order := w.keys(s), w.halves("idx", fmt.Sprintf("order%d_halves", s.id), w.idxBytes())
		g.need("rank_in")
		g.line("// the element goes as far behind the start of both runs as there are elements before it in them")
		g.line("const %s* const keys = %s + %s + row * %s;", s.keyType(), keys, from, n)
		g.line("const idx* const order = %s + %s + row * %s;", order, from, n)
		g.line("const idx width = (idx)1 << %s;", runs)
		g.line("const idx run = i >> %s << %s, other = ((i >> %s) ^ 1) << %s;", runs, runs, runs, runs)
		g.line("const idx ahead = other < run ? other : run;")
		g.line("const idx there = other >= %s ? 0 : %s - other < width ? %s - other : width;", n, n, n)
		g.line("const idx at = ahead + (i - run) + rank_in(keys + other, order + other, there, keys[i], order[i]);")
		g.line("%s[%s + row * %s + at] = keys[i];", keys, to, n)
		g.line("%s[%s + row * %s + at] = order[i];", order, to, n)
	})
	first := g.entries[len(g.entries)-1]
	for k := 1; k < maxMerges; k++ {
		again := &entry{name: first.name, args: slices.Clone(first.args), shape: shape(k)}
		for i := range again.args {
			switch a := &again.args[i]; a.name {
			case "run_shift":
				a.value = shift(k)
			case "from_half":
				a.value = half(k)
			case "to_half":
				a.value = half(k + 1)
			}
		}
		g.entries = append(g.entries, again)
	}
}
