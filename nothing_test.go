package sinter_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// Methods of nothing, nil or not made by this package, say so by a typed error
// or return nothing; they do not panic.
func TestMethodsOfNothing(t *testing.T) {
	dev := open(t)
	for _, v := range []any{
		(*sinter.Device)(nil), (*sinter.Stream)(nil), (*sinter.Scope)(nil), (*tensor)(nil), (*sinter.Var)(nil), (*sinter.QTensor)(nil), (*sinter.Staging[float32])(nil), (*sinter.Profile)(nil),
		new(sinter.Device), new(sinter.Stream), new(sinter.Scope), new(tensor), new(sinter.Var), new(sinter.QTensor), new(sinter.Staging[float32]), new(sinter.Profile),
	} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			args := []reflect.Value{reflect.ValueOf(v)}
			for k := 1; k < m.Type.NumIn(); k++ {
				switch in := m.Type.In(k); {
				case m.Type.IsVariadic() && k == m.Type.NumIn()-1:
				case in == reflect.TypeFor[context.Context]():
					args = append(args, reflect.ValueOf(ctx))
				case in == reflect.TypeFor[sinter.Placer]():
					args = append(args, reflect.ValueOf(dev))
				default:
					args = append(args, reflect.Zero(in))
				}
			}
			name := fmt.Sprintf("%v.%s", typ, m.Name)
			var out []reflect.Value
			require.NotPanics(t, func() { out = m.Func.Call(args) }, name)
			for _, r := range tensorsOf(out) {
				if err := r.failed(); err != nil {
					require.True(t, typed(err) || errors.As(err, new(*sinter.ProfileError)), "%s: %v", name, err)
				}
			}
			if last := len(out) - 1; last >= 0 && out[last].Type() == reflect.TypeFor[error]() && name != "*sinter.QTensor.Err" {
				require.False(t, out[last].IsNil(), "%s gives no error", name)
			}
		}
	}
	settle(dev)
}

// Arguments that are nil, a context too, are typed errors, and what they were
// given to works on.
func TestArgumentsOfNothing(t *testing.T) {
	for _, withContext := range []bool{true, false} {
		dev := open(t, nil)
		st, err := sinter.NewStaging[float32](dev, 2)
		require.NoError(t, err)
		x := sinter.Ones(dev, sinter.F32, 2)
		p, err := dev.Stream().OpenProfile(ctx, sinter.ProfileOptions{})
		require.NoError(t, err)
		for _, v := range []any{dev, dev.NewStream(), x, sinter.NewVar(x), st, x.Quantize(sinter.QuantScheme{Bits: 8}), p} {
			typ := reflect.TypeOf(v)
			for i := range typ.NumMethod() {
				m := typ.Method(i)
				if m.Name == "Close" || m.Name == "Release" {
					continue
				}
				args := []reflect.Value{reflect.ValueOf(v)}
				for k := 1; k < m.Type.NumIn(); k++ {
					if in := m.Type.In(k); in == reflect.TypeFor[context.Context]() && withContext {
						args = append(args, reflect.ValueOf(ctx))
					} else if !m.Type.IsVariadic() || k != m.Type.NumIn()-1 {
						args = append(args, reflect.Zero(in))
					}
				}
				name := fmt.Sprintf("%v.%s", typ, m.Name)
				x.MulScalar(2) // something to do
				var out []reflect.Value
				if !assert.NotPanics(t, func() { out = m.Func.Call(args) }, name) {
					continue
				}
				var window *sinter.ProfileError
				for _, r := range tensorsOf(out) {
					if err := r.failed(); err != nil {
						assert.True(t, typed(err) || errors.As(err, &window), "%s: %v", name, err)
					}
				}
			}
		}
		settle(dev)
		require.Equal(t, []float32{2, 2}, read[float32](t, x.MulScalar(2)))
	}
}
