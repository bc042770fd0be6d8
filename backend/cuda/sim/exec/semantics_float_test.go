package exec

import (
	"math"
	"math/big"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// evaluateFloat is arithmetic in one format.
func evaluateFloat(o *ptx.Opcode, f *num.Format, in operands) (uint64, bool) {
	mask := ^uint64(0) >> (64 - f.Bits())
	a, b, c := in.x[0]&mask, in.x[1]&mask, in.x[2]&mask
	if o.Has(ptx.ModFtz) && f != num.F64 {
		a, b, c = f.Ftz(a), f.Ftz(b), f.Ftz(c)
	}
	r := num.RN
	for m, mode := range floatRounds {
		if o.Has(m) {
			r = mode
		}
	}
	sign := uint64(1) << (f.Bits() - 1)
	var d uint64
	switch o.Op {
	case ptx.OpMov:
		return a, true
	case ptx.OpAbs:
		return a &^ sign, true
	case ptx.OpNeg:
		return a ^ sign, true
	case ptx.OpCopysign:
		return a&sign | b&^sign, true
	case ptx.OpMin, ptx.OpMax:
		signs := (a ^ b) & sign
		if o.Has(ptx.ModXorsign) {
			a, b = a&^sign, b&^sign
		}
		d = extreme(f, a, b, o.Op == ptx.OpMax, o.Has(ptx.ModNaNMode))
		if o.Has(ptx.ModXorsign) && !f.IsNaN(d) {
			d |= signs
		}
		return d, true
	case ptx.OpEx2, ptx.OpLg2, ptx.OpRsqrt, ptx.OpSin, ptx.OpCos, ptx.OpTanh:
		fn := map[ptx.Op]func(uint32) uint32{ptx.OpEx2: num.Ex2, ptx.OpLg2: num.Lg2, ptx.OpRsqrt: num.Rsqrt, ptx.OpSin: num.Sin, ptx.OpCos: num.Cos, ptx.OpTanh: num.Tanh}[o.Op]
		switch {
		case f == num.F64 && o.Has(ptx.ModFtz):
			return num.RsqrtApproxF64(a), true
		case f == num.F64:
			return num.RsqrtF64(a), true
		case f == num.F32:
			d = uint64(fn(uint32(a)))
		default:
			d = f.Pack(float64(math.Float32frombits(fn(uint32(num.F32.Pack(f.Value(a), num.RN))))), num.RN)
		}
	case ptx.OpRcp:
		if f == num.F64 && o.Has(ptx.ModApprox) {
			return num.RcpApproxF64(a), true
		}
		d = arithmetic(f, ptx.OpDiv, f.Pack(1, num.RN), a, 0, r)
	case ptx.OpDiv:
		d = arithmetic(f, ptx.OpDiv, a, b, 0, r)
		if o.Has(ptx.ModApprox) {
			d = uint64(num.DivApprox(uint32(a), uint32(b)))
		}
	default:
		d = arithmetic(f, o.Op, a, b, c, r)
	}
	if o.Has(ptx.ModRelu) {
		d = f.Relu(d)
	}
	if o.Has(ptx.ModFtz) {
		d = f.Ftz(d)
	}
	if o.Has(ptx.ModSat) {
		d = f.Sat(d)
	}
	return d, true
}

// arithmetic rounds the exact result of finite operands, of others what float64
// arithmetic gives.
func arithmetic(f *num.Format, op ptx.Op, a, b, c uint64, r num.Round) uint64 {
	if f == num.F32 {
		x, y, z := uint32(a), uint32(b), uint32(c)
		switch op {
		case ptx.OpAdd:
			return uint64(num.AddF32R(x, y, r))
		case ptx.OpSub:
			return uint64(num.SubF32R(x, y, r))
		case ptx.OpMul:
			return uint64(num.MulF32R(x, y, r))
		case ptx.OpDiv:
			return uint64(num.DivF32R(x, y, r))
		case ptx.OpSqrt:
			return uint64(num.SqrtF32R(x, r))
		}
		return uint64(num.FmaF32R(x, y, z, r))
	}
	if f == num.F64 {
		switch op {
		case ptx.OpAdd:
			return num.AddF64R(a, b, r)
		case ptx.OpSub:
			return num.SubF64R(a, b, r)
		case ptx.OpMul:
			return num.MulF64R(a, b, r)
		case ptx.OpDiv:
			return num.DivF64R(a, b, r)
		case ptx.OpSqrt:
			return num.SqrtF64R(a, r)
		}
		return num.FmaF64R(a, b, c, r)
	}
	// The half types: float64 arithmetic and the exact one round alike, but for
	// an FMA, which big numbers add.
	x, y, z := f.Value(a), f.Value(b), f.Value(c)
	switch op {
	case ptx.OpAdd:
		return f.Pack(x+y, r)
	case ptx.OpSub:
		return f.Pack(x-y, r)
	case ptx.OpMul:
		return f.Pack(x*y, r)
	}
	p := x * y
	if s := p + z; s == 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		return f.Pack(s, r)
	}
	exact := new(big.Float).SetPrec(600).Add(new(big.Float).SetPrec(600).SetFloat64(p), new(big.Float).SetPrec(600).SetFloat64(z))
	s, accuracy := exact.SetMode(big.ToZero).SetPrec(53).Float64() // cut to odd
	if accuracy == big.Exact {
		accuracy = exact.Acc()
	}
	if accuracy != big.Exact {
		s = math.Float64frombits(math.Float64bits(s) | 1)
	}
	return f.Pack(s, r)
}

// extreme is the least or greatest of two values.
func extreme(f *num.Format, a, b uint64, greatest, nan bool) uint64 {
	x, y := f.Value(a), f.Value(b)
	switch {
	case math.IsNaN(x) && math.IsNaN(y), nan && (math.IsNaN(x) || math.IsNaN(y)):
		return f.Pack(math.NaN(), num.RN)
	case math.IsNaN(x):
		return b
	case math.IsNaN(y):
		return a
	case x == y && x == 0:
		return pick(math.Signbit(x) != greatest, a, b)
	}
	return pick(x < y != greatest, a, b)
}
