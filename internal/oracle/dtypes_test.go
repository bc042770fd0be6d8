package oracle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func to(d ir.DType) func(*ir.Operation) { return func(o *ir.Operation) { o.Attrs.DType = d } }

// Each kind has one accuracy, so that a kind added later is thought about.
func TestEveryKindHasAnAccuracy(t *testing.T) {
	n := 0
	for _, kinds := range accuracies {
		n += len(kinds)
	}
	assert.Equal(t, len(accuracyOf), n, "no kind is listed twice")
	for _, k := range ir.Kinds() {
		assert.Contains(t, accuracyOf, k, k.String())
	}
	assert.Len(t, accuracyOf, len(ir.Kinds()))
}

// Every code of the small floats has the value that package ir gives it, and
// comes back.
func TestBytesOfEveryCode(t *testing.T) {
	value := map[ir.DType]func(code int) float32{
		ir.F16:    func(c int) float32 { return ir.Float16(c).Float32() },
		ir.BF16:   func(c int) float32 { return ir.BFloat16(c).Float32() },
		ir.F8E4M3: func(c int) float32 { return ir.Float8E4M3(c).Float32() },
		ir.F8E5M2: func(c int) float32 { return ir.Float8E5M2(c).Float32() },
	}
	for d, f := range value {
		for code := range 1 << (8 * d.Size()) {
			raw := []byte{byte(code), byte(code >> 8)}[:d.Size()]
			x, err := FromBytes(d, ir.Shape{1}, raw)
			require.NoError(t, err)
			want := float64(f(code))
			if want != want {
				require.True(t, math.IsNaN(x.F[0]), "%v %#x", d, code)
				continue
			}
			require.Equal(t, math.Float64bits(want), math.Float64bits(x.F[0]), "%v %#x", d, code)
			require.Equal(t, raw, x.Bytes(), "%v %#x", d, code)
		}
	}
}

// Casts between floats against package ir's conversions, which are written with
// other means.
func TestCastsAgreeWithIR(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 20000 {
		x := math.Ldexp(r.Float64()-0.5, r.IntN(60)-35)
		s := ir.OddFloat32(x)
		for d, want := range map[ir.DType]float32{
			ir.F32: float32(x), ir.F16: ir.Float16FromFloat32(s).Float32(), ir.BF16: ir.BFloat16FromFloat32(s).Float32(),
			ir.F8E4M3: ir.Float8E4M3FromFloat32(s, true).Float32(), ir.F8E5M2: ir.Float8E5M2FromFloat32(s, true).Float32(),
		} {
			same(t, Floats(d, ir.Shape{1}, float64(want)), cast(dvec(x), d, true))
		}
	}
}

func TestCastsToFloat8(t *testing.T) {
	x := vec(448, 464, 465, 1e9, inf, -inf, nan, 0x1p-9, 0x1p-10, 0x1.8p-10, negZero)
	e4 := func(vs ...float64) Tensor { return Floats(ir.F8E4M3, ir.Shape{len(vs)}, vs...) }
	e5 := func(vs ...float64) Tensor { return Floats(ir.F8E5M2, ir.Shape{len(vs)}, vs...) }
	overflowing := func(d ir.DType) func(*ir.Operation) {
		return func(o *ir.Operation) { o.Attrs.DType, o.Attrs.Flag = d, true }
	}
	same(t, e4(448, 448, 448, 448, 448, -448, nan, 0x1p-9, 0, 0x1p-9, negZero), eval(t, ir.Cast, to(ir.F8E4M3), x))
	same(t, e4(448, 448, nan, nan, nan, nan, nan, 0x1p-9, 0, 0x1p-9, negZero), eval(t, ir.Cast, overflowing(ir.F8E4M3), x))
	y := vec(57344, 61439, 61440, 1e9, inf, -inf, nan, 0x1p-16, 0x1p-17)
	same(t, e5(57344, 57344, 57344, 57344, 57344, -57344, nan, 0x1p-16, 0), eval(t, ir.Cast, to(ir.F8E5M2), y))
	same(t, e5(57344, 57344, inf, inf, inf, negInf, nan, 0x1p-16, 0), eval(t, ir.Cast, overflowing(ir.F8E5M2), y))
	same(t, e4(448, -448), eval(t, ir.Cast, to(ir.F8E4M3), ivec(1<<40, -1000)))
	same(t, vec(448), eval(t, ir.Cast, to(ir.F32), e4(448)))
}

