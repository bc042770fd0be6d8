package runner

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/ir"
)

// Name is the engine's name.
const Name = "cuda-interpreted"

// Compiler turns CUDA C++ into PTX: what nvrtc.Library and nvrtc.Cache do.
type Compiler func(ctx context.Context, source string, t cudac.Target) (ptxText []byte, err error)

// Library is the compiler of an NVRTC library.
func Library(l *nvrtc.Library) Compiler { return compiler(l.Compile) }

// Cached is the compiler of a cache in memory and on disk.
func Cached(c *nvrtc.Cache) Compiler { return compiler(c.Compile) }

func compiler(compile func(context.Context, nvrtc.Input) (*nvrtc.Output, error)) Compiler {
	return func(ctx context.Context, source string, t cudac.Target) ([]byte, error) {
		out, err := compile(ctx, nvrtc.Input{Source: source, Name: "kernel.cu", Arch: t.Arch(), Options: t.Options(), Kind: nvrtc.PTX})
		if err != nil {
			return nil, err
		}
		return out.PTX, nil
	}
}

// Options say how launches run.
type Options struct {
	Target  cudac.Target
	Compile Compiler
	// Choose picks one of a launch's candidates, which are ordered best first;
	// nil takes the first.
	Choose func(k *codegen.Kernel, candidates []*cudac.Variant) *cudac.Variant
	Exec   exec.Options
	// Observe, if not nil, is told of each launch that ran. It may be called
	// from several goroutines at once.
	Observe func(*Report)
}

// Report is what one launch was made of, and what it did.
type Report struct {
	Kernel *codegen.Kernel
	Launch *codegen.Launch // only during the call of Observe
	Source *cudac.Source
	PTX    []byte
	Calls  []CallReport
}

// CallReport is one call of an entry.
type CallReport struct {
	Call   cudac.Call
	Counts *exec.Counts
}

// Engine is a codegen.Engine.
type Engine struct {
	o Options

	mu       sync.Mutex
	programs map[string]*program // by source
}

// New returns an engine.
func New(o Options) *Engine { return &Engine{o: o, programs: map[string]*program{}} }

// Name returns the engine's name.
func (e *Engine) Name() string { return Name }

// Compile prepares a kernel. Its sources are written and compiled when the first
// launch of their structure comes. It returns a *codegen.VerifyError for a
// kernel that is not well formed, and a *cudac.GenerateError for one of a template
// that has no CUDA source.
func (e *Engine) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	if err := k.Verify(); err != nil {
		return nil, err
	}
	if !cudac.Supported(k.Template) {
		return nil, &cudac.GenerateError{Kernel: k.Name, Rule: fmt.Sprintf("no source for the template %v", k.Template)}
	}
	return &executable{engine: e, kernel: k, checker: codegen.NewChecker(k), variants: map[string]*program{}}, nil
}

// program is a compiled source.
type program struct {
	once    sync.Once
	source  *cudac.Source
	text    []byte
	program *exec.Program
	err     error
}

// program compiles a source, once for each text.
func (e *Engine) program(ctx context.Context, s *cudac.Source) (*program, error) {
	e.mu.Lock()
	p := e.programs[s.Text]
	if p == nil {
		p = &program{}
		e.programs[s.Text] = p
	}
	e.mu.Unlock()
	p.once.Do(func() {
		p.source = s
		if p.text, p.err = e.o.Compile(ctx, s.Text, e.o.Target); p.err != nil {
			return
		}
		var m *ptx.Module
		if m, p.err = ptx.Parse(string(p.text)); p.err == nil {
			p.program, p.err = exec.Load(m)
		}
	})
	return p, p.err
}

// executable is a kernel and its sources so far.
type executable struct {
	engine  *Engine
	kernel  *codegen.Kernel
	checker *codegen.Checker

	mu       sync.Mutex
	variants map[string]*program // by the variant's key
}

var _ codegen.HostExecutable = (*executable)(nil)

func (x *executable) Kernel() *codegen.Kernel { return x.kernel }

// Listing prints the sources that launches have needed so far.
func (x *executable) Listing() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	text := ""
	for _, p := range x.variants {
		text += p.source.Text
	}
	return text
}

// Run executes one launch on host memory; see codegen.HostExecutable. A fault of
// the kernel is an *exec.Fault.
func (x *executable) Run(l *codegen.Launch, mem [][]byte, _ codegen.Parallel) error {
	sizes := make([]int, len(mem))
	for i := range mem {
		sizes[i] = len(mem[i])
	}
	if err := x.checker.Check(l, sizes); err != nil {
		return err
	}
	ctx := context.Background()
	source, p, err := x.compiled(ctx, l, x.aliased(mem))
	if err != nil {
		return err
	}
	calls, err := source.Bind(l)
	if err != nil {
		return err
	}
	r := newRun(mem, calls.Scratch)
	report := &Report{Kernel: x.kernel, Launch: l, Source: source, PTX: p.text}
	for _, c := range calls.List {
		counts, err := r.call(ctx, p.program, c, x.engine.o.Exec)
		if err != nil {
			return err
		}
		report.Calls = append(report.Calls, CallReport{c, counts})
	}
	if x.engine.o.Observe != nil {
		x.engine.o.Observe(report)
	}
	return r.indexError()
}

// compiled returns the source and program of a launch.
func (x *executable) compiled(ctx context.Context, l *codegen.Launch, alias bool) (*cudac.Source, *program, error) {
	e := x.engine
	list := cudac.Candidates(x.kernel, l, e.o.Target, alias)
	v := list[0]
	if e.o.Choose != nil {
		v = e.o.Choose(x.kernel, list)
	}
	key := v.Key()
	x.mu.Lock()
	p := x.variants[key]
	x.mu.Unlock()
	if p != nil {
		return p.source, p, p.err
	}
	source, err := cudac.Generate(x.kernel, v, e.o.Target, l)
	if err != nil {
		return nil, nil, err
	}
	p, err = e.program(ctx, source)
	if err != nil {
		return nil, nil, err
	}
	mine := &program{source: source, text: p.text, program: p.program}
	x.mu.Lock()
	x.variants[key] = mine
	x.mu.Unlock()
	return source, mine, nil
}

// aliased reports whether a buffer that is written shares memory with another.
func (x *executable) aliased(mem [][]byte) bool {
	for i := range mem {
		if x.kernel.Buffers[i].Mode == codegen.In || len(mem[i]) == 0 {
			continue
		}
		for j := range mem {
			if j != i && overlap(mem[i], mem[j]) {
				return true
			}
		}
	}
	return false
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}

// indexError is the error of a launch in which an index was out of range, as
// other engines say it.
func indexError(index int64, extent uint64) error {
	return &ir.IndexError{Msg: fmt.Sprintf("index %d out of range for an axis of length %d", index, extent)}
}
