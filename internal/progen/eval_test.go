package progen_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

func tensors(t *testing.T, refs []ir.TensorRef, data [][]byte) []oracle.Tensor {
	t.Helper()
	out := make([]oracle.Tensor, len(refs))
	for i, ref := range refs {
		x, err := oracle.FromBytes(ref.DType, ref.Shape, data[i])
		require.NoError(t, err)
		out[i] = x
	}
	return out
}

func evaluate(t *testing.T, p *ir.Program, d progen.Data) (*oracle.Result, error) {
	t.Helper()
	return oracle.Eval(p, tensors(t, p.Inputs, d.Inputs), tensors(t, p.Vars, d.Vars))
}

// The oracle finds shapes by other means than ir's inference and refuses a
// program where they differ, so this compares the two.
func TestProgramsEvaluate(t *testing.T) {
	finite, all := 0, 0
	for seed := range uint64(150) {
		p := progen.Generate(seed, progen.DefaultOptions())
		d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: 0.01})
		r, err := evaluate(t, p, d)
		require.NoError(t, err, "seed %d:\n%v", seed, p)
		require.Len(t, r.Outputs, len(p.Outputs))
		require.Len(t, r.Vars, len(p.Vars))
		for _, out := range r.Outputs {
			for _, v := range out.F {
				all++
				if v-v == 0 {
					finite++
				}
			}
		}
	}
	assert.Greater(t, finite, all*6/10, "most results are numbers, so that differences show")
}

func TestOutOfRangeIndicesAreErrors(t *testing.T) {
	found, asked := 0, 0
	for seed := range uint64(150) {
		p := progen.Generate(seed, progen.Options{Ops: 12, Weights: map[string]int{"index": 3, "effect": 2, "view": 2, "unary": 1}})
		d, wrong := progen.RandomData(p, seed, progen.DataOptions{OutOfRange: true})
		_, err := evaluate(t, p, d)
		if !wrong {
			require.NoError(t, err)
			continue
		}
		asked++
		var index *ir.IndexError
		require.True(t, err == nil || errors.As(err, &index), "%v", err)
		if err != nil {
			found++
		}
	}
	assert.Greater(t, asked, 50)
	assert.Equal(t, asked, found, "without empty axes each wrong index is read")
}
