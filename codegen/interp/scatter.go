package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scatterState is what a Scatter launch keeps beside the tiles.
type scatterState struct {
	tile int
	// wide holds, for each BF16 buffer that is added to, its values in F32:
	// all updates of a place are added before the one rounding.
	wide [][]float32
}

// driveScatter walks the points in order on one worker, since later updates of
// a place must come after earlier ones.
func driveScatter(r *run, par codegen.Parallel) error {
	r.outer.build(r.dims, r.allAxes(0, len(r.dims)), r.slots)
	if r.outer.n == 0 {
		return nil
	}
	st := &r.scatter
	stores := r.exe.stores
	st.tile = tileLen
	for i := range stores {
		for j := range stores[:i] {
			if stores[i].buffer == stores[j].buffer {
				st.tile = 1 // the stores of a point come before those of the next
			}
		}
	}
	r.widenTargets()
	err := par.For(1, 1, (*scatterTask)(r))
	if err == nil {
		r.narrowTargets()
	}
	return err
}

// widenTargets copies the BF16 buffers that are added to.
func (r *run) widenTargets() {
	st := &r.scatter
	for len(st.wide) < len(r.mem) {
		st.wide = append(st.wide, nil)
	}
	for i := range st.wide {
		st.wide[i] = st.wide[i][:0]
	}
	for i := range r.exe.stores {
		s := &r.exe.stores[i]
		if s.add && r.exe.kernel.Buffers[s.buffer].DType == ir.BF16 && len(st.wide[s.buffer]) == 0 {
			src := view[ir.BFloat16](r.mem[s.buffer])
			st.wide[s.buffer] = growF32(st.wide[s.buffer], len(src))
			widenBF16(st.wide[s.buffer], src)
		}
	}
}

// narrowTargets rounds what was added to back into its buffer; what was not
// written keeps its bits.
func (r *run) narrowTargets() {
	for b, wide := range r.scatter.wide {
		if len(wide) == 0 {
			continue
		}
		dst := view[ir.BFloat16](r.mem[b])
		for i, x := range wide {
			if math.Float32bits(x) != math.Float32bits(dst[i].Float32()) {
				dst[i] = ir.BFloat16FromFloat32(x)
			}
		}
	}
}

type scatterTask run

func (t *scatterTask) Run(id, _, _ int) {
	r := (*run)(t)
	w := r.worker(id)
	for lo := 0; lo < r.outer.n; {
		n := r.outer.tile(lo, r.outer.n, r.scatter.tile)
		w.seek(&r.outer, lo, n)
		w.exec(r.exe.steps)
		for i := range r.exe.stores {
			w.scatter(&r.exe.stores[i])
		}
		lo += n
	}
}

// scatter writes the tile's values of a store to their indexed places.
func (w *worker) scatter(s *store) {
	r := w.run
	switch r.exe.kernel.Buffers[s.buffer].DType {
	case ir.F32:
		scatterTo(w, s, view[float32](r.mem[s.buffer]), addTo[float32](s))
	case ir.I64:
		scatterTo(w, s, view[int64](r.mem[s.buffer]), addTo[int64](s))
	case ir.Bool:
		scatterTo(w, s, view[uint8](r.mem[s.buffer]), assign[uint8])
	case ir.BF16:
		switch wide := r.scatter.wide[s.buffer]; {
		case len(wide) == 0:
			scatterTo(w, s, view[ir.BFloat16](r.mem[s.buffer]), assignBF16)
		case s.add:
			scatterTo(w, s, wide, addTo[float32](s))
		default:
			scatterTo(w, s, wide, assignRounded)
		}
	}
}

func addTo[T float32 | int64](s *store) func(d *T, x T) {
	if s.add {
		return add[T]
	}
	return assign[T]
}

func add[T float32 | int64](d *T, x T) { *d += x }

func assign[T elem](d *T, x T) { *d = x }

func assignBF16(d *ir.BFloat16, x float32) { *d = ir.BFloat16FromFloat32(x) }

func assignRounded(d *float32, x float32) { *d = ir.BFloat16FromFloat32(x).Float32() }

// scatterTo calls put for each point of the tile whose indices are in range.
func scatterTo[T elem, S stored](w *worker, s *store, dst []S, put func(d *S, x T)) {
	r := &w.regs[s.value]
	src := vals[T](r)
	args := w.run.launch.Access[s.slot].Index
	for g := w.first(); g.n > 0; w.next(&g) {
		off, step := w.position(s.slot), w.g.inner(s.slot)
	points:
		for i := g.at; i < g.at+g.n; i++ {
			place := off
			off += step
			for n, v := range s.index {
				x := pick(&w.regs[v], i)
				if x < 0 || x >= int64(args[n].Extent) {
					w.run.fail(x, args[n].Extent)
					continue points
				}
				place += int(x) * args[n].Stride
			}
			if r.uniform {
				put(&dst[place], src[0])
			} else {
				put(&dst[place], src[i])
			}
		}
	}
}
