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
	{"gradient", 2, (*generator).gradient},
	{"cast", 4, (*generator).cast},
	{"bits", 1, (*generator).bits},
	{"binary", 15, (*generator).binary},
	{"ternary", 5, (*generator).ternary},
	{"create", 3, (*generator).create},
	{"random", 3, (*generator).random},
	{"view", 9, (*generator).view},
	{"move", 5, (*generator).move},
	{"index", 4, (*generator).index},
	{"scatter", 3, (*generator).scatter},
	{"effect", 6, (*generator).effect},
	{"reduce", 9, (*generator).reduce},
	{"scan", 2, (*generator).scan},
	{"order", 2, (*generator).order},
	{"matmul", 4, (*generator).matmul},
	{"quantised", 2, (*generator).quantised},
	{"linear", 3, (*generator).linear},
	{"composite", 5, (*generator).composite},
	{"composite-gradient", 2, (*generator).compositeGradient},
	{"composed", 4, (*generator).composed},
	{"attention", 2, (*generator).attention},
	{"composed-attention", 1, (*generator).composedAttention},
}

func (g *generator) create() {
	if g.src.intn(2) == 0 {
		dtype := g.dtype(ir.AnyDType)
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
	switch kind := pick(g, ir.Uniform, ir.Normal, ir.Bernoulli, ir.RandInt); kind {
	case ir.Bernoulli:
		g.draw(kind, ir.Bool, g.shape(0), nil)
	case ir.RandInt:
		g.draw(kind, g.dtype(ir.Ints), g.shape(0), nil)
	default:
		g.draw(kind, g.float(), g.shape(0), nil)
	}
}

// draw records a random kind; bounds, if given, are RandInt's.
func (g *generator) draw(kind ir.Kind, dtype ir.DType, shape ir.Shape, bounds []ir.Scalar) (ir.TensorRef, bool) {
	return g.apply(kind, func(o *ir.Operation) {
		seed, offset := int64(g.src.intn(1<<16)), int64(g.src.intn(1<<8))
		if g.src.intn(4) == 0 { // beyond 32 bits
			seed, offset = seed<<40, -offset
		}
		o.Scalars = []ir.Scalar{ir.I64Scalar(seed), ir.I64Scalar(offset)}
		o.Attrs.Shape, o.Attrs.DType = shape, dtype
		low, width := g.src.intn(9)-4, 1+g.src.intn(8)
		if dtype.IsUnsigned() {
			low = max(low, 0)
		}
		switch {
		case kind == ir.Uniform:
			bounds = []ir.Scalar{ir.FloatScalar(dtype, float64(low)), ir.FloatScalar(dtype, float64(low+width))}
		case kind == ir.Normal:
			bounds = []ir.Scalar{ir.FloatScalar(dtype, float64(low)), ir.FloatScalar(dtype, float64(width)/4)}
		case kind == ir.Bernoulli:
			bounds = []ir.Scalar{ir.F32Scalar(float32(width) / 8)}
		case bounds == nil:
			bounds = []ir.Scalar{ir.I64Scalar(int64(low)), ir.I64Scalar(int64(low + width))}
		}
		o.Scalars = append(o.Scalars, bounds...)
	})
}
