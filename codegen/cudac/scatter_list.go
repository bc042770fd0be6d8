package cudac

// A row of updates begins at place lo + key·step of the target; its columns lie
// relative to that. Rows are gathered by key; keys and numbers of rows are kept
// in scratch memory, -1 for none.

// listFuncs are the device functions of lists of rows.
var listFuncs = []deviceFunc{
	{name: "sort_list", text: `// sorts the list of rows that begins with head and goes on with next: runs of 1, 2, 4, …
// rows are merged in place (S. Tatham, "Mergesort for linked lists"). Returns the new head.
__device__ idx sort_list(idx head, idx* next)
{
    for (idx width = 1;; width *= 2) {
        idx left = head, tail = -1, merges = 0;
        head = -1;
        while (left >= 0) {
            merges++;
            idx right = left, left_n = 0, right_n = width;
            while (left_n < width && right >= 0) {
                left_n++;
                right = next[right];
            }
            while (left_n > 0 || (right_n > 0 && right >= 0)) {
                idx row;
                if (left_n > 0 && (right_n == 0 || right < 0 || left < right)) {
                    row = left;
                    left = next[left];
                    left_n--;
                } else {
                    row = right;
                    right = next[right];
                    right_n--;
                }
                if (tail < 0) head = row; else next[tail] = row;
                tail = row;
            }
            left = right;
        }
        next[tail] = -1;
        if (merges <= 1) return head;
    }
}
`},
}

// rowPlaces returns where rows of updates may begin.
func rowPlaces(b *binding) places {
	rows, _ := scatterAxes(b)
	return placesOf(b, 0, rows)
}

// rowCount and keyCount return how many rows of updates and keys there are.
func rowCount(b *binding) int { return b.loops[rowLoop].n }
func keyCount(b *binding) int { return rowPlaces(b).n }

// perKey and perRow ask for scratch memory of one number for each key and row.
func (g *generator) perKey(name string) string {
	return g.scratch("idx", name, func(b *binding) int { return keyCount(b) * g.idxSize() })
}

func (g *generator) perRow(name string) string {
	return g.scratch("idx", name, func(b *binding) int { return rowCount(b) * g.idxSize() })
}

// clearKeys writes the entry that sets what is kept for each key to none.
func (g *generator) clearKeys(name string) {
	g.scatterEntry("scatter_clear", keyCount, func() {
		g.walk("key", g.count("keys", keyCount), "blockIdx.x", "gridDim.x")
		g.line("%s[key] = -1;", g.perKey(name))
		g.close("")
	})
}

// keysOfRows writes the entry that notes the key of each row, -1 where an index
// is out of range; with writes what else happens to a row that has one.
func (g *generator) keysOfRows(name string, with func()) {
	s := &g.k.Stores[0]
	g.scatterEntry(name, rowCount, func() {
		g.need("quotient")
		g.walk("row", g.count("rows", rowCount), "blockIdx.x", "gridDim.x")
		g.coordinates(rowLoop, "row")
		p := &point{loops: []int{rowLoop}}
		g.program(g.needed(nil, s.Index...), p)
		g.line("idx key = -1;")
		g.open("if (%s)", g.guarded(s))
		g.line("key = quotient(%s - %s, %s);", g.indexed(s.Access, s.Index, p), g.rowLo(), g.rowStep())
		with()
		g.close("")
		g.line("%s[row] = key;", g.perRow("key_of"))
		g.close("")
	})
}

func (g *generator) rowLo() string {
	return g.count("lo", func(b *binding) int { return rowPlaces(b).lo })
}

func (g *generator) rowStep() string {
	return g.count("step", func(b *binding) int { return rowPlaces(b).step })
}

// place declares the place of the updates of a key at the column's coordinates.
func (g *generator) place(access int) {
	terms := append([]string{g.rowLo(), "key * " + g.rowStep()}, g.moves(access, columnLoop)...)
	g.line("const idx place = %s;", sum(terms))
}

// scatterLast writes the entries for stores that assign: the last row of each key
// is a maximum, and its elements alone are written.
func (g *generator) scatterLast() {
	s := &g.k.Stores[0]
	g.clearKeys("last")
	g.keysOfRows("scatter_last", func() { g.line("atomicMax(&%s[key], row);", g.perKey("last")) })
	g.scatterEntry(g.title("scatter-store"), (*binding).points, func() {
		g.eachPoint()
		g.program(g.needed(nil, s.Value), &point{loops: []int{rowLoop, columnLoop}})
		g.line("const idx key = %s[row];", g.perRow("key_of"))
		g.open("if (key >= 0 && %s[key] == row)", g.perKey("last"))
		g.place(s.Access)
		dt, mem := g.target(s)
		g.line("%s[place] = %s;", mem, g.using(storeExpr(dt, g.name(s.Value))))
		g.close("")
		g.close("")
	})
}

// scatterList writes the entries for stores that join: the rows of each key are
// put into a list in any order, the list is sorted, and its elements are joined
// one after another, the columns at the same time. What half types are joined to
// stays in f32 until the end.
func (g *generator) scatterList() {
	s := &g.k.Stores[0]
	g.clearKeys("first")
	g.keysOfRows("scatter_link", func() {
		g.line("%s[row] = (idx)atomicExch((uidx*)&%s[key], (uidx)row);", g.perRow("next"), g.perKey("first"))
	})
	g.scatterEntry("scatter_order", keyCount, func() {
		g.need("sort_list")
		g.walk("key", g.count("keys", keyCount), "blockIdx.x", "gridDim.x")
		first, next := g.perKey("first"), g.perRow("next")
		g.line("const idx row = %s[key];", first)
		g.line("if (row >= 0 && %s[row] >= 0) %s[key] = sort_list(row, %s);", next, first, next)
		g.close("")
	})
	g.scatterEntry(g.title("scatter-join"), (*binding).points, func() {
		g.walk("i", g.count("n", (*binding).points), "blockIdx.x", "gridDim.x")
		g.rowAndColumn()
		g.line("const idx key = %s[row];", g.perRow("key_of"))
		g.line("if (key < 0 || %s[key] != row) continue;", g.perKey("first"))
		g.coordinates(columnLoop, "column")
		g.place(s.Access)
		dt, mem := g.target(s)
		g.line("%s now = %s;", ctype(dt.Compute()), g.using(loadExpr(dt, mem+"[place]")))
		g.line("#pragma unroll 1")
		g.open("for (idx update = row; update >= 0; update = %s[update])", g.perRow("next"))
		g.coordinates(rowLoop, "update")
		g.program(g.needed(nil, s.Value), &point{loops: []int{rowLoop, columnLoop}})
		g.line("now = %s;", g.joined(s, "now"))
		g.close("")
		g.line("%s[place] = %s;", mem, g.using(storeExpr(dt, "now")))
		g.close("")
	})
}
