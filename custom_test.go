package sinter_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/ir"
)

func smooth(x *sinter.Tensor, rate float32) *sinter.Tensor {
	return sinter.Custom("running.mean", sinter.CustomAttrs{Scalars: []ir.Scalar{ir.F32Scalar(rate)}}, x)
}

func openWith(t *testing.T, o ...sinter.Option) *sinter.Device {
	t.Helper()
	d, err := sinter.Open("cpu", o...)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// A custom operation gives the same in every way of running it, on operands laid
// out in any way, and costs one launch each time.
func TestCustomOperation(t *testing.T) {
	var want []float32
	for _, fused := range []bool{false, true} {
		d := openWith(t, sinter.WithFusion(fused))
		x := sinter.From(d, []float32{1, -2, 3, -4, 5, -6}, 2, 3)
		y := smooth(x.Permute(1, 0).AddScalar(1).Permute(1, 0), 0.25).Sum(1)
		strided := smooth(x.Permute(1, 0), 0.5)
		got, err := sinter.Read[float32](t.Context(), y)
		require.NoError(t, err)
		rows, err := sinter.Read[float32](t.Context(), strided)
		require.NoError(t, err)
		require.Equal(t, []float32{0.5, -1.75, -1, 2, 1.5, -2.25}, rows)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
		require.Zero(t, d.Stats().Fallbacks)
	}

	d := openWith(t)
	for _, rate := range []float32{0.5, 0.25} { // a scalar makes no new plan
		before := d.Stats()
		x := sinter.From(d, []float32{4, 0}, 1, 2)
		got, err := sinter.Read[float32](t.Context(), smooth(x, rate))
		require.NoError(t, err)
		require.Equal(t, []float32{4 * rate, 4 * rate * (1 - rate)}, got)
		s := d.Stats().Sub(before)
		require.EqualValues(t, 1, s.Device.Launches)
		require.Equal(t, []int64{8, 8}, []int64{s.BytesRead, s.BytesWritten})
		if rate == 0.25 {
			require.Zero(t, s.Explorations)
		}
	}
}

// Captures hold custom operations as they hold any launch.
func TestCustomInAGraph(t *testing.T) {
	d := openWith(t)
	x := sinter.From(d, []float32{4, 0, 2}, 1, 3)
	g, err := graphapi.Capture(t.Context(), d.Stream(), func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{smooth(in[0].MulScalar(2), 0.5).AddScalar(1)}, nil
	}, []*sinter.Tensor{x})
	require.NoError(t, err)
	require.True(t, g.IsHardware())
	for _, v := range []float32{4, 8, -2} {
		require.NoError(t, g.Replay(sinter.From(d, []float32{v, 0, 2}, 1, 3)))
		got, err := sinter.Read[float32](t.Context(), g.Out(0))
		require.NoError(t, err)
		require.Equal(t, []float32{v + 1, v/2 + 1, v/4 + 3}, got)
	}
	require.NoError(t, g.Close())
}

// What goes wrong in a user's function or rule is a typed error of the tensors
// that depend on it, and of nothing else.
func TestCustomErrors(t *testing.T) {
	same := func(o *ir.Operation) (sinter.Shape, sinter.DType, error) {
		return o.Inputs[0].Shape, o.Inputs[0].DType, nil
	}
	errUser := errors.New("a user's error")
	register := func(name string, run map[string]sinter.HostFunc) {
		require.NoError(t, sinter.RegisterCustom(sinter.CustomOp{Name: name, Infer: same, Run: run}))
	}
	register("test.fails", map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { return errUser }})
	register("test.panics", map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { panic("at the user's") }})
	register("test.index", map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { return &ir.IndexError{Msg: "index 9"} }})
	register("test.elsewhere", map[string]sinter.HostFunc{"null": func(*sinter.HostCall) error { return nil }})

	d := openWith(t)
	x := sinter.From(d, []float32{1, 2}, 2)
	other := x.Exp()
	var (
		launch  *sinter.LaunchError
		compile *sinter.CompileError
		panics  *backend.PanicError
		index   *sinter.IndexError
		shape   *sinter.ShapeError
		dtype   *sinter.DTypeError
		arg     *sinter.ArgumentError
	)
	for name, want := range map[string]any{"test.fails": &launch, "test.panics": &panics, "test.index": &index, "test.elsewhere": &compile} {
		y := sinter.Custom(name, sinter.CustomAttrs{}, x).AddScalar(1)
		_, err := sinter.Read[float32](t.Context(), y)
		require.ErrorAs(t, err, want, name)
		require.ErrorContains(t, err, "custom_test.go:", name)
	}
	_, err := sinter.Read[float32](t.Context(), sinter.Custom("test.fails", sinter.CustomAttrs{}, x))
	require.ErrorIs(t, err, errUser)
	require.ErrorAs(t, smooth(x, 1).Err(), &shape)
	require.ErrorAs(t, smooth(sinter.From(d, []int64{1, 2}, 1, 2), 1).Err(), &dtype)
	require.ErrorAs(t, sinter.Custom("test.none", sinter.CustomAttrs{}, x).Err(), &arg)
	require.Error(t, sinter.Custom("running.mean", sinter.CustomAttrs{}).Err(), "no operand")
	got, err := sinter.Read[float32](t.Context(), other)
	require.NoError(t, err)
	require.InDelta(t, math.E, got[0], 1e-6)

	for _, op := range []sinter.CustomOp{
		{Name: "test.new", Infer: same},
		{Name: "test.fails", Infer: same, Run: map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { return nil }}},
		{Name: "test.new", Run: map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { return nil }}},
		{Infer: same, Run: map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { return nil }}},
	} {
		require.ErrorAs(t, sinter.RegisterCustom(op), &arg)
	}
}

