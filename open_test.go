package sinter_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
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
	dev := open(t, sinter.WithQueueLimit(8))
	x := sinter.Ones(dev, sinter.F32, 4)
	for range 40 {
		x = x.AddScalar(1)
	}
	require.NotZero(t, dev.Stats().Segments, "a queue nothing drains is cut")
	require.Equal(t, []float32{41, 41, 41, 41}, read[float32](t, x))

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

// eager is a fuser of the program's own: a library fuser that promises more
// and signs its blocks.
type eager struct{ fuser.Fuser }

func (eager) Name() string { return "eager" }

func (e eager) Properties() fuser.Properties {
	p := e.Fuser.Properties()
	p.Score *= 2
	return p
}

func (e eager) Finish() (*fuser.Optimization, error) {
	o, err := e.Fuser.Finish()
	if o != nil {
		o.Fuser = e.Name()
	}
	return o, err
}

func (e eager) Clone() fuser.Fuser { return eager{e.Fuser.Clone()} }

// A fuser given to Open makes blocks beside those of the library.
func TestWithFusers(t *testing.T) {
	var library fuser.Factory
	for _, f := range fuser.Default() {
		if f.Name == "elementwise" {
			library = f
		}
	}
	require.NotNil(t, library.New)
	mine := fuser.Factory{Name: "eager", New: func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser { return eager{library.New(g, p)} }}
	for _, added := range []bool{false, true} {
		var opts []sinter.Option
		if added {
			opts = append(opts, sinter.WithFusers(mine))
		}
		dev := open(t, opts...)
		var blocks []string
		dev.Runtime().Observe(func(r *fusion.Run) {
			for _, b := range r.Plan.Blocks {
				blocks = append(blocks, b.Fuser)
			}
		})
		got := read[float32](t, sinter.From(dev, []float32{1, 2}, 2).AddScalar(1).MulScalar(3).Neg())
		dev.Runtime().Observe(nil)
		require.Equal(t, []float32{-6, -9}, got)
		if added {
			require.Contains(t, blocks, "eager")
		} else {
			require.Equal(t, []string{"elementwise"}, blocks)
		}
	}
}

// A warning, here of a sequence planned again and again, goes to the logger
// given to Open.
func TestWithLogger(t *testing.T) {
	var log bytes.Buffer
	dev := open(t, sinter.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	for i := range 4 { // which tensors are released changes each time
		x := sinter.From(dev, []float32{1, 2, 3, 4}, 4)
		y := x.AddScalar(1)
		z := y.MulScalar(2)
		last := z.Exp()
		if i&1 != 0 {
			y.Release()
		}
		if i&2 != 0 {
			z.Release()
		}
		read[float32](t, last)
	}
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "of one sequence")
}

// A device that may keep two plans forgets the first of three.
func TestWithPlanCache(t *testing.T) {
	programs := []func(x *tensor) *tensor{
		func(x *tensor) *tensor { return x.AddScalar(1).Exp() },
		func(x *tensor) *tensor { return x.MulScalar(2).Tanh().Neg() },
		func(x *tensor) *tensor { return x.Sub(x).Abs().AddScalar(1) },
	}
	for plans, explored := range map[int]int64{2: 6, 3: 3} {
		dev := open(t, sinter.WithPlanCache(plans))
		for range 2 {
			for _, f := range programs {
				s := dev.NewStream() // a stream keeps plans of its own
				read[float32](t, f(sinter.From(s, []float32{1, 2}, 2)))
				require.NoError(t, s.Close())
			}
		}
		require.Equal(t, explored, dev.Stats().Explorations, "%d plans", plans)
	}
}

// The caller is one of the threads, so a device has one goroutine less.
func TestWithWorkers(t *testing.T) {
	working := func() int {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return bytes.Count(stacks, []byte("cpu.(*workers).loop("))
	}
	for _, n := range []int{1, 2, 5} {
		before := working()
		dev, err := sinter.Open("cpu", sinter.WithWorkers(n))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return working() == before+n-1 }, 5*time.Second, time.Millisecond, "%d workers", n)
		x := sinter.Uniform(dev, sinter.F32, 0, 1, 1<<16)
		require.Len(t, read[float32](t, x.Exp()), 1<<16)
		require.Equal(t, before+n-1, working())
		require.NoError(t, dev.Close())
	}
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
