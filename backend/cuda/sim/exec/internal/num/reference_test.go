package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var allRounds = []Round{RN, RZ, RM, RP}

// prec holds sums of products of float64 exactly.
const prec = 4600

func exact(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// reference rounds an exact value to a format by integers of any length. more
// says that the value is a little greater in magnitude than x.
func reference(f *Format, x *big.Float, more bool, r Round) uint64 {
	var sign uint64
	if x.Signbit() {
		sign = f.sign
	}
	if x.Sign() == 0 {
		return sign
	}
	a := new(big.Float).Abs(x)
	e := a.MantExp(nil) - 1
	unit := max(e, 1-f.bias) - int(f.frac) // the power of two of the last place
	scaled := new(big.Float).SetPrec(prec).SetMantExp(a, -unit)
	n, _ := scaled.Int(nil)
	rest := new(big.Float).SetPrec(prec).Sub(scaled, new(big.Float).SetInt(n))
	half := rest.Cmp(big.NewFloat(0.5))
	inexact := rest.Sign() != 0 || more
	up := false
	switch r {
	case RN:
		up = half > 0 || half == 0 && (more || n.Bit(0) == 1)
	case RNA:
		up = half >= 0
	case RM:
		up = sign != 0 && inexact
	case RP:
		up = sign == 0 && inexact
	}
	if up {
		n.Add(n, big.NewInt(1))
	}
	if n.BitLen() > int(f.frac)+1 {
		n.Rsh(n, 1)
		unit++
	}
	bits := n.Uint64()
	if bits >= 1<<f.frac {
		field := unit + int(f.frac) + f.bias
		if field >= 1<<12 {
			field = 1 << 11
		}
		bits += uint64(field-1) << f.frac
	}
	if bits > f.max {
		if r == RZ || r == RM && sign == 0 || r == RP && sign != 0 {
			return sign | f.max
		}
		return sign | f.over
	}
	return sign | bits
}

// special values of a format, of both signs.
func specials(f *Format) []uint64 {
	one := uint64(f.bias) << f.frac
	least := uint64(1) << f.frac
	var out []uint64
	for _, v := range []uint64{
		0, 1, 2, 3, least - 1, least, least + 1, one - 1, one, one + 1, one + 1<<f.frac, one + least/2, one + least/2 + 1,
		f.max - 1, f.max, f.over, f.quiet & (f.sign - 1), f.over | 1,
	} {
		out = append(out, v, v|f.sign)
	}
	return out
}

// operands draws n tuples: of special values, of random bits, of values of near
// exponents, and of products that nearly cancel.
func operands(f *Format, n, size int) [][]uint64 {
	rng := rand.New(rand.NewPCG(uint64(f.frac), uint64(n)))
	mask := f.sign<<1 - 1
	sp := specials(f)
	var out [][]uint64
	for range n {
		v := make([]uint64, size)
		switch rng.IntN(4) {
		case 0:
			for i := range v {
				v[i] = sp[rng.IntN(len(sp))]
			}
		case 1:
			for i := range v {
				v[i] = rng.Uint64() & mask
			}
		case 2: // near one another, few bits
			for i := range v {
				frac := rng.Uint64() & (1<<f.frac - 1) &^ (1<<rng.UintN(f.frac+1) - 1)
				v[i] = uint64(f.bias-4+rng.IntN(8))<<f.frac | frac | f.sign*uint64(rng.IntN(2))
			}
		default: // the last is about what the others give
			for i := range v {
				v[i] = uint64(f.bias/2+rng.IntN(f.bias))<<f.frac | rng.Uint64()&(1<<f.frac-1) | f.sign*uint64(rng.IntN(2))
			}
			if size == 3 {
				x := -f.Value(v[0]) * f.Value(v[1])
				v[2] = f.Pack(x, RN) + rng.Uint64N(3) - 1
				v[2] &= mask
			}
		}
		out = append(out, v)
	}
	return out
}

// finite reports whether all values are.
func finite(f *Format, v []uint64) bool {
	for _, x := range v {
		if x&(f.sign-1) > f.max {
			return false
		}
	}
	return true
}

// sumReference is x+y rounded: exactly, with IEEE's signs of zero.
func sumReference(f *Format, x, y *big.Float, r Round) uint64 {
	s := new(big.Float).SetPrec(prec).Add(x, y)
	if s.Sign() != 0 {
		return reference(f, s, false, r)
	}
	if x.Signbit() == y.Signbit() && x.Sign() == 0 {
		return reference(f, x, false, r)
	}
	if r == RM {
		return f.sign
	}
	return 0
}

// check compares a result with the reference, or for operands that are not
// finite with what float64 arithmetic gives.
func check(t *testing.T, f *Format, op string, r Round, v []uint64, got uint64) bool {
	t.Helper()
	x := make([]float64, 3)
	for i := range v {
		x[i] = f.Value(v[i])
	}
	var want uint64
	if !finite(f, v) || op == "div" && x[1] == 0 || op == "sqrt" && x[0] < 0 {
		plain := map[string]float64{
			"add": x[0] + x[1], "sub": x[0] - x[1], "mul": x[0] * x[1], "fma": math.FMA(x[0], x[1], x[2]), "div": x[0] / x[1], "sqrt": math.Sqrt(x[0]),
		}[op]
		switch {
		case op == "fma" && finite(f, v[:2]) && !finite(f, v[2:]):
			plain = x[2]
		case op == "sqrt" && x[0] == 0:
			plain = x[0]
		}
		want = f.Pack(plain, r)
		if math.IsNaN(plain) {
			want = f.quiet
		}
	} else {
		a, b, c := exact(x[0]), exact(x[1]), exact(x[2])
		switch op {
		case "add":
			want = sumReference(f, a, b, r)
		case "sub":
			want = sumReference(f, a, b.Neg(b), r)
		case "mul":
			want = reference(f, new(big.Float).SetPrec(prec).Mul(a, b), false, r)
		case "fma":
			want = sumReference(f, new(big.Float).SetPrec(prec).Mul(a, b), c, r)
		case "div":
			q := new(big.Float).SetPrec(300).SetMode(big.ToZero).Quo(a, b)
			want = reference(f, q, q.Acc() != big.Exact, r)
		case "sqrt":
			q := new(big.Float).SetPrec(300).Sqrt(a)
			if a.Sign() == 0 {
				q = a
			}
			want = reference(f, q, false, r)
		}
	}
	return assert.Equal(t, want, got, "%s of %#x rounded by %d: want %#x, got %#x", op, v, r, want, got)
}

// The reference itself, on cases that a reader can check.
func TestReference(t *testing.T) {
	tests := []struct {
		f    *Format
		x    float64
		r    Round
		want uint64
	}{
		{F16.Format, 1, RN, 0x3c00}, {F16.Format, 65504, RN, 0x7bff}, {F16.Format, 65519.99, RN, 0x7bff}, {F16.Format, 65520, RN, 0x7c00},
		{F16.Format, 65520, RZ, 0x7bff}, {F16.Format, -65520, RM, 0xfc00}, {F16.Format, -65520, RP, 0xfbff},
		{F16.Format, 0x1p-25, RN, 0}, {F16.Format, 0x1.001p-25, RN, 1}, {F16.Format, 0x1p-30, RP, 1}, {F16.Format, -0x1p-30, RM, 0x8001}, {F16.Format, -0x1p-30, RP, 0x8000},
		{F16.Format, 0x1.ffep-15, RN, 0x400}, {F32, 0.1, RN, 0x3dcccccd}, {F32, 0.1, RZ, 0x3dcccccc}, {F64, 0.1, RN, 0x3fb999999999999a},
		{BF16.Format, 1.00390625, RN, 0x3f80}, {BF16.Format, 1.01171875, RN, 0x3f82}, {TF32, 1.00048828125, RNA, 0x3f800000>>13 + 1}, {TF32, 1.00048828125, RN, 0x3f800000 >> 13},
		{E4M3, 448, RN, 0x7e}, {E4M3, 464, RN, 0x7e}, {E4M3, 464.5, RN, 0x7f}, {E5M2, 57344, RN, 0x7b}, {E5M2, 61440, RN, 0x7c}, {E4M3, 0x1p-10, RN, 0}, {E4M3, 0x1.8p-10, RN, 1},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, reference(tt.f, exact(tt.x), false, tt.r), "%v %g %d", *tt.f, tt.x, tt.r)
		require.Equal(t, tt.want, tt.f.Pack(tt.x, tt.r), "%v %g %d", *tt.f, tt.x, tt.r)
	}
}
