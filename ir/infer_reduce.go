package ir

// reduced returns s with length 1 at the axes of a set, s itself if it has it.
func (s Shape) reduced(axes axisSet) Shape {
	out := s
	for i, d := range s {
		if axes.has(i) && d != 1 {
			if &out[0] == &s[0] {
				out = s.Clone()
			}
			out[i] = 1
		}
	}
	return out
}

func inferReduce(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	axes, err := o.manyAxes(len(x.Shape))
	if err != nil {
		return nil, Invalid, err
	}
	return x.Shape.reduced(axes), x.DType, nil
}

// inferExtremum is the rule of the reductions that have no answer for
// nothing; an empty output asks for none.
func inferExtremum(o *Operation) (Shape, DType, error) {
	shape, dtype, err := inferReduce(o)
	if err != nil {
		return nil, Invalid, err
	}
	if x := o.Inputs[0].Shape; x.NumElements() == 0 && shape.NumElements() != 0 {
		return nil, Invalid, shapeErrorf("%v has no elements along axes %v to take one of", x, Shape(o.Attrs.Axes))
	}
	return shape, dtype, nil
}

func inferArg(o *Operation) (Shape, DType, error) {
	shape, _, err := inferExtremum(o)
	return shape, I64, err
}

func inferVar(o *Operation) (Shape, DType, error) {
	if o.Attrs.N < 0 {
		return nil, Invalid, argumentErrorf("correction %d is negative", o.Attrs.N)
	}
	return inferReduce(o)
}

func inferScan(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	_, err := o.oneAxis(len(x.Shape))
	return x.Shape, x.DType, err
}

func inferOrder(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	axis, err := o.oneAxis(len(x.Shape))
	if err != nil {
		return nil, Invalid, err
	}
	shape, dtype := x.Shape, x.DType
	if o.Kind == TopK || o.Kind == ArgTopK {
		if k := o.Attrs.N; k < 0 || k > x.Shape[axis] {
			return nil, Invalid, argumentErrorf("there are no first %d of %d elements at axis %d", k, x.Shape[axis], axis)
		}
		shape = shape.with(axis, o.Attrs.N)
	}
	if o.Kind == ArgSort || o.Kind == ArgTopK {
		dtype = I64
	}
	return shape, dtype, nil
}
