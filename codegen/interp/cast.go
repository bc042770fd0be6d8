package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// castStep returns the step of OpCast. BF16 values live in F32 registers, so
// a cast from BF16 is one from F32.
func castStep(v int, in *codegen.Instr, a int) func(*worker) {
	if in.From == in.To {
		in = &codegen.Instr{From: in.From.Compute(), To: in.To.Compute()}
	}
	switch in.From.Compute() {
	case ir.F32:
		switch in.To {
		case ir.F32:
			return unaryStep(v, a, convert[float32, float32])
		case ir.BF16:
			return unaryStep(v, a, f32ToBF16)
		case ir.I64:
			return unaryStep(v, a, f32ToI64)
		case ir.Bool:
			return unaryStep(v, a, toBool[float32])
		}
	case ir.I64:
		switch in.To {
		case ir.F32:
			return unaryStep(v, a, convert[float32, int64])
		case ir.BF16:
			return unaryStep(v, a, i64ToBF16)
		case ir.I64:
			return unaryStep(v, a, convert[int64, int64])
		case ir.Bool:
			return unaryStep(v, a, toBool[int64])
		}
	case ir.Bool:
		switch in.To {
		case ir.F32, ir.BF16:
			return unaryStep(v, a, convert[float32, uint8])
		case ir.I64:
			return unaryStep(v, a, convert[int64, uint8])
		case ir.Bool:
			return unaryStep(v, a, convert[uint8, uint8])
		}
	}
	return nil
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

func i64ToBF16(d []float32, a []int64) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = ir.BFloat16FromInt64(x).Float32()
	}
}

// f32ToI64 truncates and saturates; NaN gives 0.
func f32ToI64(d []int64, a []float32) {
	a = a[:len(d)]
	for i, x := range a {
		switch {
		case x >= 1<<63:
			d[i] = math.MaxInt64
		case x < -1<<63:
			d[i] = math.MinInt64
		case x != x:
			d[i] = 0
		default:
			d[i] = int64(x)
		}
	}
}

// toBool gives 1 for everything but zeros; NaN is true.
func toBool[A elem](d []uint8, a []A) {
	a = a[:len(d)]
	for i, x := range a {
		d[i] = bit(x != 0)
	}
}
