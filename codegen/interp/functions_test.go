package interp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// unaryFloat holds, for each function of one float, the distance allowed from its
// definition in units of the last place of the result.
var unaryFloat = []struct {
	op   ir.ScalarOp
	ulps float64
}{
	{ir.SExp, 0.51},
	{ir.SExpm1, 0.51},
	{ir.SLog, 0.51},
	{ir.SLog1p, 0.51},
	{ir.SSqrt, 0.5},
	{ir.SRsqrt, 0.51},
	{ir.SRecip, 0.5},
	{ir.SSin, 0.51},
	{ir.SCos, 0.51},
	{ir.STanh, 0.55},
	{ir.SErf, 0.51},
	{ir.SRound, 0},
	{ir.SFloor, 0},
	{ir.SCeil, 0},
	{ir.STrunc, 0},
	{ir.SSigmoid, 0.51},
	{ir.SSilu, 0.51},
	{ir.SGelu, 0.51},
	{ir.SGeluTanh, 0.51},
	{ir.SSoftplus, 0.51},
	{ir.SExp2, 0.51},
	{ir.SLog2, 0.51},
	{ir.SLog10, 0.51},
	{ir.STan, 0.51},
	{ir.SAsin, 0.51},
	{ir.SAcos, 0.51},
	{ir.SAtan, 0.51},
	{ir.SSinh, 0.51},
	{ir.SCosh, 0.51},
	{ir.SAsinh, 0.51},
	{ir.SAcosh, 0.51},
	{ir.SAtanh, 0.51},
	{ir.SErfc, 0.51},
	{ir.SErfinv, 0.51},  // which TestErfinv checks
	{ir.SLgamma, 0.51},  // TestAccuracyF64
	{ir.SDigamma, 0.51}, // TestAccuracyF64
	{ir.SFrac, 0},
	{ir.SAbs, 0},
	{ir.SNeg, 0},
}

// definition returns a function of one float in float64.
func definition(op ir.ScalarOp) func(x float64) float64 {
	switch op {
	case ir.SLgamma: // more exact near roots; see TestAccuracyF64
		return lgammaF64
	case ir.SDigamma:
		return digamma
	}
	if f := kerneltest.Function(op); f != nil {
		return f
	}
	return func(x float64) float64 { return kerneltest.Apply(op, ir.F64, []kerneltest.Value{{F: x}}).F }
}

func TestLgammaAtTheEnds(t *testing.T) {
	assert.Equal(t, math.Inf(1), lgamma(math.Inf(1)))
	assert.Equal(t, math.Inf(1), lgamma(math.Inf(-1)))
	assert.Equal(t, math.Inf(1), lgamma(0))
	assert.Equal(t, math.Inf(1), lgamma(-3))
	assert.True(t, math.IsNaN(lgamma(math.NaN())))
	assert.Equal(t, 711.0027748265813, lgammaF64(-1.642170608637467e-309))
}

// ulp returns the distance of two float32 values near |x|.
func ulp(x float64) float64 {
	f := math.Float32bits(float32(math.Abs(x)))
	f = min(f, 0x7f7fffff)
	return float64(math.Float32frombits(f+1)) - float64(math.Float32frombits(f))
}

// agrees reports whether got is want within the given ulps; zeros keep their
// signs and results beyond the largest float32 are infinite.
func agrees(got float32, want, ulps float64) bool {
	switch {
	case math.IsNaN(want):
		return got != got
	case math.IsInf(float64(float32(want)), 0) || want == 0:
		return got == float32(want) && math.Signbit(float64(got)) == math.Signbit(want) ||
			want != 0 && !math.IsInf(want, 0) && math.Abs(float64(got)) == math.MaxFloat32
	}
	// The largest float32 and infinity are one ulp apart.
	if math.IsInf(float64(got), 0) {
		return math.Abs(want) > math.MaxFloat32
	}
	return math.Abs(float64(got)-want) <= ulps*ulp(want)
}

// runUnary applies a function to all of x through a kernel.
func runUnary(t *testing.T, op ir.ScalarOp, x []float32) []float32 {
	t.Helper()
	k := &codegen.Kernel{
		Outer:    1,
		Buffers:  []codegen.Buffer{{DType: ir.F32}, {DType: ir.F32, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}},
		Body: []codegen.Instr{
			{Op: codegen.OpLoad, Type: ir.F32},
			{Op: codegen.OpApply, Type: ir.F32, Fn: op, Args: []codegen.Value{0}},
		},
		Stores: []codegen.Store{{Access: 1, Value: 1}},
	}
	l := &codegen.Launch{Dims: []int{len(x)}, Access: []codegen.AccessArgs{{Strides: []int{1}}, {Strides: []int{1}}}}
	mem := [][]byte{alloc(4 * len(x)), alloc(4 * len(x))}
	copy(view[float32](mem[0]), x)
	require.NoError(t, compile(t, k).Run(l, mem, codegen.Serial{}))
	return view[float32](mem[1])
}

