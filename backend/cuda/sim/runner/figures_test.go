package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// figure is a kernel of which figures are kept: its launch has the lengths of a
// model's, and is small enough for the interpreter.
type figure struct {
	name string
	make func() kerneltest.Case
	// streams says that the kernel reads every byte of its inputs and writes every
	// byte of its outputs once, in sectors that are used whole.
	streams bool
	// clean says that no access to shared memory waits for another's bank.
	clean bool
}

// figures are the benchmark kernels.
var figures = []figure{
	{name: "add-f32", make: shaped("add", 512, 1024), streams: true},
	{name: "add-bf16", make: shaped("add-bf16", 512, 1024), streams: true},
	{name: "add-f32-odd", make: shaped("add", 511, 1023)},
	{name: "gelu-chain", make: shaped("gelu", 1<<19), streams: true},
	{name: "add-broadcast", make: shaped("add-broadcast", 512, 1024)},
	{name: "transpose", make: shaped("transpose", 512, 512)},
	{name: "gather", make: shaped("gather", 1024, 384)},
	{name: "adam", make: shaped("adam", 1<<18), streams: true},
	{name: "adam-20-parts", make: shaped("parts-of-20", 96, 128)},
	{name: "sum-short", make: shaped("sum-short", 1<<14, 32), streams: true, clean: true},
	{name: "sum-long", make: shaped("sum-long", 16, 1<<16), clean: true},
	{name: "sum-columns", make: shaped("sum-columns", 1024, 512), clean: true},
	{name: "softmax", make: shaped("softmax", 512, 1024), streams: true, clean: true},
	{name: "layer-norm", make: shaped("layer-norm", 512, 768), streams: true, clean: true},
	{name: "linear-gelu-f32", make: linear(ir.F32, 512, 512, 512), clean: true},
	{name: "linear-gelu-bf16", make: linear(ir.BF16, 512, 512, 512), clean: true},
	{name: "linear-gelu-f16", make: linear(ir.F16, 512, 512, 512), clean: true},
	{name: "linear-gelu-i8", make: linear(ir.I8, 512, 512, 512), clean: true},
	{name: "matmul-f32", make: shaped("matmul-f32", 512, 512, 512), clean: true},
	{name: "matmul-bf16", make: shaped("matmul-bf16", 512, 512, 512), clean: true},
	{name: "linear-one-row", make: linear(ir.BF16, 1, 1024, 1024), clean: true},
	{name: "attention-f32", make: shaped("attention", 1, 4, 128, 64, 128, 64), clean: true},
	{name: "attention-bf16", make: shaped("attention-causal-bf16", 1, 4, 128, 64, 128, 64), clean: true},
	{name: "sort", make: shaped("sort", 64, 1000)},
	{name: "cumsum", make: shaped("cumsum", 256, 1024)},
	{name: "scatter-add", make: shaped("scatter-add", 256, 512)},
}

// shaped makes a named kernel with a launch of other lengths.
func shaped(name string, dims ...int) func() kerneltest.Case {
	return func() kerneltest.Case {
		c, ok := kerneltest.GoldenShaped(name, dims...)
		if !ok {
			panic("no kernel " + name)
		}
		return c
	}
}

// linear makes gelu(x·wᵀ + b), x[m,k] and w[n,k] being of a dtype, as are bias and
// result: but in i8 the product, exact in i32, is scaled by each column's scale,
// and bias and result are of f32.
func linear(dt ir.DType, m, n, k int) func() kerneltest.Case {
	return func() kerneltest.Case {
		b := kerneltest.NewBuilder(rand.New(rand.NewPCG(2, uint64(dt))), codegen.Contraction, 2, m, n, k)
		sum, out := ir.F32, dt
		if dt == ir.I8 {
			sum, out = ir.I32, ir.F32
		}
		x, w := b.InAt(codegen.Left, dt, 0, 2), b.InAt(codegen.Right, dt, 1, 2)
		h := b.Emit(codegen.Instr{Op: codegen.OpContract, Type: sum, From: dt, To: dt, Args: []codegen.Value{x, w}})
		if dt == ir.I8 {
			h = b.Apply(ir.SMul, b.Cast(h, ir.I32, ir.F32), b.In(ir.F32, 1))
		}
		rounded := func(v codegen.Value) codegen.Value {
			if out == ir.F32 {
				return v
			}
			return b.Cast(v, ir.F32, out)
		}
		h = rounded(b.Apply(ir.SAdd, h, b.In(out, 1)))
		b.Out(rounded(b.Apply(ir.SGelu, h)), out, 0, 1)
		b.Tame()
		b.Kernel.Name = fmt.Sprintf("linear-gelu-%v", dt)
		return b.Case
	}
}

