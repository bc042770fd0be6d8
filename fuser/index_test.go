package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// An index along an expanded axis stays below the expanded length, not below
// the one element behind it.
func TestIndexAlongExpandedAxis(t *testing.T) {
	p := newProgram(t)
	table := p.op(ir.Expand, p.f32(1), shape(3, 1))
	p.store(p.op(ir.Embedding, table, p.in(oracle.Ints(ir.Shape{4}, 0, 2, 1, 2))))
	p.runFused("elementwise")

	o, err := Single(&p.g, 1)
	require.NoError(t, err)
	for _, a := range o.Calls[0].Access {
		for _, d := range a.Extent {
			require.Equal(t, 3, o.Calls[0].Length(d, p.g.Dims))
		}
	}
}
