package interp

import (
	"math"
	"math/big"
	"sort"

	"github.com/sinter-ml/sinter/ir"
)

// bigInt returns the number an integer register holds.
func bigInt(t ir.DType, v value) *big.Int {
	if t == ir.U64 {
		return new(big.Int).SetUint64(uint64(v.i))
	}
	return big.NewInt(v.i)
}

// lowBits keeps the low bits of an integer of any size.
func lowBits(t ir.DType, x *big.Int) value {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	x = new(big.Int).Mod(x, m)
	if t.IsSigned() && x.Bit(8*t.Size()-1) == 1 {
		x.Sub(x, m)
	}
	if t == ir.U64 {
		return value{i: int64(x.Uint64())}
	}
	return value{i: x.Int64()}
}

// floatFormat describes a binary float: precision, least exponent of the last
// place, greatest finite value.
type floatFormat struct {
	prec, last int
	max        float64
}

var floatFormats = map[ir.DType]floatFormat{
	ir.F64: {53, -1074, math.MaxFloat64}, ir.F32: {24, -149, math.MaxFloat32}, ir.F16: {11, -24, 65504},
	ir.BF16: {8, -133, 0x1.fep127}, ir.F8E4M3: {4, -9, 448}, ir.F8E5M2: {3, -16, 57344},
}

// roundTo rounds an exact number to a float type, ties to even, as its
// definition says: to a multiple of the last place, beyond the greatest value
// as if exponents went on.
func roundTo(dt ir.DType, x *big.Rat, negative, overflow bool) float64 {
	f := floatFormats[dt]
	if x.Sign() == 0 {
		if negative {
			return math.Copysign(0, -1)
		}
		return 0
	}
	a := new(big.Rat).Abs(x)
	// the exponent of the last place of a result this size
	e := a.Num().BitLen() - a.Denom().BitLen() - f.prec - 1
	for {
		if a.Cmp(new(big.Rat).Mul(pow2(e), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(f.prec))))) < 0 {
			break
		}
		e++
	}
	e = max(e, f.last)
	q := new(big.Rat).Quo(a, pow2(e))
	n, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(q.Denom()) {
	case 1:
		n.Add(n, big.NewInt(1))
	case 0:
		n.Add(n, new(big.Int).And(n, big.NewInt(1)))
	}
	r, _ := new(big.Rat).Mul(new(big.Rat).SetInt(n), pow2(e)).Float64()
	if r > f.max {
		r = tooLarge(dt, overflow)
	}
	if x.Sign() < 0 {
		return -r
	}
	return r
}

func pow2(e int) *big.Rat {
	one := big.NewInt(1)
	if e < 0 {
		return new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, uint(-e)))
	}
	return new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(e)))
}

// naiveCast rounds once from the exact value.
func naiveCast(from, to ir.DType, overflow bool, v value) value {
	switch {
	case from == to: // rounded already
		return v
	case from == ir.Bool:
		if v.b {
			return value{f: 1, i: 1, b: true}
		}
		return value{}
	case from.IsInt():
		switch {
		case to.IsInt():
			return lowBits(to, bigInt(from, v))
		case to == ir.Bool:
			return value{b: v.i != 0}
		}
		if uint64(v.i) >= 1<<53 && (from == ir.U64 || v.i < -1<<53 || v.i > 0) {
			return value{f: roundTo(to, new(big.Rat).SetInt(bigInt(from, v)), false, overflow)}
		}
		return naiveCast(ir.F64, to, overflow, value{f: float64(v.i)}) // exact so far
	case to == ir.Bool:
		return value{b: v.f != 0}
	case to.IsInt():
		least, greatest := to.Limits()
		switch {
		case v.f != v.f:
			return value{}
		case v.f <= float64(least):
			return value{i: least}
		case v.f >= float64(greatest):
			return value{i: int64(greatest)}
		}
		x, _ := new(big.Float).SetFloat64(v.f).Int(nil)
		return lowBits(to, x)
	case v.f != v.f:
		return v
	case math.IsInf(v.f, 0):
		switch {
		case !to.IsFloat8() || to == ir.F8E5M2 && overflow:
			return v
		case overflow:
			return value{f: math.NaN()}
		}
		return value{f: math.Copysign(floatFormats[to].max, v.f)}
	}
	switch {
	case to == ir.F64:
		return v
	case to == ir.F32:
		return value{f: float64(float32(v.f))}
	}
	return value{f: roundSmall(to, v.f, overflow)}
}

