package graphapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

// refs returns the tensors of a program by id.
func refs(p *ir.Program) map[ir.TensorID]ir.TensorRef {
	all := map[ir.TensorID]ir.TensorRef{}
	for _, list := range [][]ir.TensorRef{p.Inputs, p.Vars} {
		for _, r := range list {
			all[r.ID] = r
		}
	}
	for _, c := range p.Constants {
		all[c.ID] = ir.TensorRef{Shape: c.Shape, DType: c.DType}
	}
	for i := range p.Ops {
		for _, r := range p.Ops[i].Outputs {
			all[r.ID] = r
		}
	}
	return all
}

// within records a program in one way of an If and in a loop of some rounds: in[0]
// is the predicate, in[1] how many rounds. It returns what the Vars were before,
// and what the branch returned.
func (r *program) within(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
	pred, rounds, in := in[0], in[1], in[2:]
	var out []*sinter.Tensor
	for _, v := range r.p.Vars {
		out = append(out, r.vars[v.ID].Value().On(s))
	}
	made, err := graphapi.If(s, pred, func() ([]*sinter.Tensor, error) { return r.record(s, in) },
		func() (zeros []*sinter.Tensor, err error) {
			refs := refs(r.p)
			for _, o := range r.p.Outputs {
				ref := refs[o]
				zeros = append(zeros, sinter.FromBytes(s, ref.DType, make([]byte, ref.Shape.NumElements()*ref.DType.Size()), ref.Shape...))
			}
			return zeros, nil
		})
	if err != nil {
		return nil, err
	}
	_, err = graphapi.While(s, func(n []*sinter.Tensor) (*sinter.Tensor, error) { return n[0], nil },
		func(n []*sinter.Tensor) ([]*sinter.Tensor, error) {
			_, err := r.record(s, in)
			return []*sinter.Tensor{n[0].SubScalar(1)}, err
		}, []*sinter.Tensor{rounds})
	return append(out, made...), err
}

// TestRandomBodies captures random programs with effects in conditional parts
// and compares replays, with fresh inputs, predicates and numbers of rounds, with
// running the same eagerly without fusion.
func TestRandomBodies(t *testing.T) {
	n := uint64(120)
	if testing.Short() {
		n = 30
	}
	for seed := range n {
		p := progen.Generate(seed, progen.DefaultOptions())
		d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: 0.05})
		plain, dev := open(t, sinter.WithFusion(false)), open(t)
		want, got := load(plain, p, d), load(dev, p, d)
		args := func(dev *sinter.Device, d progen.Data, pred bool, rounds int64) []*sinter.Tensor {
			return append([]*sinter.Tensor{sinter.Scalar(dev, pred), sinter.Scalar(dev, rounds)}, inputs(dev, p, d)...)
		}
		g, err := graphapi.Capture(context.Background(), dev.Stream(), got.within, args(dev, d, seed%2 == 0, int64(seed%3)))
		require.NoError(t, err, "seed %d\n%s", seed, p)
		require.True(t, g.IsHardware(), "seed %d: %v\n%s", seed, g.FallbackReason(), p)
		require.Equal(t, want.state(t), got.state(t), "capturing is not seen: seed %d\n%s", seed, p)
		for round, pred := range []bool{true, false, false, true} {
			d, _ := progen.RandomData(p, seed+1000*uint64(round), progen.DataOptions{Special: 0.05})
			require.NoError(t, g.Replay(args(dev, d, pred, int64(round%3))...), "seed %d\n%s", seed, p)
			outs, err := want.within(plain.Stream(), args(plain, d, pred, int64(round%3)))
			require.NoError(t, err)
			for i, b := range readAll(t, outs) {
				c, err := sinter.ReadBytes(context.Background(), g.Out(i))
				require.NoError(t, err, "seed %d\n%s", seed, p)
				oracle.Canonical(outs[i].DType(), c)
				require.Equal(t, b, c, "seed %d round %d output %d\n%s", seed, round, i, p)
			}
			require.Equal(t, want.state(t), got.state(t), "seed %d round %d\n%s", seed, round, p)
		}
		require.NoError(t, g.Close())
		require.NoError(t, dev.Close())
		require.NoError(t, plain.Close())
	}
}
