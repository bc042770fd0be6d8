package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scatterState is what a Scatter launch keeps beside the tiles.
type scatterState struct {
	tile int
	// wide holds, for each half buffer that values are joined to, its values in
	// F32: all updates of a place are joined before the one rounding.
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

// widenTargets copies the half buffers that values are joined to.
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
		if s.mode == ir.Assign || !r.exe.kernel.Buffers[s.buffer].DType.IsHalf() || len(st.wide[s.buffer]) > 0 {
			continue
		}
		mem := r.mem[s.buffer]
		st.wide[s.buffer] = grown(st.wide[s.buffer], len(mem)/s.size)
		r.exe.f32[s.buffer].read(st.wide[s.buffer], mem, 0, 1)
	}
}

// narrowTargets rounds what was joined to back into its buffer; what was not
// written keeps its bits.
func (r *run) narrowTargets() {
	old := view[float32](r.worker(0).temp(0))[:1]
	for b, wide := range r.scatter.wide {
		c := r.exe.f32[b]
		for i, x := range wide {
			c.read(old, r.mem[b], i, 1)
			if math.Float32bits(x) != math.Float32bits(old[0]) {
				c.write(r.mem[b], i, 1, wide[i:i+1])
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
			s := &r.exe.stores[i]
			s.write(w, s)
		}
		lo += n
	}
}

// scatterTo returns what writes the tile's values of a store to their indexed
// places, or joins them to what is there.
func scatterTo[T elem](c *codec[T], mode ir.ScatterMode, dt ir.DType) func(w *worker, s *store) {
	f := joining(c, mode)
	if !dt.IsHalf() {
		return func(w *worker, s *store) { scatter(w, s, w.run.mem[s.buffer], f) }
	}
	wide := joining(codecOf[T](ir.F32), mode)
	if mode == ir.Assign {
		wide = rounded(c)
	}
	return func(w *worker, s *store) {
		if t := w.run.scatter.wide[s.buffer]; len(t) > 0 {
			scatter(w, s, bytesOf(t), wide)
			return
		}
		scatter(w, s, w.run.mem[s.buffer], f)
	}
}

// put writes one element to a place of a buffer; tmp holds one more.
type put[T elem] func(mem []byte, place int, x, tmp []T)

// joining returns what joins a value to the element of a buffer at a place.
func joining[T elem](c *codec[T], mode ir.ScatterMode) put[T] {
	join := func(old, x T) T { return old + x }
	switch mode {
	case ir.Assign:
		return func(mem []byte, place int, x, _ []T) { c.write(mem, place, 1, x) }
	case ir.ScatterSum:
		if c.same {
			return func(mem []byte, place int, x, _ []T) { view[T](mem)[place] += x[0] }
		}
	case ir.ScatterMul:
		join = func(old, x T) T { return old * x }
	case ir.ScatterMin:
		join = func(old, x T) T { return min(old, x) }
	case ir.ScatterMax:
		join = func(old, x T) T { return max(old, x) }
	}
	return func(mem []byte, place int, x, tmp []T) {
		c.read(tmp, mem, place, 1)
		tmp[0] = join(tmp[0], x[0])
		c.write(mem, place, 1, tmp)
	}
}

// rounded returns what assigns a value, rounded as c does, to a place of an
// F32 copy.
func rounded[T elem](c *codec[T]) put[T] {
	return func(mem []byte, place int, x, tmp []T) {
		half := bytesOf(tmp)
		c.write(half, 0, 1, x)
		c.read(view[T](mem)[place:place+1], half, 0, 1)
	}
}

// scatter calls f for each point of the tile whose indices are in range.
func scatter[T elem](w *worker, s *store, mem []byte, f put[T]) {
	r := &w.regs[s.value]
	src := vals[T](r)
	tmp := view[T](w.temp(1))[:1]
	for g := w.first(); g.n > 0; w.next(&g) {
		for i, place := range w.places(s.slot, s.index, w.position(s.slot), w.g.inner(s.slot), g.at, g.n) {
			at := 0
			if !r.uniform {
				at = g.at + i
			}
			if place >= 0 {
				f(mem, int(place), src[at:at+1], tmp)
			}
		}
	}
}