// smallValues holds the values of the codes of each small float but for the
// sign; the infinity, or what would come after the greatest value, ends it.
var smallValues = func() map[ir.DType][]float64 {
	all := map[ir.DType][]float64{}
	for _, dt := range []ir.DType{ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2} {
		for code := uint64(0); ; code++ {
			x := storedValue(dt, code).f
			if x != x || math.IsInf(x, 0) {
				v := all[dt]
				all[dt] = append(v, 2*v[len(v)-1]-v[len(v)-2])
				break
			}
			all[dt] = append(all[dt], x)
		}
	}
	return all
}()

// smallCode returns the number of the nearest value of a small float, the even
// one of two as near.
func smallCode(dt ir.DType, x float64) int {
	vals := smallValues[dt]
	x = min(math.Abs(x), vals[len(vals)-1])
	at := sort.SearchFloat64s(vals, x)
	if at == 0 || vals[at] == x {
		return at
	}
	if mid := (vals[at-1] + vals[at]) / 2; x < mid || x == mid && at%2 == 1 {
		at--
	}
	return at
}

func roundSmall(dt ir.DType, x float64, overflow bool) float64 {
	vals := smallValues[dt]
	at := smallCode(dt, x)
	r := vals[at]
	if at == len(vals)-1 {
		r = tooLarge(dt, overflow)
	}
	return math.Copysign(r, x)
}

// tooLarge is what becomes of numbers above the greatest.
func tooLarge(dt ir.DType, overflow bool) float64 {
	switch {
	case dt == ir.F8E4M3 && overflow:
		return math.NaN()
	case dt.IsFloat8() && !overflow:
		return floatFormats[dt].max
	}
	return math.Inf(1)
}

// naiveApply computes the functions whose results are exact or rounded once;
// the others are compared with a tolerance by the tests of the functions.
func naiveApply(fn ir.ScalarOp, t ir.DType, a []value) value {
	if fn == ir.SWhere {
		if a[0].b {
			return a[1]
		}
		return a[2]
	}
	switch {
	case t.IsInt():
		return naiveInt(fn, t, a)
	case t == ir.F64:
		f := make([]float64, len(a))
		for i := range a {
			f[i] = a[i].f
		}
		return naiveFloat(fn, t, f)
	case t == ir.F32:
		f := make([]float32, len(a))
		for i := range a {
			f[i] = float32(a[i].f)
		}
		return naiveFloat(fn, t, f)
	}
	x, y := a[0].b, len(a) > 1 && a[1].b
	switch fn {
	case ir.SNot:
		return value{b: !x}
	case ir.SAnd:
		return value{b: x && y}
	case ir.SOr:
		return value{b: x || y}
	case ir.SXor, ir.SNotEqual:
		return value{b: x != y}
	case ir.SEqual:
		return value{b: x == y}
	}
	panic("no naive rule for " + fn.String())
}

