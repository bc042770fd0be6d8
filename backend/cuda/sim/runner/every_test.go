package runner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/interp"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// checks are what the interpreter looks for in tests.
var checks = exec.Options{CheckRaces: true, CheckUndefined: true, MaxInstructions: 1 << 28}

// every is an engine that takes each candidate of a launch in turn.
type every struct {
	*runner.Engine
	take int              // which candidate is next
	list []*cudac.Variant // the candidates of the last launch
}

// newEvery returns an engine for a target.
func newEvery(t testing.TB, target cudac.Target) *every {
	return everyOf(runner.Cached(nvrtctest.Cache(t)), target, 0)
}

// everyOf returns an engine whose blocks start in an order of their own for each
// seed but 0.
func everyOf(compile runner.Compiler, target cudac.Target, seed uint64) *every {
	e := &every{}
	o := runner.Options{Target: target, Compile: compile, Exec: checks, Choose: func(_ *codegen.Kernel, list []*cudac.Variant) *cudac.Variant {
		e.list = list
		return list[min(e.take, len(list)-1)]
	}}
	o.Exec.Seed = seed
	e.Engine = runner.New(o)
	return e
}

// failure is what went wrong with a case.
type failure struct {
	sort    string // in words without numbers
	variant *cudac.Variant
	err     error
	listing string
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s, variant %v: %v", f.sort, f.variant, f.err)
}

// run is one launch on memory that begins as mem does, in the given candidate.
func (e *every) run(c kerneltest.Case, mem [][]byte, candidate int) *failure {
	x, err := e.Compile(c.Kernel)
	if err != nil {
		return &failure{sort: "refused", err: err}
	}
	e.take, e.list = candidate, nil
	if err := x.(codegen.HostExecutable).Run(c.Launch, mem, codegen.Serial{}); err != nil {
		f := &failure{sort: fmt.Sprintf("%T", err), err: err, listing: x.Listing()}
		if fault := (*exec.Fault)(nil); errors.As(err, &fault) {
			f.sort = fault.Kind.String()
		}
		if len(e.list) > 0 {
			f.variant = e.list[candidate]
		}
		return f
	}
	return nil
}

// portable runs a case on the portable engine.
func portable(c kerneltest.Case) ([][]byte, error) {
	mem := kerneltest.CloneMemory(c.Mem)
	x, err := interp.New().Compile(c.Kernel)
	if err == nil {
		err = x.(codegen.HostExecutable).Run(c.Launch, mem, codegen.Serial{})
	}
	return mem, err
}

// try runs a case with each of its candidates, compares all memory with the
// evaluator's, with the portable engine's where that must be the same bits, and
// that of the first candidate with the others': they must be the same bits,
// whatever the numeric rules leave open.
func (e *every) try(c kerneltest.Case) error {
	want := kerneltest.CloneMemory(c.Mem)
	tolerance, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, want)
	var first, cpu [][]byte
	if ok && cudac.Exact(c.Kernel) {
		var err error
		if cpu, err = portable(c); err != nil {
			return &failure{sort: "the portable engine fails", err: err}
		}
	}
	e.list = nil
	for i := 0; i == 0 || i < len(e.list); i++ {
		got := kerneltest.CloneMemory(c.Mem)
		f := e.run(c, got, i)
		if !ok {
			switch out := (*ir.IndexError)(nil); {
			case f == nil:
				return &failure{sort: "an index out of range is not reported", variant: e.list[i], err: errors.New("no error")}
			case !errors.As(f.err, &out):
				return f
			}
			continue
		}
		if f != nil {
			return f
		}
		if err := kerneltest.Compare(c.Kernel, want, got, tolerance); err != nil {
			return &failure{sort: "differs from the evaluator", variant: e.list[i], err: err}
		}
		if cpu != nil {
			if err := kerneltest.Compare(c.Kernel, cpu, got, kerneltest.Tolerance{}); err != nil {
				return &failure{sort: "differs from the portable engine", variant: e.list[i], err: err}
			}
		}
		if first == nil {
			first = got
		}
		if err := kerneltest.Compare(c.Kernel, first, got, kerneltest.Tolerance{}); err != nil {
			return &failure{sort: "differs from the first candidate", variant: e.list[i], err: err}
		}
	}
	return nil
}

// check fails the test, with all there is to see, for a case that try fails.
func (e *every) check(t testing.TB, c kerneltest.Case) {
	t.Helper()
	require.NoError(t, c.Check())
	if err := e.try(c); err != nil {
		t.Fatal(report(c, err))
	}
}

// report is what is printed of a case that failed.
func report(c kerneltest.Case, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", err)
	b.WriteString(c.Text())
	if f := (*failure)(nil); errors.As(err, &f) {
		b.WriteString(f.listing)
	}
	return b.String()
}
