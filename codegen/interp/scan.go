package interp

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// checkScans refuses a kernel whose scans go both ways: a row is walked once.
func (e *executable) checkScans() error {
	k := e.kernel
	first := true
	for i := range k.Body {
		if k.Body[i].Op != codegen.OpScan {
			continue
		}
		if !first && k.Body[i].Reverse != e.reverse {
			return &codegen.VerifyError{Kernel: k.Name, Where: fmt.Sprintf("%%%d", i), Rule: "scans of one kernel go the same way"}
		}
		first, e.reverse = false, k.Body[i].Reverse
	}
	return nil
}

// scanStep is a running sum over the tile; the carry goes on from the tile
// before, which is the one after it in a reversed scan.
func scanStep(v, arg int, in *codegen.Instr) func(*worker) {
	if in.Type == ir.I64 {
		return scanOf[int64](v, arg, in)
	}
	return scanOf[float32](v, arg, in)
}

func scanOf[T float32 | int64](v, arg int, in *codegen.Instr) func(*worker) {
	exclusive, reverse := in.Exclusive, in.Reverse
	return func(w *worker) {
		x := spread[T](w, arg, 0)
		d := out[T](w, v)
		carry := view[T](w.scalar[8*v : 8*v+8])
		sum := carry[0]
		for i := range d {
			if reverse {
				i = len(d) - 1 - i
			}
			next := sum + x[i]
			if exclusive {
				d[i] = sum
			} else {
				d[i] = next
			}
			sum = next
		}
		carry[0] = sum
	}
}

// driveScan walks the rows, each from end to end.
func driveScan(r *run, par codegen.Parallel) error {
	k := r.exe.kernel
	axes := r.allAxes(0, k.Outer)
	r.sortAxes(axes)
	r.outer.build(r.dims, axes, r.slots)
	r.inner.build(r.dims, r.allAxes(k.Outer, len(r.dims)), r.slots)
	if r.inner.n == 0 {
		return nil
	}
	return par.For(r.outer.n, max(1, grain(r.exe.weight)/r.inner.n), (*scanTask)(r))
}

type scanTask run

func (t *scanTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	w.startRow(lo)
	tiles := (r.inner.n + tileLen - 1) / tileLen
	for range hi - lo {
		w.clearCarries()
		for i := range tiles {
			if r.exe.reverse {
				i = tiles - 1 - i
			}
			w.seek(&r.inner, i*tileLen, min(tileLen, r.inner.n-i*tileLen))
			w.aim()
			w.exec(r.exe.steps)
			w.flush(false)
		}
		r.outer.advance(w.outer, w.base)
	}
}

func (w *worker) clearCarries() {
	for i := range w.run.exe.kernel.Body {
		if w.run.exe.kernel.Body[i].Op == codegen.OpScan {
			clear(w.scalar[8*i : 8*i+8])
		}
	}
}
