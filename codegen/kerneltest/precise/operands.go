package precise

import (
	"math"
	"math/rand/v2"

	"github.com/sinter-ml/sinter/ir"
)

// ranges holds where each function of one float is measured: inside its domain,
// as far as its result is neither 0 nor infinite in float64.
var ranges = map[ir.ScalarOp][2]float64{
	ir.SExp:      {-745, 709.7},
	ir.SExpm1:    {-40, 709},
	ir.SExp2:     {-1074, 1023.9},
	ir.SLog:      {0, math.MaxFloat64},
	ir.SLog2:     {0, math.MaxFloat64},
	ir.SLog10:    {0, math.MaxFloat64},
	ir.SLog1p:    {-1, 1e300},
	ir.SRsqrt:    {0, math.MaxFloat64},
	ir.SSin:      {-1e300, 1e300},
	ir.SCos:      {-1e300, 1e300},
	ir.STan:      {-1e300, 1e300},
	ir.SAsin:     {-0.999999, 0.999999},
	ir.SAcos:     {-1, 1},
	ir.SAtan:     {-1e300, 1e300},
	ir.SSinh:     {-710, 710},
	ir.SCosh:     {-710, 710},
	ir.STanh:     {-30, 30},
	ir.SAsinh:    {-1e150, 1e150},
	ir.SAcosh:    {1, 1e150},
	ir.SAtanh:    {-1, 1},
	ir.SErf:      {-6, 6},
	ir.SErfc:     {-6, 26},
	ir.SErfinv:   {-1, 1},
	ir.SLgamma:   {-60, 1e6},
	ir.SDigamma:  {-60, 1e6},
	ir.SSigmoid:  {-744, 700},
	ir.SSilu:     {-751, 700},
	ir.SGelu:     {-38.5, 38},
	ir.SGeluTanh: {-22, 21},
	ir.SSoftplus: {-700, 700},
}

// Operands returns up to 7·n numbers in the range where a function of one float is
// measured: spread evenly, by their logarithm, and near its ends and the places
// where functions are hard.
func Operands(r *rand.Rand, fn ir.ScalarOp, n int) []float64 {
	lo, hi := ranges[fn][0], ranges[fn][1]
	var x []float64
	add := func(v float64) {
		if v > lo && v < hi && v != 0 && v != 1 {
			x = append(x, v)
		}
	}
	for range n {
		add(lo/2 + (hi/2-lo/2)*r.Float64()*2 + lo/2)
		add(math.Ldexp(1+r.Float64(), r.IntN(80)-60))
		add(-math.Ldexp(1+r.Float64(), r.IntN(80)-60))
		add(1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(50)))
		add(r.NormFloat64() * 4)
		add(float64(r.IntN(1<<20)) * math.Pi / 4 * (1 + float64(r.IntN(3)-1)*0x1p-52))
		add(math.Ldexp(1+r.Float64(), r.IntN(2000)-1000))
	}
	return x
}

// Operands2 returns operands of a function of two floats.
func Operands2(r *rand.Rand, fn ir.ScalarOp) (x, y float64) {
	switch fn {
	case ir.SPow:
		x := math.Ldexp(1+r.Float64(), r.IntN(40)-20)
		if r.IntN(3) == 0 {
			x = 1 + (r.Float64()-0.5)*0x1p-20
		}
		return x, (r.Float64()*2 - 1) * 700 / math.Abs(math.Log(x))
	case ir.SHypot:
		e := r.IntN(2000) - 1000
		return math.Ldexp(r.NormFloat64(), e), math.Ldexp(r.NormFloat64(), e+r.IntN(40)-20)
	}
	return r.NormFloat64() * math.Ldexp(1, r.IntN(60)-30), r.NormFloat64() * math.Ldexp(1, r.IntN(60)-30)
}
