package oracle

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// Result is what a program evaluates to.
type Result struct {
	Outputs []Tensor               // as Program.Outputs
	Vars    []Tensor               // each Var's last version, as Program.Vars
	Values  map[ir.TensorID]Tensor // of every tensor of the program
}

// Eval evaluates a valid program on values of its inputs and of its Vars'
// first versions. Effects are functional: an old version stays what it was.
// The failure of an operation, such as an *ir.IndexError, comes in an
// *ir.OpError.
func Eval(p *ir.Program, inputs, vars []Tensor) (*Result, error) {
	r := &Result{Values: make(map[ir.TensorID]Tensor)}
	if err := r.bind("input", p.Inputs, inputs); err != nil {
		return nil, err
	}
	if err := r.bind("var", p.Vars, vars); err != nil {
		return nil, err
	}
	for _, c := range p.Constants {
		t, err := FromBytes(c.DType, c.Shape, c.Data)
		if err != nil {
			return nil, err
		}
		r.Values[c.ID] = t
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		in := make([]Tensor, len(op.Inputs))
		for k, ref := range op.Inputs {
			in[k] = r.Values[ref.ID]
		}
		out, err := EvalOp(op, in...)
		if err != nil {
			return nil, op.Fail(err)
		}
		r.Values[op.Outputs[0].ID] = out
	}
	r.Outputs = r.values(p.Outputs)
	r.Vars = r.values(p.FinalVersions())
	return r, nil
}

// bind gives the tensors of a program their values.
func (r *Result) bind(what string, refs []ir.TensorRef, values []Tensor) error {
	if len(refs) != len(values) {
		return fmt.Errorf("oracle: %d values for %d %ss", len(values), len(refs), what)
	}
	for i, ref := range refs {
		if v := values[i]; v.DType != ref.DType || !v.Shape.Equal(ref.Shape) {
			return fmt.Errorf("oracle: %s %d is %v%v, want %v%v", what, i, v.DType, v.Shape, ref.DType, ref.Shape)
		}
		r.Values[ref.ID] = values[i]
	}
	return nil
}

func (r *Result) values(ids []ir.TensorID) []Tensor {
	out := make([]Tensor, len(ids))
	for i, id := range ids {
		out[i] = r.Values[id]
	}
	return out
}
