package exec

import (
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// operands of a lane: values as bit patterns with anything above their width, a
// predicate, and the carry.
type operands struct {
	x     [4]uint64
	p, q  bool // predicates, the first and the second that an opcode reads
	carry bool
}

// outcome of a lane: a value, predicates, and the carry.
type outcome struct {
	d     uint64
	p, q  bool
	carry bool
}

// evaluate is what the PTX manual says that an opcode does to a lane. It decodes
// modifiers and types by itself, one instruction family after another, with
// integers of any length for integers; ok is false for what it does not know.
func evaluate(o *ptx.Opcode, in operands) (out outcome, ok bool) {
	switch o.Op {
	case ptx.OpSetp, ptx.OpSet, ptx.OpTestp:
		return evaluateCompare(o, in)
	case ptx.OpCvt:
		return evaluateConvert(o, in)
	case ptx.OpSelp:
		return outcome{d: pick(in.p, in.x[0], in.x[1])}, true
	case ptx.OpSlct:
		keep := int32(in.x[2]) >= 0
		if o.Types[1] == ptx.F32 {
			v := in.x[2] & 0xffffffff
			if o.Has(ptx.ModFtz) {
				v = num.F32.Ftz(v)
			}
			keep = num.F32.Value(v) >= 0
		}
		return outcome{d: pick(keep, in.x[0], in.x[1])}, true
	}
	switch t := o.Type(); {
	case t == ptx.Pred:
		r := map[ptx.Op]bool{ptx.OpAnd: in.p && in.q, ptx.OpOr: in.p || in.q, ptx.OpXor: in.p != in.q, ptx.OpNot: !in.p, ptx.OpMov: in.p}
		out.p, ok = r[o.Op]
		return out, ok
	case singles[t] != ptx.NoType:
		single := *o
		single.Types = []ptx.Type{singles[t]}
		width := singles[t].Bits()
		high := in
		for i := range high.x {
			high.x[i] >>= width
		}
		a, ok1 := evaluate(&single, in)
		b, ok2 := evaluate(&single, high)
		return outcome{d: a.d&(1<<width-1) | b.d<<width}, ok1 && ok2
	case t >= ptx.F16 && t <= ptx.F64:
		out.d, ok = evaluateFloat(o, formats[t], in)
		return out, ok
	}
	return evaluateInt(o, in)
}

// singles are what pairs are pairs of.
var singles = map[ptx.Type]ptx.Type{ptx.F16x2: ptx.F16, ptx.BF16x2: ptx.BF16, ptx.U16x2: ptx.U16, ptx.S16x2: ptx.S16, ptx.F32x2: ptx.F32}

func pick[T any](c bool, a, b T) T {
	if c {
		return a
	}
	return b
}

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

// evaluateCompare is setp, set and testp.
func evaluateCompare(o *ptx.Opcode, in operands) (out outcome, ok bool) {
	t := o.Type()
	answer := func(x, y uint64) bool {
		name := o.Mods[0].String()
		var less, equal, unordered bool
		if f := formats[t]; f != nil {
			mask := ^uint64(0) >> (64 - f.Bits())
			x, y = x&mask, y&mask
			if o.Has(ptx.ModFtz) {
				x, y = f.Ftz(x), f.Ftz(y)
			}
			a, b := f.Value(x), f.Value(y)
			if o.Op == ptx.OpTestp {
				magnitude := math.Abs(a)
				least := math.Ldexp(1, pick(f == num.F64, -1022, -126))
				return map[string]bool{
					"finite": magnitude <= math.MaxFloat64, "infinite": math.IsInf(a, 0), "number": a == a, "notanumber": a != a,
					"normal": magnitude >= least && !math.IsInf(a, 0), "subnormal": magnitude > 0 && magnitude < least,
				}[name]
			}
			less, equal, unordered = a < b, a == b, a != a || b != b
		} else {
			a, b := whole(t, x), whole(t, y)
			less, equal = a.Cmp(b) < 0, a.Cmp(b) == 0
		}
		switch name {
		case "num":
			return !unordered
		case "nan":
			return unordered
		}
		if formats[t] != nil && len(name) == 3 && strings.HasSuffix(name, "u") {
			if unordered {
				return true
			}
			name = name[:2]
		}
		greater := !less && !equal && !unordered
		return map[string]bool{
			"eq": equal, "ne": less || greater, "lt": less, "lo": less, "le": less || equal, "ls": less || equal,
			"gt": greater, "hi": greater, "ge": greater || equal, "hs": greater || equal,
		}[name]
	}
	joined := func(b bool) bool {
		switch {
		case o.Has(ptx.ModAnd):
			return b && in.p
		case o.Has(ptx.ModOr):
			return b || in.p
		case o.Has(ptx.ModXor):
			return b != in.p
		}
		return b
	}
	x, y := in.x[0], in.x[1]
	pair := t == ptx.F16x2 || t == ptx.BF16x2
	if pair {
		t = pick(t == ptx.F16x2, ptx.F16, ptx.BF16)
	}
	low := answer(x, y)
	high := !low
	if pair {
		high = answer(x>>16, y>>16)
	}
	out.p, out.q = joined(low), joined(high)
	if o.Op == ptx.OpSet {
		yes := map[ptx.Type]uint64{ptx.F32: 0x3f800000, ptx.F16: 0x3c00, ptx.F16x2: 0x3c00, ptx.BF16: 0x3f80, ptx.BF16x2: 0x3f80}[o.Types[0]]
		if yes == 0 {
			yes = 1<<min(o.Types[0].Bits(), pick(pair, 16, 32)) - 1
		}
		out.d = pick(out.p, yes, 0)
		if pair {
			out.d |= pick(out.q, yes, 0) << 16
		}
	}
	return out, true
}

// whole is the integer that the low bits of v are in a type.
func whole(t ptx.Type, v uint64) *big.Int {
	n := 64 - t.Bits()
	if t.Signed() {
		return big.NewInt(int64(v<<n) >> n)
	}
	return new(big.Int).SetUint64(v << n >> n)
}

// wrap is the low 64 bits of an integer in two's complement.
func wrap(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// clamp limits an integer to a type.
func clamp(t ptx.Type, x *big.Int) *big.Int {
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()))
	if t.Signed() {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// evaluateConvert is cvt.
func evaluateConvert(o *ptx.Opcode, in operands) (out outcome, ok bool) {
	dst, src := o.Types[0], o.Types[1]
	from, to := formats[src], formats[dst]
	r, toInt := num.RN, false
	for m, mode := range floatRounds {
		if o.Has(m) {
			r = mode
		}
	}
	for m, mode := range integerRounds {
		if o.Has(m) {
			r, toInt = mode, true
		}
	}
	finish := func(v uint64) uint64 {
		if o.Has(ptx.ModRelu) {
			v = to.Relu(v)
		}
		if o.Has(ptx.ModSat) {
			v = to.Sat(v)
		}
		if o.Has(ptx.ModFtz) && dst == ptx.F32 {
			v = to.Ftz(v)
		}
		return v
	}
	one := func(v uint64) uint64 {
		v &= ^uint64(0) >> (64 - from.Bits())
		if o.Has(ptx.ModFtz) && src == ptx.F32 {
			v = from.Ftz(v)
		}
		x := from.Value(v)
		if toInt {
			x = num.Integral(x, r)
		}
		p := to.Pack(x, r)
		if largest := to.Clamped(to.Pack(math.Inf(1), num.RN)); o.Has(ptx.ModSatfinite) && math.Abs(x) > to.Value(largest) {
			p = to.Pack(math.Copysign(to.Value(largest), x), r)
		}
		return finish(p)
	}
	switch {
	case from == nil && to == nil:
		v := whole(src, in.x[0])
		if o.Has(ptx.ModSat) {
			v = clamp(dst, v)
		}
		out.d = wrap(whole(dst, wrap(v))) // extended into the register
	case from == nil:
		v := wrap(whole(src, in.x[0]))
		out.d = finish(to.PackInt(v, src.Signed(), r))
	case to == nil:
		v := in.x[0] & (^uint64(0) >> (64 - from.Bits()))
		if o.Has(ptx.ModFtz) && src == ptx.F32 {
			v = from.Ftz(v)
		}
		switch x := num.Integral(from.Value(v), r); {
		case math.IsNaN(x) && (src == ptx.F64 || dst.Bits() == 64):
			out.d = 1 << (dst.Bits() - 1)
		case math.IsNaN(x):
		case math.IsInf(x, 0):
			out.d = wrap(clamp(dst, new(big.Int).Lsh(big.NewInt(int64(math.Copysign(1, x))), 99)))
		default:
			n, _ := big.NewFloat(x).Int(nil)
			out.d = wrap(clamp(dst, n))
		}
	case src == ptx.F32 && dst.Bits() == 2*to.Bits(): // a pair of two operands
		out.d = one(in.x[0])<<to.Bits() | one(in.x[1])
	case src.Bits() == 2*from.Bits(): // a pair of a pair
		out.d = one(in.x[0]>>from.Bits())<<to.Bits() | one(in.x[0])
	default:
		out.d = one(in.x[0])
		if dst == ptx.TF32 {
			out.d <<= 13
		}
	}
	return out, true
}

// bit is a bit of a word, 0 beyond it.
func bit(v uint64, i, width int) uint64 {
	if i < 0 || i >= width {
		return 0
	}
	return v >> i & 1
}

// highest is the position of the highest bit set, -1 if there is none.
func highest(v uint64) int { return bits.Len64(v) - 1 }
