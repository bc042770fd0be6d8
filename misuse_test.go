package sinter_test

import (
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// Options of negative sizes mean nothing; a backend that is not linked is named.
func TestNegativeOptions(t *testing.T) {
	for name, o := range map[string]sinter.Option{
		"WithWorkers": sinter.WithWorkers(-1), "WithMemoryLimit": sinter.WithMemoryLimit(-1),
		"WithQueueLimit": sinter.WithQueueLimit(-1), "WithPlanCache": sinter.WithPlanCache(-1),
	} {
		_, err := sinter.Open("cpu", o)
		var bad *sinter.ArgumentError
		require.ErrorAs(t, err, &bad, name)
		assert.Equal(t, name+"(-1): the number is negative", err.Error())
	}
	_, err := sinter.Open("cuda:0")
	var missing *sinter.NotLinkedError
	require.ErrorAs(t, err, &missing)
	dev, err := sinter.Open("cpu", sinter.WithWorkers(0), sinter.WithMemoryLimit(0), sinter.WithQueueLimit(0), sinter.WithPlanCache(0))
	require.NoError(t, err)
	require.NoError(t, dev.Close())
}

func TestDevicesThatAreNone(t *testing.T) {
	closed := open(t)
	require.NoError(t, closed.Close())
	var isClosed *sinter.ClosedError
	run := 0
	assert.ErrorAs(t, closed.Flush(ctx), &isClosed)
	assert.ErrorAs(t, closed.PersistentAllocations(func() error { run++; return nil }), &isClosed)
	assert.ErrorAs(t, closed.Scope(func(*sinter.Scope) error { run++; return nil }), &isClosed)
	assert.Zero(t, run, "functions are not called for a closed device")

	var isArgument *sinter.ArgumentError
	for _, dev := range []*sinter.Device{nil, new(sinter.Device)} {
		_, err := sinter.NewStaging[float32](dev, 1)
		assert.ErrorAs(t, err, &isArgument)
	}
	on := sinter.From(open(t), []float32{1}, 1).On(new(sinter.Stream))
	assert.ErrorAs(t, on.Err(), &isArgument)
}

func TestMissingArguments(t *testing.T) {
	dev := open(t)
	var isArgument *sinter.ArgumentError
	assert.ErrorAs(t, sinter.WriteChromeTrace(io.Discard, nil), &isArgument)
	_, err := sinter.Bisect(ctx, "cpu", nil)
	assert.ErrorAs(t, err, &isArgument)
	for want, x := range map[string]*tensor{"output 0 is nil": nil, "another device": sinter.From(dev, []float32{1}, 1)} {
		_, err := sinter.Bisect(ctx, "cpu", func(*sinter.Device) ([]*tensor, error) { return tensors{x}, nil })
		require.ErrorAs(t, err, &isArgument)
		assert.ErrorContains(t, err, want)
	}
}

// What integers cannot hold is refused, not saturated.
func TestLinspaceOfIntegersHoldsItsEnds(t *testing.T) {
	dev := open(t)
	for _, ends := range [][2]float64{{0, 256}, {-1, 3}, {0, math.Inf(1)}, {math.NaN(), 3}} {
		isOp[*sinter.ArgumentError](t, sinter.Linspace(dev, sinter.U8, ends[0], ends[1], 3).Err(), "Linspace")
	}
	assert.Equal(t, []uint8{0, 127, 255}, read[uint8](t, sinter.Linspace(dev, sinter.U8, -0.5, 255.9, 3)))
}

func TestBytesThatAreNoElements(t *testing.T) {
	err := sinter.FromBytes(open(t), sinter.F32, make([]byte, 5), 1).Err()
	isOp[*sinter.ShapeError](t, err, "From")
	assert.ErrorContains(t, err, "5 bytes for shape [1] of f32, which takes 4")
}

// A registration that fails leaves the name free.
func TestCustomWithoutAFunction(t *testing.T) {
	op := sinter.CustomOp{
		Name:  "misuse.none",
		Infer: func(o *ir.Operation) (sinter.Shape, sinter.DType, error) { return o.Inputs[0].Shape, sinter.F32, nil },
	}
	var isArgument *sinter.ArgumentError
	for _, run := range []map[string]sinter.HostFunc{nil, {"cpu": nil}, {"": func(*sinter.HostCall) error { return nil }}} {
		op.Run = run
		require.ErrorAs(t, sinter.RegisterCustom(op), &isArgument)
	}
	op.Run = map[string]sinter.HostFunc{"cpu": func(*sinter.HostCall) error { return nil }}
	require.NoError(t, sinter.RegisterCustom(op))
}
