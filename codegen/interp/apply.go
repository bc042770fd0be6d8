package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// unaryLoop applies a function to each element of a.
type unaryLoop[D, A elem] func(d []D, a []A)

// binaryLoops are the loops of a function of two operands, each of which may
// be a vector or a scalar.
type binaryLoops[D, A elem] struct {
	vv func(d []D, a, b []A)
	vs func(d []D, a []A, y A)
	sv func(d []D, x A, b []A)
}

// applyStep returns the step of OpApply; operand is the type of the last
// operand, which names the loop.
func applyStep(v int, in *codegen.Instr, args []int, operand ir.DType) func(*worker) {
	f := applyLoop(v, in, args, laneOf(operand))
	if leaves(in.Fn) {
		return wrapped(f, v, in.Type)
	}
	return f
}

func applyLoop(v int, in *codegen.Instr, args []int, l lane) func(*worker) {
	switch in.Fn {
	case ir.SWhere:
		switch l {
		case laneF64:
			return whereStep[float64](v, args)
		case laneF32:
			return whereStep[float32](v, args)
		case laneBool:
			return whereStep[uint8](v, args)
		}
		return whereStep[int64](v, args)
	case ir.SMulAdd:
		switch l {
		case laneF64:
			return ternaryStep(v, args, mulAddLoopF64)
		case laneF32:
			return ternaryStep(v, args, mulAddLoopF32)
		}
		return ternaryStep(v, args, mulAddLoopI64)
	}
	toBool := in.Type == ir.Bool
	if len(args) == 1 {
		switch {
		case l == laneF64 && toBool:
			return unaryStep(v, args[0], unaryF64ToBool[in.Fn])
		case l == laneF64:
			return unaryStep(v, args[0], unaryF64ToF64[in.Fn])
		case l == laneF32 && toBool:
			return unaryStep(v, args[0], unaryF32ToBool[in.Fn])
		case l == laneF32:
			return unaryStep(v, args[0], unaryF32ToF32[in.Fn])
		case l == laneI64:
			return unaryStep(v, args[0], unaryI64ToI64[in.Fn])
		case l == laneU64:
			return unaryStep(v, args[0], unaryU64ToU64[in.Fn])
		}
		return unaryStep(v, args[0], unaryBoolToBool[in.Fn])
	}
	switch {
	case l == laneF64 && toBool:
		return binaryStep(v, args, binaryF64ToBool[in.Fn])
	case l == laneF64:
		return binaryStep(v, args, binaryF64ToF64[in.Fn])
	case l == laneF32 && toBool:
		return binaryStep(v, args, binaryF32ToBool[in.Fn])
	case l == laneF32:
		return binaryStep(v, args, binaryF32ToF32[in.Fn])
	case l == laneI64 && toBool:
		return binaryStep(v, args, binaryI64ToBool[in.Fn])
	case l == laneI64:
		return binaryStep(v, args, binaryI64ToI64[in.Fn])
	case l == laneU64 && toBool:
		return binaryStep(v, args, binaryU64ToBool[in.Fn])
	case l == laneU64:
		return binaryStep(v, args, binaryU64ToU64[in.Fn])
	}
	return binaryStep(v, args, binaryBoolToBool[in.Fn])
}

// leaves reports whether results of integers can leave the width of their
// operands.
func leaves(fn ir.ScalarOp) bool {
	switch fn {
	case ir.SAbs, ir.SNeg, ir.SBitNot, ir.SAdd, ir.SSub, ir.SMul, ir.SDiv, ir.SFloorDiv, ir.SPow, ir.SShl, ir.SMulAdd:
		return true
	}
	return false
}

// wrapped returns a step followed by one that wraps its results to the width
// of t, where registers are wider.
func wrapped(f func(*worker), v int, t ir.DType) func(*worker) {
	if !t.IsInt() || t.Size() == 8 {
		return f
	}
	return func(w *worker) {
		f(w)
		wrap(vals[int64](&w.regs[v]), t)
	}
}

// wrap brings integers into the form a register of type t has.
func wrap(d []int64, t ir.DType) {
	shift := 64 - 8*t.Size()
	if t.IsSigned() {
		for i, x := range d {
			d[i] = x << shift >> shift
		}
		return
	}
	for i, x := range d {
		d[i] = int64(uint64(x) << shift >> shift)
	}
}

func unaryStep[D, A elem](v, a int, f unaryLoop[D, A]) func(*worker) {
	return func(w *worker) {
		x := &w.regs[a]
		if x.uniform {
			f(outUniform[D](w, v), vals[A](x))
			return
		}
		f(out[D](w, v), vals[A](x))
	}
}

func binaryStep[D, A elem](v int, args []int, f binaryLoops[D, A]) func(*worker) {
	a, b := args[0], args[1]
	return func(w *worker) {
		x, y := &w.regs[a], &w.regs[b]
		switch {
		case x.uniform && y.uniform:
			f.vv(outUniform[D](w, v), vals[A](x), vals[A](y))
		case y.uniform:
			f.vs(out[D](w, v), vals[A](x), vals[A](y)[0])
		case x.uniform:
			f.sv(out[D](w, v), vals[A](x)[0], vals[A](y))
		default:
			f.vv(out[D](w, v), vals[A](x), vals[A](y))
		}
	}
}

// ternaryStep spreads uniform operands: functions of three operands have one
// loop only.
func ternaryStep[T elem](v int, args []int, f func(d, a, b, c []T)) func(*worker) {
	a, b, c := args[0], args[1], args[2]
	return func(w *worker) {
		x, y, z := &w.regs[a], &w.regs[b], &w.regs[c]
		if x.uniform && y.uniform && z.uniform {
			f(outUniform[T](w, v), vals[T](x), vals[T](y), vals[T](z))
			return
		}
		f(out[T](w, v), spread[T](w, a, 0), spread[T](w, b, 1), spread[T](w, c, 2))
	}
}

func whereStep[T elem](v int, args []int) func(*worker) {
	m, a, b := args[0], args[1], args[2]
	return func(w *worker) {
		mask, x, y := &w.regs[m], &w.regs[a], &w.regs[b]
		if mask.uniform && x.uniform && y.uniform {
			where(outUniform[T](w, v), mask.mem, vals[T](x), vals[T](y))
			return
		}
		where(out[T](w, v), spread[uint8](w, m, 0), spread[T](w, a, 1), spread[T](w, b, 2))
	}
}

func where[T elem](d []T, mask []uint8, a, b []T) {
	mask, a, b = mask[:len(d)], a[:len(d)], b[:len(d)]
	for i, m := range mask {
		x := b[i]
		if m != 0 {
			x = a[i]
		}
		d[i] = x
	}
}

func mulAddLoopF32(d, a, b, c []float32) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = mulAdd(a[i], b[i], c[i])
	}
}

func mulAddLoopF64(d, a, b, c []float64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = math.FMA(a[i], b[i], c[i])
	}
}

func mulAddLoopI64(d, a, b, c []int64) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}
