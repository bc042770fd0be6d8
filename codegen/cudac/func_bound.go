package cudac

import "github.com/sinter-ml/sinter/ir"

// bounds holds the error of functions that are not correctly rounded, in units of
// the last place of the result, for F32 and F64.
var bounds = map[ir.ScalarOp][2]float64{
	ir.SExp:      {1, 1},
	ir.SExp2:     {1, 1},
	ir.SExpm1:    {2, 2},
	ir.SLog:      {1, 1},
	ir.SLog2:     {1, 1},
	ir.SLog10:    {1, 1},
	ir.SLog1p:    {2, 2},
	ir.SRsqrt:    {2, 2},
	ir.SSin:      {2, 2},
	ir.SCos:      {2, 2},
	ir.STan:      {1, 2},
	ir.SAsin:     {1, 2},
	ir.SAcos:     {1, 2},
	ir.SAtan:     {1, 2},
	ir.SSinh:     {1, 2},
	ir.SCosh:     {1, 2},
	ir.STanh:     {2, 2},
	ir.SAsinh:    {1, 4},
	ir.SAcosh:    {1, 4},
	ir.SAtanh:    {1, 4},
	ir.SErf:      {2, 2},
	ir.SErfc:     {1, 4},
	ir.SErfinv:   {1, 4},
	ir.SLgamma:   {1, 4},
	ir.SDigamma:  {1, 4},
	ir.SSigmoid:  {4, 4},
	ir.SSilu:     {4, 4},
	ir.SGelu:     {4, 4},
	ir.SGeluTanh: {4, 4},
	ir.SSoftplus: {4, 4},
	ir.SPow:      {1, 4},
	ir.SAtan2:    {1, 4},
	ir.SHypot:    {1, 4},
}

// FuncBound returns how far the result of a scalar function on operands of type
// t may be from the exact value, in units of its last place. 0 says that it is
// correctly rounded, so that every engine gives the same bits, all NaNs counting
// as one value; so are all functions of integers and bools. SLgamma and SDigamma
// may be 1e-6 off, in F64 1e-13, near their zeros.
func FuncBound(fn ir.ScalarOp, t ir.DType) float64 {
	switch t {
	case ir.F32:
		return bounds[fn][0]
	case ir.F64:
		return bounds[fn][1]
	}
	return 0
}
