package ir

// broadcast returns the NumPy broadcast of two shapes. It is one of them
// wherever one of them is the result.
func broadcast(a, b Shape) (Shape, error) {
	long, short := a, b
	if len(b) > len(a) {
		long, short = b, a
	}
	// The result is the longer shape unless that has a 1 against another length.
	off := len(long) - len(short)
	longWins, shortWins := true, off == 0
	for i, s := range short {
		l := long[off+i]
		if l == s {
			continue
		}
		switch {
		case s == 1:
			shortWins = false
		case l == 1:
			longWins = false
		default:
			return nil, shapeErrorf("shapes %v and %v do not broadcast: lengths %d and %d at axis %d", a, b, a[len(a)-len(short)+i], b[len(b)-len(short)+i], off+i)
		}
	}
	switch {
	case longWins:
		return long, nil
	case shortWins:
		return short, nil
	}
	out := long.Clone()
	for i, s := range short {
		if s != 1 {
			out[off+i] = s
		}
	}
	return out, nil
}

// sameDType checks that two operands have one dtype: nothing is promoted.
func (o *Operation) sameDType(i, j int) error {
	if a, b := o.Inputs[i].DType, o.Inputs[j].DType; a != b {
		return dtypeErrorf("operands %d and %d differ in dtype: %v and %v", i, j, a, b)
	}
	return nil
}

// inferSame is the rule of the element-wise kinds of one operand.
func inferSame(o *Operation) (Shape, DType, error) {
	return o.Inputs[0].Shape, o.mapDType(), nil
}

// mapDType returns the result type of an element-wise kind.
func (o *Operation) mapDType() DType {
	if Lookup(o.Kind).Scalar.Sig().ResultBool {
		return Bool
	}
	return o.Inputs[0].DType
}

func inferCast(o *Operation) (Shape, DType, error) {
	if o.Attrs.Flag && !o.Attrs.DType.IsFloat8() {
		return nil, Invalid, argumentErrorf("a cast to %v has no choice of saturation", o.Attrs.DType)
	}
	return o.Inputs[0].Shape, o.Attrs.DType, nil
}

func inferBitcast(o *Operation) (Shape, DType, error) {
	from, to := o.Inputs[0].DType, o.Attrs.DType
	if to == Bool || from.Size() != to.Size() {
		return nil, Invalid, dtypeErrorf("the bits of %v are not those of %v", from, to)
	}
	return o.Inputs[0].Shape, to, nil
}

// inferBinaryFloat is the rule of the kinds with two operands that broadcast
// and scalars of their own.
func inferBinaryFloat(o *Operation) (Shape, DType, error) {
	if err := o.sameDType(0, 1); err != nil {
		return nil, Invalid, err
	}
	shape, err := broadcast(o.Inputs[0].Shape, o.Inputs[1].Shape)
	return shape, o.Inputs[0].DType, err
}

func inferBinary(o *Operation) (Shape, DType, error) {
	own := len(o.Operands())
	if own+len(o.Scalars) != 2 {
		return nil, Invalid, argumentErrorf("takes two operands or an operand and a scalar, got %d and %d", own, len(o.Scalars))
	}
	if own == 1 {
		if s := &o.Scalars[0]; s.DType.IsSigned() && s.Input == 0 && s.Int64() < 0 {
			switch o.Kind {
			case Pow:
				return nil, Invalid, argumentErrorf("exponent %d of an %v tensor is negative", s.Int64(), s.DType)
			case ShiftLeft, ShiftRight:
				return nil, Invalid, argumentErrorf("shift by %d, which is negative", s.Int64())
			}
		}
		return o.Inputs[0].Shape, o.mapDType(), nil
	}
	if err := o.sameDType(0, 1); err != nil {
		return nil, Invalid, err
	}
	shape, err := broadcast(o.Inputs[0].Shape, o.Inputs[1].Shape)
	return shape, o.mapDType(), err
}

func inferWhere(o *Operation) (Shape, DType, error) {
	if d := o.Inputs[0].DType; d != Bool {
		return nil, Invalid, dtypeErrorf("mask is %v instead of bool", d)
	}
	if d := o.Inputs[1].DType; !Computing.Has(d) {
		return nil, Invalid, dtypeErrorf("is not defined for %v, only for %v", d, Computing)
	}
	if err := o.sameDType(1, 2); err != nil {
		return nil, Invalid, err
	}
	shape, err := o.broadcast3()
	return shape, o.Inputs[1].DType, err
}

func inferMulAdd(o *Operation) (Shape, DType, error) {
	if err := o.sameDType(0, 1); err != nil {
		return nil, Invalid, err
	}
	if err := o.sameDType(0, 2); err != nil {
		return nil, Invalid, err
	}
	shape, err := o.broadcast3()
	return shape, o.Inputs[0].DType, err
}

func (o *Operation) broadcast3() (Shape, error) {
	shape, err := broadcast(o.Inputs[0].Shape, o.Inputs[1].Shape)
	if err != nil {
		return nil, err
	}
	return broadcast(shape, o.Inputs[2].Shape)
}
