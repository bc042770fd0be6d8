package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// worker is something one goroutine does to a device that it shares, again and
// again, with a stream of its own.
type worker func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error

var workers = map[string]worker{
	"records and reads": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		return s.Scope(func(sc *sinter.Scope) error {
			x := sinter.Full(sc, sinter.F32, float64(i), 4)
			y := x.Add(shared.Value().On(s)).Sub(shared.Value().On(s).MulScalar(0)).MulScalar(2)
			got, err := sinter.Read[float32](ctx, y)
			for _, g := range got {
				// Each read of the shared Var is of one whole version.
				if g != got[0] {
					return fmt.Errorf("a version in pieces: %v", got)
				}
			}
			return err
		})
	},
	"writes the shared Var": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		shared.Set(sinter.Full(s, sinter.F32, float64(i), 4).AddScalar(1))
		if i%3 == 0 {
			return s.Sync(ctx)
		}
		return nil
	},
	"adds to the shared Var in place": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		shared.ScatterAdd(0, sinter.From(s, []int64{0, 1, 2, 3}, 4), sinter.Ones(s, sinter.F32, 4))
		return s.Flush(ctx)
	},
	"trains": func(dev *sinter.Device, s *sinter.Stream, _ *sinter.Var, i int) error {
		m := newModel(s)
		return s.Scope(func(sc *sinter.Scope) error {
			_, err := sinter.Item[float32](ctx, m.train(wavy(sc, batch, features).Dropout(0.1), sinter.Ones(sc, sinter.F32, batch, 1)))
			return err
		})
	},
	"captures and replays": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		own := sinter.NewVar(sinter.Zeros(s, sinter.F32, 4))
		g, err := graphapi.Capture(ctx, s, func(_ *sinter.Stream, in []*tensor) ([]*tensor, error) {
			own.Set(own.Value().Add(in[0]))
			return tensors{own.Value().MulScalar(2)}, nil
		}, tensors{sinter.Ones(s, sinter.F32, 4)})
		if err != nil {
			return err
		}
		defer g.Close()
		for range 3 {
			if err := g.Replay(); err != nil {
				return err
			}
		}
		got, err := sinter.Read[float32](ctx, g.Out(0))
		if err == nil && got[0] != 6 {
			return fmt.Errorf("three replays gave %v", got)
		}
		return err
	},
	"measures": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		report, err := s.Profile(ctx, func() error {
			return sinter.Ones(s, sinter.F32, 8).Exp().Sum().Err()
		})
		if err != nil {
			return err
		}
		_ = report.String()
		p, err := s.OpenProfile(ctx, sinter.ProfileOptions{Flush: i%2 == 0})
		if err != nil {
			return err
		}
		p.Abandon()
		return nil
	},
	"reports and trims": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		if _, err := dev.MemoryReport(ctx); err != nil {
			return err
		}
		_ = dev.Stats().String()
		if err := dev.SavePlans(io.Discard); err != nil {
			return err
		}
		_, err := dev.Trim(ctx)
		return err
	},
	"stages": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		st, err := sinter.NewStaging[float32](dev, 4)
		if err != nil {
			return err
		}
		defer st.Close()
		if err := st.Access(ctx, func(data []float32) error { data[0] = float32(i); return nil }); err != nil {
			return err
		}
		return st.Download(ctx, st.Upload(s, 4).AddScalar(1))
	},
	"opens and closes streams": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		own := dev.NewStream()
		if err := own.Wait(ctx, s); err != nil {
			return err
		}
		x := sinter.Uniform(own, sinter.F32, 0, 1, 4)
		if err := own.Close(); err != nil {
			return err
		}
		got, err := sinter.Read[float32](ctx, x.On(s).SubScalar(2))
		if err == nil && !(got[0] < 0) {
			return fmt.Errorf("after its stream's end: %v", got)
		}
		return err
	},
	"gives up waiting": func(dev *sinter.Device, s *sinter.Stream, shared *sinter.Var, i int) error {
		soon, cancel := context.WithCancel(ctx)
		cancel()
		x := sinter.Ones(s, sinter.F32, 4).Exp()
		if _, err := sinter.Read[float32](soon, x); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return x.Err()
	},
}

// refusedMeanwhile reports whether an error says that something cannot be done
// while another goroutine captures.
func refusedMeanwhile(err error) bool {
	var capture *sinter.CaptureError
	return errors.As(err, &capture)
}

// ended reports whether an error says that the device is closed.
func ended(err error) bool {
	var closed *sinter.ClosedError
	var device *sinter.DeviceError
	return errors.As(err, &closed) || errors.As(err, &device)
}

// TestEveryoneAtOnce lets many goroutines do everything to one device.
func TestEveryoneAtOnce(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 8
	}
	dev := open(t, silent)
	shared := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 4))
	var wg sync.WaitGroup
	for name, work := range workers {
		for range 2 {
			s := dev.NewStream()
			wg.Go(func() {
				for i := range rounds {
					if err := work(dev, s, shared, i); err != nil && !(name == "reports and trims" && refusedMeanwhile(err)) {
						assert.NoError(t, err, "%s, round %d", name, i)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for range 3 { // what was given up
		if err := dev.Flush(ctx); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Len(t, read[float32](t, shared.Value()), 4)
}

// TestCloseAtAnyMoment closes the device while they are at it: whoever comes
// later is told so, and nothing stays behind.
func TestCloseAtAnyMoment(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	before := runtime.NumGoroutine()
	for round := range rounds {
		dev, err := sinter.Open("cpu", sinter.WithPoison(true), silent)
		require.NoError(t, err)
		shared := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 4))
		var wg sync.WaitGroup
		begun := make(chan struct{}, len(workers)*(round+1))
		for name, work := range workers {
			s := dev.NewStream()
			wg.Go(func() {
				for i := 0; ; i++ {
					err := work(dev, s, shared, i)
					if i <= round { // each time later
						begun <- struct{}{}
					}
					if ended(err) {
						for ; i < round; i++ {
							begun <- struct{}{}
						}
						return
					}
					if err != nil && !refusedMeanwhile(err) {
						assert.NoError(t, err, name)
						return
					}
				}
			})
		}
		for range (round + 1) * len(workers) / 2 {
			<-begun
		}
		if err := dev.Close(); err != nil {
			require.True(t, errors.Is(err, context.Canceled) || refusedMeanwhile(err) || ended(err), "%v", err)
		}
		wg.Wait()
		require.NoError(t, dev.Close())
	}
	noMoreGoroutines(t, before)
}
