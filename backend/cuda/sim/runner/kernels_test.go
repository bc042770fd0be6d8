package runner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// checks are what the interpreter looks for in tests.
var checks = exec.Options{CheckRaces: true, CheckUndefined: true, MaxInstructions: 1 << 30}

// every is an engine that is told which candidate to take.
type every struct {
	*runner.Engine
	take int
	many int // candidates of the last launch
}

func newEvery(t testing.TB, target cudac.Target) *every {
	e := &every{}
	e.Engine = runner.New(runner.Options{
		Target: target, Compile: runner.Library(nvrtctest.Require(t)), Exec: checks,
		Choose: func(_ *codegen.Kernel, list []*cudac.Variant) *cudac.Variant {
			e.many = len(list)
			return list[min(e.take, len(list)-1)]
		},
	})
	return e
}

// check runs a case with each of its candidates and compares all memory with the
// evaluator.
func (e *every) check(t testing.TB, c kerneltest.Case) {
	t.Helper()
	require.NoError(t, c.Check())
	want := kerneltest.CloneMemory(c.Mem)
	tolerance, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, want)
	x, err := e.Compile(c.Kernel)
	require.NoError(t, err)
	e.many = 1
	for e.take = 0; e.take < e.many; e.take++ {
		got := kerneltest.CloneMemory(c.Mem)
		err := x.(codegen.HostExecutable).Run(c.Launch, got, codegen.Serial{})
		if !ok {
			var out *ir.IndexError
			require.ErrorAs(t, err, &out)
			continue
		}
		require.NoError(t, err, "candidate %d\n%s\n%s", e.take, c.Kernel, x.Listing())
		if err := kerneltest.Compare(c.Kernel, want, got, tolerance); err != nil {
			require.NoError(t, err, "candidate %d\n%s\n%+v\n%s", e.take, c.Kernel, c.Launch, x.Listing())
		}
	}
}

func TestGoldenKernels(t *testing.T) {
	e := newEvery(t, cudac.Ampere)
	for _, c := range kerneltest.Golden() {
		t.Run(c.Kernel.Name, func(t *testing.T) {
			if !cudac.Supported(c.Kernel.Template) {
				t.Skip("not yet")
			}
			e.check(t, c)
		})
	}
}

func TestRandomKernels(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 30
	}
	e := newEvery(t, cudac.Ampere)
	for seed := range n {
		c := kerneltest.Random(rand.New(rand.NewPCG(uint64(seed), 80)), kerneltest.Options{AllFunctions: true})
		t.Run(fmt.Sprint(seed, " ", c), func(t *testing.T) {
			if !cudac.Supported(c.Kernel.Template) {
				t.Skip("not yet")
			}
			e.check(t, c)
		})
	}
}
