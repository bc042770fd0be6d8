package sinter_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/cpu"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/interp"
)

// watched counts the kernels an engine compiles and the launches they run.
type watched struct {
	codegen.Engine
	compiled, ran atomic.Int64
}

func (w *watched) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	e, err := w.Engine.Compile(k)
	if err != nil {
		return nil, err
	}
	w.compiled.Add(1)
	return watchedRun{e.(codegen.HostExecutable), w}, nil
}

type watchedRun struct {
	codegen.HostExecutable
	w *watched
}

func (r watchedRun) Run(l *codegen.Launch, mem [][]byte, par codegen.Parallel) error {
	r.w.ran.Add(1)
	return r.HostExecutable.Run(l, mem, par)
}

var engine = watched{Engine: interp.New()}

func init() {
	backend.Register("test-engine", backend.Driver{Rank: -1, Open: func(_ int, o backend.Options) (backend.Device, error) {
		return cpu.OpenWith(&engine, o), nil
	}})
}

// TestAnotherEngine: a program runs on any engine for host memory; its driver
// opens the CPU with it.
func TestAnotherEngine(t *testing.T) {
	dev, err := sinter.Open("test-engine")
	require.NoError(t, err)
	defer dev.Close()
	compiled, ran := engine.compiled.Load(), engine.ran.Load()
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	for range 2 {
		y, err := sinter.Read[float32](ctx, x.MulScalar(2).Sum(-1))
		require.NoError(t, err)
		require.Equal(t, []float32{6, 14}, y)
	}
	require.EqualValues(t, 1, engine.compiled.Load()-compiled)
	require.EqualValues(t, 2, engine.ran.Load()-ran)
}
