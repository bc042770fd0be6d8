package nn

import (
	"fmt"

	"github.com/sinter-ml/sinter"
)

// fail returns the tensor of a layer that could not record its operations on x.
// If x carries an error already, that first cause stays. Without x there is no
// device the error could be told to, and the result is nil.
func fail(x *sinter.Tensor, layer string, err error) *sinter.Tensor {
	if x == nil || x.Err() != nil {
		return x
	}
	v := sinter.ValueOf(x)
	s := v.Home()
	if s == nil {
		s = v.Runtime().Default()
	}
	return sinter.Wrap(s.Fail(layer, 0, x.Shape(), x.DType(), err))
}

func argumentErrorf(format string, args ...any) error {
	return &sinter.ArgumentError{Msg: fmt.Sprintf(format, args...)}
}

func shapeErrorf(format string, args ...any) error {
	return &sinter.ShapeError{Msg: fmt.Sprintf(format, args...)}
}

// valueOf returns the value of a parameter that may be missing.
func valueOf(v *sinter.Var) *sinter.Tensor {
	if v == nil {
		return nil
	}
	return v.Value()
}
