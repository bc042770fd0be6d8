package sinter_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/internal/cudatest"
	"github.com/sinter-ml/sinter/internal/oracle"
)

// movedOnCUDA runs a case on kernels in CUDA C++ and returns what one step moves:
// the distinct 32-byte sectors that each launch reads and writes, in bytes.
func movedOnCUDA(t *testing.T, c *fusionCase, small bool, opts ...sinter.Option) (moved uint64, launches int, out []oracle.Tensor) {
	t.Helper()
	device := cudatest.Register(t)
	var mu sync.Mutex
	cudatest.Watch(t, func(r *runner.Report) {
		mu.Lock()
		defer mu.Unlock()
		launches++
		for _, call := range r.Calls {
			moved += call.Counts.DRAMRead + call.Counts.DRAMWritten
		}
	})
	dev, err := sinter.Open(device, append(opts, sinter.WithSeed(5))...)
	require.NoError(t, err)
	defer dev.Close()
	in := c.in(maker{newData(3), dev}, small)
	require.NoError(t, dev.Flush(ctx))
	moved, launches = 0, 0
	require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
		for _, r := range c.step(sc, in) {
			out = append(out, get(t, r))
		}
		return nil
	}), c.name)
	require.Zero(t, dev.Stats().Fallbacks, c.name)
	return moved, launches, out
}

// What fusing saves on the GPU, counted by the interpreter of PTX.
func TestFusionMovesLessOnCUDA(t *testing.T) {
	cases := []fusionCase{{"layer norm alone", "", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), n(512)), d.f32(n(512)), d.f32(n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors { return tensors{normOf(in[0], in[1], in[2])} }}}
	least := map[string]float64{"map": 2.3, "cat, pad, slice, map": 2.3, "softmax": 3.5, "layer norm alone": 4, "layer norm": 3.5, "RMS norm": 3}
	for i := range fusionCases {
		if least[fusionCases[i].name] > 0 {
			cases = append(cases, fusionCases[i])
		}
	}
	require.Len(t, cases, len(least))
	for i := range cases {
		c := &cases[i]
		fused, launches, _ := movedOnCUDA(t, c, false)
		apart, _, _ := movedOnCUDA(t, c, false, sinter.WithFusion(false))
		assert.Equal(t, int(c.launches), launches, c.name)
		ratio := float64(apart) / float64(fused)
		assert.GreaterOrEqual(t, ratio, least[c.name], "%s: %d bytes apart, %d fused", c.name, apart, fused)
		t.Logf("%-22s %9d bytes apart, %9d fused: %.2f times fewer", c.name, apart, fused, ratio)
	}
}

// Every program of the table gives the same bits fused and unfused on kernels in
// CUDA C++.
func TestFusionTableBitsOnCUDA(t *testing.T) {
	for i := range fusionCases {
		c := &fusionCases[i]
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			_, launches, fused := movedOnCUDA(t, c, true)
			_, _, apart := movedOnCUDA(t, c, true, sinter.WithFusion(false))
			assert.LessOrEqual(t, launches, int(c.launches))
			for k := range fused {
				require.NoError(t, oracle.Compare(fused[k], apart[k], oracle.Tol{}), fmt.Sprint("result ", k))
			}
		})
	}
}
