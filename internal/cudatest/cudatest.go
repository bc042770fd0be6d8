// Package cudatest opens a host device whose kernels are CUDA C++, compiled by NVRTC
// and interpreted, so that whole programs test them.
//
// It must not know what programs do.
package cudatest

import (
	"sync"
	"testing"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/cpu"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen/cudac"
)

// Device is the name under which Register makes the device known.
const Device = "cuda-kernels"

var (
	register sync.Once
	engine   *runner.Engine

	mu       sync.Mutex
	watchers = map[*func(*runner.Report)]bool{}
)

// Register makes the device known to backend.Open and sinter.Open, and returns its
// name. Without NVRTC the test is skipped, or fails in CI. All devices of a process
// share what was compiled.
func Register(tb testing.TB) string {
	tb.Helper()
	cache := nvrtctest.Cache(tb)
	register.Do(func() {
		engine = runner.New(runner.Options{
			Target: cudac.Ampere, Compile: runner.Cached(cache),
			Exec:    exec.Options{CheckRaces: true, CheckUndefined: true, Workers: 1},
			Observe: observe,
		})
		backend.Register(Device, backend.Driver{Rank: -1, Open: func(_ int, o backend.Options) (backend.Device, error) {
			return cpu.OpenWith(engine, o), nil
		}})
	})
	return Device
}

// Watch has f called with each launch that runs until the test ends.
func Watch(tb testing.TB, f func(*runner.Report)) {
	mu.Lock()
	defer mu.Unlock()
	key := &f
	watchers[key] = true
	tb.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		delete(watchers, key)
	})
}

func observe(r *runner.Report) {
	mu.Lock()
	defer mu.Unlock()
	for f := range watchers {
		(*f)(r)
	}
}