// inputs returns all bfloat16 values, and float32 patterns spread evenly over
// all of them and over the range where most functions do something.
func inputs() []float32 {
	n := kernels(1<<18, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 0, 1<<16+2*n)
	for b := range 1 << 16 {
		x = append(x, math.Float32frombits(uint32(b)<<16))
	}
	for i := range n {
		x = append(x, math.Float32frombits(uint32(uint64(i)<<32/uint64(n))+uint32(r.IntN(1<<12))))
		x = append(x, float32(r.Float64()*220-110))
	}
	return x
}

func TestUnaryFunctions(t *testing.T) {
	x := inputs()
	for _, u := range unaryFloat {
		t.Run(u.op.String(), func(t *testing.T) {
			t.Parallel()
			got := runUnary(t, u.op, x)
			f, worst := definition(u.op), 0.0
			for i, v := range x {
				want := f(float64(v))
				if !agrees(got[i], want, u.ulps) {
					t.Fatalf("%v(%v): want %v, got %v", u.op, v, want, got[i])
				}
				if d := math.Abs(float64(got[i])-want) / ulp(want); d < 1e9 {
					worst = max(worst, d)
				}
			}
			t.Logf("worst error %.4f ulp", worst)
		})
	}
}

func TestFunctionValues(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	negZero := float32(math.Copysign(0, -1))
	cases := []struct {
		op      ir.ScalarOp
		x, want float32
	}{
		{ir.SExp, 89, inf}, {ir.SExp, -104, 0}, {ir.SExp, -inf, 0}, {ir.SExp, inf, inf}, {ir.SExp, 0, 1},
		{ir.SExp, -103.9, math.SmallestNonzeroFloat32}, {ir.SExp, nan, nan},
		{ir.SLog, 0, -inf}, {ir.SLog, negZero, -inf}, {ir.SLog, -1, nan}, {ir.SLog, 1, 0},
		{ir.SSqrt, negZero, negZero}, {ir.SRsqrt, 0, inf}, {ir.SRsqrt, negZero, -inf}, {ir.SRecip, negZero, -inf},
		{ir.SSin, inf, nan},
		{ir.STanh, 20, 1}, {ir.STanh, negZero, negZero}, {ir.STanh, -inf, -1}, {ir.STanh, 1e-30, 1e-30},
		{ir.SErf, inf, 1}, {ir.SErf, negZero, negZero},
		{ir.SExpm1, 1e-8, 1e-8}, {ir.SLog1p, 1e-8, 1e-8}, {ir.SSoftplus, 100, 100}, {ir.SSigmoid, -inf, 0}, {ir.SSigmoid, inf, 1},
		{ir.SGelu, inf, inf}, {ir.SGelu, negZero, negZero}, {ir.SSilu, inf, inf},
		{ir.SRound, 0.5, 0}, {ir.SRound, 1.5, 2}, {ir.SRound, 2.5, 2}, {ir.SRound, -0.5, negZero}, {ir.SRound, 8388609, 8388609},
		{ir.SExp2, 10, 1024}, {ir.SExp2, -149, math.SmallestNonzeroFloat32}, {ir.SExp2, 128, inf}, {ir.SExp2, -inf, 0},
		{ir.SLog2, 8, 3}, {ir.SLog2, 0, -inf}, {ir.SLog2, -1, nan}, {ir.SLog10, 1000, 3}, {ir.SLog10, inf, inf},
		{ir.STan, negZero, negZero}, {ir.STan, inf, nan}, {ir.SAsin, 2, nan}, {ir.SAsin, negZero, negZero}, {ir.SAcos, 1, 0}, {ir.SAcos, -2, nan},
		{ir.SSinh, negZero, negZero}, {ir.SSinh, -inf, -inf}, {ir.SCosh, -inf, inf}, {ir.SAsinh, negZero, negZero}, {ir.SAsinh, -inf, -inf},
		{ir.SAcosh, 1, 0}, {ir.SAcosh, 0.5, nan}, {ir.SAtanh, 1, inf}, {ir.SAtanh, -1, -inf}, {ir.SAtanh, 2, nan}, {ir.SAtanh, negZero, negZero},
		{ir.SErfc, inf, 0}, {ir.SErfc, -inf, 2}, {ir.SErfinv, 1, inf}, {ir.SErfinv, -1, -inf}, {ir.SErfinv, 1.5, nan}, {ir.SErfinv, negZero, negZero},
		{ir.SLgamma, 0, inf}, {ir.SLgamma, -3, inf}, {ir.SLgamma, -inf, inf}, {ir.SLgamma, 1, 0}, {ir.SLgamma, 2, 0}, {ir.SLgamma, nan, nan},
		{ir.SDigamma, 0, -inf}, {ir.SDigamma, negZero, inf}, {ir.SDigamma, -2, nan}, {ir.SDigamma, inf, inf}, {ir.SDigamma, -inf, nan},
		{ir.SFrac, -1.5, -0.5}, {ir.SFrac, inf, nan}, {ir.SFrac, 8388608, 0},
		{ir.SSign, nan, nan}, {ir.SSign, negZero, negZero}, {ir.SSign, -3, -1}, {ir.SSign, inf, 1},
	}
	for _, c := range cases {
		got := runUnary(t, c.op, []float32{c.x})[0]
		if c.want != c.want {
			assert.True(t, got != got, "%v(%v) = %v", c.op, c.x, got)
			continue
		}
		assert.Equal(t, math.Float32bits(c.want), math.Float32bits(got), "%v(%v): want %v, got %v", c.op, c.x, c.want, got)
	}
	assert.InDelta(t, -0.5218765, runUnary(t, ir.SSin, []float32{math.MaxFloat32})[0], 1e-7)
	assert.InDelta(t, -0.487506, runUnary(t, ir.SSin, []float32{1e10})[0], 1e-6)
	tail := math.Float32bits(runUnary(t, ir.SSigmoid, []float32{-100})[0])
	assert.InDelta(t, 0x1b, float64(tail), 2, "sigmoid(-100) = %#x", tail)
}

