package ir

func inferMatMul(o *Operation) (Shape, DType, error) {
	if err := o.sameDType(0, 1); err != nil {
		return nil, Invalid, err
	}
	shape, err := o.product()
	return shape, o.Inputs[0].DType, err
}

func inferIntMatMul(o *Operation) (Shape, DType, error) {
	if d := o.Inputs[1].DType; !Bytes.Has(d) {
		return nil, Invalid, dtypeErrorf("operand 1 is %v, want %v", d, Bytes)
	}
	shape, err := o.product()
	return shape, I32, err
}

// product returns the shape of the matrix product of operands 0 and 1.
func (o *Operation) product() (Shape, error) {
	a, b := o.Inputs[0].Shape, o.Inputs[1].Shape
	if len(a) == 0 || len(b) == 0 {
		return nil, shapeErrorf("operands of rank %d and %d: a product needs rank 1 at least", len(a), len(b))
	}
	// A vector is one row on the left, one column on the right.
	ka, kb := a[len(a)-1], b[max(len(b)-2, 0)]
	if ka != kb {
		return nil, shapeErrorf("inner lengths %d and %d of %v and %v differ", ka, kb, a, b)
	}
	batch, err := broadcast(a[:max(len(a)-2, 0)], b[:max(len(b)-2, 0)])
	if err != nil {
		return nil, err
	}
	out := make(Shape, len(batch), len(batch)+2)
	copy(out, batch)
	if len(a) > 1 {
		out = append(out, a[len(a)-2])
	}
	if len(b) > 1 {
		out = append(out, b[len(b)-1])
	}
	return out, nil
}

func inferLinear(o *Operation) (Shape, DType, error) {
	x, w := o.Inputs[0].Shape, o.Inputs[1].Shape
	if err := o.sameDType(0, 1); err != nil {
		return nil, Invalid, err
	}
	if len(x) == 0 {
		return nil, Invalid, shapeErrorf("operand 0 has rank 0, want 1 at least")
	}
	if len(w) != 2 {
		return nil, Invalid, shapeErrorf("weight of shape %v is not a matrix", w)
	}
	last := len(x) - 1
	if x[last] != w[0] {
		return nil, Invalid, shapeErrorf("last length %d of %v differs from %d rows of the weight %v", x[last], x, w[0], w)
	}
	if len(o.Operands()) == 3 {
		if err := o.vectorIs(2, "bias", w[1]); err != nil {
			return nil, Invalid, err
		}
	}
	return x.with(last, w[1]), o.Inputs[0].DType, nil
}

// vectorIs checks that operand i is a vector of length n and of operand 0's
// dtype.
func (o *Operation) vectorIs(i int, name string, n int) error {
	if err := o.sameDType(0, i); err != nil {
		return err
	}
	if s := o.Inputs[i].Shape; len(s) != 1 || s[0] != n {
		return shapeErrorf("%s of shape %v is not a vector of length %d", name, s, n)
	}
	return nil
}

func inferSoftmax(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	_, err := o.manyAxes(len(x.Shape))
	return x.Shape, x.DType, err
}

func inferNorm(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if len(x.Shape) == 0 {
		return nil, Invalid, shapeErrorf("operand 0 has rank 0, want a last axis")
	}
	n := x.Shape[len(x.Shape)-1]
	for i := range o.Operands()[1:] {
		if err := o.vectorIs(i+1, normOperands[i], n); err != nil {
			return nil, Invalid, err
		}
	}
	return x.Shape, x.DType, nil
}

var normOperands = [...]string{"weight", "bias"}

// channels checks operands from on, which have one element for each channel,
// axis 1 of x, and returns the number of channels.
func (o *Operation) channels(from int, names ...string) (int, error) {
	x := o.Inputs[0].Shape
	if len(x) < 2 {
		return 0, shapeErrorf("operand 0 has rank %d, want a batch axis and a channel axis", len(x))
	}
	for i := range o.Operands()[from:] {
		if err := o.vectorIs(from+i, names[i], x[1]); err != nil {
			return 0, err
		}
	}
	return x[1], nil
}

