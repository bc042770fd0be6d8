package progen

import "github.com/sinter-ml/sinter/ir"

// groups are the ways to extend a program. Each records one operation or a
// few that belong together.
var groups = []struct {
	name   string
	weight int
	record func(*generator)
}{
	{"unary", 12, (*generator).unary},
	{"cast", 3, (*generator).cast},
	{"binary", 14, (*generator).binary},
	{"ternary", 5, (*generator).ternary},
	{"create", 3, (*generator).create},
	{"random", 3, (*generator).random},
	{"view", 9, (*generator).view},
	{"move", 5, (*generator).move},
	{"index", 4, (*generator).index},
	{"effect", 6, (*generator).effect},
	{"reduce", 9, (*generator).reduce},
	{"scan", 2, (*generator).scan},
	{"matmul", 4, (*generator).matmul},
	{"linear", 3, (*generator).linear},
	{"composite", 5, (*generator).composite},
	{"composed", 4, (*generator).composed},
	{"attention", 2, (*generator).attention},
	{"composed-attention", 1, (*generator).composedAttention},
}

// unaryKinds are the element-wise kinds of one operand without attributes.
var unaryKinds = []ir.Kind{
	ir.Exp, ir.Expm1, ir.Log, ir.Log1p, ir.Sqrt, ir.Rsqrt, ir.Recip, ir.Sin, ir.Cos, ir.Tanh, ir.Erf,
	ir.Round, ir.Floor, ir.Ceil, ir.Trunc, ir.IsNaN, ir.Abs, ir.Neg, ir.Sign, ir.Square, ir.Not,
	ir.Relu, ir.LeakyRelu, ir.Sigmoid, ir.Silu, ir.Gelu, ir.GeluTanh, ir.Softplus,
}

func (g *generator) unary() {
	kind := pick(g, unaryKinds...)
	x := g.tensor(ir.Lookup(kind).DTypes, 0)
	g.apply(kind, func(o *ir.Operation) {
		if kind == ir.LeakyRelu {
			o.Scalars = []ir.Scalar{g.scalar(x.DType)}
		}
	}, x)
}

func (g *generator) cast() {
	x := g.tensor(ir.AnyDType, 0)
	g.apply(ir.Cast, func(o *ir.Operation) { o.Attrs.DType = pick(g, dtypesMade...) }, x)
}

var binaryKinds = []ir.Kind{
	ir.Add, ir.Add, ir.Sub, ir.Mul, ir.Mul, ir.Div, ir.Pow, ir.Maximum, ir.Minimum,
	ir.Equal, ir.NotEqual, ir.Less, ir.LessEqual, ir.Greater, ir.GreaterEqual, ir.And, ir.Or, ir.Xor,
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
		a := g.tensor(ir.AnyDType, 0)
		mask := g.partner(ir.Bool, a.Shape)
		joint, _ := ir.Broadcast(a.Shape, mask.Shape)
		b := g.partner(a.DType, joint)
		if g.src.intn(2) == 0 {
			a, b = b, a
		}
		g.apply(ir.Where, nil, mask, a, b)
	case 1:
		x := g.tensor(ir.Numbers, 0)
		g.apply(ir.Clamp, func(o *ir.Operation) { o.Scalars = []ir.Scalar{g.scalar(x.DType), g.scalar(x.DType)} }, x)
	default:
		a := g.tensor(ir.Numbers, 0)
		b := g.partner(a.DType, a.Shape)
		joint, _ := ir.Broadcast(a.Shape, b.Shape)
		g.apply(ir.MulAdd, nil, a, b, g.partner(a.DType, joint))
	}
}

func (g *generator) create() {
	if g.src.intn(2) == 0 {
		dtype := pick(g, dtypesMade...)
		g.apply(ir.Full, func(o *ir.Operation) {
			o.Attrs.Shape, o.Attrs.DType, o.Scalars = g.shape(0), dtype, []ir.Scalar{g.scalar(dtype)}
		})
		return
	}
	dtype := g.number()
	g.apply(ir.Arange, func(o *ir.Operation) {
		o.Attrs.Shape, o.Attrs.DType = ir.Shape{g.length()}, dtype
		start, step := g.src.intn(9)-4, g.src.intn(9)-4
		if dtype.IsInt() {
			o.Scalars = []ir.Scalar{ir.I64Scalar(int64(start)), ir.I64Scalar(int64(step))}
		} else {
			o.Scalars = []ir.Scalar{ir.F64Scalar(float64(start) / 10), ir.F64Scalar(float64(step) / 10)}
		}
	})
}

func (g *generator) random() {
	kind := pick(g, ir.Uniform, ir.Normal, ir.Bernoulli, ir.RandInt)
	g.draw(kind, g.shape(0), nil)
}

// draw records a random kind; bounds, if given, are RandInt's.
func (g *generator) draw(kind ir.Kind, shape ir.Shape, bounds []ir.Scalar) (ir.TensorRef, bool) {
	return g.apply(kind, func(o *ir.Operation) {
		seed, offset := int64(g.src.intn(1<<16)), int64(g.src.intn(1<<8))
		if g.src.intn(4) == 0 { // beyond 32 bits
			seed, offset = seed<<40, -offset
		}
		o.Scalars = []ir.Scalar{ir.I64Scalar(seed), ir.I64Scalar(offset)}
		o.Attrs.Shape, o.Attrs.DType = shape, g.float()
		low, width := g.src.intn(9)-4, 1+g.src.intn(8)
		switch {
		case kind == ir.Uniform:
			bounds = []ir.Scalar{ir.F32Scalar(float32(low)), ir.F32Scalar(float32(low + width))}
		case kind == ir.Normal:
			bounds = []ir.Scalar{ir.F32Scalar(float32(low)), ir.F32Scalar(float32(width) / 4)}
		case kind == ir.Bernoulli:
			o.Attrs.DType = ir.Bool
			bounds = []ir.Scalar{ir.F32Scalar(float32(width) / 8)}
		default:
			o.Attrs.DType = ir.I64
			if bounds == nil {
				bounds = []ir.Scalar{ir.I64Scalar(int64(low)), ir.I64Scalar(int64(low + width))}
			}
		}
		o.Scalars = append(o.Scalars, bounds...)
	})
}