// On special values of F64, functions are those of math, or of IEEE 754 where
// math differs.
func TestFunctionSpecialsF64(t *testing.T) {
	x := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5, 710, -750, 1e308, -1e308, 1e-310, -1e-310, math.SmallestNonzeroFloat64, 1 << 53}
	for _, u := range unaryFloat {
		got := make([]float64, len(x))
		unaryF64ToF64[u.op](got, x)
		for i, v := range x {
			want := definition(u.op)(v)
			if u.op == ir.SSin || u.op == ir.SCos || u.op == ir.STan {
				if math.Abs(v) > 1e300 && !math.IsInf(v, 0) {
					continue // see TestAccuracyF64
				}
			}
			same := got[i] == want && math.Signbit(got[i]) == math.Signbit(want) || got[i] != got[i] && want != want
			if !same && !(want != 0 && math.Abs(got[i]-want) <= 1e-13*math.Abs(want)) {
				t.Errorf("%v(%v): want %v, got %v", u.op, v, want, got[i])
			}
		}
	}
	assert.InEpsilon(t, -744.4400719213812, logF64(math.SmallestNonzeroFloat64), 1e-15)
	assert.Equal(t, -1074.0, log2(math.SmallestNonzeroFloat64))
	for e := -1074; e < 1024; e++ {
		assert.Equal(t, float64(e), log2(math.Ldexp(1, e)))
		assert.Equal(t, math.Ldexp(1, e), exp2(float64(e)))
	}
	for e := range 23 {
		assert.Equal(t, float64(e), log10(math.Pow10(e)))
	}
}

// exactly32 is x·y + z by exact arithmetic.
func exactly32(x, y, z float32) float32 {
	return float32(kerneltest.Apply(ir.SMulAdd, ir.F32, []kerneltest.Value{{F: float64(x)}, {F: float64(y)}, {F: float64(z)}}).F)
}

