package interp

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
)

// driveMap evaluates the body at each point. The axes are walked in the order
// in which the first output lies in memory.
func driveMap(r *run, par codegen.Parallel) error {
	axes := r.allAxes(0, len(r.dims))
	r.sortAxes(axes)
	r.outer.build(r.dims, axes, r.slots)
	return par.For(r.outer.n, max(tileLen, grain(r.exe.weight)), (*mapTask)(r))
}

// sortAxes orders axes by falling stride of the first store, so that writes
// go through memory in order; values do not depend on it.
func (r *run) sortAxes(axes []int) {
	strides := r.slots[r.exe.stores[0].slot].strides
	slices.SortStableFunc(axes, func(a, b int) int { return magnitude(strides[b]) - magnitude(strides[a]) })
}

func magnitude(a int) int {
	if a < 0 {
		return -a
	}
	return a
}

type mapTask run

func (t *mapTask) Run(id, lo, hi int) {
	r := (*run)(t)
	w := r.worker(id)
	for lo < hi {
		n := r.outer.tile(lo, hi, tileLen)
		w.seek(&r.outer, lo, n)
		w.aim()
		w.exec(r.exe.steps)
		w.flush(false)
		lo += n
	}
}