func TestCastsOfIntegers(t *testing.T) {
	x := vec(3e9, -3e9, nan, 2.9, -2.9)
	same(t, IntsOf(ir.I32, ir.Shape{5}, math.MaxInt32, math.MinInt32, 0, 2, -2), eval(t, ir.Cast, to(ir.I32), x))
	u8 := vec(-1, -2.7, 256, 300, 255.9, 3.7, nan, inf)
	same(t, IntsOf(ir.U8, ir.Shape{8}, 0, 0, 255, 255, 255, 3, 0, 255), eval(t, ir.Cast, to(ir.U8), u8))
	same(t, IntsOf(ir.U64, ir.Shape{3}, -1, -1<<63, 0), eval(t, ir.Cast, to(ir.U64), dvec(1e30, 0x1p63, -5)))
	same(t, IntsOf(ir.I8, ir.Shape{3}, -56, 127, -1), eval(t, ir.Cast, to(ir.I8), ivec(200, 127, 255)))
	same(t, IntsOf(ir.U16, ir.Shape{2}, 65535, 65280), eval(t, ir.Cast, to(ir.U16), ivec(-1, -256)))
	same(t, dvec(18446744073709551615, 1), eval(t, ir.Cast, to(ir.F64), IntsOf(ir.U64, ir.Shape{2}, -1, 1)))
	same(t, hvec(inf, 65504, -inf), eval(t, ir.Cast, to(ir.F16), ivec(65520, 65519, -70000)))
	same(t, IntsOf(ir.U32, ir.Shape{2}, 1, 0), eval(t, ir.Cast, to(ir.U32), flags(true, false)))
}

func TestBitcast(t *testing.T) {
	same(t, IntsOf(ir.U32, ir.Shape{2}, 0x3f800000, -1<<31), eval(t, ir.Bitcast, to(ir.U32), vec(1, negZero)))
	same(t, IntsOf(ir.I16, ir.Shape{2}, 0x3c00, -0x8000), eval(t, ir.Bitcast, to(ir.I16), hvec(1, negZero)))
	same(t, bvec(1), eval(t, ir.Bitcast, to(ir.BF16), IntsOf(ir.U16, ir.Shape{1}, 0x3f80)))
	same(t, dvec(1), eval(t, ir.Bitcast, to(ir.F64), ivec(0x3ff0000000000000)))
	same(t, Floats(ir.F8E4M3, ir.Shape{2}, 448, nan), eval(t, ir.Bitcast, to(ir.F8E4M3), IntsOf(ir.U8, ir.Shape{2}, 0x7e, 0xff)))
	same(t, IntsOf(ir.U8, ir.Shape{1}, 200), eval(t, ir.Bitcast, to(ir.U8), IntsOf(ir.I8, ir.Shape{1}, -56)))
	tol, err := Tolerance(operation(t, ir.Bitcast, to(ir.U32), vec(1, nan)), vec(1, nan))
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true}, tol.Any, "a NaN has no bits of its own")
}

// Integers of every width against Go's own.
func TestIntegersOfEveryWidth(t *testing.T) {
	integers[int8](t, ir.I8)
	integers[int16](t, ir.I16)
	integers[int32](t, ir.I32)
	integers[int64](t, ir.I64)
	integers[uint8](t, ir.U8)
	integers[uint16](t, ir.U16)
	integers[uint32](t, ir.U32)
	integers[uint64](t, ir.U64)
}

