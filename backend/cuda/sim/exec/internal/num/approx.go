package num

import "math"

// The approximations of f32 compute in float64 and round to the nearest f32, so
// that each is off by little more than half an ulp. Hardware gives other bits:
// the bounds below are those of the PTX manual, within which both lie. Without
// .ftz subnormals are kept.

// Ex2 is 2^a; hardware: relative error at most 2⁻²².
func Ex2(a uint32) uint32 {
	x := float64(f32(a))
	switch {
	case x != x:
		return NaN32
	case x >= 128:
		return 0x7f800000
	case x < -151:
		return 0
	}
	return math.Float32bits(float32(exp2(x)))
}

// exp2 is 2^x for |x| ≤ 1000 with a relative error below 1e-11: the Taylor
// series of e^(f·ln 2) to the ninth power, f at most 1/2, in pairs.
func exp2(x float64) float64 {
	const magic = 3 << 51 // whose sum with x has the nearest integer in its low bits
	n := x + magic
	f := float64((x - (n - magic)) * math.Ln2)
	f2 := float64(f * f)
	f4 := float64(f2 * f2)
	p0 := 1 + f
	p2 := 0.5 + float64(f*(1.0/6))
	p4 := 1.0/24 + float64(f*(1.0/120))
	p6 := 1.0/720 + float64(f*(1.0/5040))
	p8 := 1.0/40320 + float64(f*(1.0/362880))
	p := p0 + float64(f2*p2) + float64(f4*(p4+float64(f2*p6)+float64(f4*p8)))
	return p * math.Float64frombits((math.Float64bits(n)+1023)<<52)
}

// Lg2 is the logarithm to base 2; hardware: absolute error at most 2⁻²² for
// operands in [1/2, 2], relative error at most 2⁻²² elsewhere.
func Lg2(a uint32) uint32 {
	x := float64(f32(a))
	if x == 1 {
		return 0
	}
	return bits32(float32(math.Log2(x)))
}

// Of the others: rcp.approx is off by at most 1 ulp, sqrt.approx by a relative
// error of 2⁻²³, div.full by 2 ulp; they are RcpF32, SqrtF32 and DivF32 here.

// Rsqrt is 1/√a; hardware: relative error at most 2⁻²²·⁹.
func Rsqrt(a uint32) uint32 {
	return bits32(float32(1 / math.Sqrt(float64(f32(a)))))
}

// Sin is the sine; hardware: absolute error at most 2⁻²⁰·⁵ for operands in
// [−π, π], growing with the operand beyond.
func Sin(a uint32) uint32 {
	if a&0x7fffffff == 0 {
		return a
	}
	return bits32(float32(math.Sin(float64(f32(a)))))
}

// Cos is the cosine, with the bounds of Sin.
func Cos(a uint32) uint32 { return bits32(float32(math.Cos(float64(f32(a))))) }

// Tanh is the hyperbolic tangent; hardware: relative error at most 2⁻¹¹.
func Tanh(a uint32) uint32 {
	if a&0x7fffffff == 0 {
		return a
	}
	return bits32(float32(math.Tanh(float64(f32(a)))))
}

// DivApprox is a·(1/b); hardware: at most 2 ulp for |b| in [2⁻¹²⁶, 2¹²⁶]. For
// greater finite b the reciprocal is zero: the quotient of an infinity is NaN,
// of anything finite a zero.
func DivApprox(a, b uint32) uint32 {
	if m := b & 0x7fffffff; m > 0x7e800000 && m < 0x7f800000 {
		return MulF32(a, b&0x80000000)
	}
	return DivF32(a, b)
}

// Ex2 is 2^a of a half; hardware: f16 relative error at most 2⁻⁹·⁹, bf16 2⁻⁷.
func (h Half) Ex2(a uint32) uint32 { return h.approx(a, Ex2) }

// Tanh is the hyperbolic tangent of a half; hardware: f16 absolute error at most
// 2⁻¹⁰·⁹⁸⁷, bf16 2⁻⁸.
func (h Half) Tanh(a uint32) uint32 { return h.approx(a, Tanh) }

func (h Half) approx(a uint32, f func(uint32) uint32) uint32 {
	return h.round(float64(f32(f(h.F32(a)))))
}

// RcpApproxF64 is rcp.approx.ftz.f64, a start for Newton's method: the reciprocal
// of the highest 32 bits of the operand, rounded to 20 fraction bits, subnormals
// zero both ways.
func RcpApproxF64(a uint64) uint64 { return gross(1 / grossOperand(a)) }

// RsqrtApproxF64 is rsqrt.approx.ftz.f64, the like of RcpApproxF64.
func RsqrtApproxF64(a uint64) uint64 { return gross(1 / math.Sqrt(grossOperand(a))) }

func grossOperand(a uint64) float64 { return f64(ftz64(a >> 32 << 32)) }

// gross rounds a result to its highest 32 bits, subnormals to zero.
func gross(x float64) uint64 {
	if x != x {
		return NaN64
	}
	return ftz64((math.Float64bits(x) + 1<<31) >> 32 << 32)
}

func ftz64(a uint64) uint64 {
	if a&(0x7ff<<52) == 0 {
		return a & (1 << 63)
	}
	return a
}

// RsqrtF64 is rsqrt.approx.f64; hardware: relative error at most 2⁻⁵¹ or so.
func RsqrtF64(a uint64) uint64 { return bits64(1 / math.Sqrt(f64(a))) }
