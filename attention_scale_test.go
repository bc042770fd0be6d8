package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// The scale of an attention as a tensor gives what it gives as a number.
func TestAttentionScaleTensor(t *testing.T) {
	for _, dtype := range []ir.DType{ir.F32, ir.BF16} {
		for _, dev := range []*sinter.Device{open(t), open(t, sinter.WithFusion(false))} {
			d := newData(4)
			q, k := put(dev, d.make(dtype, false, 2, 4, 3, 8)), put(dev, d.make(dtype, false, 2, 2, 5, 8))
			mask := put(dev, d.make(ir.Bool, false, 3, 5))
			number := q.Attention(k, k, sinter.AttentionOptions{Mask: mask, Scale: 0.25})
			scale := put(dev, oracle.Floats(dtype, shape{}, 0.5)).Square()
			held := q.Attention(k, k, sinter.AttentionOptions{Mask: mask, ScaleTensor: scale})
			require.NoError(t, oracle.Compare(get(t, held), get(t, number), oracle.Tol{}))
		}
	}
}
