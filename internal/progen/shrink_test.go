package progen

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// feeds reports whether a result of kind from reaches an operand of kind to
// directly.
func feeds(p *ir.Program, from, to ir.Kind) bool {
	defs := p.Definitions()
	for _, op := range p.Ops {
		for _, in := range op.Inputs {
			if d := defs[in.ID]; op.Kind == to && d.Source == ir.FromOp && p.Ops[d.Index].Kind == from {
				return true
			}
		}
	}
	return false
}

func TestShrinkKeepsOnlyWhatFails(t *testing.T) {
	tests := []struct {
		name  string
		fails func(*ir.Program) bool
		ops   int
	}{
		{"one kind", func(p *ir.Program) bool {
			for _, op := range p.Ops {
				if op.Kind == ir.Sum {
					return true
				}
			}
			return false
		}, 1},
		{"two kinds in a row", func(p *ir.Program) bool { return feeds(p, ir.Exp, ir.Sum) || feeds(p, ir.Permute, ir.Add) }, 2},
		{"an effect after a view", func(p *ir.Program) bool {
			viewed := map[ir.TensorID]bool{}
			for _, op := range p.Ops {
				if ir.Lookup(op.Kind).Class == ir.ClassView {
					viewed[op.Inputs[0].ID] = true
				}
				if ir.Lookup(op.Kind).Class == ir.ClassEffect && viewed[op.Inputs[0].ID] {
					return true
				}
			}
			return false
		}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := 0
			for seed := range uint64(150) {
				p := Generate(seed, Options{Ops: 40})
				if !tt.fails(p) {
					continue
				}
				found++
				before := p.String()
				small := Shrink(p, func(q *ir.Program) bool {
					require.NoError(t, q.Validate())
					return tt.fails(q)
				})
				assert.Equal(t, before, p.String(), "the program given is left alone")
				require.NoError(t, small.Validate())
				assert.True(t, tt.fails(small))
				assert.Equal(t, tt.ops, len(small.Ops), "seed %d:\n%v", seed, small)
				assert.Len(t, small.Outputs, 1)
				assert.True(t, small.Equal(Shrink(p, tt.fails)), "deterministic")
			}
			assert.Greater(t, found, 10)
		})
	}
}

func TestShrinkOfWhatIsSmall(t *testing.T) {
	p := Generate(1, Options{Weights: map[string]int{}})
	small := Shrink(p, func(*ir.Program) bool { return true })
	assert.LessOrEqual(t, len(small.Ops), 1)
	only := Shrink(p, func(q *ir.Program) bool { return len(q.Ops) == 1 })
	assert.True(t, only.Equal(p))
}
