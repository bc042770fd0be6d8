package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// plan plans a program as one segment.
func (how *planning) plan(s *streams, p *ir.Program) (*document, error) {
	factories, err := how.fusers()
	if err != nil {
		return nil, err
	}
	if err := known("pass", how.NoPass, switches("pass")); err != nil {
		return nil, err
	}
	if err := known("rule of cost", how.NoRule, switches("rule")); err != nil {
		return nil, err
	}
	p, renumbered := compact(p)
	if renumbered {
		fmt.Fprintln(s.err, "irdump: the tensors' numbers are far apart; they are numbered anew, in the order of their definitions")
	}
	profile := null.Open(backend.Options{}).Profile()
	planner := optimize.New(factories, profile, optimize.Options{Disable: slices.Concat(how.NoPass, how.NoFuser, how.NoRule), Force: how.Force, Check: true})
	seg := segmentOf(p, how.Keep)
	plan, err := planner.Plan(seg)
	if err != nil {
		return nil, err
	}
	planned := trace.Traced{ID: 1, Segment: trace.Describe(p, seg, plan)}
	return &document{profile: trace.Profile(profile), segments: []trace.Traced{planned}, planned: &inMemory{p, seg, plan}}, nil
}

// inMemory is a program as it was planned, which a trace does not hold.
type inMemory struct {
	program *ir.Program
	seg     *optimize.Segment
	plan    *optimize.Plan
}

// fusers returns the fusers to plan with; the planner leaves out what is off.
func (how *planning) fusers() ([]fuser.Factory, error) {
	if err := known("fuser", how.NoFuser, switches("fuser")); err != nil {
		return nil, err
	}
	if how.NoFusion {
		return nil, nil
	}
	return fuser.Default(), nil
}

// switches returns the names of what a planner can do without.
func switches(kind string) []string {
	var names []string
	for _, s := range optimize.Switches(fuser.Default()) {
		if s.Kind == kind {
			names = append(names, s.Name)
		}
	}
	return names
}

func known(what string, given, names []string) error {
	for _, name := range given {
		if !slices.Contains(names, name) {
			return &usageError{fmt.Sprintf("there is no %s %q, only %s", what, name, strings.Join(names, ", "))}
		}
	}
	return nil
}

// compact returns a program whose tensor numbers can index a table: the same
// one, unless its numbers are far apart.
func compact(p *ir.Program) (*ir.Program, bool) {
	defs := p.Definitions()
	limit := ir.TensorID(64 + 4*len(defs))
	fits := true
	for id := range defs {
		fits = fits && id < limit
	}
	if fits {
		return p, false
	}
	number := make(map[ir.TensorID]ir.TensorID, len(defs))
	refs := func(in []ir.TensorRef) []ir.TensorRef {
		out := slices.Clone(in)
		for i := range out {
			id, ok := number[out[i].ID]
			if !ok {
				id = ir.TensorID(len(number))
				number[out[i].ID] = id
			}
			out[i].ID = id
		}
		return out
	}
	q := &ir.Program{Inputs: refs(p.Inputs), Vars: refs(p.Vars), Positions: p.Positions}
	for _, c := range p.Constants {
		q.Constants = append(q.Constants, ir.Constant{TensorRef: refs([]ir.TensorRef{c.TensorRef})[0], Data: c.Data})
	}
	for _, op := range p.Ops {
		op.Inputs = refs(op.Inputs)
		op.Outputs = refs(op.Outputs)
		q.Ops = append(q.Ops, op)
	}
	for _, id := range p.Outputs {
		q.Outputs = append(q.Outputs, number[id])
	}
	for id, name := range p.Names {
		if q.Names == nil {
			q.Names = map[ir.TensorID]string{}
		}
		q.Names[number[id]] = name
	}
	return q, true
}

// segmentOf returns a program as a segment that starts from dense inputs in
// memory of their own. Its outputs are asked for; a Var's last version lives
// on; whatever else it computes is dead, unless keep.
func segmentOf(p *ir.Program, keep bool) *optimize.Segment {
	seg := &optimize.Segment{Ops: slices.Clone(p.Ops), InPlace: make([]bool, len(p.Ops)), Dims: []int{1}}
	last := ir.TensorID(0)
	for id := range p.Definitions() {
		last = max(last, id)
	}
	// A number without a definition is an input nothing reads.
	seg.Tensors = make([]optimize.Tensor, last+1)
	for i := range seg.Tensors {
		seg.Tensors[i] = optimize.Tensor{Shape: ir.Shape{}, DType: ir.F32, Input: true, Layout: codegen.Contiguous(ir.Shape{})}
	}
	buffers := 0
	define := func(t ir.TensorRef, number int) {
		buffers++
		seg.Tensors[t.ID] = optimize.Tensor{Shape: t.Shape, DType: t.DType, Input: true,
			Layout: codegen.Contiguous(t.Shape), Var: number, Buffer: buffers}
		lengths(seg, t.Shape)
	}
	for _, t := range p.Inputs {
		define(t, 0)
	}
	for i, t := range p.Vars {
		define(t, i+1)
	}
	for i := range p.Constants {
		define(p.Constants[i].TensorRef, 0)
	}
	for i := range p.Ops {
		out := p.Ops[i].Outputs[0]
		seg.Tensors[out.ID] = optimize.Tensor{Shape: out.Shape, DType: out.DType, Dead: !keep}
		lengths(seg, out.Shape)
		for _, r := range p.Ops[i].Ranges {
			lengths(seg, ir.Shape{r.Len})
		}
	}
	for _, t := range p.FinalVersions() {
		seg.Tensors[t].Dead = false
	}
	for _, t := range p.Outputs {
		seg.Tensors[t].Dead = false
		seg.Tensors[t].Asked = !seg.Tensors[t].Input
	}
	for i := range p.Ops {
		seg.InPlace[i] = inPlace(p, seg, i, keep)
	}
	return seg
}

// lengths adds the lengths of a shape to the table of lengths.
func lengths(seg *optimize.Segment, shape ir.Shape) {
	for _, n := range shape {
		if !slices.Contains(seg.Dims, n) {
			seg.Dims = append(seg.Dims, n)
		}
	}
}

// inPlace reports whether an effect writes over its old version, by the rule
// of a drain: a Set does when nothing can still ask for the old version, the
// other effects always do.
func inPlace(p *ir.Program, seg *optimize.Segment, pos int, keep bool) bool {
	op := &p.Ops[pos]
	switch {
	case ir.Lookup(op.Kind).Class != ir.ClassEffect:
		return false
	case op.Kind != ir.Set:
		return true
	case keep:
		return false
	}
	old := op.Inputs[0].ID
	if slices.Contains(p.Outputs, old) {
		return false
	}
	for i := range p.Ops {
		reads := p.Ops[i].Inputs
		effect := ir.Lookup(p.Ops[i].Kind).Class == ir.ClassEffect
		if effect {
			reads = reads[1:]
		}
		if !slices.ContainsFunc(reads, func(t ir.TensorRef) bool { return t.ID == old }) {
			continue
		}
		if living := !effect && !seg.Tensors[p.Ops[i].Outputs[0].ID].Dead; i > pos || living {
			return false
		}
	}
	return true
}
