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
