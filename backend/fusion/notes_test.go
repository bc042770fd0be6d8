package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// Whatever an operation is told by the host, a replay repeats: each attribute
// that changes between passes is refused.
func TestEveryAttributeIsNoted(t *testing.T) {
	axis := []int{0}
	for name, ops := range map[string][2]ir.Operation{
		"dtype":     {{Kind: ir.Cast, Attrs: ir.Attrs{DType: ir.F16}}, {Kind: ir.Cast, Attrs: ir.Attrs{DType: ir.BF16}}},
		"flag":      {{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: axis}}, {Kind: ir.CumSum, Attrs: ir.Attrs{Axes: axis, Flag: true}}},
		"direction": {{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: axis}}, {Kind: ir.CumSum, Attrs: ir.Attrs{Axes: axis, Reverse: true}}},
		"number":    {{Kind: ir.Var, Attrs: ir.Attrs{Axes: axis}}, {Kind: ir.Var, Attrs: ir.Attrs{Axes: axis, N: 1}}},
		"step": {
			{Kind: ir.Slice, Ranges: []ir.Range{{Start: 4, Len: 2, Step: 1}}},
			{Kind: ir.Slice, Ranges: []ir.Range{{Start: 4, Len: 2, Step: 2}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, fusion.Options{}).Default()
			x := fromOnes(s, 8)
			changedBetweenPasses(t, s, func(pass int) *fusion.Value { return s.Record(ops[pass], x) })
		})
	}
}

// So is each tensor from outside, however many an operation takes.
func TestEveryOperandFromOutsideIsNoted(t *testing.T) {
	s := open(t, fusion.Options{}).Default()
	var x [7]*fusion.Value
	for i := range x {
		x[i] = fromOnes(s, 2)
	}
	changedBetweenPasses(t, s, func(pass int) *fusion.Value {
		return s.Record(ir.Operation{Kind: ir.Cat, Attrs: ir.Attrs{Axes: []int{0}}}, x[0], x[1], x[2], x[3], x[4], x[5+pass])
	})
}

// changedBetweenPasses records two passes and checks that the second is refused
// for what changed.
func changedBetweenPasses(t *testing.T, s *fusion.Stream, f func(pass int) *fusion.Value) {
	t.Helper()
	ctx := context.Background()
	w, err := s.OpenWindow(ctx, fusion.WindowOptions{})
	require.NoError(t, err)
	defer w.Abandon()
	for pass := range 2 {
		require.NoError(t, w.Begin(false))
		y := f(pass)
		require.NoError(t, y.Err())
		_, err = w.End(ctx, []*fusion.Value{y})
	}
	var refused *backend.CaptureError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Reason, "between passes")
}