func naiveFloat[T float32 | float64](fn ir.ScalarOp, t ir.DType, a []T) value {
	num := func(x T) value { return value{f: float64(x)} }
	x := a[0]
	y, z := x, x
	if len(a) > 1 {
		y = a[1]
	}
	if len(a) > 2 {
		z = a[2]
	}
	f, g := float64(x), float64(y)
	ordered := x == x && y == y
	switch fn {
	case ir.SAbs:
		return num(T(math.Abs(f)))
	case ir.SNeg:
		return num(T(math.Copysign(f, -math.Copysign(1, f))))
	case ir.SSign:
		if x != x || x == 0 {
			return num(x)
		}
		return num(T(math.Copysign(1, f)))
	case ir.SIsNaN:
		return value{b: math.IsNaN(f)}
	case ir.SIsInf:
		return value{b: math.IsInf(f, 0)}
	case ir.SIsFinite:
		return value{b: !math.IsNaN(f) && !math.IsInf(f, 0)}
	case ir.SSqrt:
		return num(T(math.Sqrt(f)))
	case ir.SRecip:
		return num(1 / x)
	case ir.SRound:
		return num(T(math.RoundToEven(f)))
	case ir.SFloor:
		return num(T(math.Floor(f)))
	case ir.SCeil:
		return num(T(math.Ceil(f)))
	case ir.STrunc:
		return num(T(math.Trunc(f)))
	case ir.SFrac:
		return num(x - T(math.Trunc(f)))
	case ir.SAdd:
		return num(x + y)
	case ir.SSub:
		return num(x - y)
	case ir.SMul:
		return num(T(x * y))
	case ir.SDiv:
		return num(x / y)
	case ir.SFloorDiv:
		return value{f: naiveFloorDiv(t, f, g)}
	case ir.SFmod, ir.SRemainder:
		m := T(naiveFmod(f, g))
		if fn == ir.SRemainder && m == m {
			if m == 0 {
				m = T(math.Copysign(0, g))
			} else if math.Signbit(float64(m)) != math.Signbit(g) {
				m += y
			}
		}
		return num(m)
	case ir.SCopySign:
		if math.Signbit(f) != math.Signbit(g) {
			x = -x
		}
		return num(x)
	case ir.SMaximum, ir.SMinimum:
		greater := x > y || x == y && !math.Signbit(f)
		switch {
		case !ordered:
			return value{f: math.NaN()}
		case greater == (fn == ir.SMaximum):
			return num(x)
		case x == y && math.Signbit(f) == math.Signbit(g):
			return num(x)
		}
		return num(y)
	case ir.SEqual:
		return value{b: x == y}
	case ir.SNotEqual:
		return value{b: !(x == y)}
	case ir.SLess:
		return value{b: x < y}
	case ir.SLessEqual:
		return value{b: x <= y}
	case ir.SGreater:
		return value{b: x > y}
	case ir.SGreaterEqual:
		return value{b: x >= y}
	case ir.SMulAdd:
		return value{f: naiveFMA(t, f, g, float64(z))}
	}
	panic("no naive rule for " + fn.String())
}

// naiveFloorDiv rounds the exact quotient down.
func naiveFloorDiv(t ir.DType, x, y float64) float64 {
	switch {
	case x == x && y == 0:
		return x / y
	case x != x || y != y || math.IsInf(x, 0):
		return math.NaN()
	case x == 0:
		return x / y
	case math.IsInf(y, 0):
		if math.Signbit(x) != math.Signbit(y) {
			return -1
		}
		return 0
	}
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
	n, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	if n.BitLen() > 53 {
		return roundTo(t, q, false, false)
	}
	if rest.Sign() < 0 {
		n.Sub(n, big.NewInt(1))
	}
	return roundTo(t, new(big.Rat).SetInt(n), false, false)
}

// naiveFmod takes the remainder of exact integers.
func naiveFmod(x, y float64) float64 {
	switch {
	case x != x || y != y || math.IsInf(x, 0) || y == 0:
		return math.NaN()
	case math.IsInf(y, 0) || x == 0:
		return x
	}
	a, b := new(big.Rat).SetFloat64(math.Abs(x)), new(big.Rat).SetFloat64(math.Abs(y))
	q := new(big.Rat).Quo(a, b)
	n := new(big.Int).Quo(q.Num(), q.Denom())
	r, _ := a.Sub(a, b.Mul(b, new(big.Rat).SetInt(n))).Float64()
	return math.Copysign(r, x)
}

