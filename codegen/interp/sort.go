package interp

import (
	"cmp"
	"math"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
)

// sortKey is an element of a row: a number whose order is that of the values,
// and where it was, which decides between equal ones.
type sortKey struct {
	key uint64
	at  int
}

// orderFloat maps floats to keys: NaN above everything, ±0 alike.
func orderFloat(x float64) uint64 {
	switch b := math.Float64bits(x); {
	case x != x:
		return math.MaxUint64
	case x == 0:
		return 1 << 63
	case x < 0:
		return ^b
	default:
		return b | 1<<63
	}
}

func orderInt(x int64) uint64 { return uint64(x) ^ 1<<63 }

// sortStep returns the step that orders the row in the tile. A sort of the
// same values the same way as the one before it takes over its order.
func (e *executable) sortStep(v, arg int, in *codegen.Instr) func(*worker) {
	again := false
	for i := v - 1; i >= 0; i-- {
		if before := &e.kernel.Body[i]; before.Op == codegen.OpSort {
			again = e.value[before.Args[0]] == arg && before.Reverse == in.Reverse
			break
		}
	}
	switch t := e.typeOf(in, 0); laneOf(t) {
	case laneF64:
		return sortOf(v, arg, in, again, orderFloat)
	case laneF32:
		return sortOf(v, arg, in, again, func(x float32) uint64 { return orderFloat(float64(x)) })
	case laneU64:
		return sortOf(v, arg, in, again, func(x uint64) uint64 { return x })
	case laneBool:
		return sortOf(v, arg, in, again, func(x uint8) uint64 { return uint64(x) })
	}
	return sortOf(v, arg, in, again, orderInt)
}

func sortOf[T elem](v, arg int, in *codegen.Instr, again bool, order func(T) uint64) func(*worker) {
	flip := uint64(0)
	if in.Reverse {
		flip = math.MaxUint64
	}
	return func(w *worker) {
		x := spread[T](w, arg, 0)
		if !again {
			w.order = grown(w.order, w.n)
			for i := range w.order {
				w.order[i] = sortKey{order(x[i]) ^ flip, i}
			}
			slices.SortFunc(w.order, func(a, b sortKey) int {
				if c := cmp.Compare(a.key, b.key); c != 0 {
					return c
				}
				return a.at - b.at
			})
		}
		if in.Positions {
			for i, d := 0, out[int64](w, v); i < len(d); i++ {
				d[i] = int64(w.order[i].at)
			}
			return
		}
		for i, d := 0, out[T](w, v); i < len(d); i++ {
			d[i] = x[w.order[i].at]
		}
	}
}

// driveSort walks the rows, each of which is one tile.
func driveSort(r *run, par codegen.Parallel) error {
	r.buildRows()
	n := r.inner.n
	if n == 0 {
		return nil
	}
	r.pitchElems = max(tileLen, n)
	return par.For(r.outer.n, max(1, grain(r.exe.weight)/n), (*sortTask)(r))
}

type sortTask run

func (t *sortTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	w.startRow(lo)
	for range hi - lo {
		w.seek(&r.inner, 0, r.inner.n)
		w.aim()
		w.exec(r.exe.steps)
		w.flush(false)
		r.outer.advance(w.outer, w.base)
	}
}
