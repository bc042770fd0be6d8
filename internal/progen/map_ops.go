package progen

import "github.com/sinter-ml/sinter/ir"

// unaryKinds are the element-wise kinds of one operand; those that fuse in
// real models come more than once.
var unaryKinds = []ir.Kind{
	ir.Exp, ir.Expm1, ir.Exp2, ir.Log, ir.Log2, ir.Log10, ir.Log1p, ir.Sqrt, ir.Rsqrt, ir.Recip,
	ir.Sin, ir.Cos, ir.Tan, ir.Asin, ir.Acos, ir.Atan, ir.Sinh, ir.Cosh, ir.Tanh, ir.Asinh, ir.Acosh, ir.Atanh,
	ir.Erf, ir.Erfc, ir.Erfinv, ir.Lgamma, ir.Digamma, ir.Round, ir.Floor, ir.Ceil, ir.Trunc, ir.Frac, ir.IsNaN, ir.IsInf, ir.IsFinite,
	ir.Abs, ir.Neg, ir.Sign, ir.Square, ir.Not, ir.BitwiseNot, ir.Exp, ir.Tanh, ir.Sqrt, ir.Rsqrt, ir.Neg, ir.Square, ir.Abs,
	ir.Relu, ir.LeakyRelu, ir.Elu, ir.Selu, ir.Celu, ir.Sigmoid, ir.LogSigmoid, ir.HardSigmoid, ir.Silu, ir.HardSwish, ir.Mish,
	ir.Gelu, ir.GeluTanh, ir.Softplus, ir.Softsign, ir.Relu, ir.Silu, ir.Gelu, ir.Sigmoid,
}

// scalarOfKind gives an activation its scalar.
func (g *generator) scalarOfKind(kind ir.Kind, x ir.TensorRef) func(*ir.Operation) {
	return func(o *ir.Operation) {
		if ir.Lookup(kind).MinScalars > 0 {
			o.Scalars = []ir.Scalar{g.scalar(x.DType)}
		}
	}
}

func (g *generator) unary() {
	kind := pick(g, unaryKinds...)
	x := g.tensor(ir.Lookup(kind).DTypes, 0)
	g.apply(kind, g.scalarOfKind(kind, x), x)
}

var gradientKinds = []ir.Kind{
	ir.ReluBackward, ir.LeakyReluBackward, ir.EluBackward, ir.SeluBackward, ir.CeluBackward, ir.SigmoidBackward, ir.TanhBackward,
	ir.LogSigmoidBackward, ir.HardSigmoidBackward, ir.SiluBackward, ir.HardSwishBackward, ir.MishBackward,
	ir.GeluBackward, ir.GeluTanhBackward, ir.SoftplusBackward, ir.SoftsignBackward, ir.PRelu,
}

// gradient is a map of an operand and the gradient of an output.
func (g *generator) gradient() {
	kind := pick(g, gradientKinds...)
	x := g.tensor(ir.Floats, 0)
	g.apply(kind, g.scalarOfKind(kind, x), x, g.partner(x.DType, x.Shape))
}

func (g *generator) cast() {
	x := g.tensor(ir.AnyDType, 0)
	g.castTo(x, g.dtype(ir.AnyDType))
}

func (g *generator) castTo(x ir.TensorRef, d ir.DType) (ir.TensorRef, bool) {
	return g.apply(ir.Cast, func(o *ir.Operation) {
		o.Attrs.DType = d
		o.Attrs.Flag = d.IsFloat8() && g.src.intn(3) == 0
	}, x)
}

