package soak

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/safetensors"
)

// opened returns the device the driver "faulty" opened last.
var opened = backendtest.RegisterFaulty("faulty", "cpu")

// injected reports whether an error is of a type an injected fault gives.
func injected(err error) bool {
	var memory *sinter.OutOfMemoryError
	return errors.Is(err, backend.ErrInjected) || errors.As(err, &memory)
}

// results are what a program read, in order.
type results [][]byte

// read reads a tensor once everything queued on its device has run: only then
// is it known that no effect before was left out.
func (r *results) read(dev *sinter.Device, x *tensor) error {
	if err := dev.Flush(ctx); err != nil {
		return err
	}
	b, err := sinter.ReadBytes(ctx, x)
	if err == nil {
		*r = append(*r, b)
	}
	return err
}

func (r *results) readVar(dev *sinter.Device, v *sinter.Var) error {
	h := v.Value()
	defer h.Release()
	return r.read(dev, h)
}

// service is a program that uses many parts of the library on a device that is
// new or as good as new. It stops at the first error.
type service func(dev *sinter.Device, r *results) error

// training loads a model into memory that fits exactly, takes batches from
// staging memory, drops units at random, measures, reports, trims and saves.
func training(dev *sinter.Device, r *results) error {
	var m *model
	if err := dev.PersistentAllocations(func() error { m = newModel(dev); return nil }); err != nil {
		return err
	}
	st, err := sinter.NewStaging[float32](dev, batch*features)
	if err != nil {
		return err
	}
	defer st.Close()
	xs, targets := batches()
	x := sinter.NewVar(sinter.Zeros(dev, sinter.F32, batch, features))
	step := func(i int) error {
		if err := st.Access(ctx, func(data []float32) error { copy(data, xs[i]); return nil }); err != nil {
			return err
		}
		st.UploadTo(x)
		return dev.Stream().Scope(func(sc *sinter.Scope) error {
			s := sc.Stream()
			loss := m.train(x.Value().On(s).Dropout(0.25), sinter.From(sc, targets[i], batch, 1))
			// A learning rate that depends on the loss, so a branch.
			out, err := graphapi.If(s, loss.GreaterScalar(0.5).Reshape(), func() ([]*tensor, error) {
				m.b2.Set(m.b2.Value().MulScalar(0.5))
				return tensors{loss.MulScalar(2)}, nil
			}, func() ([]*tensor, error) { return tensors{loss}, nil })
			if err != nil {
				return err
			}
			return r.read(dev, out[0])
		})
	}
	for i := range 2 {
		if err := step(i); err != nil {
			return err
		}
	}
	report, err := dev.Stream().Profile(ctx, func() error { return step(2) })
	if err != nil {
		return err
	}
	if len(report.Launches) == 0 {
		return errors.New("nothing was measured")
	}
	if _, err := dev.MemoryReport(ctx); err != nil {
		return err
	}
	if _, err := dev.Trim(ctx); err != nil {
		return err
	}
	if err := step(3); err != nil {
		return err
	}
	return save(dev, m, r)
}

// save writes the model and the plans.
func save(dev *sinter.Device, m *model, r *results) error {
	file := map[string]safetensors.Tensor{}
	for i, p := range m.params() {
		if err := r.readVar(dev, p); err != nil {
			return err
		}
		file[string(rune('a'+i))] = safetensors.Tensor{DType: p.DType(), Shape: p.Shape(), Data: (*r)[len(*r)-1]}
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, file, nil); err != nil {
		return err
	}
	*r = append(*r, out.Bytes())
	return dev.SavePlans(&out)
}

