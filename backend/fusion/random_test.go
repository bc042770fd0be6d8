package fusion_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

// runProgram records a program on a stream and reads its outputs.
func runProgram(rt *fusion.Runtime, p *ir.Program, d progen.Data) ([][]byte, error) {
	s := rt.Default()
	vals := map[ir.TensorID]*fusion.Value{}
	state := map[ir.TensorID]*fusion.Var{}
	for i, in := range p.Inputs {
		vals[in.ID] = s.FromBytes(in.DType, in.Shape, d.Inputs[i], 0)
	}
	for _, c := range p.Constants {
		vals[c.ID] = s.FromBytes(c.DType, c.Shape, c.Data, 0)
	}
	for i, v := range p.Vars {
		state[v.ID] = s.NewVar(s.FromBytes(v.DType, v.Shape, d.Vars[i], 0))
	}
	get := func(id ir.TensorID) *fusion.Value {
		if v := vals[id]; v != nil {
			return v
		}
		v := state[id].Value()
		vals[id] = v
		return v
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		rec := ir.Operation{Kind: op.Kind, Attrs: op.Attrs, Scalars: op.Scalars, Ranges: op.Ranges}
		var in []*fusion.Value
		if ir.Lookup(op.Kind).Class == ir.ClassEffect {
			v := state[op.Inputs[0].ID]
			get(op.Inputs[0].ID)
			for _, r := range op.Inputs[1:] {
				in = append(in, get(r.ID))
			}
			s.Effect(v, rec, in...)
			state[op.Outputs[0].ID] = v
			get(op.Outputs[0].ID)
			continue
		}
		for _, r := range op.Inputs {
			in = append(in, get(r.ID))
		}
		vals[op.Outputs[0].ID] = s.Record(rec, in...)
	}
	var out [][]byte
	for _, id := range p.Outputs {
		v := get(id)
		b := make([]byte, v.Shape().NumElements()*v.DType().Size())
		if err := v.Read(context.Background(), b); err != nil {
			return nil, fmt.Errorf("output %d: %w", id, err)
		}
		out = append(out, b)
	}
	return out, nil
}

func TestRandomProgramsFusedEqualsUnfused(t *testing.T) {
	for seed := range uint64(60) {
		p := progen.Generate(seed, progen.Options{})
		d, _ := progen.RandomData(p, seed, progen.DataOptions{})
		plain, err := runProgram(open(t, fusion.Options{}), p, d)
		require.NoError(t, err, "seed %d\n%s", seed, p)
		fused, err := runProgram(open(t, fusion.Options{Fusers: fuser.Default()}), p, d)
		require.NoError(t, err, "seed %d\n%s", seed, p)
		for i := range plain {
			require.Equal(t, plain[i], fused[i], "seed %d output %d\n%s", seed, p.Outputs[i], p)
		}
	}
}
