package interp

import (
	"unsafe"

	"github.com/sinter-ml/sinter/ir"
)

// elem is an element of a register. Integers of every width live in 64 bits,
// in the form of ir.DType.Wrap; a step that can leave the width wraps its
// results. An int64 and a uint64 are two ways to read the same bits, the second
// taken where U64 differs.
type elem interface {
	float64 | float32 | int64 | uint64 | uint8
}

// stored is an element of a buffer.
type stored interface {
	elem | int32 | int16 | int8 | uint32 | uint16 | ir.BFloat16 | ir.Float16 | ir.Float8E4M3 | ir.Float8E5M2
}

// lane is how values of a register type lie in a register.
type lane uint8

const (
	laneF64 lane = iota
	laneF32
	laneI64
	laneU64
	laneBool
)

// laneOf returns the lane of a register type.
func laneOf(t ir.DType) lane {
	switch {
	case t == ir.F64:
		return laneF64
	case t == ir.F32:
		return laneF32
	case t == ir.U64:
		return laneU64
	case t == ir.Bool:
		return laneBool
	}
	return laneI64
}

// size returns the bytes of one element in a register.
func (l lane) size() int {
	switch l {
	case laneF32:
		return 4
	case laneBool:
		return 1
	}
	return 8
}

// view returns the memory as elements of type T.
func view[T stored](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// sizeOf returns the bytes of one T.
func sizeOf[T stored]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// alloc returns n zero bytes aligned to 8.
func alloc(n int) []byte {
	words := make([]int64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:n]
}

// grow returns b if it holds n bytes, else a larger piece of memory; the
// contents are lost.
func grow(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	return alloc(n + n/2)[:n]
}

// bytesOf is the reverse of view.
func bytesOf[T elem](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// grown is grow for elements.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// reg is the value of an instruction over the current tile: one element for
// each point, or a single one that stands for all.
type reg struct {
	mem     []byte
	uniform bool
}

// vals returns the elements of r.
func vals[T elem](r *reg) []T { return view[T](r.mem) }

// out prepares the register of instruction v for w.n results: in its scratch,
// or in the output buffer if its store takes them as they are.
func out[T elem](w *worker, v int) []T {
	n := w.n * sizeOf[T]()
	mem := w.direct[v]
	if mem == nil {
		mem = w.scratchOf(v)
	}
	r := &w.regs[v]
	r.mem, r.uniform = mem[:n], w.n == 1
	return view[T](r.mem)
}

// outUniform prepares the register of instruction v for one result that
// stands for all.
func outUniform[T elem](w *worker, v int) []T {
	r := &w.regs[v]
	r.mem, r.uniform = w.scratchOf(v)[:sizeOf[T]()], true
	return view[T](r.mem)
}

// spread returns the w.n elements of a register, repeating a uniform one in
// the temporary given.
func spread[T elem](w *worker, v, temp int) []T {
	r := &w.regs[v]
	if !r.uniform {
		return vals[T](r)
	}
	t := view[T](w.temp(temp))[:w.n]
	fill(t, vals[T](r)[0])
	return t
}

func fill[T any](d []T, v T) {
	for i := range d {
		d[i] = v
	}
}
