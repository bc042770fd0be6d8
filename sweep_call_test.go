package sinter_test

import (
	"fmt"
	"reflect"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// sweepCall is a function with its case.
type sweepCall struct {
	name string
	f    reflect.Value
	sweepCase
}

// sweepCalls returns every exported function of tensors.
func sweepCalls() []sweepCall {
	var out []sweepCall
	add := func(name string, f reflect.Value) {
		c, ok := sweepCases[name]
		if !ok {
			for i := range f.Type().NumIn() {
				if f.Type().In(i) == reflect.TypeFor[*tensor]() {
					c.in = append(c.in, matrix)
				}
			}
		}
		out = append(out, sweepCall{name, f, c})
	}
	typ := reflect.TypeFor[*tensor]()
	for i := range typ.NumMethod() {
		if m := typ.Method(i); len(tensorsOf(zeros(m.Type))) > 0 {
			add(m.Name, m.Func)
		}
	}
	for name, f := range sweepFunctions {
		add(name, reflect.ValueOf(f))
	}
	return out
}

// zeros returns what a function type returns, as zero values.
func zeros(f reflect.Type) []reflect.Value {
	var out []reflect.Value
	for i := range f.NumOut() {
		out = append(out, reflect.Zero(f.Out(i)))
	}
	return out
}

// call calls with operands, and arguments in the order of the parameters.
func (c sweepCall) call(dev *sinter.Device, in tensors) (out []result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	f, args := c.f.Type(), c.args
	var vals []reflect.Value
	add := func(typ reflect.Type, more bool) bool {
		switch {
		case typ == reflect.TypeFor[*tensor]():
			if len(in) == 0 {
				if !more {
					vals = append(vals, reflect.Zero(typ))
				}
				return false
			}
			vals, in = append(vals, reflect.ValueOf(in[0])), in[1:]
		case len(args) > 0:
			vals, args = append(vals, reflect.ValueOf(args[0]).Convert(typ)), args[1:]
		case more:
			return false
		case typ.Kind() == reflect.Float64:
			vals = append(vals, reflect.ValueOf(1.0))
		case typ == reflect.TypeFor[ir.DType]():
			vals = append(vals, reflect.ValueOf(ir.F32))
		case typ == reflect.TypeFor[*sinter.Stream]():
			vals = append(vals, reflect.ValueOf(dev.Stream()))
		case typ == reflect.TypeFor[sinter.Placer]():
			vals = append(vals, reflect.ValueOf(dev))
		default:
			vals = append(vals, reflect.Zero(typ))
		}
		return true
	}
	for i := range f.NumIn() {
		if f.IsVariadic() && i == f.NumIn()-1 {
			for add(f.In(i).Elem(), true) {
			}
			break
		}
		add(f.In(i), false)
	}
	return tensorsOf(c.f.Call(vals)), nil
}

func (o operand) make(dev *sinter.Device) *tensor {
	return sinter.Ones(dev, o.dtype, o.dims...).Named("x")
}

func (c sweepCall) operands(dev *sinter.Device) tensors {
	var out tensors
	for _, o := range c.in {
		x := o.make(dev)
		if o.dtype == ir.I64 { // within every axis
			x = sinter.Zeros(dev, o.dtype, o.dims...)
		}
		out = append(out, x)
	}
	return out
}