// bits reads the bits of elements as another type. A NaN has no bits of its
// own, so there is none among floats that become integers.
func (g *generator) bits() {
	x := g.tensor(ir.Numbers, 0)
	var to []ir.DType
	for _, d := range dtypesMade {
		if d.dtype != x.DType && d.dtype != ir.Bool && d.dtype.Size() == x.DType.Size() {
			to = append(to, d.dtype)
		}
	}
	if len(to) == 0 {
		return
	}
	if x.DType.IsFloat() {
		nan, ok := g.apply(ir.IsNaN, nil, x)
		if !ok {
			return
		}
		zero, _ := g.apply(ir.Full, func(o *ir.Operation) {
			o.Attrs.DType, o.Scalars = x.DType, []ir.Scalar{ir.FloatScalar(x.DType, 0)}
		})
		x, _ = g.apply(ir.Where, nil, nan, zero, x)
		if g.src.intn(4) == 0 { // the bits of an 8-bit float
			x, _ = g.apply(ir.Cast, withDType(pick(g, ir.F8E4M3, ir.F8E5M2)), x)
			to = []ir.DType{ir.U8, ir.I8}
		}
	}
	g.apply(ir.Bitcast, func(o *ir.Operation) { o.Attrs.DType = pick(g, to...) }, x)
}

var binaryKinds = []ir.Kind{
	ir.Add, ir.Add, ir.Add, ir.Sub, ir.Sub, ir.Mul, ir.Mul, ir.Mul, ir.Div, ir.Div, ir.Pow, ir.Maximum, ir.Minimum,
	ir.FloorDiv, ir.Remainder, ir.Fmod, ir.Atan2, ir.Hypot, ir.CopySign,
	ir.Equal, ir.NotEqual, ir.Less, ir.LessEqual, ir.Greater, ir.GreaterEqual, ir.And, ir.Or, ir.Xor,
	ir.BitwiseAnd, ir.BitwiseOr, ir.BitwiseXor, ir.ShiftLeft, ir.ShiftRight,
}

// binary takes two tensors, the second possibly the first again, or a tensor
// and a scalar, or a tensor and a rank-0 operand in the scalar's place.
func (g *generator) binary() {
	kind := pick(g, binaryKinds...)
	x := g.tensor(ir.Lookup(kind).DTypes, 0)
	switch g.src.intn(8) {
	case 0, 1:
		g.apply(kind, func(o *ir.Operation) { o.Scalars = []ir.Scalar{g.scalar(x.DType)} }, x)
	case 2:
		g.apply(kind, func(o *ir.Operation) {
			o.Scalars = []ir.Scalar{{DType: x.DType.Compute(), Input: 1}}
		}, x, g.like(x.DType, ir.Shape{}))
	case 3:
		g.apply(kind, nil, x, x)
	default:
		y := g.partner(x.DType, x.Shape)
		if g.src.intn(2) == 0 {
			x, y = y, x
		}
		g.apply(kind, nil, x, y)
	}
}

func (g *generator) ternary() {
	switch g.src.intn(3) {
	case 0:
		a := g.tensor(ir.Computing, 0)
		mask := g.partner(ir.Bool, a.Shape)
		joint, _ := ir.Broadcast(a.Shape, mask.Shape)
		b := g.partner(a.DType, joint)
		if g.src.intn(2) == 0 {
			a, b = b, a
		}
		g.apply(ir.Where, nil, mask, a, b)
	case 1:
		x := g.tensor(ir.Numbers, 0)
		if g.src.intn(3) == 0 { // a bound from an operand
			g.apply(ir.Clamp, func(o *ir.Operation) {
				o.Scalars = []ir.Scalar{{DType: x.DType.Compute(), Input: 1}, g.scalar(x.DType)}
			}, x, g.like(x.DType, ir.Shape{}))
			return
		}
		g.apply(ir.Clamp, func(o *ir.Operation) { o.Scalars = []ir.Scalar{g.scalar(x.DType), g.scalar(x.DType)} }, x)
	default:
		a := g.tensor(ir.Numbers, 0)
		b := g.partner(a.DType, a.Shape)
		joint, _ := ir.Broadcast(a.Shape, b.Shape)
		g.apply(ir.MulAdd, nil, a, b, g.partner(a.DType, joint))
	}
}
