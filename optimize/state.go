package optimize

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// State is a plan with the segment it was made for and the key it is found by:
// what is saved, so that another process need not explore.
type State struct {
	Key     Key
	Segment *Segment
	Plan    *Plan
}

// stateData is a State as it is written. Guards are no part of it: they follow
// from the segment and the blocks.
type stateData struct {
	Tokens   []uint64
	Sequence uint64
	Segment  Segment
	Blocks   []blockData
	Fates    []Fate
	Recipes  []recipeData // by tensor, ascending
}

type blockData struct {
	Optimization fuser.Optimization
	Fused        bool // it falls back to its operations one by one
}

type recipeData struct {
	Tensor ir.TensorID
	Ops    []int
}

// maxState bounds the bytes of a written state, and of what it unpacks to.
const (
	maxState    = 64 << 20
	maxUnpacked = 512 << 20
)

// encode returns a state as bytes: equal states give equal bytes within a
// process.
func (s *State) encode() ([]byte, error) {
	d := stateData{Tokens: s.Key.Tokens, Sequence: s.Key.Sequence, Segment: *s.Segment, Fates: s.Plan.Fates}
	d.Segment.Ops = slices.Clone(s.Segment.Ops)
	for i := range d.Segment.Ops {
		d.Segment.Ops[i].PC = 0 // means nothing in another process
	}
	for i := range s.Plan.Blocks {
		b := &s.Plan.Blocks[i]
		d.Blocks = append(d.Blocks, blockData{*b.Optimization, b.apart != nil})
	}
	for t := range s.Plan.Fates {
		if ops, ok := s.Plan.Recipes[ir.TensorID(t)]; ok {
			d.Recipes = append(d.Recipes, recipeData{ir.TensorID(t), ops})
		}
	}
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(gob.NewEncoder(z).Encode(&d), z.Close()); err != nil {
		return nil, err
	}
	if out.Len() > maxState {
		return nil, fmt.Errorf("optimize: a plan of %d bytes is too large to save", out.Len())
	}
	return out.Bytes(), nil
}

// decode reads what encode wrote. Nothing is believed: the operations are
// inferred anew, the blocks validated and the plan checked as any other.
func (p *Planner) decode(hash uint64, data []byte) (*State, error) {
	z := flate.NewReader(bytes.NewReader(data))
	var d stateData
	if err := gob.NewDecoder(io.LimitReader(z, maxUnpacked)).Decode(&d); err != nil {
		return nil, err
	}
	if err := d.Segment.complete(); err != nil {
		return nil, err
	}
	plan, err := p.restore(&d)
	if err != nil {
		return nil, err
	}
	key := Key{Hash: hash, Tokens: d.Tokens, Sequence: d.Sequence}
	return &State{Key: key, Segment: &d.Segment, Plan: plan}, nil
}

// complete checks the tables of a segment that was read, and fills in what is
// not written: empty lists.
func (s *Segment) complete() error {
	if len(s.Dims) == 0 || s.Dims[0] != 1 {
		return fmt.Errorf("the table of lengths %v does not start with 1", s.Dims)
	}
	for i := range s.Tensors {
		t := &s.Tensors[i]
		if !t.DType.Valid() || len(t.Shape) > ir.MaxRank || t.Buffer < 0 || t.Buffer > len(s.Tensors) || t.Var < 0 {
			return fmt.Errorf("t%d is malformed", i)
		}
		for _, n := range t.Shape {
			if n < 0 || !slices.Contains(s.Dims, n) {
				return fmt.Errorf("length %d of t%d is not in the table", n, i)
			}
		}
		if t.Input {
			if len(t.Layout.Strides) != len(t.Shape) || !slices.Equal(t.Layout.Shape, t.Shape) {
				return fmt.Errorf("the layout of t%d is of another shape", i)
			}
			t.Layout.Shape = t.Shape
			if t.Layout.Shape == nil {
				t.Layout.Shape = ir.Shape{} // a layout is known
			}
		}
	}
	for i := range s.Ops {
		if err := s.checkOp(&s.Ops[i]); err != nil {
			return fmt.Errorf("%d:%v: %w", i, s.Ops[i].Kind, err)
		}
	}
	return nil
}

// checkOp infers an operation anew and compares it and the table of tensors.
func (s *Segment) checkOp(op *ir.Operation) error {
	for _, refs := range [...][]ir.TensorRef{op.Inputs, op.Outputs} {
		for _, ref := range refs {
			if ref.ID >= ir.TensorID(len(s.Tensors)) {
				return fmt.Errorf("uses t%d of %d", ref.ID, len(s.Tensors))
			}
			if t := &s.Tensors[ref.ID]; ref.DType != t.DType || !ref.Shape.Equal(t.Shape) {
				return fmt.Errorf("t%d is %v%v here and %v%v in the table", ref.ID, ref.DType, ref.Shape, t.DType, t.Shape)
			}
		}
	}
	again := *op
	again.Outputs = nil
	if err := again.Check(); err != nil {
		return err
	}
	if !slices.EqualFunc(op.Outputs, again.Outputs, func(a, b ir.TensorRef) bool { return a.DType == b.DType && a.Shape.Equal(b.Shape) }) {
		return fmt.Errorf("makes %v, not %v", again.Outputs, op.Outputs)
	}
	if !slices.Equal(op.Attrs.Axes, again.Attrs.Axes) {
		return fmt.Errorf("axes %v are not normalised", op.Attrs.Axes)
	}
	return nil
}

// restore makes a plan of what was read of it: passes give the graph and their
// guards again, the blocks their own.
func (p *Planner) restore(d *stateData) (*Plan, error) {
	seg := &d.Segment
	w, err := p.prepare(seg)
	if err != nil {
		return nil, err
	}
	g := p.graph(w)
	plan := &Plan{Fates: d.Fates, Recipes: make(map[ir.TensorID][]int, len(d.Recipes)), Log: newLog(0, len(seg.Ops))}
	plan.Log.Loaded = true
	for i := range d.Blocks {
		o := &d.Blocks[i].Optimization
		if err := o.Validate(g); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		b := Block{Optimization: o}
		if d.Blocks[i].Fused {
			b = p.fallback(g, o)
		}
		plan.Blocks = append(plan.Blocks, b)
		for _, op := range o.Ops {
			plan.Log.place(op, i)
		}
	}
	for _, f := range plan.Fates {
		if f > Dropped {
			return nil, fmt.Errorf("fate %d", f)
		}
	}
	for _, r := range d.Recipes {
		for _, op := range r.Ops {
			if op < 0 || op >= len(seg.Ops) {
				return nil, fmt.Errorf("recipe %v of t%d", r.Ops, r.Tensor)
			}
		}
		plan.Recipes[r.Tensor] = r.Ops
	}
	if err := Check(plan, seg); err != nil {
		return nil, err
	}
	plan.Guards = p.guards(w, g, seg, plan.Blocks)
	if facts := seg.Facts(); !plan.Holds(facts) {
		return nil, errors.New("its guards do not hold of its own segment")
	}
	return plan, nil
}

// guards returns what a plan of these blocks relies on.
func (p *Planner) guards(w *work, g *fuser.Graph, seg *Segment, blocks []Block) []Guard {
	return slices.Concat(w.guards, reshapeGuards(g, seg, blocks), rowGuards(g, seg, &p.profile))
}
