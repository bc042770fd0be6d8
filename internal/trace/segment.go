package trace

import (
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// Segment is a planned segment as data.
type Segment struct {
	// Program is the segment's operations. In a trace tensors are numbered by
	// first appearance and the outputs are the tensors that were asked for.
	Program *ir.Program   `json:"program"`
	Tensors []Tensor      `json:"tensors"`            // each tensor of the program, ascending
	InPlace []int         `json:"in_place,omitempty"` // positions of the effects written over the old version
	Forced  []int         `json:"forced,omitempty"`   // of those that kept nothing of the old version
	Blocks  []Block       `json:"blocks"`             // in running order
	Recipes []Recipe      `json:"recipes,omitempty"`  // of the virtual tensors, ascending
	Guards  []Guard       `json:"guards,omitempty"`
	Log     *optimize.Log `json:"log"`
	// Why says why a segment of the runtime's own ran; "" for what was recorded.
	Why fusion.Why `json:"why,omitempty"`
}

// Tensor is what was known of a tensor before planning, and its fate.
type Tensor struct {
	ID       ir.TensorID `json:"id"`
	Input    bool        `json:"input,omitempty"`
	Asked    bool        `json:"asked,omitempty"`
	Dead     bool        `json:"dead,omitempty"`
	Takeable bool        `json:"takeable,omitempty"`
	Var      int         `json:"var,omitempty"`    // 1 + the number of the Var it is a version of
	Buffer   int         `json:"buffer,omitempty"` // of inputs: equal numbers share memory
	// Strides and Offset are of inputs that are not dense from the start of
	// their buffer, in elements.
	Strides []int  `json:"strides,omitempty"`
	Offset  int    `json:"offset,omitempty"`
	Fate    string `json:"fate,omitempty"` // of outputs, see optimize.Fate
}

// Cost is what running something takes.
type Cost struct {
	Launches int   `json:"launches"`
	Read     int64 `json:"read"` // bytes
	Written  int64 `json:"written"`
}

// Saving is what a block saves by the estimate it was chosen by, see
// fuser.Saving.
type Saving struct {
	Bytes     int64   `json:"bytes"`
	Launches  float64 `json:"launches"`
	Recompute float64 `json:"recompute_ns"`
}

// Block is one block of a plan.
type Block struct {
	Fuser string  `json:"fuser"`
	Ops   []int   `json:"operations"` // positions, ascending
	Score float64 `json:"score_ns"`   // nanoseconds saved
	// Saving is the parts of the score, nil of operations that run alone.
	Saving *Saving `json:"saving,omitempty"`
	Cost
	// Alone is the cost of its operations one by one.
	Alone   Cost          `json:"alone"`
	Stored  []ir.TensorID `json:"stored,omitempty"`
	Aliases []Alias       `json:"aliases,omitempty"`
	Takes   []Take        `json:"takes,omitempty"`
	Calls   []Call        `json:"calls,omitempty"`
}

// Alias is an output that is a view of a tensor in memory.
type Alias struct {
	Tensor ir.TensorID `json:"tensor"`
	Of     ir.TensorID `json:"of"`
}

// Take is an output that may be written to an input's storage.
type Take struct {
	Tensor ir.TensorID `json:"tensor"`
	From   ir.TensorID `json:"from"`
}

// Call is one launch of a kernel.
type Call struct {
	Name    string        `json:"name"`
	Dims    []int         `json:"dims"`            // of the space
	Parts   [][]int       `json:"parts,omitempty"` // of a kernel of parts: the dims of each
	Tensors []ir.TensorID `json:"tensors"`         // behind the kernel's buffers
	Kernel  string        `json:"kernel"`          // its text
}

// Recipe is how a virtual tensor is computed when asked for.
type Recipe struct {
	Tensor ir.TensorID `json:"tensor"`
	Ops    []int       `json:"operations"`
}

// Guard is a fact the plan relies on.
type Guard struct {
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
}

// Describe returns a planned segment as data. p is its operations as a
// program, with the segment's tensor ids.
func Describe(p *ir.Program, seg *optimize.Segment, plan *optimize.Plan) *Segment {
	out := &Segment{Program: p, Tensors: []Tensor{}, Blocks: []Block{}, Log: plan.Log}
	defined := p.Definitions()
	for i := range seg.Tensors {
		id := ir.TensorID(i)
		if _, ok := defined[id]; !ok {
			continue
		}
		t := &seg.Tensors[i]
		d := Tensor{ID: id, Input: t.Input, Asked: t.Asked, Dead: t.Dead, Takeable: t.Takeable, Var: t.Var, Buffer: t.Buffer}
		switch {
		case !t.Input:
			d.Fate = plan.Fates[i].String()
		case !t.Layout.IsContiguous() || t.Layout.Offset != 0:
			d.Strides, d.Offset = t.Layout.Strides, t.Layout.Offset
		}
		out.Tensors = append(out.Tensors, d)
		if ops, ok := plan.Recipes[id]; ok {
			out.Recipes = append(out.Recipes, Recipe{id, ops})
		}
	}
	out.InPlace = positions(seg.InPlace)
	for i := range plan.Blocks {
		out.Blocks = append(out.Blocks, describeBlock(&plan.Blocks[i], seg.Dims))
	}
	for _, g := range plan.Guards {
		out.Guards = append(out.Guards, Guard{g.Name, g.Detail})
	}
	return out
}

// positions lists where flags are set.
func positions(flags []bool) []int {
	var out []int
	for i, set := range flags {
		if set {
			out = append(out, i)
		}
	}
	return out
}

func describeBlock(b *optimize.Block, dims []int) Block {
	out := Block{Fuser: b.Fuser, Ops: b.Ops, Score: b.Score, Stored: b.Stored, Cost: costOf(b.Optimization)}
	out.Alone = out.Cost
	if alone, err := b.Fallback(); err == nil && len(alone) > 0 {
		out.Alone = costOf(alone...)
		s := Saving(b.Saving)
		out.Saving = &s
	}
	for _, a := range b.Aliases {
		out.Aliases = append(out.Aliases, Alias{a.Tensor, a.Of})
	}
	for _, x := range b.InPlace {
		out.Takes = append(out.Takes, Take{x.Out, x.In})
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		call := Call{Name: c.Kernel.Name, Dims: lengths(c, dims), Tensors: c.Tensors, Kernel: c.Kernel.String()}
		for k := range c.Parts {
			call.Parts = append(call.Parts, lengths(&c.Parts[k], dims))
		}
		out.Calls = append(out.Calls, call)
	}
	return out
}

// lengths returns the space of a call.
func lengths(c *fuser.Call, dims []int) []int {
	out := make([]int, len(c.Dims))
	for k, d := range c.Dims {
		out[k] = c.Length(d, dims)
	}
	return out
}

func costOf(all ...*fuser.Optimization) Cost {
	var c Cost
	for _, o := range all {
		c.Launches += len(o.Calls)
		c.Read += o.Read
		c.Written += o.Written
	}
	return c
}

// programOf returns the operations of a segment as a program whose outputs
// are the tensors asked for.
func programOf(seg *optimize.Segment, names map[ir.TensorID]string) *ir.Program {
	p := &ir.Program{Ops: seg.Ops, Names: names}
	for i := range seg.Tensors {
		t := &seg.Tensors[i]
		ref := ir.TensorRef{ID: ir.TensorID(i), Shape: t.Shape, DType: t.DType}
		switch {
		case t.Input && t.Var > 0:
			p.Vars = append(p.Vars, ref)
		case t.Input:
			p.Inputs = append(p.Inputs, ref)
		}
		if t.Asked {
			p.Outputs = append(p.Outputs, ref.ID)
		}
	}
	return p
}
