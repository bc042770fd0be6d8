package sinter_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/sinter-ml/sinter"
)

// result is an outcome: a tensor, or an error.
type result struct {
	t   *tensor
	err error
}

func (r result) failed() error {
	if r.t != nil {
		return r.t.Err()
	}
	return r.err
}

// tensorsOf returns the outcomes among values.
func tensorsOf(vals []reflect.Value) []result {
	var out []result
	for _, v := range vals {
		switch x := v.Interface().(type) {
		case *tensor:
			out = append(out, result{t: x})
		case tensors:
			out = append(out, result{})
			for _, t := range x {
				out = append(out, result{t: t})
			}
		case *sinter.QTensor:
			if x != nil {
				out = append(out, result{t: x.Data}, result{t: x.Scale})
				continue
			}
			out = append(out, result{})
		case error:
			out = append(out, result{err: x})
		}
	}
	return out
}

// typed reports whether an error is one a program can tell from others.
func typed(err error) bool {
	var (
		s *sinter.ShapeError
		d *sinter.DTypeError
		i *sinter.IndexError
		a *sinter.ArgumentError
		r *sinter.ReleasedError
		c *sinter.ClosedError
		v *sinter.DeviceError
	)
	return errors.As(err, &s) || errors.As(err, &d) || errors.As(err, &i) || errors.As(err, &a) ||
		errors.As(err, &r) || errors.As(err, &c) || errors.As(err, &v)
}

// settle makes everything reported.
func settle(dev *sinter.Device) {
	for dev.Flush(ctx) != nil {
	}
}

// must checks outcomes of which one has to be a failure, and each that is has to
// have a type.
func must(t *testing.T, out []result, err error, what string, args ...any) {
	t.Helper()
	what = fmt.Sprintf(what, args...)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	n := 0
	for _, r := range out {
		if e := r.failed(); e != nil {
			n++
			if !typed(e) {
				t.Errorf("%s: not a typed error: %v", what, e)
			}
		}
	}
	if n == 0 {
		t.Errorf("%s: no error", what)
	}
}

// may checks outcomes that are typed failures, or can be read.
func may(t *testing.T, out []result, err error, what string, args ...any) {
	t.Helper()
	what = fmt.Sprintf(what, args...)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, r := range out {
		e := r.failed()
		if e == nil && r.t != nil {
			_, e = sinter.ReadBytes(ctx, r.t)
		}
		if e != nil && !typed(e) {
			t.Errorf("%s: not a typed error: %v", what, e)
		}
	}
}
