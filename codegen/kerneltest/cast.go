package kerneltest

import (
	"math"
	"math/big"
	"sort"

	"github.com/sinter-ml/sinter/ir"
)

// floatFormat describes a binary float: precision, least exponent of the last
// place, greatest finite value.
type floatFormat struct {
	prec, last int
	max        float64
}

var floatFormats = [...]floatFormat{
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

// Cast rounds once from the exact value.
func Cast(from, to ir.DType, overflow bool, v Value) Value {
	switch {
	case from == to: // rounded already
		return v
	case from == ir.Bool:
		if v.B {
			return Value{F: 1, I: 1, B: true}
		}
		return Value{}
	case from.IsInt():
		switch {
		case to.IsInt():
			return lowBits(to, bigInt(from, v))
		case to == ir.Bool:
			return Value{B: v.I != 0}
		}
		if uint64(v.I) >= 1<<53 && (from == ir.U64 || v.I < -1<<53 || v.I > 0) {
			return Value{F: roundTo(to, new(big.Rat).SetInt(bigInt(from, v)), false, overflow)}
		}
		return Cast(ir.F64, to, overflow, Value{F: float64(v.I)}) // exact so far
	case to == ir.Bool:
		return Value{B: v.F != 0}
	case to.IsInt():
		least, greatest := to.Limits()
		switch {
		case v.F != v.F:
			return Value{}
		case v.F <= float64(least):
			return Value{I: least}
		case v.F >= float64(greatest):
			return Value{I: int64(greatest)}
		}
		x, _ := new(big.Float).SetFloat64(v.F).Int(nil)
		return lowBits(to, x)
	case v.F != v.F:
		return v
	case math.IsInf(v.F, 0):
		switch {
		case !to.IsFloat8() || to == ir.F8E5M2 && overflow:
			return v
		case overflow:
			return Value{F: math.NaN()}
		}
		return Value{F: math.Copysign(floatFormats[to].max, v.F)}
	}
	switch {
	case to == ir.F64:
		return v
	case to == ir.F32:
		return Value{F: float64(float32(v.F))}
	}
	return Value{F: roundSmall(to, v.F, overflow)}
}

// smallValues holds the values of the codes of each small float but for the
// sign; the infinity, or what would come after the greatest value, ends it.
var smallValues = func() map[ir.DType][]float64 {
	all := map[ir.DType][]float64{}
	for _, dt := range []ir.DType{ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2} {
		for code := uint64(0); ; code++ {
			x := FromBits(dt, code).F
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