// figureTargets are the architectures that figures are of, in short tests one.
func figureTargets() []cudac.Target {
	if testing.Short() && !*update {
		return targets[:1]
	}
	return targets
}

// measured is a benchmark kernel for a target: the source of the best candidate,
// its PTX and calls, and what they take.
type measured struct {
	figure    *figure
	at        kerneltest.Case
	source    *cudac.Source
	text      string // PTX
	calls     *cudac.Calls
	resources *nvrtc.Resources
}

var measuring = struct {
	sync.Mutex
	compiled map[string]*measured
	ran      map[string]*runner.Report
}{compiled: map[string]*measured{}, ran: map[string]*runner.Report{}}

// compile returns a benchmark kernel for a target, compiled once a process.
func (f *figure) compile(t testing.TB, target cudac.Target) *measured {
	t.Helper()
	library, assembler := nvrtctest.Require(t), nvrtctest.Assembler(t)
	key := f.name + target.Arch()
	measuring.Lock()
	defer measuring.Unlock()
	if c := measuring.compiled[key]; c != nil {
		return c
	}
	c := &measured{figure: f, at: f.make()}
	require.NoError(t, c.at.Check())
	ctx := context.Background()
	c.source = sources(t, c.at, target, false)[0]
	var err error
	c.calls, err = c.source.Bind(c.at.Launch)
	require.NoError(t, err)
	text, err := runner.Library(library)(ctx, c.source.Text, target)
	require.NoError(t, err, c.source.Text)
	c.text = string(text)
	c.resources, err = assembler.Assemble(ctx, text, target.Arch())
	require.NoError(t, err, c.source.Text)
	measuring.compiled[key] = c
	return c
}

// run executes a benchmark kernel's launch, once a process.
func (c *measured) run(t testing.TB) *runner.Report {
	t.Helper()
	key := c.figure.name + c.arch()
	measuring.Lock()
	defer measuring.Unlock()
	if r := measuring.ran[key]; r != nil {
		return r
	}
	var report *runner.Report
	e := runner.New(runner.Options{
		Target:  c.source.Target,
		Compile: func(context.Context, string, cudac.Target) ([]byte, error) { return []byte(c.text), nil },
		Exec:    exec.Options{Lines: true},
		Observe: func(r *runner.Report) { report = r },
	})
	x, err := e.Compile(c.at.Kernel)
	require.NoError(t, err)
	require.NoError(t, x.(codegen.HostExecutable).Run(c.at.Launch, c.at.Mem, codegen.Serial{}))
	measuring.ran[key] = report
	return report
}

// differs reports whether running c can give other counts than running d, which is
// for another target.
func (c *measured) differs(d *measured) bool {
	body := func(text string) string {
		_, rest, _ := strings.Cut(text, ".address_size")
		return rest
	}
	return body(c.text) != body(d.text) || !slices.EqualFunc(c.calls.List, d.calls.List, func(a, b cudac.Call) bool {
		return a.Entry == b.Entry && a.Blocks == b.Blocks && a.Threads == b.Threads && a.Shared == b.Shared
	})
}

// executed returns a benchmark kernel for the targets it is run for: those of whose
// PTX every instruction is interpreted, without such as would give the first one's
// counts again.
func (f *figure) executed(t testing.TB) (list []*measured) {
	t.Helper()
	for _, target := range figureTargets() {
		if c := f.compile(t, target); target.SM <= cudac.Hopper.SM && (len(list) == 0 || c.differs(list[0])) {
			list = append(list, c)
		}
	}
	return list
}

// arch is the architecture's name.
func (c *measured) arch() string { return c.source.Target.Arch() }
