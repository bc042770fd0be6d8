package sinter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// work is a small training-like loop with state and its result without one.
func work(s *sinter.Stream, k int) error {
	x := sinter.Full(s, sinter.F32, float64(k), 3, 4)
	v := sinter.NewVar(sinter.Zeros(s, sinter.F32, 3, 4))
	for i := range 6 {
		err := s.Scope(func(sc *sinter.Scope) error {
			y := x.AddScalar(float64(i)).MulScalar(2)
			v.Set(v.Value().On(s).Add(y))
			v.SetSlice(sinter.Full(sc, sinter.F32, 7, 1, 4), sinter.Index(0))
			return nil
		})
		if err != nil {
			return err
		}
	}
	got, err := sinter.Read[float32](ctx, v.Value().On(s).Sum(0))
	if err != nil {
		return err
	}
	want := float32(7 + 2*2*(6*k+15))
	for _, g := range got {
		if g != want {
			return fmt.Errorf("stream %d: got %v, want %v", k, got, want)
		}
	}
	return nil
}

func TestEightStreams(t *testing.T) {
	for _, dev := range both(t) {
		var wg sync.WaitGroup
		for k := range 8 {
			s := dev.NewStream()
			wg.Go(func() { assert.NoError(t, work(s, k)) })
		}
		wg.Wait()
		require.NoError(t, dev.Flush(ctx))
	}
}

// Scopes of one stream nest, so goroutines that share one use none.
func TestOneStream(t *testing.T) {
	for _, dev := range both(t) {
		shared := sinter.NewVar(sinter.Zeros(dev, sinter.F32, 8))
		x := sinter.Arange(dev, sinter.F32, 0, 1, 8)
		var wg sync.WaitGroup
		for k := range 8 {
			wg.Go(func() {
				for i := range 5 {
					y := x.AddScalar(float64(k)).MulScalar(float64(i))
					got, err := sinter.Read[float32](ctx, y.Sum())
					assert.NoError(t, err)
					assert.Equal(t, []float32{float32(i * (28 + 8*k))}, got)
					shared.SetSlice(sinter.Full(dev, sinter.F32, float64(k), 1), sinter.Index(k))
				}
			})
		}
		wg.Wait()
		got, err := sinter.ReadVar[float32](ctx, shared)
		require.NoError(t, err)
		require.Equal(t, []float32{0, 1, 2, 3, 4, 5, 6, 7}, got)
	}
}

// One Var written and read on many streams: every read sees whole values, and
// none is older than one that was read before.
func TestVarAcrossStreams(t *testing.T) {
	for _, dev := range both(t) {
		v := sinter.NewVar(sinter.Zeros(dev, sinter.I64, 100))
		writer := dev.NewStream()
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 30 {
				v.Set(sinter.Full(writer, sinter.I64, float64(i+1), 100))
				if i%7 == 0 {
					assert.NoError(t, writer.Flush(ctx))
				}
			}
		})
		for range 4 {
			s := dev.NewStream()
			wg.Go(func() {
				last := int64(0)
				for range 30 {
					h := v.Value()
					got, err := sinter.Read[int64](ctx, h.On(s).MulScalar(3))
					assert.NoError(t, err)
					h.Release()
					for _, g := range got {
						assert.Equal(t, got[0], g)
					}
					assert.GreaterOrEqual(t, got[0], last)
					last = got[0]
				}
			})
		}
		wg.Wait()
	}
}

// A device closed while others use it: what they do either works or says that
// it is closed.
func TestCloseWhileRunning(t *testing.T) {
	for _, fuse := range []bool{true, false} {
		dev, err := sinter.Open("cpu", sinter.WithFusion(fuse), sinter.WithPoison(true))
		require.NoError(t, err)
		var wg sync.WaitGroup
		started := make(chan struct{}, 8)
		for k := range 8 {
			s := dev.NewStream()
			wg.Go(func() {
				for i := 0; ; i++ {
					err := work(s, k)
					if i == 0 {
						started <- struct{}{}
					}
					var closed *sinter.ClosedError
					var device *sinter.DeviceError
					if err != nil {
						assert.True(t, errors.As(err, &closed) || errors.As(err, &device), "%v", err)
						return
					}
				}
			})
		}
		for range 8 {
			<-started
		}
		closing, cancel := context.WithCancel(ctx)
		wg.Go(func() { _ = dev.Flush(closing); cancel() })
		_ = dev.Close()
		wg.Wait()
		cancel()
		require.NoError(t, dev.Close())
	}
}
