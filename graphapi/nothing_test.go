package graphapi_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// Methods of nothing, and of what no function of this package made, say so by a
// typed error or return nothing; so do functions of nothing.
func TestMethodsOfNothing(t *testing.T) {
	ctx := context.Background()
	var argument *sinter.ArgumentError
	var refused *sinter.CaptureError
	typed := func(name string, err error) {
		t.Helper()
		require.True(t, errors.As(err, &argument) || errors.As(err, &refused), "%s: %v", name, err)
	}
	for _, v := range []any{
		(*graphapi.Graph)(nil), (*graphapi.GraphOf[*sinter.Tensor, *sinter.Tensor])(nil), (*graphapi.Pool)(nil), (*graphapi.Section)(nil),
		new(graphapi.Graph), new(graphapi.GraphOf[*sinter.Tensor, *sinter.Tensor]), new(graphapi.Pool), new(graphapi.Section), graphapi.NewPool(nil),
	} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			args := []reflect.Value{reflect.ValueOf(v)}
			for k := 1; k < m.Type.NumIn(); k++ {
				if in := m.Type.In(k); in == reflect.TypeFor[context.Context]() {
					args = append(args, reflect.ValueOf(ctx))
				} else if !m.Type.IsVariadic() || k != m.Type.NumIn()-1 {
					args = append(args, reflect.Zero(in))
				}
			}
			name := fmt.Sprintf("%v.%s", typ, m.Name)
			var out []reflect.Value
			require.NotPanics(t, func() { out = m.Func.Call(args) }, name)
			if last := len(out) - 1; last >= 0 && out[last].Type() == reflect.TypeFor[error]() {
				require.False(t, out[last].IsNil(), name)
				typed(name, out[last].Interface().(error))
			}
		}
	}

	dev := open(t)
	x := sinter.From(dev, []float32{1, 2}, 2)
	for _, s := range []*sinter.Stream{nil, new(sinter.Stream)} {
		_, err := graphapi.Capture(ctx, s, double, []*sinter.Tensor{x})
		typed("Capture", err)
		_, err = graphapi.CaptureOf(ctx, s, func(_ *sinter.Stream, x *sinter.Tensor) (*sinter.Tensor, error) { return x, nil }, x)
		typed("CaptureOf", err)
		_, err = graphapi.Begin(ctx, s)
		typed("Begin", err)
		_, err = graphapi.If(s, x, func() ([]*sinter.Tensor, error) { return nil, nil }, nil)
		typed("If", err)
		_, err = graphapi.While(s, nil, nil, nil)
		typed("While", err)
		require.False(t, graphapi.IsCapturing(s))
		typed("WriteLastDOT", graphapi.WriteLastDOT(nil, s))
	}
	_, err := graphapi.Capture(ctx, dev.Stream(), double, []*sinter.Tensor{x}, graphapi.InPool(graphapi.NewPool(nil)))
	typed("InPool", err)

	// Options that are nil are none; a context that is nil never ends.
	var none context.Context
	g, err := graphapi.Capture(none, dev.Stream(), double, []*sinter.Tensor{x}, nil, graphapi.InPool(nil))
	require.NoError(t, err)
	typed("WriteDOT", g.WriteDOT(nil))
	typed("ReplayOn", g.ReplayOn(nil))
	typed("Update", func() error { _, err := g.Update(ctx, nil); return err }())
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{2, 4}, read(t, g.Out(0)))
	require.NoError(t, dev.Flush(ctx), "and nothing is left unreported")
}
