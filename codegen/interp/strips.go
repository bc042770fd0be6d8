package interp

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
)

// stripTask walks a strip of rows side by side: a tile holds one element of
// each row, so that the sum of columns reads memory in order.
type stripTask run

func (t *stripTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	for lo < hi {
		n := min(strip, hi-lo)
		w.strip(lo, n)
		lo += n
	}
}

func (w *worker) strip(lo, n int) {
	r := w.run
	w.resetBase()
	w.seek(&r.outer, lo, n)
	at := w.outer[:len(r.inner.dims)]
	clear(at)
	for p := range r.exe.passes {
		pass := &r.exe.passes[p]
		w.exec(pass.rows)
		for _, f := range pass.folds {
			f.begin(&w.accum[f.result()], n, r.inner.n, true)
		}
		final := p == len(r.exe.passes)-1
		for pos := 0; pass.walk && pos < r.inner.n; pos++ {
			if final {
				w.aim()
			}
			w.exec(pass.elements)
			for _, f := range pass.folds {
				f.column(w, &w.accum[f.result()], pos)
			}
			if final {
				w.flush(false)
			}
			r.inner.advance(at, w.base)
		}
		for _, f := range pass.folds {
			f.finish(w, &w.accum[f.result()])
		}
	}
	w.flush(true)
}

// maxBlocks bounds a row: its blocks' partial results are kept in memory.
const maxBlocks = 1 << 24

// splitRows walks one row after another, the blocks of each spread over the
// workers. Row values are computed by the caller in worker 0's registers.
func (r *run) splitRows(par codegen.Parallel) error {
	w := r.worker(0)
	st := &r.rows
	st.blocks = (r.inner.n + codegen.BlockElems - 1) / codegen.BlockElems
	if st.blocks > maxBlocks {
		return &codegen.ArgsError{Kernel: r.exe.kernel.Name, Where: "space", Rule: fmt.Sprintf("a row of %d elements is too long to reduce", r.inner.n)}
	}
	st.partials = grow(st.partials, len(r.exe.folds)*st.blocks*recordBytes)
	for row := range r.outer.n {
		for p := range r.exe.passes {
			w.startRow(row)
			w.seek(&r.inner, 0, 1)
			st.pass = &r.exe.passes[p]
			w.exec(st.pass.rows)
			if st.pass.walk {
				if err := par.For(st.blocks, max(1, grain(r.exe.weight)/codegen.BlockElems), (*blockTask)(r)); err != nil {
					return err
				}
			}
			for i, f := range st.pass.folds {
				a := &w.accum[f.result()]
				f.begin(a, 1, r.inner.n, false)
				for b := range st.blocks {
					f.push(a, st.record(i, b))
				}
				f.finish(w, a)
			}
		}
		w.seek(&r.inner, 0, 1)
		w.flush(true)
	}
	return nil
}

// record returns the storage of block b of fold i of the pass.
func (st *rowsState) record(i, b int) []byte {
	at := (i*st.blocks + b) * recordBytes
	return st.partials[at : at+recordBytes]
}

// blockTask computes blocks of the current row.
type blockTask run

func (t *blockTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	w.adoptRow(r.workers[0])
	st := &r.rows
	final := st.pass == &r.exe.passes[len(r.exe.passes)-1]
	for b := lo; b < hi; b++ {
		pos := b * codegen.BlockElems
		w.seek(&r.inner, pos, min(codegen.BlockElems, r.inner.n-pos))
		if final {
			w.aim()
		}
		w.exec(st.pass.elements)
		for i, f := range st.pass.folds {
			f.record(w, st.record(i, b), 0, w.n, pos)
		}
		if final {
			w.flush(false)
		}
	}
}

// adoptRow takes over the current row and its values from the worker that
// computed them.
func (w *worker) adoptRow(from *worker) {
	if w == from {
		return
	}
	copy(w.base, from.base)
	for i := range w.run.exe.kernel.Body {
		if w.run.exe.kernel.Body[i].Level == codegen.Row && from.regs[i].uniform {
			mem := w.scratchOf(i)
			n := copy(mem, from.regs[i].mem)
			w.regs[i] = reg{mem: mem[:n], uniform: true}
		}
	}
}
