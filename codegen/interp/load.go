package interp

import "github.com/sinter-ml/sinter/codegen"

// load returns the step that reads an access into a register.
func (e *executable) load(v int, in *codegen.Instr, args []int) func(*worker) {
	switch laneOf(in.Type) {
	case laneF64:
		return loadStep[float64](e.kernel, v, in.Access, args)
	case laneF32:
		return loadStep[float32](e.kernel, v, in.Access, args)
	case laneI64:
		return loadStep[int64](e.kernel, v, in.Access, args)
	case laneU64:
		return loadStep[uint64](e.kernel, v, in.Access, args)
	}
	return loadStep[uint8](e.kernel, v, in.Access, args)
}

// loader reads elements of a buffer into a register.
type loader[T elem] struct {
	*codec[T]
	v      int
	slot   int
	buffer int
	index  []int
	fill   int
}

func loadStep[T elem](k *codegen.Kernel, v, access int, args []int) func(*worker) {
	a := &k.Accesses[access]
	l := &loader[T]{codec: codecOf[T](k.Buffers[a.Buffer].DType), v: v, slot: access, buffer: a.Buffer, index: args[:a.Indices]}
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
func (l *loader[T]) plain(w *worker) {
	if off, step, ok := w.span(l.slot); ok {
		l.straight(w, off, step)
		return
	}
	mem := w.run.mem[l.buffer]
	dst := out[T](w, l.v)
	for s := w.first(); s.n > 0; w.next(&s) {
		l.read(dst[s.at:s.at+s.n], mem, w.position(l.slot), w.g.inner(l.slot))
	}
}

// straight makes the register the elements from off on, step apart.
func (l *loader[T]) straight(w *worker, off, step int) {
	mem := w.run.mem[l.buffer]
	r := &w.regs[l.v]
	stay := l.same && !w.run.copyLoads
	switch {
	case step == 0 && stay:
		r.mem, r.uniform = mem[off*l.size:(off+1)*l.size], true
	case step == 0:
		l.read(outUniform[T](w, l.v), mem, off, 0)
	case step == 1 && stay:
		r.mem, r.uniform = mem[off*l.size:(off+w.n)*l.size], false
	default:
		l.read(out[T](w, l.v), mem, off, step)
	}
}

// indexed reads through one index value; tiles with one index for all points,
// such as the rows of an embedding, are read as a plain access.
func (l *loader[T]) indexed(w *worker) {
	x := &w.regs[l.index[0]]
	if off, step, ok := w.span(l.slot); ok && x.uniform {
		arg := w.run.launch.Access[l.slot].Index[0]
		i := vals[int64](x)[0]
		if i < 0 || i >= int64(arg.Extent) {
			w.run.fail(i, arg.Extent)
			outUniform[T](w, l.v)[0] = 0
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
func (l *loader[T]) general(w *worker) {
	mem := w.run.mem[l.buffer]
	var dst []T
	if w.n == 1 {
		dst = outUniform[T](w, l.v)
	} else {
		dst = out[T](w, l.v)
	}
	for s := w.first(); s.n > 0; w.next(&s) {
		lo, hi := w.clip(l.slot, s.n)
		d := dst[s.at : s.at+s.n]
		if hi > lo {
			step := w.g.inner(l.slot)
			off := w.position(l.slot) + lo*step
			if len(l.index) == 0 {
				l.read(d[lo:hi], mem, off, step)
			} else {
				l.pick(d[lo:hi], mem, w.places(l.slot, l.index, off, step, s.at+lo, hi-lo))
			}
		}
		if hi-lo < s.n {
			l.pad(w, d[:lo], s.at)
			l.pad(w, d[hi:], s.at+hi)
		}
	}
}

// clip returns the part of the current segment, n points long, that lies in
// the windows of an access; n, n if there is none.
func (w *worker) clip(access, n int) (lo, hi int) {
	r := w.run
	hi = n
	for _, x := range r.windows[r.winFrom[access]:r.winFrom[access+1]] {
		c := w.position(x.slot)
		if w.g.inner(x.slot) != 0 {
			lo, hi = max(lo, x.lo-c), min(hi, x.hi-c)
		} else if c < x.lo || c >= x.hi {
			hi = 0
		}
	}
	if lo >= hi {
		return n, n
	}
	return lo, hi
}

// places lists where n elements lie that index values say: those of the tile's
// points from at on. The place is −1 where an index is out of range, which
// fails the launch.
func (w *worker) places(access int, index []int, off, step, at, n int) []int64 {
	places := view[int64](w.temp(0))[:n]
	args := w.run.launch.Access[access].Index
	for i := range places {
		place := off
		for n, v := range index {
			x := pick(&w.regs[v], at+i)
			if x < 0 || x >= int64(args[n].Extent) {
				w.run.fail(x, args[n].Extent)
				place = -1
				break
			}
			place += int(x) * args[n].Stride
		}
		places[i] = int64(place)
		off += step
	}
	return places
}

// pick returns element i of an I64 register.
func pick(r *reg, i int) int64 {
	if r.uniform {
		i = 0
	}
	return vals[int64](r)[i]
}

// pad fills d with the fill value of the points from at on.
func (l *loader[T]) pad(w *worker, d []T, at int) {
	r := &w.regs[l.fill]
	if r.uniform {
		fill(d, vals[T](r)[0])
		return
	}
	copy(d, vals[T](r)[at:])
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
