package graphapi_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/ir"
)

// at returns file:line of the line n below its caller's.
func at(n int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file[strings.LastIndexByte(file, '/')+1:], line+n)
}

// What a program does differently from pass to pass, which a replay would
// freeze, is refused with the operation, its line and the mend.
func TestLint(t *testing.T) {
	dev := open(t)
	type tensors = []*sinter.Tensor
	var where string
	outside := make(tensors, 8)
	for i := range outside {
		outside[i] = sinter.Full(dev, sinter.F32, float64(i), 4)
	}
	data := []float32{0, 0, 0, 0}
	for _, c := range []struct {
		name   string
		f      func(call int, x *sinter.Tensor) *sinter.Tensor
		reason string
		op     string // "": the difference is not of one operation
		mend   string
	}{
		{"other operations", func(call int, x *sinter.Tensor) *sinter.Tensor {
			where = at(2)
			if call == 1 {
				return x.Exp()
			}
			return x.AddScalar(1)
		}, "recorded other operations than in the pass before", "Exp", "record the same operations in every pass"},
		{"the same operation of another line", func(call int, x *sinter.Tensor) *sinter.Tensor {
			where = at(2)
			if call == 1 {
				return x.Exp()
			}
			return x.Exp()
		}, "recorded other operations than in the pass before", "Exp", "record the same operations in every pass"},
		{"changed shape", func(call int, x *sinter.Tensor) *sinter.Tensor {
			where = at(1)
			return x.Reshape(1+call%2, 4/(1+call%2))
		}, "a shape or slice start changed", "Reshape", "hold the start in a rank-0 tensor"},
		{"changed slice start", func(call int, x *sinter.Tensor) *sinter.Tensor {
			where = at(1)
			return x.Slice(sinter.Span(call%2, call%2+2)).AddScalar(1)
		}, "a shape or slice start changed", "Slice", "hold the start in a rank-0 tensor"},
		{"host scalar", func(call int, x *sinter.Tensor) *sinter.Tensor {
			where = at(1)
			return x.MulScalar(float64(call))
		}, "a host scalar changed", "Mul", "hold it in a rank-0 tensor or a Var"},
		{"swapped outside tensor", func(call int, x *sinter.Tensor) *sinter.Tensor {
			where = at(1)
			return x.Sub(outside[call])
		}, "a tensor from outside was swapped", "Sub", "pass it as an input, or keep it in a Var and Set it"},
		{"other number of operations", func(call int, x *sinter.Tensor) *sinter.Tensor {
			y := x.Exp()
			if call == 1 {
				y.Neg()
			}
			return y
		}, "operations and", "", "record the same in every pass"},
		{"host data changed", func(call int, x *sinter.Tensor) *sinter.Tensor {
			data[0]++
			where = at(1)
			return x.Add(sinter.From(dev, data, 4))
		}, "host data changed", "From", "pass it as an input"},
		{"other number of host data", func(call int, x *sinter.Tensor) *sinter.Tensor {
			for range call {
				sinter.From(dev, []float32{1}, 1)
			}
			return x.Exp()
		}, "the program copied host data", "", "copy the same in every pass"},
		{"another tensor returned", func(call int, x *sinter.Tensor) *sinter.Tensor {
			y, z := x.Exp(), x.Tanh()
			if call == 1 {
				return z
			}
			return y
		}, "returned other tensors", "", "return the same ones in the same order in every pass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := -1
			g, err := graphapi.Capture(context.Background(), dev.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) {
				calls++
				return tensors{c.f(calls, in[0])}, nil
			}, tensors{sinter.Ones(dev, sinter.F32, 4)})
			require.Nil(t, g)
			var capture *sinter.CaptureError
			require.ErrorAs(t, err, &capture)
			require.Equal(t, 1, calls, "the second pass shows it")
			require.Contains(t, capture.Reason, c.reason)
			require.Contains(t, capture.Reason, c.mend)
			if c.op == "" {
				require.Empty(t, capture.Op)
			} else {
				require.True(t, strings.HasPrefix(capture.Op, c.op+" at "), capture.Op)
				require.True(t, strings.HasSuffix(capture.Op, "/"+where), "%s is not at %s", capture.Op, where)
			}
			usable(t, dev)
		})
	}
}

// The tensor a pass makes and the next one uses is dead by then.
func TestTensorOfThePassBefore(t *testing.T) {
	dev := open(t)
	outer := sinter.Ones(dev, sinter.F32, 2)
	_, err := graphapi.Capture(context.Background(), dev.Stream(), func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		outer = in[0].Add(outer)
		return []*sinter.Tensor{outer}, nil
	}, []*sinter.Tensor{outer})
	var released *sinter.ReleasedError
	require.ErrorAs(t, err, &released)
	usable(t, dev)
}

// What is frozen on purpose is listed with its line.
func TestFrozen(t *testing.T) {
	dev := open(t)
	var scalar, tensor, data string
	outside := sinter.Ones(dev, sinter.F32, 2)
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		scalar, tensor, data = at(1), at(2), at(3)
		y := in[0].MulScalar(2.5)
		y = y.Sub(outside)
		host := sinter.From(s, []float32{1, 2}, 2)
		return []*sinter.Tensor{y.Add(host)}, nil
	}, outside)
	want := []struct{ what, op, value, where string }{
		{"scalar", "Mul", ir.F32Scalar(2.5).String(), scalar}, {"tensor", "Sub", "#", tensor}, {"data", "From", "8 bytes", data},
	}
	require.Len(t, g.Frozen(), len(want))
	for i, w := range want {
		f := g.Frozen()[i]
		require.Equal(t, w.what, f.What)
		require.Equal(t, w.op, f.Op)
		require.Contains(t, f.Value, w.value)
		require.True(t, strings.HasSuffix(f.Position, "/"+w.where), "%s is not at %s", f.Position, w.where)
	}
}

// An operation on a Var alone is recorded when it is used, and compared too.
func TestLintSeesOperationsOnVars(t *testing.T) {
	dev := open(t)
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2}, 2))
	i := 1.0
	_, err := graphapi.Capture(context.Background(), dev.Stream(), func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		i++
		return []*sinter.Tensor{in[0].Add(w.Value().MulScalar(i))}, nil
	}, []*sinter.Tensor{sinter.From(dev, []float32{1, 2}, 2)})
	var refused *sinter.CaptureError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "host scalar")
	require.ErrorContains(t, err, "lint_test.go")
	g := capture(t, dev, func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].Add(w.Value().MulScalar(3))}, nil
	}, sinter.From(dev, []float32{1, 2}, 2))
	require.Len(t, g.Frozen(), 1)
	w.Set(w.Value().MulScalar(10))
	require.NoError(t, g.Replay())
	require.Equal(t, []float32{31, 62}, read(t, g.Out(0)))
}
