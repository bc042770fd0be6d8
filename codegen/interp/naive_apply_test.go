package interp

import (
	"math"
	"math/big"

	"github.com/sinter-ml/sinter/ir"
)

func naiveCast(from, to ir.DType, v value) value {
	switch from {
	case ir.F32, ir.BF16:
		switch to {
		case ir.F32:
			return value{f: v.f}
		case ir.BF16:
			if from == ir.BF16 { // rounded already
				return value{f: v.f}
			}
			return value{f: roundBF16(v.f)}
		case ir.Bool:
			return value{b: !(v.f == 0)}
		}
		if v.f != v.f {
			return value{}
		}
		if math.IsInf(float64(v.f), 0) {
			if v.f > 0 {
				return value{i: math.MaxInt64}
			}
			return value{i: math.MinInt64}
		}
		x, _ := new(big.Float).SetFloat64(float64(v.f)).Int(nil)
		switch {
		case x.IsInt64():
			return value{i: x.Int64()}
		case x.Sign() > 0:
			return value{i: math.MaxInt64}
		}
		return value{i: math.MinInt64}
	case ir.I64:
		x := new(big.Float).SetPrec(200).SetInt64(v.i)
		switch to {
		case ir.F32:
			f, _ := x.Float32()
			return value{f: f}
		case ir.BF16:
			f, _ := new(big.Float).SetPrec(8).SetMode(big.ToNearestEven).Set(x).Float32()
			return value{f: f}
		case ir.Bool:
			return value{b: v.i != 0}
		}
		return v
	}
	if v.b {
		return value{f: 1, i: 1, b: true}
	}
	return value{}
}

// naiveApply computes basic functions exactly; those in float64 are rounded
// once and compared with a tolerance by the tests of the functions.
func naiveApply(fn ir.ScalarOp, t ir.DType, a []value) value {
	nan := float32(math.NaN())
	cmp := func() (less, equal bool) {
		switch t {
		case ir.F32:
			return a[0].f < a[1].f, a[0].f == a[1].f
		case ir.I64:
			return a[0].i < a[1].i, a[0].i == a[1].i
		}
		return false, a[0].b == a[1].b
	}
	ordered := t != ir.F32 || len(a) > 1 && a[0].f == a[0].f && a[1].f == a[1].f
	switch fn {
	case ir.SAbs:
		return value{f: float32(math.Abs(float64(a[0].f))), i: max(a[0].i, -a[0].i)}
	case ir.SNeg:
		return value{f: math.Float32frombits(math.Float32bits(a[0].f) ^ 1<<31), i: -a[0].i}
	case ir.SSign:
		v := value{f: a[0].f}
		if a[0].f == a[0].f && a[0].f != 0 {
			v.f = float32(math.Copysign(1, float64(a[0].f)))
		}
		if a[0].i != 0 {
			v.i = a[0].i>>63 | 1
		}
		return v
	case ir.SIsNaN:
		return value{b: math.IsNaN(float64(a[0].f))}
	case ir.SNot:
		return value{b: !a[0].b}
	case ir.SSqrt:
		return value{f: float32(math.Sqrt(float64(a[0].f)))}
	case ir.SRecip:
		return value{f: 1 / a[0].f}
	case ir.SRound:
		return value{f: float32(math.RoundToEven(float64(a[0].f)))}
	case ir.SFloor:
		return value{f: float32(math.Floor(float64(a[0].f)))}
	case ir.SCeil:
		return value{f: float32(math.Ceil(float64(a[0].f)))}
	case ir.STrunc:
		return value{f: float32(math.Trunc(float64(a[0].f)))}
	case ir.SAdd:
		return value{f: a[0].f + a[1].f, i: a[0].i + a[1].i}
	case ir.SSub:
		return value{f: a[0].f - a[1].f, i: a[0].i - a[1].i}
	case ir.SMul:
		return value{f: a[0].f * a[1].f, i: a[0].i * a[1].i}
	case ir.SDiv:
		v := value{f: a[0].f / a[1].f}
		if a[1].i != 0 {
			v.i = new(big.Int).Quo(big.NewInt(a[0].i), big.NewInt(a[1].i)).Int64()
			if a[0].i == math.MinInt64 && a[1].i == -1 {
				v.i = math.MinInt64
			}
		}
		return v
	case ir.SPow:
		if t == ir.F32 {
			return value{f: float32(math.Pow(float64(a[0].f), float64(a[1].f)))}
		}
		return value{i: naivePow(a[0].i, a[1].i)}
	case ir.SMaximum, ir.SMinimum:
		if t == ir.I64 {
			if fn == ir.SMaximum {
				return value{i: max(a[0].i, a[1].i)}
			}
			return value{i: min(a[0].i, a[1].i)}
		}
		x, y := a[0].f, a[1].f
		if !ordered {
			return value{f: nan}
		}
		neg := math.Signbit(float64(x))
		if fn == ir.SMaximum {
			if x > y || x == y && !neg {
				return value{f: x}
			}
			return value{f: y}
		}
		if x < y || x == y && neg {
			return value{f: x}
		}
		return value{f: y}
	case ir.SEqual:
		_, eq := cmp()
		return value{b: eq}
	case ir.SNotEqual:
		_, eq := cmp()
		return value{b: !eq}
	case ir.SLess:
		l, _ := cmp()
		return value{b: l}
	case ir.SLessEqual:
		l, eq := cmp()
		return value{b: l || eq}
	case ir.SGreater:
		l, eq := cmp()
		return value{b: ordered && !l && !eq}
	case ir.SGreaterEqual:
		l, _ := cmp()
		return value{b: ordered && !l}
	case ir.SAnd:
		return value{b: a[0].b && a[1].b}
	case ir.SOr:
		return value{b: a[0].b || a[1].b}
	case ir.SXor:
		return value{b: a[0].b != a[1].b}
	case ir.SWhere:
		if a[0].b {
			return a[1]
		}
		return a[2]
	case ir.SMulAdd:
		return value{f: naiveFMA(a[0].f, a[1].f, a[2].f), i: a[0].i*a[1].i + a[2].i}
	}
	panic("no naive rule for " + fn.String())
}

func naivePow(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1:
			return 1
		case x == -1 && y%2 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	m := new(big.Int).Lsh(big.NewInt(1), 64)
	p := new(big.Int).Exp(new(big.Int).Mod(big.NewInt(x), m), big.NewInt(y), m)
	return int64(p.Uint64())
}

// naiveFMA uses exact arithmetic for finite operands.
func naiveFMA(x, y, z float32) float32 {
	for _, v := range []float32{x, y, z} {
		if v != v || math.IsInf(float64(v), 0) {
			return float32(float64(x)*float64(y) + float64(z))
		}
	}
	bx := new(big.Float).SetPrec(1000).SetFloat64(float64(x))
	bx.Mul(bx, new(big.Float).SetFloat64(float64(y)))
	bx.Add(bx, new(big.Float).SetFloat64(float64(z)))
	if bx.Sign() == 0 {
		p := math.Signbit(float64(x)) != math.Signbit(float64(y))
		if p && math.Signbit(float64(z)) && (x == 0 || y == 0) {
			return float32(math.Copysign(0, -1))
		}
		return 0
	}
	f, _ := bx.Float32()
	return f
}
