package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// pattern returns n elements of the given width whose bits are those that
// testdata/make.py gives them.
func pattern(n, size int) []byte {
	var b []byte
	for i := range n {
		word := binary.LittleEndian.AppendUint64(nil, uint64(i)*40503+7)
		b = append(b, word[:size]...)
	}
	return b
}

// referenceTensors is what testdata/reference.safetensors holds.
func referenceTensors() map[string]Tensor {
	mask := pattern(7, 1)
	for i := range mask {
		mask[i] %= 2
	}
	return map[string]Tensor{
		"weight":         {ir.F32, ir.Shape{3, 5}, pattern(15, 4)},
		"bias":           {ir.F32, ir.Shape{5}, pattern(5, 4)},
		"a.bf16":         {ir.BF16, ir.Shape{2, 2, 2}, pattern(8, 2)},
		"mask":           {ir.Bool, ir.Shape{7}, mask},
		"ids":            {ir.I64, ir.Shape{1, 4}, pattern(4, 8)},
		"empty":          {ir.F32, ir.Shape{0, 3}, []byte{}},
		"scalar":         {ir.F32, ir.Shape{}, pattern(1, 4)},
		"naïve <\"\\> 名": {ir.I64, ir.Shape{2}, pattern(2, 8)},
	}
}

var referencePath = filepath.Join("testdata", "reference.safetensors")

func TestOpenReadsReferenceFile(t *testing.T) {
	f, err := Open(referencePath)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"format": "pt"}, f.Metadata())
	assert.Equal(t, []string{"a.bf16", "bias", "empty", "ids", "mask", "naïve <\"\\> 名", "scalar", "weight"}, f.Names())
	for name, want := range referenceTensors() {
		dtype, shape, data, err := f.Bytes(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, Tensor{dtype, shape, data}, name)
	}
	require.NoError(t, f.Close())
	_, _, _, err = f.Bytes("weight")
	require.ErrorIs(t, err, os.ErrClosed)
}

func TestEntries(t *testing.T) {
	f, err := Open(referencePath)
	require.NoError(t, err)
	defer f.Close()
	e, ok := f.Entry("bias")
	require.True(t, ok)
	assert.Equal(t, Entry{Name: "bias", DType: F32, Shape: ir.Shape{5}, Offset: 8 + 0x218 + 48, Size: 20}, e)
	e.Shape[0] = 99
	again, _ := f.Entry("bias")
	assert.Equal(t, ir.Shape{5}, again.Shape, "entries share nothing with the caller")

	_, ok = f.Entry("none")
	assert.False(t, ok)
	_, _, _, err = f.Bytes("none")
	var notFound *NotFoundError
	require.ErrorAs(t, err, &notFound)
	assert.Equal(t, "none", notFound.Name)

	var names []string
	for name, e := range f.All() {
		assert.Equal(t, name, e.Name)
		names = append(names, name)
	}
	assert.Equal(t, f.Names(), names)
	for range f.All() {
		break
	}
}

func TestBytesAreACopy(t *testing.T) {
	raw, err := os.ReadFile(referencePath)
	require.NoError(t, err)
	f, err := Parse(raw)
	require.NoError(t, err)
	_, _, first, err := f.Bytes("weight")
	require.NoError(t, err)
	clear(first)
	_, _, second, err := f.Bytes("weight")
	require.NoError(t, err)
	assert.Equal(t, pattern(15, 4), second)
	require.NoError(t, f.Close())
}

func TestUnalignedData(t *testing.T) {
	f, err := Parse(build(`{"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},`+
		`"f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}`, append([]byte{1}, pattern(2, 4)...)))
	require.NoError(t, err)
	_, _, data, err := f.Bytes("f")
	require.NoError(t, err)
	assert.Equal(t, pattern(2, 4), data)
}

