package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/ir"
)

// cudaView is a launch in CUDA: what its kernel is compiled from and to, and what
// each call of it does, on values made up.
type cudaView struct {
	Arch    string     `json:"arch"`
	Variant string     `json:"variant,omitempty"`
	Source  string     `json:"source,omitempty"`
	PTX     string     `json:"ptx,omitempty"`
	Calls   []cudaCall `json:"calls,omitempty"`
	Note    string     `json:"note,omitempty"` // why something is missing
}

// cudaCall is one call of an entry.
type cudaCall struct {
	Entry   string     `json:"entry"`
	Blocks  int        `json:"blocks"`
	Threads int        `json:"threads"`
	Shared  int        `json:"dynamic_shared"` // bytes
	Takes   *resources `json:"takes,omitempty"`
	Does    *counts    `json:"does,omitempty"`
}

// resources is nvrtc.Entry, for JSON.
type resources struct {
	Registers   int `json:"registers"`
	Shared      int `json:"shared"`
	Stack       int `json:"stack"`
	SpillStores int `json:"spill_stores"`
	SpillLoads  int `json:"spill_loads"`
	Barriers    int `json:"barriers"`
}

// counts is exec.Counts, for JSON.
type counts struct {
	Warps        uint64            `json:"warp_instructions"`
	Lanes        uint64            `json:"lane_instructions"`
	Classes      map[string]uint64 `json:"classes"` // of warp instructions
	DRAMRead     uint64            `json:"dram_read"`
	DRAMWritten  uint64            `json:"dram_written"`
	GlobalLoads  global            `json:"global_loads"`
	GlobalStores global            `json:"global_stores"`
	SharedLoads  shared            `json:"shared_loads"`
	SharedStores shared            `json:"shared_stores"`
	Local        uint64            `json:"local_accesses"`
	Barriers     uint64            `json:"barriers"`
	Atomics      uint64            `json:"atomics"`
}

// global is exec.Traffic, for JSON.
type global struct {
	Requests uint64 `json:"requests"`
	Sectors  uint64 `json:"sectors"`
	Bytes    uint64 `json:"bytes"`
}

// shared is exec.SharedTraffic, for JSON.
type shared struct {
	Requests   uint64 `json:"requests"`
	Wavefronts uint64 `json:"wavefronts"`
	Extra      uint64 `json:"bank_conflicts"`
}

func countsOf(c *exec.Counts) *counts {
	out := &counts{
		Warps: c.WarpInstructions, Lanes: c.LaneInstructions, Classes: map[string]uint64{},
		DRAMRead: c.DRAMRead, DRAMWritten: c.DRAMWritten,
		GlobalLoads: global(c.GlobalLoads), GlobalStores: global(c.GlobalStores),
		SharedLoads: shared(c.SharedLoads), SharedStores: shared(c.SharedStores),
		Local: c.LocalAccesses, Barriers: c.Barriers, Atomics: c.Atomics,
	}
	for class, n := range c.Classes {
		if n.Warps > 0 {
			out.Classes[exec.Class(class).String()] = n.Warps
		}
	}
	return out
}

// cudaRunner compiles and runs the kernels of a program for one architecture.
type cudaRunner struct {
	memory  *memory
	target  cudac.Target
	show    []string // source, ptx, counts
	compile runner.Compiler
	engine  *runner.Engine

	assembler *nvrtc.Assembler
	missing   error // why there is no assembler

	variant *cudac.Variant // of the launch at hand
	ran     *runner.Report // nil if it did not
}

// newCUDA finds the compiler, and the assembler if it is there.
func newCUDA(p *inMemory, arch string, show []string) (*cudaRunner, error) {
	target, err := cudac.ParseTarget(arch)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	library, err := nvrtc.Load()
	if err != nil {
		return nil, err
	}
	r := &cudaRunner{target: target, show: show, compile: runner.Cached(nvrtc.NewCache(library, nvrtc.CacheOptions{}))}
	if r.memory, err = newMemory(p); err != nil {
		return nil, err
	}
	r.engine = runner.New(runner.Options{
		Target: target, Compile: r.compile, Exec: exec.Options{Workers: 1},
		Choose: func(_ *codegen.Kernel, best []*cudac.Variant) *cudac.Variant {
			r.variant = best[0]
			return r.variant
		},
		Observe: func(ran *runner.Report) { r.ran = ran },
	})
	r.assembler, r.missing = nvrtc.FindAssembler()
	return r, nil
}

// launch shows a call of a block, and runs it. A kernel without a source, and one
// that the interpreter does not run, say so in the note.
func (r *cudaRunner) launch(block, call int) (*cudaView, error) {
	kernel, launch := r.memory.plan.Blocks[block].Calls[call].Kernel, &r.memory.launches[block][call]
	v := &cudaView{Arch: r.target.Arch()}
	r.variant, r.ran = nil, nil
	x, err := r.engine.Compile(kernel)
	if err == nil {
		err = x.(codegen.HostExecutable).Run(launch, r.memory.buffers(block, call), codegen.Serial{})
	}
	var (
		noSource *cudac.GenerateError
		noRun    *exec.UnsupportedError
		index    *ir.IndexError
	)
	switch {
	case err == nil:
	case errors.As(err, &noSource), errors.As(err, &noRun):
		v.Note = err.Error()
	case errors.As(err, &index):
		v.Note = "with the values made up: " + err.Error()
	default:
		return nil, fmt.Errorf("block %d: %w", block, err)
	}
	if noSource != nil {
		return v, nil
	}
	source, err := cudac.Generate(kernel, r.variant, r.target, launch)
	if err != nil {
		return nil, err
	}
	return v, r.fill(v, source, launch)
}

// fill writes down what is to be shown of a launch.
func (r *cudaRunner) fill(v *cudaView, source *cudac.Source, launch *codegen.Launch) error {
	ctx := context.Background()
	ptx, err := r.compile(ctx, source.Text, r.target)
	if err != nil {
		return err
	}
	v.Variant = r.variant.String()
	if slices.Contains(r.show, "source") {
		v.Source = source.Text
	}
	if slices.Contains(r.show, "ptx") {
		v.PTX = string(ptx)
	}
	if !slices.Contains(r.show, "counts") {
		return nil
	}
	calls, err := source.Bind(launch)
	if err != nil {
		return err
	}
	for _, c := range calls.List {
		v.Calls = append(v.Calls, cudaCall{Entry: c.Entry, Blocks: c.Blocks, Threads: c.Threads, Shared: c.Shared})
	}
	if r.ran != nil {
		for i := range r.ran.Calls {
			v.Calls[i].Does = countsOf(r.ran.Calls[i].Counts)
		}
	}
	if r.assembler == nil {
		v.Note = strings.TrimPrefix(v.Note+"\n"+r.missing.Error(), "\n")
		return nil
	}
	return r.assemble(ctx, v, ptx)
}

// assemble adds what the calls take.
func (r *cudaRunner) assemble(ctx context.Context, v *cudaView, ptx []byte) error {
	module, err := r.assembler.Assemble(ctx, ptx, v.Arch)
	if err != nil {
		return err
	}
	for i := range v.Calls {
		e, ok := module.Entry(v.Calls[i].Entry)
		if !ok {
			return fmt.Errorf("ptxas does not tell of %s", v.Calls[i].Entry)
		}
		v.Calls[i].Takes = &resources{e.Registers, e.Shared, e.Stack, e.SpillStores, e.SpillLoads, e.Barriers}
	}
	return nil
}
