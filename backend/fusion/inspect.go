package fusion

import (
	"context"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Inspector decides of each block of several operations whether it runs as one
// kernel, and looks at what came out; to find a block that computes something
// wrong. It is called with the stream locked, for streams side by side at the
// same time, and must not use the runtime.
type Inspector interface {
	// Apart reports whether the block is to run as single operations.
	Apart(b *BlockRun) bool
	// Ran is told that the block ran, as one kernel or apart.
	Ran(b *BlockRun)
}

// BlockRun is one run of a block of several operations. It is valid during the
// call.
type BlockRun struct {
	Fuser string
	Ops   []ProfiledOp
	Tag   int // the inspector's own

	e  *executor
	st *step
}

// Kernels returns the kernels of the block.
func (b *BlockRun) Kernels() []*codegen.Kernel {
	var out []*codegen.Kernel
	for i := range b.st.opt.Calls {
		out = append(out, b.st.opt.Calls[i].Kernel)
	}
	return out
}

// BlockOutput is a tensor in memory that a block made.
type BlockOutput struct {
	Op    ProfiledOp // whose result it is
	Shape ir.Shape
	DType ir.DType
	Data  []byte // row-major, little endian
}

// Outputs reads what the block stored. While a capture records there is nothing
// to read.
func (b *BlockRun) Outputs() ([]BlockOutput, error) {
	e := b.e
	if e.s.recording() {
		return nil, nil
	}
	var out []BlockOutput
	for _, t := range b.st.opt.Stored {
		v, m := e.seg.tensors[t], e.mem[t]
		if m == nil || e.fail[t] != nil {
			continue
		}
		x := BlockOutput{Op: ProfiledOp{Kind: v.node.op.Kind, PC: v.node.op.PC, Name: v.Name()},
			Shape: v.shape, DType: v.dtype, Data: make([]byte, v.bytes())}
		if len(x.Data) > 0 {
			if err := e.s.read(context.Background(), x.Data, m, 0); err != nil {
				return nil, err
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// inspect returns the run of a block for the inspector, nil if nobody looks or
// the block is one operation anyway.
func (e *executor) inspect(st *step) *BlockRun {
	if e.s.rt.opts.Inspect == nil || len(st.opt.Ops) < 2 {
		return nil
	}
	b := &BlockRun{Fuser: st.opt.Fuser, e: e, st: st}
	for _, pos := range st.opt.Ops {
		n := e.seg.nodes[pos]
		b.Ops = append(b.Ops, ProfiledOp{Kind: n.op.Kind, PC: n.op.PC, Name: n.out.Name()})
	}
	return b
}

// apart reports whether the block is to run as single operations.
func (b *BlockRun) apart() bool { return b != nil && b.e.s.rt.opts.Inspect.Apart(b) }

// ran tells the inspector that the block ran.
func (b *BlockRun) ran() {
	if b != nil {
		b.e.s.rt.opts.Inspect.Ran(b)
	}
}
