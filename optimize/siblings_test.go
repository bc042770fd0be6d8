package optimize

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// reasons returns the rules for which the operations at positions x and y were
// kept apart.
func reasons(p *Plan, x, y int) []string {
	var out []string
	for _, d := range p.Log.Why(x, y) {
		out = append(out, d.Rule)
	}
	return out
}

// Reductions of one input are one pass over it, if they join the same axes.
func TestSiblings(t *testing.T) {
	b := &builder{}
	x := b.in(64, 256)
	most := b.axes(ir.Max, x, 1)
	b.asked(most, b.axes(ir.ArgMax, x, 1), b.op(ir.Exp, b.in(7)), b.op(ir.Neg, b.axes(ir.Min, x, 1)))
	p := throughFusers(t, b)
	require.Equal(t, [][]int{{2}, {0, 1, 3, 4}}, sorted(kernels(p)), p.Format(&b.seg))

	b = &builder{}
	x = b.in(64, 256)
	b.asked(b.axes(ir.Max, x, 1), b.axes(ir.Max, x, 0))
	p = throughFusers(t, b)
	require.Equal(t, [][]int{{0}, {1}}, sorted(kernels(p)), p.Format(&b.seg))
	require.Contains(t, reasons(p, 0, 1), string(fuser.RuleAxes))

	// The second needs what is computed from the first elsewhere.
	b = &builder{}
	x = b.in(4, 4)
	m := b.op(ir.MatMul, b.axes(ir.Max, x, 1), b.in(1, 4))
	b.asked(b.axes(ir.Sum, b.op(ir.Add, x, m), 1))
	p = throughFusers(t, b)
	require.NotContains(t, kernels(p), []int{0, 2, 3})
}

func sorted(kernels [][]int) [][]int {
	for i := range kernels {
		for j := i; j > 0 && len(kernels[j]) < len(kernels[j-1]); j-- {
			kernels[j], kernels[j-1] = kernels[j-1], kernels[j]
		}
	}
	return kernels
}

// dequantised records a weight with zero points and scales.
func dequantised(b *builder, k, n int) ir.TensorID {
	q := b.cast(b.typed(ir.I8, k, n), ir.F32)
	zero := b.cast(b.typed(ir.I8, n), ir.F32)
	return b.op(ir.Mul, b.op(ir.Sub, q, zero), b.in(n))
}

// What is computed for a contraction's operands alone is computed as it reads
// them, however many blocks it was.
func TestFeeders(t *testing.T) {
	b := &builder{}
	x := b.in(4, 512)
	b.asked(b.op(ir.Gelu, b.op(ir.MatMul, x, dequantised(b, 512, 256))))
	p := throughFusers(t, b)
	require.Equal(t, [][]int{{0, 1, 2, 3, 4, 5}}, kernels(p), p.Format(&b.seg))

	// It is needed elsewhere, too.
	b = &builder{}
	w := dequantised(b, 512, 256)
	b.asked(b.op(ir.MatMul, b.in(4, 512), w), w)
	p = throughFusers(t, b)
	require.Equal(t, [][]int{{1}, {0, 2, 3}, {4}}, kernels(p), p.Format(&b.seg))
	require.Contains(t, reasons(p, 3, 4), string(fuser.RuleOperandNeeded))

	// It would be computed anew for many parts of the result.
	b = &builder{}
	w = dequantised(b, 64, 64)
	for range 6 {
		w = b.op(ir.Gelu, w)
	}
	b.asked(b.op(ir.MatMul, b.in(20000, 64), w))
	p = throughFusers(t, b)
	require.Equal(t, []int{10}, kernels(p)[2], p.Format(&b.seg))
	require.Contains(t, reasons(p, 9, 10), string(fuser.RulePrologue))
}
