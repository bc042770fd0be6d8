package interp

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
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

// scan is an OpScan and what its carry starts from.
type scan struct {
	v     int
	lane  lane
	start uint64
}

// scanStep is a running sum, product, maximum or minimum over the tile; the
// carry goes on from the tile before, which is the one after it in a reversed
// scan. Integers wrap in 64 bits, and each result in its own width.
func (e *executable) scanStep(v, arg int, in *codegen.Instr) func(*worker) {
	l := laneOf(in.Type)
	e.scans = append(e.scans, scan{v, l, identityBits(in.Reduce, in.Type)})
	switch l {
	case laneF64:
		return scanOf[float64](v, arg, in)
	case laneF32:
		return scanOf[float32](v, arg, in)
	case laneU64:
		return scanOf[uint64](v, arg, in)
	}
	return wrapped(scanOf[int64](v, arg, in), v, in.Type)
}

func scanOf[T float64 | float32 | int64 | uint64](v, arg int, in *codegen.Instr) func(*worker) {
	op, exclusive, reverse := in.Reduce, in.Exclusive, in.Reverse
	return func(w *worker) {
		x := spread[T](w, arg, 0)
		d := out[T](w, v)
		carry := view[T](w.scalar[8*v : 8*v+8])
		run := carry[0]
		for i := range d {
			if reverse {
				i = len(d) - 1 - i
			}
			next := run
			switch op {
			case codegen.RSum:
				next += x[i]
			case codegen.RProd:
				next *= x[i]
			case codegen.RMax:
				next = max(run, x[i])
			default:
				next = min(run, x[i])
			}
			if exclusive {
				d[i] = run
			} else {
				d[i] = next
			}
			run = next
		}
		carry[0] = run
	}
}

// driveScan walks the rows, each from end to end.
func driveScan(r *run, par codegen.Parallel) error {
	r.buildRows()
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
	for _, s := range w.run.exe.scans {
		setBits(w.scalar[8*s.v:8*s.v+8], s.lane, s.start)
	}
}