func naiveInt(fn ir.ScalarOp, t ir.DType, a []value) value {
	x := bigInt(t, a[0])
	y, width := new(big.Int), int64(8*t.Size())
	if len(a) > 1 {
		y = bigInt(t, a[1])
	}
	r := new(big.Int)
	rest := new(big.Int)
	if y.Sign() != 0 && len(a) > 1 {
		r.QuoRem(x, y, rest)
	}
	floors := rest.Sign() != 0 && rest.Sign() != y.Sign()
	far := y.Sign() < 0 || y.Cmp(big.NewInt(width)) >= 0
	cmp := x.Cmp(y)
	switch fn {
	case ir.SAbs:
		return lowBits(t, r.Abs(x))
	case ir.SNeg:
		return lowBits(t, r.Neg(x))
	case ir.SSign:
		return value{i: int64(x.Sign())}
	case ir.SBitNot:
		return lowBits(t, r.Not(x))
	case ir.SAdd:
		return lowBits(t, r.Add(x, y))
	case ir.SSub:
		return lowBits(t, r.Sub(x, y))
	case ir.SMul:
		return lowBits(t, r.Mul(x, y))
	case ir.SDiv:
		return lowBits(t, r)
	case ir.SFmod:
		return lowBits(t, rest)
	case ir.SFloorDiv:
		if floors {
			r.Sub(r, big.NewInt(1))
		}
		return lowBits(t, r)
	case ir.SRemainder:
		if floors {
			rest.Add(rest, y)
		}
		return lowBits(t, rest)
	case ir.SPow:
		return naivePow(t, x, y)
	case ir.SMaximum, ir.SMinimum:
		if (cmp > 0) == (fn == ir.SMaximum) {
			return a[0]
		}
		return a[1]
	case ir.SBitAnd:
		return lowBits(t, r.And(x, y))
	case ir.SBitOr:
		return lowBits(t, r.Or(x, y))
	case ir.SBitXor:
		return lowBits(t, r.Xor(x, y))
	case ir.SShl:
		if far {
			return value{}
		}
		return lowBits(t, r.Lsh(x, uint(y.Int64())))
	case ir.SShr:
		if far {
			return value{i: int64(min(x.Sign(), 0))}
		}
		return lowBits(t, r.Rsh(x, uint(y.Int64())))
	case ir.SEqual:
		return value{b: cmp == 0}
	case ir.SNotEqual:
		return value{b: cmp != 0}
	case ir.SLess:
		return value{b: cmp < 0}
	case ir.SLessEqual:
		return value{b: cmp <= 0}
	case ir.SGreater:
		return value{b: cmp > 0}
	case ir.SGreaterEqual:
		return value{b: cmp >= 0}
	case ir.SMulAdd:
		return lowBits(t, r.Add(r.Mul(x, y), bigInt(t, a[2])))
	}
	panic("no naive rule for " + fn.String())
}

func naivePow(t ir.DType, x, y *big.Int) value {
	one := big.NewInt(1)
	switch {
	case y.Sign() >= 0:
		return lowBits(t, new(big.Int).Exp(x, y, new(big.Int).Lsh(one, 64)))
	case x.Cmp(one) == 0:
		return value{i: 1}
	case x.Cmp(big.NewInt(-1)) == 0:
		return value{i: 1 - 2*int64(y.Bit(0))}
	}
	return value{}
}

// naiveFMA uses exact arithmetic for finite operands.
func naiveFMA(t ir.DType, x, y, z float64) float64 {
	switch {
	case x != x || y != y || math.IsInf(x, 0) || math.IsInf(y, 0):
		return float64(x*y) + z
	case z != z || math.IsInf(z, 0):
		return z
	}
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	r := new(big.Rat).Mul(rat(x), rat(y))
	r.Add(r, rat(z))
	p := math.Signbit(x) != math.Signbit(y)
	exactZero := (x == 0 || y == 0) && z == 0
	return roundTo(t, r, exactZero && p && math.Signbit(z), false)
}
