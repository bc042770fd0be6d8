package interp

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// load returns the step that reads an access into a register.
func (e *executable) load(v int, in *codegen.Instr, args []int) func(*worker) {
	a := &e.kernel.Accesses[in.Access]
	switch e.kernel.Buffers[a.Buffer].DType {
	case ir.F32:
		return loadStep(&loader[float32, float32]{v: v, slot: in.Access, buffer: a.Buffer, same: true}, a, args)
	case ir.I64:
		return loadStep(&loader[int64, int64]{v: v, slot: in.Access, buffer: a.Buffer, same: true}, a, args)
	case ir.Bool:
		return loadStep(&loader[uint8, uint8]{v: v, slot: in.Access, buffer: a.Buffer, same: true}, a, args)
	case ir.BF16:
		return loadStep(&loader[float32, ir.BFloat16]{v: v, slot: in.Access, buffer: a.Buffer}, a, args)
	}
	return nil
}

// loader reads elements stored as S into a register of D.
type loader[D elem, S stored] struct {
	v      int
	slot   int
	buffer int
	same   bool // S is D: a straight run is used where it lies
	index  []int
	fill   int
}

func loadStep[D elem, S stored](l *loader[D, S], a *codegen.Access, args []int) func(*worker) {
	l.index = args[:a.Indices]
	if a.Masked {
		l.fill = args[a.Indices]
	}
	switch {
	case a.Masked || a.Indices > 1:
		return l.general
	case a.Indices == 1:
		return l.indexed
	}
	return l.plain
}

// plain reads an access without indices or windows.
func (l *loader[D, S]) plain(w *worker) {
	if off, step, ok := w.span(l.slot); ok {
		l.straight(w, off, step)
		return
	}
	src := view[S](w.run.mem[l.buffer])
	dst := out[D](w, l.v)
	for s := w.first(); s.n > 0; w.next(&s) {
		gather(dst[s.at:s.at+s.n], src, w.position(l.slot), w.g.inner(l.slot))
	}
}

// straight makes the register the elements from off on, step apart.
func (l *loader[D, S]) straight(w *worker, off, step int) {
	mem := w.run.mem[l.buffer]
	r := &w.regs[l.v]
	size := sizeOf[S]()
	switch {
	case step == 0:
		if l.same && !w.run.copyLoads {
			r.mem, r.uniform = mem[off*size:(off+1)*size], true
			return
		}
		outUniform[D](w, l.v)[0] = widen[D](view[S](mem)[off])
	case step == 1 && l.same && !w.run.copyLoads:
		r.mem, r.uniform = mem[off*size:(off+w.n)*size], false
	default:
		gather(out[D](w, l.v), view[S](mem), off, step)
	}
}

// indexed reads through one index value; tiles with one index for all points,
// such as the rows of an embedding, are read as a plain access.
func (l *loader[D, S]) indexed(w *worker) {
	x := &w.regs[l.index[0]]
	if off, step, ok := w.span(l.slot); ok && x.uniform {
		arg := w.run.launch.Access[l.slot].Index[0]
		i := vals[int64](x)[0]
		if i < 0 || i >= int64(arg.Extent) {
			w.run.fail(i, arg.Extent)
			outUniform[D](w, l.v)[0] = 0
			return
		}
		l.straight(w, off+int(i)*arg.Stride, step)
		return
	}
	l.general(w)
}

