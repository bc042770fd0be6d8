package fusion

import (
	"slices"

	"sync/atomic"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// plan is a planned segment with its kernels compiled: what a known segment
// needs beside memory. It is shared by the streams of a device.
type plan struct {
	*optimize.Plan
	steps        []step
	scalarGuards bool // some guard is about scalars or slice starts
	virtual      []virtual
	chance       []int // positions of outputs that are stored because of how the segment fell into blocks
}

// step is a block ready to run.
type step struct {
	opt     *fuser.Optimization
	exes    []codegen.Executable // one for each call
	effects []int                // positions of the block's effects, ascending
	writes  []int32              // tensors the calls write, effects' results left out
	takes   []fuser.InPlace
	frees   []int32 // temporaries whose last reader this block is
	inputs  []int32 // tensors the calls read
	indexes bool    // several operations, some of which read indices: the program may make it fail
	rerun   bool    // running it again after a failure gives the same result
	err     error   // why it did not compile; it then runs one by one
	warned  atomic.Bool
}

// prepare compiles a plan's kernels and works out when temporaries end.
func (rt *Runtime) prepare(p *optimize.Plan, e *executor) *plan {
	ops := e.seg.nodes
	out := &plan{Plan: p, steps: make([]step, len(p.Blocks)), virtual: e.virtuals(p), chance: e.chance(p)}
	last := make(map[int32]int)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		st := &out.steps[i]
		st.opt, st.rerun = b.Optimization, true
		effect := make(map[ir.TensorID]bool)
		for _, pos := range b.Ops {
			st.indexes = st.indexes || len(b.Ops) > 1 && indexes(&ops[pos].op)
			if ops[pos].v != nil {
				st.effects = append(st.effects, pos)
				effect[ir.TensorID(ops[pos].out.rel)] = true
			}
		}
		for _, t := range b.Stored {
			if !effect[t] {
				st.writes = append(st.writes, int32(t))
			}
		}
		st.takes = b.InPlace
		written := make(map[ir.TensorID]bool)
		for _, t := range b.Stored {
			written[t] = true
		}
		for c := range b.Calls {
			call := &b.Calls[c]
			for k, buf := range call.Kernel.Buffers {
				t := call.Tensors[k]
				last[int32(t)] = i
				if buf.Mode == codegen.In && !written[t] {
					st.inputs = append(st.inputs, int32(t))
				}
			}
			exe, err := rt.dev.Compile(call.Kernel)
			if err != nil {
				st.err = err
				break
			}
			st.exes = append(st.exes, exe)
		}
		for _, a := range b.Aliases {
			last[int32(a.Of)] = i
		}
		// An effect whose block also reads the memory it overwrites must not
		// run twice.
		for _, pos := range st.effects {
			old := e.seg.operands(pos)[0]
			for _, t := range st.inputs {
				if t == old {
					st.rerun = false
				}
			}
			if k := ops[pos].op.Kind; k == ir.ScatterAdd {
				st.rerun = false
			}
		}
	}
	for i := range p.Guards {
		out.scalarGuards = out.scalarGuards || p.Guards[i].HoldsOps != nil
	}
	for t, fate := range p.Fates {
		if fate == optimize.Temporary {
			if i, ok := last[int32(t)]; ok {
				out.steps[i].frees = append(out.steps[i].frees, int32(t))
			}
		}
	}
	for i := range out.steps {
		slices.Sort(out.steps[i].frees)
	}
	return out
}

// chance returns the positions of the outputs that another plan of the same
// sequence might not store: they are neither asked for nor results of
// reductions, and something computed consumes them.
func (e *executor) chance(p *optimize.Plan) []int {
	g, f := &e.seg, &e.flags
	used := make([]bool, len(g.tensors)) // by an operation that is computed
	var out []int
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		r := n.out.rel
		class := ir.Lookup(n.op.Kind).Class
		if n.v == nil && f.dead[i] && !used[r] {
			continue
		}
		for _, t := range g.operands(i) {
			used[t] = true
		}
		if p.Fates[r] == optimize.Stored && used[r] && !f.asked[i] && !f.dead[i] && class != ir.ClassReduce && class != ir.ClassEffect {
			out = append(out, i)
		}
	}
	return out
}

// indexes reports whether an operation reads indices, which may be out of
// range.
func indexes(op *ir.Operation) bool {
	switch op.Kind {
	case ir.SetSelect, ir.ScatterAdd:
		return true
	}
	class := ir.Lookup(op.Kind).Class
	return class == ir.ClassGather || class == ir.ClassScatter || dynamic(op)
}

// virtual is an output that becomes virtual, and where the values its recipe
// starts from are operands.
type virtual struct {
	pos    int
	inputs []operandAt
	views  bool // it may start from a view of a Var's memory, which has a recipe itself
}

type operandAt struct{ pos, operand int }

// virtuals returns the outputs of a plan that become virtual.
func (e *executor) virtuals(p *optimize.Plan) []virtual {
	g := &e.seg
	alias := make([]bool, len(g.tensors))
	for _, b := range p.Blocks {
		for _, a := range b.Aliases {
			alias[a.Tensor] = true
		}
	}
	var out []virtual
	for pos, n := range g.nodes {
		ops := p.Recipes[ir.TensorID(n.out.rel)]
		if n.v != nil || p.Fates[n.out.rel] != optimize.Virtual {
			continue
		}
		v := virtual{pos: pos}
		seen := make(map[int32]bool, len(ops))
		for _, op := range ops {
			seen[g.nodes[op].out.rel] = true
		}
		for _, op := range ops {
			for k, r := range g.operands(op) {
				if seen[r] {
					continue
				}
				seen[r] = true
				v.inputs = append(v.inputs, operandAt{op, k})
				v.views = v.views || alias[r]
			}
		}
		out = append(out, v)
	}
	return out
}

// binding is a plan bound to lengths, slice starts and input layouts: every
// launch ready but for memory and scalars. Streams keep their own, since a
// drain writes scalars into the launches.
type binding struct {
	plan     *plan
	tokens   []uint64
	dims     []int
	starts   []int            // of every range of every operation, in order
	inputs   []int32          // the inputs in memory and
	layouts  []codegen.Layout // how they lay
	lay      []codegen.Layout // how every tensor lies, by relative id
	launches [][]codegen.Launch
	hollow   []bool // blocks that run one by one at these lengths, see hollow
	read     int64  // bytes the launches read and write
	written  int64
}
