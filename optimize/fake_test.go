package optimize

import (
	"errors"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// The fakes decide and score as real fusers do, but write no kernels: they
// test the search alone.

// ran tells, by optimization of a fake, the operations it stands for as the
// passes rewrote them.
var ran sync.Map // *fuser.Optimization → []ir.Operation

var fakeProfile = fuser.Profile{Name: "fake", Bandwidth: 1, LaunchCost: 100, OpCost: 1, RowBytes: 64, MaxBuffers: 16, MaxOps: 64}

// fakeMap fuses element-wise operations of one size, and Set.
func fakeMap() fuser.Factory {
	return fakeFactory("map", func(f *fakeFuser, op *ir.Operation, class ir.Class) fuser.Verdict {
		n := op.Outputs[0].Shape.NumElements()
		switch class {
		case ir.ClassView:
			if f.inside(op) && op.Kind != ir.Reshape && op.Kind != ir.Permute {
				return refuse("view-kind", op)
			}
			return accepted
		case ir.ClassMap, ir.ClassCreate, ir.ClassRandom:
		case ir.ClassEffect:
			if op.Kind != ir.Set {
				return refuse("effect-kind", op)
			}
		default:
			return refuse("class", op)
		}
		if f.space >= 0 && f.space != n {
			return refuse("size", op)
		}
		f.space = n
		f.ready = true
		return accepted
	})
}

// fakeMatMul fuses a contraction with what follows at its size.
func fakeMatMul() fuser.Factory {
	return fakeFactory("matmul", func(f *fakeFuser, op *ir.Operation, class ir.Class) fuser.Verdict {
		n := op.Outputs[0].Shape.NumElements()
		switch {
		case class == ir.ClassContraction && !f.ready:
			for _, in := range op.Inputs {
				if f.g.Tensors[in.ID].Producer >= 0 && slices.Contains(f.ops, f.g.Tensors[in.ID].Producer) && !isViewKind(f.g.Ops[f.g.Tensors[in.ID].Producer].Kind) {
					return refuse("prologue", op)
				}
			}
			f.ready, f.space = true, n
			return accepted
		case class == ir.ClassContraction:
			return refuse("second-contraction", op)
		case class == ir.ClassView && f.inside(op) && op.Kind != ir.Permute && op.Kind != ir.Reshape:
			return refuse("view-kind", op)
		case class == ir.ClassView:
			return accepted
		case class == ir.ClassMap && f.ready && f.space == n:
			return accepted
		}
		return refuse("epilogue", op)
	})
}

// fakeRows fuses maps with reductions over their last axis and maps after it.
func fakeRows() fuser.Factory {
	return fakeFactory("rows", func(f *fakeFuser, op *ir.Operation, class ir.Class) fuser.Verdict {
		n := op.Outputs[0].Shape.NumElements()
		switch class {
		case ir.ClassReduce:
			in := op.Inputs[0].Shape
			if f.space >= 0 && f.space != in.NumElements() {
				return refuse("size", op)
			}
			f.space, f.ready = in.NumElements(), true
			return accepted
		case ir.ClassMap:
			if f.space >= 0 && f.space != n {
				return refuse("size", op)
			}
			f.space = n
			return accepted
		}
		return refuse("class", op)
	})
}

func fakes() []fuser.Factory { return []fuser.Factory{fakeMap(), fakeMatMul(), fakeRows()} }

func refuse(rule fuser.Rule, op *ir.Operation) fuser.Verdict {
	return fuser.Verdict{Rule: rule, Detail: op.Kind.String()}
}

func isViewKind(k ir.Kind) bool { return ir.Lookup(k).Class == ir.ClassView }

type fakeRule func(f *fakeFuser, op *ir.Operation, class ir.Class) fuser.Verdict

func fakeFactory(name string, rule fakeRule) fuser.Factory {
	return fuser.Factory{Name: name, New: func(g *fuser.Graph, p *fuser.Profile) fuser.Fuser {
		return &fakeFuser{name: name, rule: rule, g: g, p: p, space: -1}
	}}
}

type fakeFuser struct {
	name  string
	rule  fakeRule
	g     *fuser.Graph
	p     *fuser.Profile
	ops   []int
	space int
	ready bool
	fail  bool // Finish fails
	one   bool // Finish fails when it is to store more than one tensor
	all   bool // Finish stores everything
}

func (f *fakeFuser) Name() string         { return f.name }
func (f *fakeFuser) Status() fuser.Status { return fuser.Open }
func (f *fakeFuser) Len() int             { return len(f.ops) }
func (f *fakeFuser) Reset()               { *f = fakeFuser{name: f.name, rule: f.rule, g: f.g, p: f.p, space: -1} }
func (f *fakeFuser) Clone() fuser.Fuser   { c := *f; c.ops = slices.Clone(f.ops); return &c }
func (f *fakeFuser) inside(op *ir.Operation) bool {
	p := f.g.Tensors[op.Inputs[0].ID].Producer
	return p >= 0 && slices.Contains(f.ops, p)
}

func (f *fakeFuser) Fuse(op int) fuser.Verdict {
	o := &f.g.Ops[op]
	if len(f.ops) > 0 && op <= f.ops[len(f.ops)-1] {
		return refuse("order", o)
	}
	v := f.rule(f, o, ir.Lookup(o.Kind).Class)
	if v.Accepted {
		f.ops = append(f.ops, op)
	}
	return v
}

// Properties scores a launch for each operation but the first and the bytes of
// values passed on within the block.
func (f *fakeFuser) Properties() fuser.Properties {
	launches, bytes := -1, 0
	for _, op := range f.ops {
		if !isViewKind(f.g.Ops[op].Kind) {
			launches++
		}
		for _, in := range f.g.Ops[op].Inputs {
			if p := f.g.Tensors[in.ID].Producer; p >= 0 && slices.Contains(f.ops, p) && !isViewKind(f.g.Ops[op].Kind) {
				bytes += in.Shape.NumElements() * in.DType.Size()
			}
		}
	}
	return fuser.Properties{Score: float64(max(0, launches))*f.p.LaunchCost + float64(bytes)/f.p.Bandwidth, Ready: f.ready}
}

func (f *fakeFuser) Finish() (*fuser.Optimization, error) {
	if f.fail {
		return nil, errors.New("cannot finish")
	}
	out := &fuser.Optimization{Fuser: f.name, Ops: f.ops, Score: f.Properties().Score}
	fakeCall(f.g, out, func(t ir.TensorID) bool { return f.all || f.g.Tensors[t].Stored })
	if f.one && len(out.Stored) > 1 {
		return nil, errors.New("stores one tensor only")
	}
	return out, nil
}

// fakeSingle stores whatever the operation makes, as fuser.Single does.
func fakeSingle(g *fuser.Graph, op int) (*fuser.Optimization, error) {
	out := &fuser.Optimization{Fuser: "single", Ops: []int{op}}
	o := &g.Ops[op]
	if isViewKind(o.Kind) {
		out.Aliases = []fuser.Alias{{Tensor: o.Outputs[0].ID, Of: o.Inputs[0].ID}}
		ran.Store(out, []ir.Operation{*o})
		return out, nil
	}
	fakeCall(g, out, func(ir.TensorID) bool { return true })
	return out, nil
}

// fakeCall gives an optimization one call that reads what its operations do
// not make, and writes what is marked as stored.
func fakeCall(g *fuser.Graph, out *fuser.Optimization, stored func(ir.TensorID) bool) {
	var ops []ir.Operation
	var reads []ir.TensorID
	for _, i := range out.Ops {
		op := g.Ops[i]
		ops = append(ops, op)
		for _, in := range op.Inputs {
			if p := g.Tensors[in.ID].Producer; (p < 0 || !slices.Contains(out.Ops, p)) && !slices.Contains(reads, in.ID) {
				reads = append(reads, in.ID)
			}
		}
		for _, o := range op.Outputs {
			if stored(o.ID) {
				out.Stored = append(out.Stored, o.ID)
			}
		}
	}
	for _, o := range out.Stored {
		for _, in := range reads {
			out.InPlace = append(out.InPlace, fuser.InPlace{Out: o, In: in})
		}
	}
	out.Calls = []fuser.Call{{Kernel: &codegen.Kernel{Name: out.Fuser}, Tensors: append(slices.Clone(reads), out.Stored...)}}
	ran.Store(out, ops)
}

func fakePlanner(factories []fuser.Factory, opts Options) *Planner {
	p := New(factories, fakeProfile, opts)
	p.single = fakeSingle
	return p
}
