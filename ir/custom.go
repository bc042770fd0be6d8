package ir

import (
	"sync"
	"unicode/utf8"
)

// CustomInfer checks the operands, attributes and scalars of a user's
// operation and returns the shape and dtype of its output. It must depend on
// nothing else and keep none of its argument. Its errors are best a
// *ShapeError, *DTypeError or *ArgumentError.
type CustomInfer func(o *Operation) (Shape, DType, error)

// customs are the registered operations by name.
var customs sync.Map // string → CustomInfer

// RegisterCustom makes Custom operations of a name known. It returns an
// *ArgumentError when the name is taken or not of 1 to 255 bytes of UTF-8, or
// infer is nil.
func RegisterCustom(name string, infer CustomInfer) error {
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || infer == nil {
		return argumentErrorf("a custom operation needs a name of 1 to 255 bytes of UTF-8 and a rule")
	}
	if _, taken := customs.LoadOrStore(name, infer); taken {
		return argumentErrorf("a custom operation %q is registered already", name)
	}
	return nil
}

// inferCustom asks the registered rule; a panic of it is an error.
func inferCustom(o *Operation) (shape Shape, dtype DType, err error) {
	rule, ok := customs.Load(o.Attrs.Name)
	if !ok {
		return nil, Invalid, argumentErrorf("there is no custom operation %q", o.Attrs.Name)
	}
	defer func() {
		if r := recover(); r != nil {
			shape, dtype, err = nil, Invalid, argumentErrorf("the rule of custom operation %q panics: %v", o.Attrs.Name, r)
		}
	}()
	shape, dtype, err = rule.(CustomInfer)(o)
	if err == nil && !dtype.Valid() {
		err = dtypeErrorf("custom operation %q gives no valid dtype (%v)", o.Attrs.Name, dtype)
	}
	return shape, dtype, err
}
