package interp

import (
	"unsafe"

	"github.com/sinter-ml/sinter/ir"
)

// elem is an element of a register: F32, I64 and Bool values.
type elem interface{ float32 | int64 | uint8 }

// stored is an element of a buffer.
type stored interface {
	float32 | int64 | uint8 | ir.BFloat16
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
