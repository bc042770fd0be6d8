package sinter_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// handles reports whether a function records nothing, but names a tensor, says
// where it goes, or keeps it.
func handles(name string) bool {
	return slices.Contains([]string{"Named", "On", "To", "NewQTensor"}, name)
}

// Every function of tensors takes whatever it is given: an error that has a
// type, or the right value.
func TestSweep(t *testing.T) {
	other, closed := open(t), open(t)
	gone := make(map[string]*tensor)
	calls := sweepCalls()
	for _, c := range calls {
		for _, o := range c.in {
			gone[fmt.Sprint(o)] = o.make(closed)
		}
	}
	require.NoError(t, closed.Close())
	dev := open(t)
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			out, err := c.call(dev, c.operands(dev))
			require.NoError(t, err)
			for _, r := range out {
				require.NoError(t, r.failed(), "the right call")
			}
			may(t, out, err, "the right call")
			require.NoError(t, dev.Flush(ctx))
			for i, o := range c.in {
				with := func(x *tensor) ([]result, error) {
					in := c.operands(dev)
					in[i] = x
					return c.call(dev, in)
				}
				out, err := with(nil)
				switch {
				case slices.Contains(c.optional, i), c.name == "Named":
					may(t, out, err, "operand %d nil", i)
				default:
					must(t, out, err, "operand %d nil", i)
				}
				bad := o.make(dev).Reshape(7)
				out, err = with(bad)
				must(t, out, err, "operand %d failed", i)
				for _, r := range out {
					if e := r.failed(); e != nil && e != bad.Err() {
						t.Errorf("operand %d failed: the first cause is lost: %v", i, e)
					}
				}
				dead := o.make(dev)
				dead.Release()
				out, err = with(dead)
				must(t, out, err, "operand %d released", i)
				out, err = with(gone[fmt.Sprint(o)])
				if handles(c.name) {
					may(t, out, err, "operand %d of a closed device", i)
				} else {
					must(t, out, err, "operand %d of a closed device", i)
				}
				out, err = with(o.make(other))
				if len(c.in) == 1 || handles(c.name) {
					may(t, out, err, "operand %d of another device", i)
				} else {
					must(t, out, err, "operand %d of another device", i)
				}
				for _, dims := range []shape{{}, {0}, {1}, {3}, {0, 2}, {2, 0}, {2, 1, 3}} {
					out, err = with(operand{o.dtype, dims}.make(dev))
					may(t, out, err, "operand %d %v", i, dims)
				}
			}
			for _, d := range ir.DTypes() {
				in := c.operands(dev)
				for i, o := range c.in {
					if o.dtype == c.in[0].dtype {
						in[i] = operand{d, o.dims}.make(dev)
					}
				}
				out, err := c.call(dev, in)
				may(t, out, err, "operands %v", d)
			}
			in := c.operands(dev)
			for i, o := range c.in {
				if fmt.Sprint(o) == fmt.Sprint(c.in[0]) {
					in[i] = in[0]
				}
			}
			out, err = c.call(dev, in)
			may(t, out, err, "one tensor for all operands")
			settle(dev)

			// Sizes near and beyond what there can be are recorded, or refused.
			err = dev.Scope(func(sc *sinter.Scope) error {
				in := make(tensors, len(c.in))
				for i, o := range c.in {
					in[i] = sinter.Zeros(sc, o.dtype).Expand(slices.Repeat([]int{1 << 23}, min(len(o.dims), 2))...)
				}
				if strings.HasPrefix(c.name, "Read") || c.name == "Item" {
					return nil // there is no memory for it
				}
				out, err := c.call(dev, in)
				if err != nil {
					t.Errorf("huge operands: %v", err)
				}
				for _, r := range out {
					if e := r.failed(); e != nil && !typed(e) {
						t.Errorf("huge operands: not a typed error: %v", e)
					}
				}
				return nil
			})
			require.True(t, err == nil || typed(err), "%v", err)
			settle(dev)
			require.Equal(t, []float32{3}, read[float32](t, sinter.Full(dev, sinter.F32, 1, 1).AddScalar(2)), "the device is usable")
		})
	}
}

func TestSweepMakers(t *testing.T) {
	dev, closed := open(t), open(t)
	stream := closed.NewStream()
	require.NoError(t, closed.Close())
	for name, f := range makers {
		for what, at := range map[string]sinter.Placer{"nil": nil, "device": (*sinter.Device)(nil), "stream": (*sinter.Stream)(nil), "scope": (*sinter.Scope)(nil)} {
			must(t, []result{{t: f(at, ir.F32, 2, 3)}}, nil, "%s at no %s", name, what)
		}
		must(t, []result{{t: f(closed, ir.F32, 2, 3)}}, nil, "%s at a closed device", name)
		must(t, []result{{t: f(stream, ir.F32, 2, 3)}}, nil, "%s at a stream of a closed device", name)
		for _, d := range append(ir.DTypes(), ir.Invalid, 99) {
			may(t, []result{{t: f(dev, d, 2, 3)}}, nil, "%s of %v", name, d)
		}
		for _, dims := range []shape{{}, {0}, {0, 3}, {-1}, {-2, -3}, {math.MaxInt / 2, math.MaxInt / 3}, {math.MaxInt/2 + 1, 4}, slices.Repeat(shape{1}, 65)} {
			x := f(dev, ir.F32, dims...)
			if x.Err() != nil || x.Shape().NumElements() < 100 {
				may(t, []result{{t: x}}, nil, "%s %v", name, dims)
			}
		}
		settle(dev)
	}
}

// Every exported function that takes or returns a tensor is swept, here or by
// the tests of what it belongs to.
func TestSweepIsComplete(t *testing.T) {
	swept := map[string]bool{}
	for name := range sweepFunctions {
		swept[name] = true
	}
	for name := range makers {
		swept[name] = true
	}
	for name := range sweepElsewhere {
		require.False(t, swept[name], "%s is swept here", name)
		swept[name] = true
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !mentions(f, "Tensor", "QTensor") {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				receiver := strings.TrimPrefix(fmt.Sprint(typeName(f.Recv.List[0].Type)), "*")
				if receiver == "Tensor" {
					continue // by reflection
				}
				name = receiver + "." + name
			}
			seen[name] = true
			assert.True(t, swept[name], "%s in %s is not swept", name, e.Name())
		}
	}
	for name := range sweepElsewhere {
		assert.True(t, seen[name], "there is no %s", name)
	}
}

// mentions reports whether the signature of a function has one of the types.
func mentions(f *ast.FuncDecl, names ...string) bool {
	found := false
	look := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && slices.Contains(names, id.Name) {
			found = true
		}
		return !found
	}
	ast.Inspect(f.Type, look)
	return found
}

// typeName is the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.Ident:
		return x.Name
	case *ast.IndexExpr:
		return typeName(x.X)
	}
	return ""
}
