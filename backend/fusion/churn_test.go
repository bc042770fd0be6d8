package fusion_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// TestThirdPlanIsSaid: a sequence that is planned again and again is told of
// once, with the tensor and what to do.
func TestThirdPlanIsSaid(t *testing.T) {
	var log bytes.Buffer
	rt := open(t, fusion.Options{Fusers: fuser.Default(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := rt.Default()
	for i := range 8 {
		var v [3]*fusion.Value
		x := fromOnes(s, 4)
		for k := range v { // which of them is read changes each time
			x = s.Record(here(scalarOp(ir.Add, 1)), x)
			v[k] = x
		}
		for k := range 2 {
			if i>>k&1 == 1 {
				v[k].Release(0)
			}
		}
		read(t, v[2])
	}
	require.Equal(t, 1, strings.Count(log.String(), "plan 3 of one sequence"), log.String())
	require.Contains(t, log.String(), "churn_test.go:")
}

// TestFallbackIsSaidOnce: a block that cannot run as one is told of once and
// counted each time.
func TestFallbackIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
	require.NoError(t, err)
	faulty := backendtest.Faulty(dev)
	rt, err := fusion.New(faulty, fusion.Options{Fusers: fuser.Default(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer rt.Close()
	s := rt.Default()
	faulty.FailAt(backend.CallCompile, 1)
	for range 3 {
		y := s.Record(scalarOp(ir.Mul, 2), s.Record(scalarOp(ir.Add, 1), s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)))
		require.Equal(t, []float32{4, 6}, read(t, y))
	}
	require.Equal(t, 1, strings.Count(log.String(), "runs as single operations"), log.String())
	require.Equal(t, int64(3), rt.Stats().Fallbacks)
	require.NoError(t, rt.Flush(t.Context()))
}