func inferGroupNorm(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	c, err := o.channels(1, normOperands[:]...)
	if err != nil {
		return nil, Invalid, err
	}
	if g := o.Attrs.N; g <= 0 || c%g != 0 {
		return nil, Invalid, argumentErrorf("%d channels are not %d equal groups", c, g)
	}
	return x.Shape, x.DType, nil
}

func inferBatchNorm(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	_, err := o.channels(1, "mean", "variance", "weight", "bias")
	return x.Shape, x.DType, err
}

// gradientIs checks that operand 1, a gradient, is like operand 0.
func (o *Operation) gradientIs() error {
	if err := o.sameDType(0, 1); err != nil {
		return err
	}
	if x, g := o.Inputs[0].Shape, o.Inputs[1].Shape; !g.Equal(x) {
		return shapeErrorf("gradient of shape %v does not fit %v", g, x)
	}
	return nil
}

func inferSoftmaxBackward(o *Operation) (Shape, DType, error) {
	if err := o.gradientIs(); err != nil {
		return nil, Invalid, err
	}
	return inferSoftmax(o)
}

func inferNormBackward(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if err := o.gradientIs(); err != nil {
		return nil, Invalid, err
	}
	if len(x.Shape) == 0 {
		return nil, Invalid, shapeErrorf("operand 0 has rank 0, want a last axis")
	}
	if len(o.Operands()) == 3 {
		if err := o.vectorIs(2, "weight", x.Shape[len(x.Shape)-1]); err != nil {
			return nil, Invalid, err
		}
	}
	return x.Shape, x.DType, nil
}

func inferAttention(o *Operation) (Shape, DType, error) {
	if !o.Attrs.Flag && o.Attrs.N != 0 {
		return nil, Invalid, argumentErrorf("offset %d has no meaning without the causal flag", o.Attrs.N)
	}
	for i, name := range [...]string{"q", "k", "v"} {
		if err := o.sameDType(0, i); err != nil {
			return nil, Invalid, err
		}
		if s := o.Inputs[i].Shape; len(s) != 4 {
			return nil, Invalid, shapeErrorf("%s of shape %v has not rank 4", name, s)
		}
	}
	q, k, v := o.Inputs[0].Shape, o.Inputs[1].Shape, o.Inputs[2].Shape
	switch {
	case q[0] != k[0] || q[0] != v[0]:
		return nil, Invalid, shapeErrorf("batch lengths %d, %d and %d of q, k and v differ", q[0], k[0], v[0])
	case k[1] != v[1]:
		return nil, Invalid, shapeErrorf("k and v have %d and %d heads", k[1], v[1])
	case k[1] == 0 && q[1] != 0 || k[1] != 0 && q[1]%k[1] != 0:
		return nil, Invalid, shapeErrorf("%d heads of q are not a multiple of %d of k and v", q[1], k[1])
	case q[3] != k[3]:
		return nil, Invalid, shapeErrorf("q and k have last lengths %d and %d", q[3], k[3])
	case k[2] != v[2]:
		return nil, Invalid, shapeErrorf("k and v have %d and %d keys", k[2], v[2])
	}
	if len(o.Operands()) == 4 {
		if err := o.maskFits(Shape{q[0], q[1], q[2], k[2]}); err != nil {
			return nil, Invalid, err
		}
	}
	return q.with(3, v[3]), o.Inputs[0].DType, nil
}

// maskFits checks the mask of Attention against the shape of the scores.
func (o *Operation) maskFits(scores Shape) error {
	mask := &o.Inputs[3]
	if mask.DType != Bool && mask.DType != o.Inputs[0].DType {
		return dtypeErrorf("mask is %v, want bool or %v", mask.DType, o.Inputs[0].DType)
	}
	off := len(scores) - len(mask.Shape)
	for i, d := range mask.Shape {
		if off < 0 || d != 1 && d != scores[off+i] {
			return shapeErrorf("mask of shape %v does not broadcast to the scores' %v", mask.Shape, scores)
		}
	}
	return nil
}
