package sinter_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/env"
)

func TestOpen(t *testing.T) {
	for _, name := range []string{"auto", "cpu", "cpu:0"} {
		dev, err := sinter.Open(name)
		require.NoError(t, err)
		require.Equal(t, "cpu", dev.Name())
		require.NoError(t, dev.Close())
	}
	var device *sinter.DeviceError
	for _, name := range []string{"", ":", ":0", "cpu:x", "cpu:-1", "cpu:99999999999", "cpu:7", "auto:1", "nosuch"} {
		_, err := sinter.Open(name)
		require.ErrorAs(t, err, &device, "%q", name)
	}
	for name, path := range map[string]string{"cuda": "backend/cuda", "cuda:1": "backend/cuda", "cuda-sim": "backend/cuda/sim"} {
		_, err := sinter.Open(name)
		var missing *backend.NotLinkedError
		require.ErrorAs(t, err, &missing, "%q", name)
		require.ErrorContains(t, err, `import _ "github.com/sinter-ml/sinter/`+path+`"`)
	}
}

func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"SINTER_FUSION": "yes", "SINTER_GRAPHS": "2", "SINTER_WORKERS": "0", "SINTER_MEMORY_LIMIT": "1T", "SINTER_SEED": "x", "SINTER_POISON": "on",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := sinter.Open("cpu")
			var bad *env.Error
			require.ErrorAs(t, err, &bad)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, value)
		})
	}
	t.Setenv("SINTER_FUSION", "0")
	t.Setenv("SINTER_SEED", "7")
	t.Setenv("SINTER_MEMORY_LIMIT", "1k")
	dev := open(t)
	require.False(t, dev.Runtime().Fusing())
	var memory *sinter.OutOfMemoryError
	big := sinter.Zeros(dev, sinter.F32, 1<<20).AddScalar(1)
	_, err := sinter.Read[float32](ctx, big)
	require.ErrorAs(t, err, &memory)

	opts := []sinter.Option{sinter.WithFusion(true), sinter.WithSeed(8), sinter.WithMemoryLimit(1 << 30)}
	beats, plain := open(t, opts...), open(t, opts...)
	require.True(t, beats.Runtime().Fusing())
	seven := open(t, append(opts, sinter.WithSeed(7))...)
	draw := func(d *sinter.Device) []float32 { return read[float32](t, sinter.Uniform(d, sinter.F32, 0, 1, 4)) }
	a := draw(plain)
	require.Equal(t, a, draw(beats))
	require.NotEqual(t, a, draw(seven))
}

func TestOptions(t *testing.T) {
	// A logger and a fuser of the program's own.
	var log bytes.Buffer
	mine := fuser.Default()[0]
	mine.Name = "mine"
	dev := open(t, sinter.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), sinter.WithFusers(mine),
		sinter.WithWorkers(1), sinter.WithQueueLimit(8), sinter.WithPlanCache(2))
	x := sinter.Ones(dev, sinter.F32, 4)
	for range 40 {
		x = x.AddScalar(1)
	}
	require.NotZero(t, dev.Stats().Segments, "a queue nothing drains is cut")
	require.Equal(t, []float32{41, 41, 41, 41}, read[float32](t, x))
	require.Empty(t, log.String())

	file := filepath.Join(t.TempDir(), "trace")
	dev, err := sinter.Open("cpu", sinter.WithTrace(file))
	require.NoError(t, err)
	read[float32](t, sinter.Ones(dev, sinter.F32, 4).Exp())
	require.NoError(t, dev.Close())
	trace, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(trace), "Exp")
	_, err = sinter.Open("cpu", sinter.WithTrace(filepath.Join(file, "x")))
	require.Error(t, err)
}

// Fusing changes how much is launched and moved, never a bit.
func TestFusionOption(t *testing.T) {
	var launches, moved [2]int64
	var bits [2][]byte
	for i, dev := range both(t) {
		x := put(dev, newData(8).make(sinter.F32, true, 64, 33))
		before := dev.Stats()
		y := x.Exp().AddScalar(1).Log().Mul(x.Tanh())
		y = y.Sub(y.Mean(1)).Div(y.Variance(0, 1).AddScalar(1e-5).Sqrt()).Gelu()
		var err error
		bits[i], err = sinter.ReadBytes(ctx, y)
		require.NoError(t, err)
		after := dev.Stats()
		launches[i] = after.Device.Launches - before.Device.Launches
		moved[i] = after.BytesRead + after.BytesWritten - before.BytesRead - before.BytesWritten
	}
	require.Equal(t, bits[1], bits[0])
	require.LessOrEqual(t, launches[0], int64(3))
	require.GreaterOrEqual(t, launches[1], int64(12))
	require.Less(t, moved[0], moved[1])
}
