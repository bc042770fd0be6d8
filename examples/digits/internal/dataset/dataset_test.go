package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/examples/digits/data"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/safetensors"
)

// The counts are those that scikit-learn documents for the data set.
func TestLoad(t *testing.T) {
	s, err := Load()
	require.NoError(t, err)
	require.Equal(t, 1797, s.Len())
	require.Len(t, s.X, 1797*Pixels)
	counts := make([]int, Classes)
	for _, y := range s.Y {
		counts[y]++
	}
	assert.Equal(t, []int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}, counts)
	assert.Equal(t, []float32{0, 0, 5. / 16, 13. / 16, 9. / 16, 1. / 16, 0, 0}, s.Image(0)[:8])
	assert.Equal(t, int64(8), s.Y[1796])
}

func TestSplit(t *testing.T) {
	s, err := Load()
	require.NoError(t, err)
	training, heldOut := s.Split()
	assert.Equal(t, 1437, training.Len())
	assert.Equal(t, 360, heldOut.Len())
	assert.Equal(t, s.Image(0), heldOut.Image(0))
	assert.Equal(t, s.Image(1), training.Image(0))
	assert.Equal(t, s.Image(4), training.Image(3))
	assert.Equal(t, s.Image(1795), heldOut.Image(359))
	assert.Equal(t, s.Y[1795], heldOut.Y[359])
	assert.Equal(t, s.Image(1796), training.Image(1436))
}

func TestParseErrors(t *testing.T) {
	zeros := strings.Repeat("0,", Pixels)
	tests := []struct{ name, text, want string }{
		{"short row", "1,2,3\n", "wrong number of fields"},
		{"bright pixel", zeros + "1\n17," + zeros[2:] + "1\n", `line 2, column 1: "17" is not in 0..16`},
		{"negative pixel", "-1," + zeros[2:] + "1\n", `"-1" is not in 0..16`},
		{"fraction", "0.5," + zeros[2:] + "1\n", `"0.5" is not in 0..16`},
		{"label", zeros + "10\n", `column 129: "10" is not in 0..9`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
	s, err := Parse(strings.NewReader(""))
	require.NoError(t, err)
	assert.Zero(t, s.Len())
}

// layer reads one layer's weights as float64 slices.
func layer(t *testing.T, f *safetensors.File, name string, in, out int) (w, b []float64) {
	t.Helper()
	read := func(name string, want ir.Shape) []float64 {
		dtype, shape, raw, err := f.Bytes(name)
		require.NoError(t, err)
		require.Equal(t, ir.F32, dtype)
		require.Equal(t, want, shape)
		v := make([]float64, shape.NumElements())
		for i := range v {
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
		return v
	}
	return read(name+".weight", ir.Shape{in, out}), read(name+".bias", ir.Shape{out})
}

// A plain float64 forward pass over the held-out rows gives the accuracy that
// training reported, so layout, scaling and split agree with the script's.
func TestWeightsFitTheData(t *testing.T) {
	f, err := safetensors.Parse(data.Weights)
	require.NoError(t, err)
	require.Equal(t, []string{"net.0.bias", "net.0.weight", "net.1.bias", "net.1.weight", "net.2.bias", "net.2.weight"}, f.Names())
	sizes := []int{Pixels, 64, 32, Classes}
	var weights, biases [3][]float64
	for l := range weights {
		weights[l], biases[l] = layer(t, f, fmt.Sprintf("net.%d", l), sizes[l], sizes[l+1])
	}
	s, err := Load()
	require.NoError(t, err)
	_, heldOut := s.Split()
	right := 0
	for i := range heldOut.Len() {
		x := make([]float64, Pixels)
		for j, v := range heldOut.Image(i) {
			x[j] = float64(v)
		}
		for l := range weights {
			y := append([]float64{}, biases[l]...)
			for j, v := range x {
				for k := range y {
					y[k] += v * weights[l][j*len(y)+k]
				}
			}
			if l < len(weights)-1 {
				for k := range y {
					y[k] = max(y[k], 0)
				}
			}
			x = y
		}
		best := 0
		for k, v := range x {
			if v > x[best] {
				best = k
			}
		}
		if int64(best) == heldOut.Y[i] {
			right++
		}
	}
	assert.Equal(t, 351, right)
}
