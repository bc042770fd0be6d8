package ir

// indicesAre checks that operand i is I64, what indices must be.
func (o *Operation) indicesAre(i int) error {
	if d := o.Inputs[i].DType; d != I64 {
		return dtypeErrorf("indices are %v instead of i64", d)
	}
	return nil
}

// selection normalises the axis of a kind whose operand 1 is a list of indices
// along it and returns the axis and the number of indices.
func (o *Operation) selection() (axis, n int, err error) {
	if err = o.indicesAre(1); err != nil {
		return
	}
	if s := o.Inputs[1].Shape; len(s) != 1 {
		return 0, 0, shapeErrorf("indices of shape %v are not a list", s)
	}
	axis, err = o.oneAxis(len(o.Inputs[0].Shape))
	return axis, o.Inputs[1].Shape[0], err
}

func inferSelect(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	axis, n, err := o.selection()
	if err != nil {
		return nil, Invalid, err
	}
	return x.Shape.with(axis, n), x.DType, nil
}

func inferGather(o *Operation) (Shape, DType, error) {
	x, index := &o.Inputs[0], &o.Inputs[1]
	if err := o.indicesAre(1); err != nil {
		return nil, Invalid, err
	}
	axis, err := o.oneAxis(len(x.Shape))
	if err != nil {
		return nil, Invalid, err
	}
	if len(index.Shape) != len(x.Shape) {
		return nil, Invalid, shapeErrorf("indices have rank %d instead of %d", len(index.Shape), len(x.Shape))
	}
	return index.Shape, x.DType, indicesWithin(index.Shape, x.Shape, axis)
}

// indicesWithin checks that indices along an axis of x are no longer than x
// along the other axes.
func indicesWithin(index, x Shape, axis int) error {
	for a, n := range index {
		if a != axis && n > x[a] {
			return shapeErrorf("indices have length %d, more than %d, at axis %d", n, x[a], a)
		}
	}
	return nil
}

// listed returns the shape of what lists of indices, along the last axis of
// operand 1, name in operand 0.
func (o *Operation) listed() (Shape, error) {
	x, index := o.Inputs[0].Shape, o.Inputs[1].Shape
	if err := o.indicesAre(1); err != nil {
		return nil, err
	}
	if len(index) == 0 {
		return nil, shapeErrorf("indices have rank 0, want a last axis")
	}
	last := len(index) - 1
	k := index[last]
	if k > len(x) {
		return nil, shapeErrorf("lists of %d indices do not fit rank %d", k, len(x))
	}
	return append(index[:last:last].Clone(), x[k:]...), nil
}

func inferGatherND(o *Operation) (Shape, DType, error) {
	shape, err := o.listed()
	return shape, o.Inputs[0].DType, err
}

// joins checks that the mode of a scatter is defined for the dtype.
func (o *Operation) joins() error {
	if d := o.Inputs[0].DType; o.Attrs.Mode != Assign && !Numbers.Has(d) {
		return dtypeErrorf("%v is not defined for %v, only for %v", o.Attrs.Mode, d, Numbers)
	}
	return nil
}

func inferSelectAssign(o *Operation) (Shape, DType, error) {
	if err := o.joins(); err != nil {
		return nil, Invalid, err
	}
	return inferSetSelect(o)
}

func inferScatter(o *Operation) (Shape, DType, error) {
	x, index := &o.Inputs[0], &o.Inputs[1]
	if err := o.joins(); err != nil {
		return nil, Invalid, err
	}
	if _, _, err := inferGather(o); err != nil {
		return nil, Invalid, err
	}
	return x.Shape, x.DType, o.updates(2, index.Shape)
}

func inferScatterND(o *Operation) (Shape, DType, error) {
	x := &o.Inputs[0]
	if err := o.joins(); err != nil {
		return nil, Invalid, err
	}
	part, err := o.listed()
	if err != nil {
		return nil, Invalid, err
	}
	return x.Shape, x.DType, o.updates(2, part)
}

func inferEmbedding(o *Operation) (Shape, DType, error) {
	w, index := &o.Inputs[0], &o.Inputs[1]
	if err := o.indicesAre(1); err != nil {
		return nil, Invalid, err
	}
	if len(w.Shape) != 2 {
		return nil, Invalid, shapeErrorf("weight of shape %v is not a matrix", w.Shape)
	}
	out := make(Shape, 0, len(index.Shape)+1)
	out = append(append(out, index.Shape...), w.Shape[1])
	return out, w.DType, nil
}

// updates checks the value an effect writes, operand i: its dtype and shape
// are those of the part it replaces.
func (o *Operation) updates(i int, want Shape) error {
	if err := o.sameDType(0, i); err != nil {
		return err
	}
	if got := o.Inputs[i].Shape; !got.Equal(want) {
		return shapeErrorf("value of shape %v does not fit the replaced part of shape %v", got, want)
	}
	return nil
}

func inferSet(o *Operation) (Shape, DType, error) {
	old := &o.Inputs[0]
	err := o.updates(1, old.Shape)
	return old.Shape, old.DType, err
}

func inferSetSlice(o *Operation) (Shape, DType, error) {
	old := &o.Inputs[0]
	part, _, err := inferSlice(o)
	if err == nil {
		err = o.updates(1, part)
	}
	return old.Shape, old.DType, err
}

func inferSetSelect(o *Operation) (Shape, DType, error) {
	old := &o.Inputs[0]
	axis, n, err := o.selection()
	if err == nil {
		err = o.updates(2, old.Shape.with(axis, n))
	}
	return old.Shape, old.DType, err
}
