package interp

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// store writes a value through an access.
type store struct {
	value  int
	slot   int
	buffer int
	row    bool
	masked bool
	size   int // bytes of an element in the buffer
	index  []int
	mode   ir.ScatterMode
	// direct says that the step of the value may write into the buffer: the
	// elements are stored as they are in registers and this is the value's
	// first store.
	direct bool
	last   bool // nothing is computed after the value, which at a point depends on that point alone
	write  func(w *worker, s *store)
	text   string
}

func (e *executable) newStore(i int) store {
	k := e.kernel
	src := &k.Stores[i]
	v := e.value[src.Value]
	b := k.Accesses[src.Access].Buffer
	s := store{
		value: v, slot: src.Access, buffer: b, mode: src.Mode, masked: k.Accesses[src.Access].Masked,
		row:  k.Body[v].Level == codegen.Row,
		last: v == e.lastStep() && k.Body[v].Op != codegen.OpSort, text: fmt.Sprintf("store access %d = %%%d", src.Access, v),
	}
	for _, x := range src.Index {
		s.index = append(s.index, e.value[x])
	}
	switch dt := k.Buffers[b].DType; laneOf(dt.Compute()) {
	case laneF64:
		prepareStore[float64](&s, dt)
	case laneF32:
		prepareStore[float32](&s, dt)
	case laneI64:
		prepareStore[int64](&s, dt)
	case laneU64:
		prepareStore[uint64](&s, dt)
	case laneBool:
		prepareStore[uint8](&s, dt)
	}
	for _, t := range e.stores {
		if t.value == v {
			s.direct = false
		}
	}
	return s
}

func prepareStore[T elem](s *store, dt ir.DType) {
	c := codecOf[T](dt)
	s.size = c.size
	s.direct = c.same && !s.row && !s.masked && len(s.index) == 0
	if len(s.index) > 0 {
		s.write = scatterTo(c, s.mode, dt)
		return
	}
	s.write = func(w *worker, s *store) { writeStore(w, s, c) }
}

// lastStep returns the value of the last step, -1 if there is none.
func (e *executable) lastStep() int {
	if len(e.steps) == 0 {
		return -1
	}
	return e.steps[len(e.steps)-1].value
}

// aim lets the steps of element values write straight into the output where
// the tile lies in one piece there.
func (w *worker) aim() {
	r := w.run
	for i := range r.exe.stores {
		s := &r.exe.stores[i]
		if !s.direct {
			continue
		}
		w.direct[s.value] = nil
		if r.aliased && (r.copyLoads || !s.last) {
			continue
		}
		if off, step, ok := w.span(s.slot); ok && step == 1 {
			w.direct[s.value] = r.mem[s.buffer][off*s.size : (off+w.n)*s.size]
		}
	}
}

// flush writes the element values, or the row values, of the tile to their
// outputs.
func (w *worker) flush(row bool) {
	stores := w.run.exe.stores
	for i := range stores {
		s := &stores[i]
		if s.row == row {
			s.write(w, s)
			if s.direct {
				w.direct[s.value] = nil
			}
		}
	}
}

func writeStore[T elem](w *worker, s *store, c *codec[T]) {
	r := &w.regs[s.value]
	src := vals[T](r)
	mem := w.run.mem[s.buffer]
	if off, step, ok := w.span(s.slot); ok && !s.masked {
		if d := w.direct[s.value]; s.direct && d != nil && !r.uniform && &d[0] == &r.mem[0] {
			return
		}
		c.writeRun(mem, off, step, src, r.uniform, w.n)
		return
	}
	for g := w.first(); g.n > 0; w.next(&g) {
		lo, hi := 0, g.n
		if s.masked {
			lo, hi = w.clip(s.slot, g.n)
		}
		if lo >= hi {
			continue
		}
		part := src
		if !r.uniform {
			part = src[g.at+lo : g.at+hi]
		}
		step := w.g.inner(s.slot)
		c.writeRun(mem, w.position(s.slot)+lo*step, step, part, r.uniform, hi-lo)
	}
}

// writeRun writes n elements to places step apart, or a uniform one n times.
func (c *codec[T]) writeRun(mem []byte, off, step int, src []T, uniform bool, n int) {
	if !uniform {
		c.write(mem, off, step, src[:n])
		return
	}
	for i := range n {
		c.write(mem, off+i*step, 1, src)
	}
}
