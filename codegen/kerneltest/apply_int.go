package kerneltest

import (
	"math/big"

	"github.com/sinter-ml/sinter/ir"
)

// bigInt returns the number an integer register holds.
func bigInt(t ir.DType, v Value) *big.Int {
	if t == ir.U64 {
		return new(big.Int).SetUint64(uint64(v.I))
	}
	return big.NewInt(v.I)
}

// lowBits keeps the low bits of an integer of any size.
func lowBits(t ir.DType, x *big.Int) Value {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	x = new(big.Int).Mod(x, m)
	if t.IsSigned() && x.Bit(8*t.Size()-1) == 1 {
		x.Sub(x, m)
	}
	if t == ir.U64 {
		return Value{I: int64(x.Uint64())}
	}
	return Value{I: x.Int64()}
}

func applyInt(fn ir.ScalarOp, t ir.DType, a []Value) Value {
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
		return Value{I: int64(x.Sign())}
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
		return intPow(t, x, y)
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
			return Value{}
		}
		return lowBits(t, r.Lsh(x, uint(y.Int64())))
	case ir.SShr:
		if far {
			return Value{I: int64(min(x.Sign(), 0))}
		}
		return lowBits(t, r.Rsh(x, uint(y.Int64())))
	case ir.SEqual:
		return Value{B: cmp == 0}
	case ir.SNotEqual:
		return Value{B: cmp != 0}
	case ir.SLess:
		return Value{B: cmp < 0}
	case ir.SLessEqual:
		return Value{B: cmp <= 0}
	case ir.SGreater:
		return Value{B: cmp > 0}
	case ir.SGreaterEqual:
		return Value{B: cmp >= 0}
	case ir.SMulAdd:
		return lowBits(t, r.Add(r.Mul(x, y), bigInt(t, a[2])))
	}
	panic("no rule for " + fn.String())
}

func intPow(t ir.DType, x, y *big.Int) Value {
	one := big.NewInt(1)
	switch {
	case y.Sign() >= 0:
		return lowBits(t, new(big.Int).Exp(x, y, new(big.Int).Lsh(one, 64)))
	case x.Cmp(one) == 0:
		return Value{I: 1}
	case x.Cmp(big.NewInt(-1)) == 0:
		return Value{I: 1 - 2*int64(y.Bit(0))}
	}
	return Value{}
}
