package runner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
)

// How many instructions of lanes the interpreter executes in a second on one
// processor, in kernels as they are generated: without checks, and with all.
func BenchmarkInterpreted(b *testing.B) {
	for _, name := range []string{"gelu", "add", "softmax", "layer-norm", "matmul-f32"} {
		c, ok := kerneltest.GoldenNamed(name, kerneltest.Large)
		require.True(b, ok)
		for _, o := range []exec.Options{{Workers: 1}, {Workers: 1, CheckRaces: true, CheckUndefined: true}} {
			b.Run(fmt.Sprintf("kernel=%s/checks=%v", name, o.CheckRaces), func(b *testing.B) {
				var lanes uint64
				e := runner.New(runner.Options{
					Target: cudac.Ampere, Compile: runner.Cached(nvrtctest.Cache(b)), Exec: o,
					Observe: func(r *runner.Report) {
						for _, call := range r.Calls {
							lanes += call.Counts.LaneInstructions
						}
					},
				})
				x, err := e.Compile(c.Kernel)
				require.NoError(b, err)
				run := func() { require.NoError(b, x.(codegen.HostExecutable).Run(c.Launch, c.Mem, codegen.Serial{})) }
				run()
				lanes = 0
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e9, "G-lane-instructions/s")
			})
		}
	}
}