// HostElems reads operands laid out in any way, of every dtype.
func TestHostElems(t *testing.T) {
	t.Run("strided", func(t *testing.T) {
		data := make([]byte, 6*8)
		for i := range 6 {
			data[8*i] = byte(i)
		}
		x := sinter.HostTensor{DType: sinter.I64, Shape: sinter.Shape{3, 2}, Strides: []int{1, -3}, Offset: 3, Data: data}
		require.Equal(t, []int64{3, 0, 4, 1, 5, 2}, sinter.HostElems[int64](&x))
		x.Shape = sinter.Shape{0, 2}
		require.Empty(t, sinter.HostElems[int64](&x))
		x = sinter.HostTensor{DType: sinter.I64, Offset: 2, Data: data}
		require.Equal(t, []int64{2}, sinter.HostElems[int64](&x))
	})
	t.Run("dense", func(t *testing.T) {
		x := sinter.HostTensor{DType: sinter.Bool, Shape: sinter.Shape{2}, Strides: []int{1}, Offset: 1, Data: []byte{0, 1, 0}}
		e := sinter.HostElems[bool](&x)
		e[1] = true
		require.Equal(t, []byte{0, 1, 1}, x.Data, "it is the memory itself")
	})
	require.Panics(t, func() { sinter.HostElems[float32](&sinter.HostTensor{DType: sinter.I64}) })
}

// A registered fuser takes part in the search by its score, names what it
// refuses, and is gone for devices opened after it was removed.
func TestRegisteredFuser(t *testing.T) {
	require.NoError(t, backend.RegisterHost("cpu", "running.mean.relu", func(c *sinter.HostCall) error {
		runningMean(c, func(x float32) float32 { return max(x, 0) })
		return nil
	}))
	factory := fuser.Factory{Name: "smooth-relu", Doc: "running.mean and the Relu behind it", New: func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser {
		return &smoothRelu{g: g, p: p}
	}}
	run := func(o ...sinter.Option) ([]float32, int64) {
		d := openWith(t, o...)
		x := sinter.From(d, []float32{4, -8, 2}, 1, 3)
		got, err := sinter.Read[float32](t.Context(), smooth(x, 0.5).Relu())
		require.NoError(t, err)
		require.Zero(t, d.Stats().Fallbacks)
		return got, d.Stats().Device.Launches
	}
	want, launches := run()
	require.EqualValues(t, 2, launches)
	require.Equal(t, []float32{2, 0, 0}, want)

	require.NoError(t, sinter.RegisterFuser(factory))
	got, launches := run()
	require.Equal(t, want, got)
	require.EqualValues(t, 1, launches)
	got, launches = run(sinter.WithoutFusers("smooth-relu"))
	require.Equal(t, want, got)
	require.EqualValues(t, 2, launches)
	_, launches = run(sinter.WithFusion(false))
	require.EqualValues(t, 2, launches)

	var arg *sinter.ArgumentError
	for _, f := range []fuser.Factory{factory, {Name: "elementwise", New: factory.New}, {Name: fuser.HorizontalName, New: factory.New}, {Name: "x"}, {New: factory.New}} {
		require.ErrorAs(t, sinter.RegisterFuser(f), &arg, fmt.Sprint(f.Name))
	}
	require.True(t, sinter.UnregisterFuser("smooth-relu"))
	require.False(t, sinter.UnregisterFuser("smooth-relu"))
	_, launches = run()
	require.EqualValues(t, 2, launches)
	require.True(t, backend.UnregisterHost("cpu", "running.mean.relu"))
}
