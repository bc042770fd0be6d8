package graphapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

// program is a random program ready to run: its Vars and constants are made
// once, its operations recorded at each run.
type program struct {
	p     *ir.Program
	vars  map[ir.TensorID]*sinter.Var // by initial version
	fixed map[ir.TensorID]*sinter.Tensor
}

func load(dev *sinter.Device, p *ir.Program, d progen.Data) *program {
	r := &program{p: p, vars: map[ir.TensorID]*sinter.Var{}, fixed: map[ir.TensorID]*sinter.Tensor{}}
	for i, v := range p.Vars {
		r.vars[v.ID] = sinter.NewVar(sinter.FromBytes(dev, v.DType, d.Vars[i], v.Shape...))
	}
	for _, c := range p.Constants {
		r.fixed[c.ID] = sinter.FromBytes(dev, c.DType, c.Data, c.Shape...)
	}
	return r
}

func inputs(dev *sinter.Device, p *ir.Program, d progen.Data) []*sinter.Tensor {
	out := make([]*sinter.Tensor, len(p.Inputs))
	for i, in := range p.Inputs {
		out[i] = sinter.FromBytes(dev, in.DType, d.Inputs[i], in.Shape...)
	}
	return out
}

// record records the program once.
func (r *program) record(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
	vals := map[ir.TensorID]*sinter.Tensor{}
	state := map[ir.TensorID]*sinter.Var{}
	for id, t := range r.fixed {
		vals[id] = t
	}
	for i, x := range r.p.Inputs {
		vals[x.ID] = in[i]
	}
	for id, v := range r.vars {
		state[id] = v
		vals[id] = v.Value().On(s)
	}
	for i := range r.p.Ops {
		op := &r.p.Ops[i]
		rec := ir.Operation{Kind: op.Kind, Attrs: op.Attrs, Scalars: op.Scalars, Ranges: op.Ranges}
		refs := op.Inputs
		effect := ir.Lookup(op.Kind).Class == ir.ClassEffect
		if effect {
			refs = refs[1:]
		}
		args := make([]*fusion.Value, len(refs))
		for k, ref := range refs {
			args[k] = sinter.ValueOf(vals[ref.ID])
		}
		out := op.Outputs[0].ID
		if effect {
			v := state[op.Inputs[0].ID]
			s.Runtime().Effect(sinter.VarOf(v), rec, args...)
			state[out] = v
			vals[out] = v.Value().On(s)
			continue
		}
		vals[out] = sinter.Wrap(s.Runtime().Record(rec, args...)).On(s)
	}
	outs := make([]*sinter.Tensor, len(r.p.Outputs))
	for i, id := range r.p.Outputs {
		outs[i] = vals[id]
	}
	return outs, nil
}

func (r *program) state(t *testing.T) [][]byte {
	var out [][]byte
	for _, v := range r.p.Vars {
		h := r.vars[v.ID].Value()
		b, err := sinter.ReadBytes(context.Background(), h)
		require.NoError(t, err)
		oracle.Canonical(v.DType, b)
		h.Release()
		out = append(out, b)
	}
	return out
}

func readAll(t *testing.T, ts []*sinter.Tensor) [][]byte {
	var out [][]byte
	for _, x := range ts {
		b, err := sinter.ReadBytes(context.Background(), x)
		require.NoError(t, err)
		oracle.Canonical(x.DType(), b)
		out = append(out, b)
	}
	return out
}
