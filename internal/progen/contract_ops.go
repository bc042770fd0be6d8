package progen

import "github.com/sinter-ml/sinter/ir"

// matmul multiplies matrices, vectors or broadcast batches, a transposed view
// now and then on the right, with an epilogue.
func (g *generator) matmul() {
	a := g.tensor(ir.Numbers, 1)
	k := a.Shape[len(a.Shape)-1]
	var b ir.TensorRef
	switch g.src.intn(4) {
	case 0:
		b = g.like(a.DType, ir.Shape{k})
	case 1:
		t := g.like(a.DType, ir.Shape{g.length(), k})
		out, ok := g.apply(ir.Permute, withAxes([]int{1, 0}), t)
		if !ok {
			return
		}
		b = out
	default:
		shape := ir.Shape{k, g.length()}
		if len(a.Shape) > 2 && g.src.intn(2) == 0 {
			shape = append(g.narrow(a.Shape[:len(a.Shape)-2]), shape...)
		}
		if shape.NumElements() > g.options.MaxElements {
			return
		}
		b = g.like(a.DType, shape)
	}
	if out, ok := g.apply(ir.MatMul, nil, a, b); ok {
		g.epilogue(out)
	}
}

// linear multiplies by a weight and adds a bias as one kind.
func (g *generator) linear() {
	x := g.tensor(ir.Floats, 1)
	in, out := x.Shape[len(x.Shape)-1], g.length()
	if in*out > g.options.MaxElements {
		return
	}
	operands := []ir.TensorRef{x, g.like(x.DType, ir.Shape{in, out})}
	if g.src.intn(3) > 0 {
		operands = append(operands, g.like(x.DType, ir.Shape{out}))
	}
	if y, ok := g.apply(ir.Linear, nil, operands...); ok {
		g.epilogue(y)
	}
}

// epilogue puts a bias, an activation, a residual and a cast after a product.
func (g *generator) epilogue(x ir.TensorRef) {
	c := &chain{g: g}
	if len(x.Shape) > 0 && g.src.intn(2) == 0 {
		x = c.do(ir.Add, nil, x, g.like(x.DType, x.Shape[len(x.Shape)-1:]))
	}
	if !c.failed && x.DType.IsFloat() && g.src.intn(2) == 0 {
		x = c.do(pick(g, ir.Relu, ir.Gelu, ir.Silu, ir.Tanh, ir.Sigmoid), nil, x)
	}
	if !c.failed && g.src.intn(3) == 0 {
		x = c.do(ir.Add, nil, x, g.like(x.DType, x.Shape))
	}
	if !c.failed && g.src.intn(4) == 0 {
		g.castTo(x, g.number())
	}
}

// quantised multiplies by a weight of bytes: scaled on the way, after a cast or
// in exact integers before the scale.
func (g *generator) quantised() {
	bytes := g.dtype(ir.Bytes)
	rows, k, columns := max(1, g.length()), g.length(), g.length()
	if k*columns > g.options.MaxElements || rows*k > g.options.MaxElements {
		return
	}
	c := &chain{g: g}
	w := g.like(bytes, ir.Shape{k, columns})
	if g.src.intn(3) == 0 {
		exact := c.do(ir.IntMatMul, nil, g.like(g.dtype(ir.Bytes), ir.Shape{rows, k}), w)
		float := c.do(ir.Cast, withDType(ir.F32), exact)
		y := c.do(ir.Mul, nil, float, g.like(ir.F32, ir.Shape{columns}))
		if !c.failed {
			g.epilogue(y)
		}
		return
	}
	d := g.float()
	scaled := c.do(ir.Cast, withDType(d), w)
	if g.src.intn(2) == 0 {
		scaled = c.do(ir.Sub, floatScalars(d, 3), scaled)
	}
	scaled = c.do(ir.Mul, nil, scaled, g.like(d, pick(g, ir.Shape{columns}, ir.Shape{k, 1}, ir.Shape{})))
	x := g.like(d, ir.Shape{rows, k})
	if g.src.intn(2) == 0 { // an operand of another width, or a map of it
		x = c.do(ir.Cast, withDType(d), g.like(g.float(), ir.Shape{rows, k}))
	} else if g.src.intn(2) == 0 {
		x = c.do(pick(g, ir.Neg, ir.Relu, ir.Square), nil, x)
	}
	if y := c.do(ir.MatMul, nil, x, scaled); !c.failed {
		g.epilogue(y)
	}
}

func withDType(d ir.DType) func(*ir.Operation) {
	return func(o *ir.Operation) { o.Attrs.DType = d }
}

// heads are the shapes of an attention's operands.
func (g *generator) heads() (q, k, v ir.Shape) {
	batch, groups, d := 1+g.src.intn(2), 1+g.src.intn(2), pick(g, 1, 2, 3, 8)
	keys := 1 + g.src.intn(7)
	q = ir.Shape{batch, groups * (1 + g.src.intn(2)), 1 + g.src.intn(5), d}
	k = ir.Shape{batch, groups, keys, d}
	v = ir.Shape{batch, groups, keys, pick(g, 1, 2, 5)}
	return q, k, v
}

func (g *generator) attention() {
	q, k, v := g.heads()
	dtype := g.float()
	in := []ir.TensorRef{g.like(dtype, q), g.like(dtype, k), g.like(dtype, v)}
	switch scores := (ir.Shape{q[0], q[1], q[2], k[2]}); g.src.intn(3) {
	case 0:
		in = append(in, g.partnerWithin(ir.Bool, scores))
	case 1:
		in = append(in, g.partnerWithin(dtype, scores))
	}
	g.apply(ir.Attention, func(o *ir.Operation) {
		floatScalars(dtype, 0.5)(o)
		if g.src.intn(2) == 0 {
			o.Attrs.Flag, o.Attrs.N = true, g.src.intn(5)-2
		}
	}, in...)
}

// partnerWithin returns a tensor that broadcasts to shape.
func (g *generator) partnerWithin(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	return g.like(dtype, g.narrow(shape))
}

// composedAttention writes attention with equal heads out of products and a
// softmax.
func (g *generator) composedAttention() {
	q, k, v := g.heads()
	k[1], v[1] = q[1], q[1]
	dtype := g.float()
	c := &chain{g: g}
	kt := c.do(ir.Permute, withAxes([]int{0, 1, 3, 2}), g.like(dtype, k))
	scores := c.do(ir.Mul, floatScalars(dtype, 0.5), c.do(ir.MatMul, nil, g.like(dtype, q), kt))
	if !c.failed && g.src.intn(2) == 0 {
		scores = c.do(ir.Add, nil, scores, g.partnerWithin(dtype, scores.Shape))
	}
	c.do(ir.MatMul, nil, c.softmax(scores, []int{3}), g.like(dtype, v))
}
