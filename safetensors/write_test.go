package safetensors

import (
	"bytes"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestWriteMatchesReference(t *testing.T) {
	want, err := os.ReadFile(referencePath)
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, Write(&got, referenceTensors(), map[string]string{"format": "pt"}))
	assert.Equal(t, want, got.Bytes())
}

// roundTrip writes the tensors, reads them back and compares.
func roundTrip(t *testing.T, tensors map[string]Tensor, metadata map[string]string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, tensors, metadata))
	f, err := Parse(b.Bytes())
	require.NoError(t, err)
	require.Equal(t, metadata, f.Metadata())
	require.Len(t, f.Names(), len(tensors))
	for name, want := range tensors {
		dtype, shape, data, err := f.Bytes(name)
		require.NoError(t, err)
		require.Equal(t, want, Tensor{dtype, shape, data}, name)
		e, _ := f.Entry(name)
		require.Zero(t, e.Offset%int64(dtype.Size()), "%s is aligned", name)
	}
}

func TestWriteRoundTrip(t *testing.T) {
	roundTrip(t, referenceTensors(), nil)
	roundTrip(t, map[string]Tensor{}, nil)
	roundTrip(t, map[string]Tensor{}, map[string]string{})
	roundTrip(t, map[string]Tensor{"<&>\u2028\x00": {ir.Bool, ir.Shape{1}, []byte{1}}}, map[string]string{"a\"": "b\n"})
}

func TestWriteNilShapeIsRankZero(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, map[string]Tensor{"x": {ir.I64, nil, make([]byte, 8)}}, nil))
	f, err := Parse(b.Bytes())
	require.NoError(t, err)
	e, _ := f.Entry("x")
	assert.Equal(t, ir.Shape{}, e.Shape)
}

func TestWriteRefuses(t *testing.T) {
	good := Tensor{ir.F32, ir.Shape{1}, make([]byte, 4)}
	tests := []struct {
		name     string
		tensors  map[string]Tensor
		metadata map[string]string
		reason   Reason
	}{
		{"reserved name", map[string]Tensor{"__metadata__": good}, nil, ReasonReservedName},
		{"name not UTF-8", map[string]Tensor{"\xff": good}, nil, ReasonUTF8},
		{"metadata not UTF-8", nil, map[string]string{"a": "\xff"}, ReasonUTF8},
		{"invalid dtype", map[string]Tensor{"x": {ir.Invalid, ir.Shape{}, nil}}, nil, ReasonDType},
		{"negative dimension", map[string]Tensor{"x": {ir.F32, ir.Shape{-1}, nil}}, nil, ReasonShape},
		{"overflow", map[string]Tensor{"x": {ir.F32, ir.Shape{math.MaxInt, math.MaxInt, 4}, nil}}, nil, ReasonOverflow},
		{"data too short", map[string]Tensor{"x": {ir.F32, ir.Shape{2}, make([]byte, 4)}}, nil, ReasonSize},
		{"data too long", map[string]Tensor{"x": {ir.F32, ir.Shape{0}, make([]byte, 4)}}, nil, ReasonSize},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, tt.tensors, tt.metadata)
			var format *FormatError
			require.ErrorAs(t, err, &format)
			assert.Equal(t, tt.reason, format.Reason)
			assert.Zero(t, b.Len(), "nothing is written")
		})
	}
}

// shortWriter takes n bytes and then fails.
type shortWriter struct {
	n   int
	err error
}

func (w *shortWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, w.err
	}
	return len(p), nil
}

func TestWriteReportsWriterErrors(t *testing.T) {
	full := errors.New("disk full")
	for _, n := range []int{0, 600} {
		err := Write(&shortWriter{n, full}, referenceTensors(), nil)
		require.ErrorIs(t, err, full, "after %d bytes", n)
	}
}