// Every dtype of the format, with the bits an element takes as its
// documentation gives them.
func TestDTypes(t *testing.T) {
	tests := []struct {
		dtype DType
		bits  int
		ir    ir.DType
	}{
		{Bool, 8, ir.Bool}, {F4, 4, 0}, {F6E2M3, 6, 0}, {F6E3M2, 6, 0}, {U8, 8, ir.U8}, {I8, 8, ir.I8},
		{F8E5M2, 8, ir.F8E5M2}, {F8E4M3, 8, ir.F8E4M3}, {F8E8M0, 8, 0}, {F8E4M3FNUZ, 8, 0}, {F8E5M2FNUZ, 8, 0},
		{I16, 16, ir.I16}, {U16, 16, ir.U16}, {F16, 16, ir.F16}, {BF16, 16, ir.BF16}, {I32, 32, ir.I32}, {U32, 32, ir.U32},
		{F32, 32, ir.F32}, {C64, 64, 0}, {F64, 64, ir.F64}, {I64, 64, ir.I64}, {U64, 64, ir.U64},
	}
	require.Len(t, tests, int(numDTypes)-1)
	for _, tt := range tests {
		t.Run(tt.dtype.String(), func(t *testing.T) {
			text := fmt.Sprintf(`{"x":{"dtype":%q,"shape":[2,4],"data_offsets":[0,%d]}}`, tt.dtype, tt.bits)
			f, err := Parse(build(text, make([]byte, tt.bits)))
			require.NoError(t, err)
			e, ok := f.Entry("x")
			require.True(t, ok)
			assert.Equal(t, tt.dtype, e.DType)
			dtype, _, data, err := f.Bytes("x")
			if tt.ir == ir.Invalid {
				var unsupported *UnsupportedDTypeError
				require.ErrorAs(t, err, &unsupported)
				assert.Equal(t, UnsupportedDTypeError{"x", tt.dtype}, *unsupported)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.ir, dtype)
			assert.Len(t, data, 8*tt.ir.Size())
		})
	}
	assert.Equal(t, "dtype(0)", DType(0).String())
	_, ok := DType(200).IR()
	assert.False(t, ok)
}

func TestBoolBytesAreChecked(t *testing.T) {
	f, err := Parse(build(`{"m":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}`, []byte{0, 1, 2}))
	require.NoError(t, err)
	e, _ := f.Entry("m")
	_, _, _, err = f.Bytes("m")
	var format *FormatError
	require.ErrorAs(t, err, &format)
	assert.Equal(t, FormatError{Reason: ReasonBool, Name: "m", Offset: e.Offset + 2, Detail: "2"}, *format)
}

// failingReader serves b but fails reads at or after the offset fail.
type failingReader struct {
	b    []byte
	fail int64
	err  error
}

func (r failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.fail {
		return 0, r.err
	}
	return bytes.NewReader(r.b).ReadAt(p, off)
}

func TestReaderErrors(t *testing.T) {
	raw, err := os.ReadFile(referencePath)
	require.NoError(t, err)
	broken := errors.New("disk gone")
	for _, at := range []int64{0, 8, 600} {
		f, err := Read(failingReader{raw, at, broken}, int64(len(raw)))
		if err == nil {
			_, _, _, err = f.Bytes("weight")
		}
		require.ErrorIs(t, err, broken, "reads fail from byte %d", at)

		f, err = Read(failingReader{raw, at, io.EOF}, int64(len(raw)))
		if err == nil {
			_, _, _, err = f.Bytes("weight")
		}
		var format *FormatError
		require.ErrorAs(t, err, &format, "file ends at byte %d", at)
		assert.Equal(t, ReasonTruncated, format.Reason)
	}
}

func TestOpenErrors(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	path := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(path, []byte("abc"), 0o600))
	_, err = Open(path)
	var format *FormatError
	require.ErrorAs(t, err, &format)
	assert.Equal(t, ReasonTruncated, format.Reason)
	assert.ErrorContains(t, err, path)
}

// A file, reader or writer that is nil is empty or a typed error.
func TestNothing(t *testing.T) {
	var argument *ir.ArgumentError
	_, err := Read(nil, 8)
	require.ErrorAs(t, err, &argument)
	require.ErrorAs(t, Write(nil, nil, nil), &argument)
	for _, f := range []*File{nil, {}} {
		require.NoError(t, f.Close())
		require.Empty(t, f.Metadata())
		require.Empty(t, f.Names())
		for name := range f.All() {
			t.Error(name)
		}
		_, ok := f.Entry("x")
		require.False(t, ok)
		var missing *NotFoundError
		_, _, _, err := f.Bytes("x")
		require.ErrorAs(t, err, &missing)
	}
}
