package progen

import "github.com/sinter-ml/sinter/ir"

var reduceKinds = []ir.Kind{
	ir.Sum, ir.Sum, ir.Sum, ir.Mean, ir.Mean, ir.Prod, ir.Max, ir.Max, ir.Min, ir.ArgMax, ir.ArgMin, ir.Any, ir.All, ir.Var,
	ir.Std, ir.LogSumExp, ir.L2Norm, ir.Norm,
}

func (g *generator) reduce() {
	kind := pick(g, reduceKinds...)
	x := g.tensor(ir.Lookup(kind).DTypes, 0)
	g.apply(kind, func(o *ir.Operation) {
		o.Attrs.Axes = g.axes(len(x.Shape))
		switch kind {
		case ir.Var, ir.Std:
			o.Attrs.N = g.src.intn(2)
		case ir.Norm:
			o.Scalars = []ir.Scalar{ir.FloatScalar(x.DType, pick(g, 3, 0.5, 1, 2, 1.5, -1, 4))}
		}
	}, x)
}

func (g *generator) scan() {
	x := g.tensor(ir.Numbers, 1)
	g.apply(pick(g, ir.CumSum, ir.CumSum, ir.CumProd, ir.CumMax, ir.CumMin), func(o *ir.Operation) {
		o.Attrs.Axes = []int{g.src.intn(len(x.Shape))}
		o.Attrs.Flag, o.Attrs.Reverse = g.src.intn(3) == 0, g.src.intn(3) == 0
	}, x)
}

// order sorts, or puts elements in the order that another tensor's have.
func (g *generator) order() {
	kind := pick(g, ir.Sort, ir.ArgSort, ir.TopK, ir.ArgTopK)
	x := g.tensor(ir.Computing, 1)
	axis := g.src.intn(len(x.Shape))
	out, ok := g.apply(kind, func(o *ir.Operation) {
		o.Attrs.Axes, o.Attrs.Reverse = []int{axis}, g.src.intn(2) == 0
		if kind == ir.TopK || kind == ir.ArgTopK {
			o.Attrs.N = g.src.intn(x.Shape[axis] + 1)
		}
	}, x)
	if ok && out.DType == ir.I64 && x.DType != ir.I64 && g.src.intn(2) == 0 {
		g.apply(ir.Gather, withAxes([]int{axis}), x, out)
	}
}

// composite records a softmax or a norm as one kind.
func (g *generator) composite() {
	kind := pick(g, ir.Softmax, ir.Softmax, ir.LogSoftmax, ir.LayerNorm, ir.LayerNorm, ir.RMSNorm, ir.GroupNorm, ir.BatchNorm)
	if kind == ir.GroupNorm || kind == ir.BatchNorm {
		g.channelNorm(kind)
		return
	}
	x := g.tensor(ir.Floats, 1)
	if kind == ir.Softmax || kind == ir.LogSoftmax {
		g.apply(kind, func(o *ir.Operation) { o.Attrs.Axes = g.axes(len(x.Shape)) }, x)
		return
	}
	in := []ir.TensorRef{x}
	for range g.src.intn(ir.Lookup(kind).MaxIn) {
		in = append(in, g.like(x.DType, x.Shape[len(x.Shape)-1:]))
	}
	g.apply(kind, floatScalars(x.DType, 1e-5), in...)
}

// channelNorm records a norm with operands for each channel, axis 1.
func (g *generator) channelNorm(kind ir.Kind) {
	x := g.tensor(ir.Floats, 2)
	if len(x.Shape) < 2 {
		return
	}
	c := x.Shape[1]
	in := []ir.TensorRef{x}
	row := ir.Lookup(kind)
	for range row.MinIn - 1 + g.src.intn(row.MaxIn-row.MinIn+1) {
		in = append(in, g.like(x.DType, ir.Shape{c}))
	}
	g.apply(kind, func(o *ir.Operation) {
		floatScalars(x.DType, 0.25)(o)
		if kind == ir.GroupNorm {
			o.Attrs.N = 1
			for _, n := range []int{2, 3, 5, 7} {
				if c%n == 0 && g.src.intn(2) == 0 {
					o.Attrs.N = n
				}
			}
		}
	}, in...)
}

// compositeGradient records the gradient of a softmax or a norm.
func (g *generator) compositeGradient() {
	kind := pick(g, ir.SoftmaxBackward, ir.LogSoftmaxBackward, ir.LayerNormBackward, ir.RMSNormBackward)
	x := g.tensor(ir.Floats, 1)
	in := []ir.TensorRef{x, g.like(x.DType, x.Shape)}
	if kind == ir.SoftmaxBackward || kind == ir.LogSoftmaxBackward {
		g.apply(kind, func(o *ir.Operation) { o.Attrs.Axes = g.axes(len(x.Shape)) }, in...)
		return
	}
	if g.src.intn(2) == 0 {
		in = append(in, g.like(x.DType, x.Shape[len(x.Shape)-1:]))
	}
	g.apply(kind, floatScalars(x.DType, 1e-5), in...)
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
		c.scaled(centred, c.do(ir.Rsqrt, nil, c.do(ir.Add, floatScalars(x.DType, 1e-5), variance)))
	default: // RMS norm
		mean := c.do(ir.Mean, last, c.do(ir.Square, nil, x))
		c.scaled(x, c.do(ir.Rsqrt, nil, c.do(ir.Add, floatScalars(x.DType, 1e-5), mean)))
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