// serving decodes by a graph that shares its pool with one of a quantised
// layer, on a stream that waits for another, and downloads what it drew.
func serving(dev *sinter.Device, r *results) (err error) {
	s, side := dev.NewStream(), dev.NewStream()
	defer func() { err = errors.Join(err, s.Close(), side.Close()) }()
	d := newDecoder(s)
	w := wavy(side, size, size).Quantize(sinter.QuantScheme{Bits: 4, Level: sinter.PerChannel, Axis: 1})
	if err := dev.Flush(ctx); err != nil {
		return err
	}
	pool := graphapi.NewPool(dev)
	var graphs []*graphapi.Graph
	defer func() {
		for _, g := range graphs {
			err = errors.Join(err, g.Close())
		}
		err = errors.Join(err, pool.Close())
	}()
	for _, f := range []graphapi.Func{
		func(s *sinter.Stream, _ []*tensor) ([]*tensor, error) { return tensors{d.step(s)}, nil },
		func(s *sinter.Stream, in []*tensor) ([]*tensor, error) {
			if err := side.Wait(ctx, s); err != nil {
				return nil, err
			}
			noise := sinter.Normal(side, sinter.F32, 0, 1, 1, size)
			y := in[0].MatMul(w.Dequantize(sinter.F32))
			if err := s.Wait(ctx, side); err != nil {
				return nil, err
			}
			return graphapi.While(s, func(x []*tensor) (*tensor, error) { return x[0].Abs().Max().LessScalar(9).Reshape(), nil },
				func(x []*tensor) ([]*tensor, error) { return tensors{x[0].MulScalar(1.5)}, nil },
				tensors{y.Add(noise)}, graphapi.MaxIterations(4))
		},
	} {
		g, err := graphapi.Capture(ctx, s, f, tensors{wavy(s, 1, size)}, graphapi.InPool(pool))
		if err != nil {
			return err
		}
		graphs = append(graphs, g)
	}
	for range 3 {
		if err := graphs[0].Replay(); err != nil {
			return err
		}
		if err := r.read(dev, graphs[0].Out(0)); err != nil {
			return err
		}
		if err := graphs[1].Replay(d.embedding.Value().On(s).Select(0, d.token.Value().Reshape(1))); err != nil {
			return err
		}
		if err := r.read(dev, graphs[1].Out(0)); err != nil {
			return err
		}
	}
	st, err := sinter.NewStaging[float32](dev, size)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.Download(ctx, graphs[1].Out(0)); err != nil {
		return err
	}
	if err := st.Access(ctx, func(data []float32) error { return nil }); err != nil {
		return err
	}
	return r.readVar(dev, d.trail)
}

// openFaulty opens a device whose calls can be made to fail.
func openFaulty(t *testing.T) (*sinter.Device, *backendtest.FaultyDevice) {
	t.Helper()
	dev, err := sinter.Open("faulty", sinter.WithPoison(true), sinter.WithSeed(1), sinter.WithWorkers(2), silent)
	require.NoError(t, err)
	return dev, opened()
}

// settled waits until the collector has freed all but n buffers.
func settled(t *testing.T, dev *sinter.Device, n int, what ...any) {
	t.Helper()
	for range 300 {
		if dev.Stats().Memory.Allocations <= n {
			return
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, dev.Stats().Memory.Allocations, n, what...)
}

// TestFaults makes each call of the device fail in turn. The error is typed, or
// the fault is got over; what was read before is right, and the same program on
// the same device then gives what it always does; no buffer and no goroutine is
// left.
func TestFaults(t *testing.T) {
	calls := []backend.Call{
		backend.CallAlloc, backend.CallAllocHost, backend.CallWrite, backend.CallRead, backend.CallCopy, backend.CallCompile, backend.CallLaunch,
		backend.CallSync, backend.CallWait, backend.CallBeginCapture, backend.CallEndCapture, backend.CallBeginBody, backend.CallEndBody, backend.CallReplay,
	}
	hit := map[backend.Call]int{}
	for name, run := range map[string]service{"training": training, "serving": serving} {
		t.Run(name, func(t *testing.T) {
			dev, faulty := openFaulty(t)
			var want results
			require.NoError(t, run(dev, &want))
			total := map[backend.Call]int{}
			for _, call := range calls {
				total[call] = faulty.Calls(call)
			}
			require.NoError(t, dev.Close())

			for _, call := range calls {
				stride := 1
				if testing.Short() {
					stride = 1 + total[call]/6
				}
				for k := 1; k <= total[call]; k += stride {
					failed(t, run, want, call, k)
					hit[call]++
				}
			}
		})
	}
	for _, call := range calls {
		require.Positive(t, hit[call], "no %s", call)
	}
}

// failed runs a program with one call failing, then again.
func failed(t *testing.T, run service, want results, call backend.Call, k int) {
	t.Helper()
	before := runtime.NumGoroutine()
	dev, faulty := openFaulty(t)
	faulty.FailAt(call, k)
	var got results
	if err := run(dev, &got); err != nil {
		require.True(t, injected(err), "%s %d: %v", call, k, err)
		require.LessOrEqual(t, len(got), len(want))
		for i := range got {
			require.Equal(t, want[i], got[i], "result %d, %s %d", i, call, k)
		}
	} else {
		require.Equal(t, want, got, "%s %d", call, k)
	}
	for range 3 { // each failure is told once
		if err := dev.Flush(ctx); err != nil {
			require.True(t, injected(err), "%s %d: %v", call, k, err)
		}
	}
	require.NoError(t, dev.Flush(ctx), "%s %d", call, k)

	dev.Seed(1)
	got = nil
	require.NoError(t, run(dev, &got), "again after %s %d", call, k)
	require.Equal(t, want, got, "again after %s %d", call, k)
	settled(t, dev, 0, "left after %s %d", call, k)
	require.NoError(t, dev.Close(), "%s %d", call, k)
	noMoreGoroutines(t, before)
}
