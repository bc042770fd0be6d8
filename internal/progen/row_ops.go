package progen

import "github.com/sinter-ml/sinter/ir"

var reduceKinds = []ir.Kind{
	ir.Sum, ir.Sum, ir.Mean, ir.Prod, ir.Max, ir.Min, ir.ArgMax, ir.ArgMin, ir.Any, ir.All, ir.Var,
}

func (g *generator) reduce() {
	kind := pick(g, reduceKinds...)
	x := g.tensor(ir.Lookup(kind).DTypes, 0)
	g.apply(kind, func(o *ir.Operation) {
		o.Attrs.Axes = g.axes(len(x.Shape))
		if kind == ir.Var {
			o.Attrs.N = g.src.intn(2)
		}
	}, x)
}

func (g *generator) scan() {
	x := g.tensor(ir.Numbers, 1)
	g.apply(ir.CumSum, func(o *ir.Operation) {
		o.Attrs.Axes = []int{g.src.intn(len(x.Shape))}
		o.Attrs.Flag, o.Attrs.Reverse = g.src.intn(3) == 0, g.src.intn(3) == 0
	}, x)
}

// composite records a softmax or a norm as one kind.
func (g *generator) composite() {
	kind := pick(g, ir.Softmax, ir.LogSoftmax, ir.LayerNorm, ir.RMSNorm)
	x := g.tensor(ir.Floats, 1)
	if kind == ir.Softmax || kind == ir.LogSoftmax {
		g.apply(kind, func(o *ir.Operation) { o.Attrs.Axes = g.axes(len(x.Shape)) }, x)
		return
	}
	in := []ir.TensorRef{x}
	for range g.src.intn(ir.Lookup(kind).MaxIn) {
		in = append(in, g.like(x.DType, x.Shape[len(x.Shape)-1:]))
	}
	g.apply(kind, func(o *ir.Operation) { o.Scalars = []ir.Scalar{ir.F32Scalar(1e-5)} }, in...)
}

// chain applies operations one after another until one is refused.
type chain struct {
	g      *generator
	failed bool
}

func (c *chain) do(kind ir.Kind, set func(*ir.Operation), in ...ir.TensorRef) ir.TensorRef {
	if c.failed {
		return ir.TensorRef{}
	}
	out, ok := c.g.apply(kind, set, in...)
	c.failed = !ok
	return out
}

func withAxes(axes []int) func(*ir.Operation) {
	return func(o *ir.Operation) { o.Attrs.Axes = axes }
}

func withScalar(v float32) func(*ir.Operation) {
	return func(o *ir.Operation) { o.Scalars = []ir.Scalar{ir.F32Scalar(v)} }
}

// composed writes a softmax or a norm out of primitives.
func (g *generator) composed() {
	x := g.tensor(ir.Floats, 1)
	last := withAxes([]int{len(x.Shape) - 1})
	c := &chain{g: g}
	switch g.src.intn(3) {
	case 0:
		c.softmax(x, g.axes(len(x.Shape)))
	case 1: // layer norm
		centred := c.do(ir.Sub, nil, x, c.do(ir.Mean, last, x))
		variance := c.do(ir.Mean, last, c.do(ir.Square, nil, centred))
		if g.src.intn(2) == 0 {
			variance = c.do(ir.Var, last, x)
		}
		c.scaled(centred, c.do(ir.Rsqrt, nil, c.do(ir.Add, withScalar(1e-5), variance)))
	default: // RMS norm
		mean := c.do(ir.Mean, last, c.do(ir.Square, nil, x))
		c.scaled(x, c.do(ir.Rsqrt, nil, c.do(ir.Add, withScalar(1e-5), mean)))
	}
}

// softmax is e^(x−max)/Σ along the axes.
func (c *chain) softmax(x ir.TensorRef, axes []int) ir.TensorRef {
	e := c.do(ir.Exp, nil, c.do(ir.Sub, nil, x, c.do(ir.Max, withAxes(axes), x)))
	return c.do(ir.Div, nil, e, c.do(ir.Sum, withAxes(axes), e))
}

// scaled is x·scale·weight.
func (c *chain) scaled(x, scale ir.TensorRef) {
	y := c.do(ir.Mul, nil, x, scale)
	if !c.failed && c.g.src.intn(2) == 0 {
		c.do(ir.Mul, nil, y, c.g.like(y.DType, y.Shape[len(y.Shape)-1:]))
	}
}
