package interp

import "github.com/sinter-ml/sinter/codegen"

// pass is one walk over the rows of a Rows kernel. A reduction whose operand
// depends on another reduction's result needs a later pass; elements are
// computed anew in each pass that needs them.
type pass struct {
	rows     []*step // row values that are known before the walk
	elements []*step
	folds    []fold
	walk     bool // there is something to do at the elements
}

// plan sorts the steps into passes; the last one makes what is stored.
func (e *executable) plan() {
	k := e.kernel
	phase := make([]int, len(k.Body))
	most := 0
	for i := range k.Body {
		in := &k.Body[i]
		for _, a := range in.Args {
			phase[i] = max(phase[i], phase[e.value[a]])
		}
		if in.Op == codegen.OpReduce {
			phase[i]++
			most = max(most, phase[i])
		}
	}
	e.passes = make([]pass, most+1)
	needed := make([]bool, len(k.Body))
	for p := range e.passes {
		pass := &e.passes[p]
		clear(needed)
		for _, f := range e.folds {
			if phase[f.result()] == p+1 {
				pass.folds = append(pass.folds, f)
				e.need(needed, e.value[k.Body[f.result()].Args[0]])
			}
		}
		pass.walk = len(pass.folds) > 0
		if p == most {
			for i := range e.stores {
				pass.walk = pass.walk || !e.stores[i].row
				e.need(needed, e.stores[i].value)
			}
		}
		for _, s := range e.steps {
			switch {
			case s.row && phase[s.value] == p:
				pass.rows = append(pass.rows, s)
			case needed[s.value]:
				pass.elements = append(pass.elements, s)
			}
		}
	}
}

// need marks the element values that v depends on, itself included.
func (e *executable) need(needed []bool, v int) {
	in := &e.kernel.Body[v]
	if in.Level == codegen.Row || needed[v] {
		return
	}
	needed[v] = true
	for _, a := range in.Args {
		e.need(needed, e.value[a])
	}
}

// reduceStep is a fold whose row lies in one tile.
func reduceStep(f fold) func(*worker) {
	return func(w *worker) {
		a := &w.accum[f.result()]
		f.begin(a, 1, w.n, false)
		a.tile(w, f, 0)
		f.finish(w, a)
	}
}

// How a Rows launch is walked; the bits do not depend on it.
const (
	// wholeRow is the longest row that is one tile: its elements are computed
	// once and kept for all reductions.
	wholeRow = 4096
	// splitRow is the row length from which the blocks of one row are spread
	// over the workers.
	splitRow = 1 << 16
	// strip is how many rows are walked side by side where that follows memory
	// better than row after row.
	strip = 256
	// shortRow is the row length below which rows are walked side by side
	// because a tile would hold too little.
	shortRow = 24
	// fewRows is the number of neighbouring rows that make it worth while.
	fewRows = 16
)

// rowsState is what a Rows launch keeps between its parallel loops.
type rowsState struct {
	pass     *pass
	partials []byte // a record for each fold and block
	blocks   int
}

// buildRows lays the grids of templates that walk rows: the outer axes in the
// order in which the first output lies in memory, and the axes of a row.
func (r *run) buildRows() {
	outer := r.exe.kernel.Outer
	axes := r.allAxes(0, outer)
	r.sortAxes(axes)
	r.outer.build(r.dims, axes, r.slots)
	r.inner.build(r.dims, r.allAxes(outer, len(r.dims)), r.slots)
}

func driveRows(r *run, par codegen.Parallel) error {
	r.buildRows()
	n := r.inner.n
	if r.outer.n == 0 {
		return nil
	}
	rows := max(1, grain(r.exe.weight)/max(1, n))
	switch {
	case n > 0 && r.sideBySide():
		return par.For(r.outer.n, max(fewRows*4, rows), (*stripTask)(r))
	case n >= splitRow:
		return r.splitRows(par)
	}
	if n <= wholeRow {
		r.pitchElems = max(tileLen, n)
	}
	return par.For(r.outer.n, rows, (*rowTask)(r))
}

// sideBySide decides whether neighbouring rows are walked together: when rows
// are short, or when neighbouring rows lie closer in memory than neighbouring
// elements of a row.
func (r *run) sideBySide() bool {
	if r.outer.n < fewRows || r.outer.row() < fewRows {
		return false
	}
	if r.inner.n < shortRow {
		return true
	}
	for i := range r.exe.kernel.Body {
		in := &r.exe.kernel.Body[i]
		if in.Op != codegen.OpLoad || in.Level != codegen.Element {
			continue
		}
		along, across := magnitude(r.inner.inner(in.Access)), magnitude(r.outer.inner(in.Access))
		if along != 0 || across != 0 {
			return across != 0 && across < along
		}
	}
	return false
}

// rowTask walks row after row.
type rowTask run

func (t *rowTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	w.startRow(lo)
	for range hi - lo {
		if n := r.inner.n; n > 0 && n <= wholeRow {
			w.seek(&r.inner, 0, n)
			w.aim()
			w.execRows(r.exe.steps)
			w.flush(false)
		} else {
			w.passes()
		}
		w.seek(&r.inner, 0, 1)
		w.flush(true)
		r.outer.advance(w.outer, w.base)
	}
}

// startRow moves the slots to the first element of a row.
func (w *worker) startRow(row int) {
	g := &w.run.outer
	g.place(row, w.outer)
	for s := range w.base {
		w.base[s] = w.run.slots[s].offset + g.dot(s, w.outer)
	}
}

// passes walks the tiles of the current row once for each pass.
func (w *worker) passes() {
	r := w.run
	for p := range r.exe.passes {
		pass := &r.exe.passes[p]
		w.seek(&r.inner, 0, 1)
		w.exec(pass.rows)
		for _, f := range pass.folds {
			f.begin(&w.accum[f.result()], 1, r.inner.n, false)
		}
		final := p == len(r.exe.passes)-1
		for pos := 0; pass.walk && pos < r.inner.n; pos += tileLen {
			w.seek(&r.inner, pos, min(tileLen, r.inner.n-pos))
			if final {
				w.aim()
			}
			w.exec(pass.elements)
			for _, f := range pass.folds {
				w.accum[f.result()].tile(w, f, pos)
			}
			if final {
				w.flush(false)
			}
		}
		for _, f := range pass.folds {
			f.finish(w, &w.accum[f.result()])
		}
	}
}
