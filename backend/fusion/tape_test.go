package fusion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// notebook is a tape that saves the outputs of one kind of operation.
type notebook struct {
	save  ir.Kind
	kinds []ir.Kind
	in    [][]*fusion.Value
	out   []*fusion.Value
}

func (n *notebook) Recorded(op *ir.Operation, in []*fusion.Value, out *fusion.Value) {
	n.kinds = append(n.kinds, op.Kind)
	n.in = append(n.in, append([]*fusion.Value(nil), in...))
	n.out = append(n.out, out)
	if op.Kind == n.save {
		out.Save()
	}
}

// TestTape: a tape is told of every operation once, in order, and what it
// saves inside a block is stored when the block runs.
func TestTape(t *testing.T) {
	for _, save := range []ir.Kind{ir.Exp, ir.KindInvalid} {
		rt := open(t, fusion.Options{Fusers: fuser.Default()})
		s := rt.Default()
		first, tape := &notebook{}, &notebook{save: save}
		require.Nil(t, s.SetTape(first))
		require.Same(t, first, s.SetTape(tape).(*notebook))
		x := s.FromBytes(ir.F32, ir.Shape{4}, floats(0, 0, 0, 0), 0)
		a := s.Record(scalarOp(ir.Mul, 2), x)
		b := s.Record(ir.Operation{Kind: ir.Exp}, a)
		c := s.Record(ir.Operation{Kind: ir.Add}, b, a)
		require.Same(t, tape, s.SetTape(nil).(*notebook))
		d := s.Record(ir.Operation{Kind: ir.Neg}, c) // no longer told

		require.Equal(t, []float32{-1, -1, -1, -1}, read(t, d))
		require.Empty(t, first.kinds)
		require.Equal(t, []ir.Kind{ir.Mul, ir.Exp, ir.Add}, tape.kinds)
		require.Equal(t, []*fusion.Value{a, b, c}, tape.out)
		require.Equal(t, [][]*fusion.Value{{x}, {a}, {b, a}}, tape.in)

		st := rt.Stats()
		require.Equal(t, int64(1), st.Device.Launches, "one block")
		if save == ir.Exp {
			require.Equal(t, fusion.Stored, b.State())
		} else {
			require.Equal(t, fusion.Virtual, b.State())
		}
		require.Equal(t, []float32{1, 1, 1, 1}, read(t, b))
		late := rt.Stats().Recomputed - st.Recomputed
		require.Equal(t, save != ir.Exp, late > 0, "computed again: %d", late)
	}
}