// mulAdd rounds once: compared with exact arithmetic on operands whose sums
// nearly cancel, fall half-way between two floats, or are subnormal.
func TestMulAddRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	pick := func() float32 {
		switch r.IntN(4) {
		case 0:
			return math.Float32frombits(kerneltest.SpecialF32[r.IntN(len(kerneltest.SpecialF32))])
		case 1:
			return float32(r.IntN(9)-4) * float32(math.Ldexp(1, r.IntN(60)-30))
		case 2:
			return float32(r.NormFloat64()) * float32(math.Ldexp(1, r.IntN(80)-100))
		}
		return math.Float32frombits(r.Uint32())
	}
	for range kernels(100000, 1000000) {
		x, y, z := pick(), pick(), pick()
		if r.IntN(2) == 0 {
			z = -float32(x*y) * (1 + float32(r.IntN(3)-1)*0x1p-23)
		}
		want, got := exactly32(x, y, z), mulAdd(x, y, z)
		if want != want && got != got {
			continue
		}
		if math.Float32bits(want) != math.Float32bits(got) {
			t.Fatalf("%x·%x + %x: want %x, got %x", x, y, z, want, got)
		}
	}
	// 1 + 2⁻²⁴ + a trace: rounding twice would lose the trace.
	x := float32(1 + 0x1p-23)
	assert.Equal(t, exactly32(0x1p-24, x, 1), mulAdd(0x1p-24, x, 1))
	assert.Equal(t, float32(1+0x1p-23), mulAdd(0x1p-24, x, 1))
}

func TestPow(t *testing.T) {
	for _, c := range [][3]int64{
		{2, 62, 1 << 62}, {2, 63, math.MinInt64}, {2, 64, 0}, {0, 0, 1}, {0, -1, 0}, {1, -5, 1}, {-1, -5, -1}, {-1, -4, 1}, {3, -1, 0}, {-3, 3, -27}, {3, math.MaxInt64, kerneltest.Apply(ir.SPow, ir.I64, []kerneltest.Value{{I: 3}, {I: math.MaxInt64}}).I},
	} {
		assert.Equal(t, c[2], powI64(c[0], c[1]), "%d^%d", c[0], c[1])
	}
}

func TestAtan2KeepsTheSignOfY(t *testing.T) {
	for _, y := range []float64{math.SmallestNonzeroFloat64, 0} {
		assert.Equal(t, math.Pi, atan2(y, -math.MaxFloat64))
		assert.Equal(t, -math.Pi, atan2(math.Copysign(y, -1), -math.MaxFloat64))
		assert.True(t, math.Signbit(atan2(math.Copysign(y, -1), math.MaxFloat64)))
	}
}

// The functions of two floats that are not exact, on all pairs of special
// values, with vectors and scalars in either place.
func TestBinaryFloatFunctions(t *testing.T) {
	for _, fn := range []ir.ScalarOp{ir.SPow, ir.SAtan2, ir.SHypot} {
		f := kerneltest.Function2(fn)
		for _, ty := range []ir.DType{ir.F32, ir.F64} {
			vals := kerneltest.Specials(ty)
			for constant := range 3 {
				m := kerneltest.Pairs(fn, ty, constant)
				require.NoError(t, compile(t, m.Kernel).Run(m.Launch, m.Mem, codegen.Serial{}))
				for i, p := range kerneltest.Points(m.Launch.Dims) {
					x, y := vals[p[0]].F, vals[p[1]].F
					if constant == 0 {
						x = vals[len(vals)/2].F
					} else if constant == 1 {
						y = vals[len(vals)/2].F
					}
					if fn == ir.SPow && x != 0 && math.Abs(x) < 0x1p-1022 {
						continue // where math.Pow is wrong on some platforms
					}
					want, got := f(x, y), kerneltest.ReadElem(m.Mem[len(m.Mem)-1], ty, i).F
					ok := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want || math.Abs(got-want) <= 1e-13*math.Abs(want)
					if ty == ir.F32 {
						ok = agrees(float32(got), want, 0.51)
					}
					if !ok {
						t.Fatalf("%v %v(%v, %v): want %v, got %v", ty, fn, x, y, want, got)
					}
				}
			}
		}
	}
}

func TestPowF32(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 100000 {
		x, y := math.Float32frombits(r.Uint32()), float32(r.NormFloat64()*8)
		if !agrees(powF32(x, y), math.Pow(float64(x), float64(y)), 0.51) {
			t.Fatalf("%v^%v", x, y)
		}
	}
	assert.InEpsilon(t, 0x1p-107*math.Exp2(-0.4), pow(math.SmallestNonzeroFloat64, 0.1), 1e-14)
	assert.Equal(t, math.Inf(1), pow(-math.SmallestNonzeroFloat64, -2))
	// Repeated squaring would lose half the digits.
	assert.Equal(t, float32(math.Exp(1e7*math.Log1p(0x1p-23))), powF32(1+0x1p-23, 1e7))
}