// general reads any access: inside the windows, at the place the indices say;
// the fill value elsewhere. What lies outside the windows is not read, nor are
// its indices looked at.
func (l *loader[D, S]) general(w *worker) {
	r := w.run
	src := view[S](r.mem[l.buffer])
	windows := r.windows[r.winFrom[l.slot]:r.winFrom[l.slot+1]]
	uniform := w.n == 1
	var dst []D
	if uniform {
		dst = outUniform[D](w, l.v)
	} else {
		dst = out[D](w, l.v)
	}
	for s := w.first(); s.n > 0; w.next(&s) {
		lo, hi := 0, s.n
		for _, x := range windows {
			c := w.position(x.slot)
			if w.g.inner(x.slot) == 0 {
				if c < x.lo || c >= x.hi {
					hi = 0
				}
				continue
			}
			lo, hi = max(lo, x.lo-c), min(hi, x.hi-c)
		}
		if lo >= hi {
			lo, hi = s.n, s.n
		}
		d := dst[s.at : s.at+s.n]
		if hi > lo {
			step := w.g.inner(l.slot)
			off := w.position(l.slot) + lo*step
			if len(l.index) == 0 {
				gather(d[lo:hi], src, off, step)
			} else {
				l.lookUp(w, d[lo:hi], src, off, step, s.at+lo)
			}
		}
		if hi-lo < s.n {
			l.pad(w, d[:lo], s.at)
			l.pad(w, d[hi:], s.at+hi)
		}
	}
}

// lookUp reads d at indexed places; the indices are those of the tile's points
// from at on.
func (l *loader[D, S]) lookUp(w *worker, d []D, src []S, off, step, at int) {
	args := w.run.launch.Access[l.slot].Index
	for i := range d {
		place := off
		ok := true
		for n, v := range l.index {
			x := pick(&w.regs[v], at+i)
			if x < 0 || x >= int64(args[n].Extent) {
				w.run.fail(x, args[n].Extent)
				ok = false
				break
			}
			place += int(x) * args[n].Stride
		}
		d[i] = 0
		if ok {
			d[i] = widen[D](src[place])
		}
		off += step
	}
}

// pick returns element i of an I64 register.
func pick(r *reg, i int) int64 {
	if r.uniform {
		i = 0
	}
	return vals[int64](r)[i]
}

// pad fills d with the fill value of the points from at on.
func (l *loader[D, S]) pad(w *worker, d []D, at int) {
	r := &w.regs[l.fill]
	if r.uniform {
		fill(d, vals[D](r)[0])
		return
	}
	copy(d, vals[D](r)[at:])
}

// widen converts a stored element to its register type, exactly.
func widen[D elem, S stored](s S) D {
	switch x := any(s).(type) {
	case ir.BFloat16:
		return D(x.Float32())
	case float32:
		return D(x)
	case int64:
		return D(x)
	case uint8:
		return D(x)
	}
	return 0
}

// gather reads len(d) elements from off on, step apart.
func gather[D elem, S stored](d []D, src []S, off, step int) {
	switch {
	case step == 1:
		widenAll(d, src[off:off+len(d)])
	case step == 0:
		fill(d, widen[D](src[off]))
	default:
		gatherStep(d, src, off, step)
	}
}

func widenAll[D elem, S stored](d []D, src []S) {
	switch s := any(src).(type) {
	case []D:
		copy(d, s)
	case []ir.BFloat16:
		widenBF16(any(d).([]float32), s)
	}
}

func widenBF16(d []float32, s []ir.BFloat16) {
	s = s[:len(d)]
	for i := range d {
		d[i] = s[i].Float32()
	}
}

func gatherStep[D elem, S stored](d []D, src []S, off, step int) {
	switch s := any(src).(type) {
	case []D:
		for i := range d {
			d[i] = s[off]
			off += step
		}
	case []ir.BFloat16:
		d := any(d).([]float32)
		for i := range d {
			d[i] = s[off].Float32()
			off += step
		}
	}
}

// coordStep reads a slot as a value: a coordinate or a position.
func coordStep(v, slot int) func(*worker) {
	return func(w *worker) {
		if off, step, ok := w.span(slot); ok && step == 0 {
			outUniform[int64](w, v)[0] = int64(off)
			return
		}
		w.positions(out[int64](w, v), slot)
	}
}

// positions writes the value of a slot at each point of the tile.
func (w *worker) positions(d []int64, slot int) {
	if off, step, ok := w.span(slot); ok {
		ramp(d, off, step)
		return
	}
	for s := w.first(); s.n > 0; w.next(&s) {
		ramp(d[s.at:s.at+s.n], w.position(slot), w.g.inner(slot))
	}
}

func ramp(d []int64, from, step int) {
	for i := range d {
		d[i] = int64(from)
		from += step
	}
}
