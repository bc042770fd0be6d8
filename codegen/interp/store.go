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
	size   int // bytes of an element in the buffer
	index  []int
	add    bool
	// direct says that the step of the value may write into the buffer: the
	// element types agree and this is the value's first store.
	direct bool
	last   bool // nothing is computed after the value
	write  func(w *worker, s *store)
	text   string
}

func (e *executable) newStore(i int) store {
	k := e.kernel
	src := &k.Stores[i]
	v := e.value[src.Value]
	b := k.Accesses[src.Access].Buffer
	dt := k.Buffers[b].DType
	s := store{
		value: v, slot: src.Access, buffer: b, size: dt.Size(), add: src.Mode == ir.ScatterSum,
		row:  k.Body[v].Level == codegen.Row,
		last: v == e.lastStep(), text: fmt.Sprintf("store access %d = %%%d", src.Access, v),
	}
	for _, x := range src.Index {
		s.index = append(s.index, e.value[x])
	}
	s.direct = dt != ir.BF16 && !s.row && len(s.index) == 0
	for _, t := range e.stores {
		if t.value == v {
			s.direct = false
		}
	}
	switch dt {
	case ir.F32:
		s.write = writeStore[float32]
	case ir.I64:
		s.write = writeStore[int64]
	case ir.Bool:
		s.write = writeStore[uint8]
	case ir.BF16:
		s.write = writeBF16
	}
	return s
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

func writeStore[T elem](w *worker, s *store) {
	r := &w.regs[s.value]
	src := vals[T](r)
	dst := view[T](w.run.mem[s.buffer])
	if off, step, ok := w.span(s.slot); ok {
		if d := w.direct[s.value]; s.direct && d != nil && !r.uniform && &d[0] == &r.mem[0] {
			return
		}
		scatterRun(dst, off, step, src, r.uniform, w.n)
		return
	}
	for g := w.first(); g.n > 0; w.next(&g) {
		part := src
		if !r.uniform {
			part = src[g.at:]
		}
		scatterRun(dst, w.position(s.slot), w.g.inner(s.slot), part, r.uniform, g.n)
	}
}

// scatterRun writes n elements to places step apart.
func scatterRun[T elem](dst []T, off, step int, src []T, uniform bool, n int) {
	switch {
	case n == 1:
		dst[off] = src[0]
	case uniform && step == 1:
		fill(dst[off:off+n], src[0])
	case uniform:
		for range n {
			dst[off] = src[0]
			off += step
		}
	case step == 1:
		copy(dst[off:off+n], src)
	default:
		for _, x := range src[:n] {
			dst[off] = x
			off += step
		}
	}
}

func writeBF16(w *worker, s *store) {
	r := &w.regs[s.value]
	src := vals[float32](r)
	dst := view[ir.BFloat16](w.run.mem[s.buffer])
	if off, step, ok := w.span(s.slot); ok {
		narrowRun(dst, off, step, src, r.uniform, w.n)
		return
	}
	for g := w.first(); g.n > 0; w.next(&g) {
		part := src
		if !r.uniform {
			part = src[g.at:]
		}
		narrowRun(dst, w.position(s.slot), w.g.inner(s.slot), part, r.uniform, g.n)
	}
}

// narrowRun is scatterRun with rounding to BF16.
func narrowRun(dst []ir.BFloat16, off, step int, src []float32, uniform bool, n int) {
	if uniform {
		x := ir.BFloat16FromFloat32(src[0])
		for range n {
			dst[off] = x
			off += step
		}
		return
	}
	for _, x := range src[:n] {
		dst[off] = ir.BFloat16FromFloat32(x)
		off += step
	}
}