func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](t *testing.T, d ir.DType) {
	r := rand.New(rand.NewPCG(uint64(d), 1))
	least, greatest := d.Limits()
	some := []T{0, 1, T(least), T(greatest), T(greatest) - 1, T(least) + 1, 2, 7, 3}
	pick := func() T {
		if r.IntN(3) == 0 {
			return T(r.Uint64())
		}
		v := some[r.IntN(len(some))]
		if r.IntN(2) == 0 {
			v = 0 - v
		}
		return v
	}
	width := 8 * d.Size()
	kinds := map[ir.Kind]func(a, b T) T{
		ir.Add: func(a, b T) T { return a + b }, ir.Sub: func(a, b T) T { return a - b }, ir.Mul: func(a, b T) T { return a * b },
		ir.Div: func(a, b T) T { return a / b }, ir.Fmod: func(a, b T) T { return a % b },
		ir.Maximum: func(a, b T) T { return max(a, b) }, ir.Minimum: func(a, b T) T { return min(a, b) },
		ir.BitwiseAnd: func(a, b T) T { return a & b }, ir.BitwiseOr: func(a, b T) T { return a | b }, ir.BitwiseXor: func(a, b T) T { return a ^ b },
		ir.ShiftLeft: func(a, b T) T { return a << (uint64(b) % uint64(width)) }, ir.ShiftRight: func(a, b T) T { return a >> (uint64(b) % uint64(width)) },
		ir.FloorDiv: func(a, b T) T {
			q := a / b
			if a%b != 0 && (a < 0) != (b < 0) {
				q--
			}
			return q
		},
		ir.Remainder: func(a, b T) T {
			m := a % b
			if m != 0 && (m < 0) != (b < 0) {
				m += b
			}
			return m
		},
		ir.Pow: func(a, b T) T {
			p := T(1)
			for range uint64(b) % 9 {
				p *= a
			}
			return p
		},
	}
	for kind, f := range kinds {
		for range 200 {
			a, b := pick(), pick()
			switch kind {
			case ir.Div, ir.Fmod, ir.FloorDiv, ir.Remainder:
				if b == 0 {
					b = 1
				}
			case ir.Pow:
				b = T(uint64(b) % 9)
			case ir.ShiftLeft, ir.ShiftRight:
				b = T(uint64(b) % uint64(width))
			}
			want := IntsOf(d, ir.Shape{1}, int64(f(a, b)))
			same(t, want, eval(t, kind, nil, IntsOf(d, ir.Shape{1}, int64(a)), IntsOf(d, ir.Shape{1}, int64(b))))
		}
	}
	for range 100 {
		a, b := pick(), pick()
		x, y := IntsOf(d, ir.Shape{1}, int64(a)), IntsOf(d, ir.Shape{1}, int64(b))
		same(t, flags(a < b), eval(t, ir.Less, nil, x, y))
		same(t, flags(a >= b), eval(t, ir.GreaterEqual, nil, x, y))
		same(t, IntsOf(d, ir.Shape{1}, int64(^a)), eval(t, ir.BitwiseNot, nil, x))
		same(t, IntsOf(d, ir.Shape{1}, int64(0-a)), eval(t, ir.Neg, nil, x))
		same(t, IntsOf(d, ir.Shape{1}, int64(a*a+b)), eval(t, ir.MulAdd, nil, x, x, y))
		same(t, IntsOf(d, ir.Shape{1}, int64(a+b)), eval(t, ir.Sum, nil, IntsOf(d, ir.Shape{2}, int64(a), int64(b))))
		same(t, IntsOf(d, ir.Shape{1}, int64(min(a, b))), eval(t, ir.Min, nil, IntsOf(d, ir.Shape{2}, int64(a), int64(b))))
		sorted := eval(t, ir.Sort, axes(0), IntsOf(d, ir.Shape{2}, int64(a), int64(b)))
		same(t, IntsOf(d, ir.Shape{2}, int64(min(a, b)), int64(max(a, b))), sorted)
	}
	// What has no answer in Go.
	one := func(v int64) Tensor { return IntsOf(d, ir.Shape{1}, v) }
	for _, kind := range []ir.Kind{ir.Div, ir.FloorDiv, ir.Remainder, ir.Fmod} {
		same(t, one(0), eval(t, kind, nil, one(7), one(0)))
	}
	same(t, one(0), eval(t, ir.ShiftLeft, nil, one(7), one(int64(width))))
	same(t, one(0), eval(t, ir.ShiftRight, nil, one(7), one(int64(width))))
	if d.IsSigned() {
		same(t, one(least), eval(t, ir.Div, nil, one(least), one(-1)))
		same(t, one(0), eval(t, ir.Fmod, nil, one(least), one(-1)))
		same(t, one(0), eval(t, ir.ShiftLeft, nil, one(7), one(-1)))
		same(t, one(-1), eval(t, ir.ShiftRight, nil, one(-7), one(-1)))
		same(t, one(-1), eval(t, ir.ShiftRight, nil, one(-7), one(100)))
		same(t, one(-1), eval(t, ir.Pow, nil, one(-1), one(-3)))
		same(t, one(0), eval(t, ir.Pow, nil, one(2), one(-3)))
	}
}

// Reports of narrow arithmetic done in wider types.
func TestReportsOfNarrowIntegers(t *testing.T) {
	u8 := func(vs ...int64) Tensor { return IntsOf(ir.U8, ir.Shape{len(vs)}, vs...) }
	same(t, IntsOf(ir.I16, ir.Shape{1}, 0), eval(t, ir.Cast, to(ir.I16), eval(t, ir.Add, nil, u8(128), u8(128))))
	six := eval(t, ir.Neg, nil, u8(6))
	same(t, u8(250), six)
	same(t, flags(false), eval(t, ir.Less, scalars(ir.IntScalar(ir.U8, 4)), six))
	same(t, u8(254), eval(t, ir.Sub, nil, u8(3), u8(5)))
	y := eval(t, ir.Neg, nil, eval(t, ir.Abs, nil, u8(200, 200)))
	same(t, u8(224), eval(t, ir.Sum, nil, eval(t, ir.Cat, axes(0), y, y)))
	same(t, vec(-56), eval(t, ir.Cast, to(ir.F32), eval(t, ir.Add, nil, IntsOf(ir.I8, ir.Shape{1}, 100), IntsOf(ir.I8, ir.Shape{1}, 100))))
	for n := 1; n <= 70; n++ {
		x := New(ir.I8, ir.Shape{n})
		for i := range x.I {
			x.I[i] = 5
		}
		same(t, IntsOf(ir.I8, ir.Shape{1}, 5), eval(t, ir.Min, nil, x))
	}
}

func TestCanonical(t *testing.T) {
	for _, d := range []ir.DType{ir.F64, ir.F32, ir.F16, ir.BF16, ir.F8E4M3, ir.F8E5M2} {
		x := Floats(d, ir.Shape{3}, 1, nan, negZero)
		b := x.Bytes()
		payload := slices.Clone(b)
		payload[2*d.Size()-1] |= 0x80 // another sign
		assert.NotEqual(t, b, payload, d.String())
		Canonical(d, payload)
		assert.Equal(t, b, payload, d.String())
	}
	b := []byte{0xff, 0xff}
	Canonical(ir.I16, b)
	assert.Equal(t, []byte{0xff, 0xff}, b)
}
