package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// castStep returns the step of OpCast. Halves and 8-bit floats live in F32
// registers: a cast from one of them is a cast from F32.
func castStep(v int, in *codegen.Instr, a int) func(*worker) {
	to := in.To
	if in.From == to {
		to = to.Compute() // rounded already
	}
	switch laneOf(in.From.Compute()) {
	case laneF64:
		return castFrom(v, a, to, in.Overflow, ir.OddFloat32, func(x float64) float64 { return x })
	case laneF32:
		switch to {
		case ir.BF16:
			return unaryStep(v, a, f32ToBF16)
		case ir.I64:
			return unaryStep(v, a, f32ToI64)
		}
		return castFrom(v, a, to, in.Overflow, func(x float32) float32 { return x }, func(x float32) float64 { return float64(x) })
	case laneI64:
		return castInt(v, a, to, in.Overflow, ir.OddFloat64)
	case laneU64:
		return castInt(v, a, to, in.Overflow, ir.OddFloat64Unsigned)
	}
	return castInt(v, a, to, in.Overflow, func(x uint8) float64 { return float64(x) })
}

// castFrom casts floats: narrow rounds one to a float32 so that rounding that
// again is right, wide makes it a float64 exactly.
func castFrom[A float32 | float64](v, a int, to ir.DType, overflow bool, narrow func(A) float32, wide func(A) float64) func(*worker) {
	switch {
	case to == ir.F64:
		return unaryStep(v, a, convert[float64, A])
	case to == ir.F32:
		return unaryStep(v, a, convert[float32, A])
	case to == ir.Bool:
		return unaryStep(v, a, toBool[A])
	case to == ir.U64:
		return unaryStep(v, a, func(d []uint64, x []A) {
			for i := range d {
				d[i] = floatToU64(wide(x[i]))
			}
		})
	case to.IsInt():
		least, greatest := to.Limits()
		return unaryStep(v, a, func(d []int64, x []A) {
			for i := range d {
				d[i] = min(max(floatToI64(wide(x[i])), least), int64(greatest))
			}
		})
	}
	round := rounding(to, overflow)
	return unaryStep(v, a, func(d []float32, x []A) {
		for i := range d {
			d[i] = round(narrow(x[i]))
		}
	})
}

// castInt casts integers and bools; odd makes one a float64 so that rounding
// that again is right.
func castInt[A int64 | uint64 | uint8](v, a int, to ir.DType, overflow bool, odd func(A) float64) func(*worker) {
	switch {
	case to == ir.F64:
		return unaryStep(v, a, convert[float64, A])
	case to == ir.F32:
		return unaryStep(v, a, func(d []float32, x []A) { intToF32(d, x, odd) })
	case to == ir.Bool:
		return unaryStep(v, a, toBool[A])
	case to.IsInt():
		return wrapped(unaryStep(v, a, convert[int64, A]), v, to)
	}
	round := rounding(to, overflow)
	return unaryStep(v, a, func(d []float32, x []A) {
		for i := range d {
			d[i] = round(ir.OddFloat32(odd(x[i])))
		}
	})
}

// intToF32 goes through float64, exactly or rounded to odd: Go's own conversion
// of an int64 rounds twice on some platforms.
func intToF32[A int64 | uint64 | uint8](d []float32, a []A, odd func(A) float64) {
	for i, x := range a[:len(d)] {
		f := float64(x)
		if f > 1<<53 || f < -1<<53 {
			f = odd(x)
		}
		d[i] = float32(f)
	}
}

// rounding returns the function that rounds to a float of 16 or 8 bits, ties
// to even; overflow says that too large an 8-bit float does not saturate.
func rounding(to ir.DType, overflow bool) func(float32) float32 {
	switch to {
	case ir.F16:
		return func(x float32) float32 { return ir.Float16FromFloat32(x).Float32() }
	case ir.F8E4M3:
		return func(x float32) float32 { return ir.Float8E4M3FromFloat32(x, !overflow).Float32() }
	case ir.F8E5M2:
		return func(x float32) float32 { return ir.Float8E5M2FromFloat32(x, !overflow).Float32() }
	}
	return func(x float32) float32 { return ir.BFloat16FromFloat32(x).Float32() }
}

// convert is Go's conversion, which rounds once to nearest even.
func convert[D, A elem](d []D, a []A) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = D(x)
	}
}

func f32ToBF16(d, a []float32) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = ir.BFloat16FromFloat32(x).Float32()
	}
}

func f32ToI64(d []int64, a []float32) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = floatToI64(float64(x))
	}
}

// floatToI64 truncates and saturates; NaN gives 0.
func floatToI64(x float64) int64 {
	switch {
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	case x != x:
		return 0
	}
	return int64(x)
}

// floatToU64 is floatToI64 for U64.
func floatToU64(x float64) uint64 {
	switch {
	case x >= 1<<64:
		return math.MaxUint64
	case x >= 1<<63:
		return uint64(int64(x-1<<63)) | 1<<63
	case x > 0:
		return uint64(int64(x))
	}
	return 0
}

// toBool gives 1 for everything but zeros; NaN is true.
func toBool[A elem](d []uint8, a []A) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = bit(x != 0)
	}
}

// bitcastStep returns the step of OpBitcast: what a store and a load as the
// other dtype would do.
func bitcastStep(v int, in *codegen.Instr, a int) func(*worker) {
	write := writeBits(in.From)
	switch laneOf(in.To.Compute()) {
	case laneF64:
		return readBits[float64](v, a, in.To, write)
	case laneF32:
		return readBits[float32](v, a, in.To, write)
	case laneU64:
		return readBits[uint64](v, a, in.To, write)
	}
	return readBits[int64](v, a, in.To, write)
}

// writeBits returns what stores a register as the dtype.
func writeBits(dt ir.DType) func(mem []byte, r *reg) {
	switch laneOf(dt.Compute()) {
	case laneF64:
		return writeReg[float64](dt)
	case laneF32:
		return writeReg[float32](dt)
	case laneU64:
		return writeReg[uint64](dt)
	}
	return writeReg[int64](dt)
}

func writeReg[T elem](dt ir.DType) func(mem []byte, r *reg) {
	c := codecOf[T](dt)
	return func(mem []byte, r *reg) { c.write(mem, 0, 1, vals[T](r)) }
}

func readBits[T elem](v, a int, to ir.DType, write func(mem []byte, r *reg)) func(*worker) {
	c := codecOf[T](to)
	return func(w *worker) {
		x := &w.regs[a]
		t := w.temp(0)
		write(t, x)
		if x.uniform {
			c.read(outUniform[T](w, v), t, 0, 1)
			return
		}
		c.read(out[T](w, v), t, 0, 1)
	}
}
