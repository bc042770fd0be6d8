package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// HostCall is a launch of a function that is registered with the device, over
// whole tensors: what a Custom operation runs as, and what a user's fuser can
// finish a block into.
type HostCall struct {
	Name    string // the function's
	Ints    []int
	DType   ir.DType
	Flag    bool
	Inputs  []ir.TensorID // the operands, as they lie in memory
	Outputs []ir.TensorID // the results, dense
	Params  []HostParam
}

// HostParam is a scalar of the call. When Source is not zero its value is that of
// operand Source, of rank 0.
type HostParam struct {
	Param  Param
	Type   ir.DType
	Source int
}

// Call returns the launch. Its tensors must be of g.
func (h *HostCall) Call(g *Graph) Call {
	k := &codegen.Kernel{Name: h.Name, Template: codegen.Custom,
		Custom: codegen.CustomSpec{Name: h.Name, Ints: slices.Clone(h.Ints), DType: h.DType, Flag: h.Flag}}
	c := Call{Kernel: k}
	add := func(t ir.TensorID, mode codegen.Mode) {
		b := slices.Index(c.Tensors, t)
		if b < 0 {
			b = len(c.Tensors)
			c.Tensors = append(c.Tensors, t)
			k.Buffers = append(k.Buffers, codegen.Buffer{DType: g.Tensors[t].DType, Mode: mode})
		}
		k.Accesses = append(k.Accesses, codegen.Access{Buffer: b})
		k.Custom.Ranks = append(k.Custom.Ranks, len(g.shape(t)))
		c.Dims = append(c.Dims, g.shape(t)...)
	}
	for _, t := range h.Inputs {
		add(t, codegen.In)
	}
	for _, t := range h.Outputs {
		add(t, codegen.Out)
	}
	k.Outer = len(c.Dims)
	at := 0
	for _, rank := range k.Custom.Ranks {
		b := Binding{Axes: make([]int, len(c.Dims))}
		for i := range b.Axes {
			b.Axes[i] = -1
			if i >= at && i < at+rank {
				b.Axes[i] = i - at
			}
		}
		at += rank
		c.Access = append(c.Access, b)
	}
	for _, p := range h.Params {
		k.Params = append(k.Params, p.Type)
		k.Custom.Sources = append(k.Custom.Sources, p.Source)
		c.Params = append(c.Params, p.Param)
	}
	return c
}

// HostBlock returns the optimization of a block that is one call of a registered
// function, named after the fuser that makes it. The operations must be
// ascending, and the outputs of the call all that is to be stored of theirs.
func HostBlock(g *Graph, fuser string, ops []int, h HostCall) (*Optimization, error) {
	if err := g.prepare(); err != nil {
		return nil, &Refusal{RuleMalformed, err.Error()}
	}
	o := &Optimization{Fuser: fuser, Ops: slices.Clone(ops), Calls: []Call{h.Call(g)}, Stored: slices.Clone(h.Outputs)}
	for _, t := range o.Calls[0].Tensors {
		if slices.Contains(h.Outputs, t) {
			o.Written += g.bytes(t)
		} else {
			o.Read += g.held(t)
		}
		o.use(g.shape(t)...)
	}
	if err := o.Validate(g); err != nil {
		return nil, &Refusal{RuleMalformed, err.Error()}
	}
	return o, nil
}

// CustomCall returns the call a Custom operation at a position runs as, for
// fusers that put it, or something like it, into a block.
func CustomCall(g *Graph, pos int) HostCall {
	op := &g.Ops[pos]
	h := HostCall{Name: op.Attrs.Name, Ints: op.Attrs.Ints, DType: op.Attrs.DType, Flag: op.Attrs.Flag}
	for _, in := range op.Inputs {
		h.Inputs = append(h.Inputs, in.ID)
	}
	for _, out := range op.Outputs {
		h.Outputs = append(h.Outputs, out.ID)
	}
	for i, s := range op.Scalars {
		p := HostParam{Type: s.DType.Compute(), Source: int(s.Input)}
		p.Param = Param{Op: pos, Scalar: i}
		if s.Input != 0 {
			p.Param = Param{Op: -1}
		}
		h.Params = append(h.Params, p)
	}
	return h
}
