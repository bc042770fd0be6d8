package torchcases

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// Whatever the strides, the elements are those of the host.
func TestOperandLayouts(t *testing.T) {
	dev := open(t)
	tests := []struct {
		shape, strides []int
	}{
		{shape: []int{2, 3}},
		{shape: []int{2, 3}, strides: []int{3, 1}},
		{shape: []int{2, 3}, strides: []int{1, 2}},
		{shape: []int{2, 3}, strides: []int{10, 2}},
		{shape: []int{3, 2, 4}, strides: []int{2, 24, 6}},
		{shape: []int{1, 4}, strides: []int{0, 3}},
		{shape: []int{0, 4}, strides: []int{8, 2}},
		{shape: []int{}, strides: []int{}},
	}
	for _, tt := range tests {
		h := Host{DType: "f32", Shape: tt.shape}
		for i := range h.Len() {
			h.Data = append(h.Data, f32s(float64(i)+0.5).Data...)
		}
		x := operand(dev, h, tt.strides)
		require.Equal(t, tt.shape, append([]int{}, x.Shape()...))
		got, err := sinter.ReadBytes(ctx, x)
		require.NoError(t, err)
		assert.Equal(t, append([]byte{}, h.Data...), append([]byte{}, got...), "%v %v", tt.shape, tt.strides)
	}

	// An expanded axis: equal elements along it.
	x := operand(dev, Host{DType: "bool", Shape: []int{2, 3}, Data: []byte{1, 1, 1, 0, 0, 0}}, []int{2, 0})
	got, err := sinter.Read[bool](ctx, x)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true, true, false, false, false}, got)

	assert.PanicsWithError(t, "strides [3 2] of shape [3 2] do not nest", func() {
		operand(dev, Host{DType: "bool", Shape: []int{3, 2}, Data: make([]byte, 6)}, []int{3, 2})
	})
}
