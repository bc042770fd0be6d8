package safetensors

import (
	"encoding/binary"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// build returns a file with the given header text and data.
func build(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// one returns a header with the single tensor "x".
func one(dtype, shape, offsets string) string {
	return `{"x":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}}`
}

func TestAcceptedFiles(t *testing.T) {
	tests := []struct {
		name   string
		header string
		data   int
		want   []string
	}{
		{"no tensors", `{}`, 0, []string{}},
		{"only metadata", `{"__metadata__":{"a":"b"}}`, 0, []string{}},
		{"padding", one("F32", "[1]", "[0,4]") + "   ", 4, []string{"x"}},
		{"rank 0", one("I64", "[]", "[0,8]"), 8, []string{"x"}},
		{"empty", one("I64", "[3,0]", "[0,0]"), 0, []string{"x"}},
		{"fields in any order, unknown ones skipped",
			`{"x":{"note":{"a":[1,{}]},"data_offsets":[0,4],"dtype":"F32","more":null,"shape":[1]}}`, 4, []string{"x"}},
		{"tensors in any order", `{"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},` +
			`"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 8, []string{"a", "b"}},
		{"empty tensor between others", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},` +
			`"e":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},` +
			`"z":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8, []string{"a", "e", "z"}},
		{"empty name", `{"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, []string{""}},
		{"escapes", `{"\ud83d\ude00\\ud800\n":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, []string{"😀\\ud800\n"}},
		{"replacement character is a name like any other",
			`{"�":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, []string{"�"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse(build(tt.header, make([]byte, tt.data)))
			require.NoError(t, err)
			assert.Equal(t, tt.want, f.Names())
		})
	}
}

func TestRefusedFiles(t *testing.T) {
	const x4 = `"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`
	maxInt := "9223372036854775807"
	tests := []struct {
		name   string
		header string
		data   int
		reason Reason
		tensor string
	}{
		{"empty header", ``, 0, ReasonHeaderStart, ""},
		{"leading space", ` {}`, 0, ReasonHeaderStart, ""},
		{"array", `[]`, 0, ReasonHeaderStart, ""},
		{"no end", `{`, 0, ReasonJSON, ""},
		{"trailing comma", `{` + x4 + `,}`, 4, ReasonJSON, ""},
		{"two values", `{}{}`, 0, ReasonJSON, ""},
		{"deep nesting", `{"x":` + strings.Repeat("[", 100_000), 0, ReasonJSON, ""},
		{"invalid UTF-8", "{\"\xff\":1}", 0, ReasonUTF8, ""},
		{"lone high surrogate", `{"\ud800x":1}`, 0, ReasonUTF8, ""},
		{"two high surrogates", `{"\ud800\ud800":1}`, 0, ReasonUTF8, ""},
		{"lone low surrogate", `{"\udc00":1}`, 0, ReasonUTF8, ""},
		{"duplicate tensor", `{` + x4 + `,` + x4 + `}`, 4, ReasonDuplicate, "x"},
		{"duplicate tensor through an escape", `{` + x4 + `,` + strings.Replace(x4, "x", `\u0078`, 1) + `}`, 4, ReasonDuplicate, "x"},
		{"duplicate field", `{"x":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, ReasonDuplicate, "dtype"},
		{"duplicate metadata", `{"__metadata__":{"a":"1","a":"2"}}`, 0, ReasonDuplicate, "a"},
		{"metadata twice", `{"__metadata__":{},"__metadata__":{}}`, 0, ReasonDuplicate, "__metadata__"},
		{"metadata not an object", `{"__metadata__":"a"}`, 0, ReasonField, "__metadata__"},
		{"metadata value not a string", `{"__metadata__":{"a":1}}`, 0, ReasonField, "__metadata__"},
		{"metadata value nested", `{"__metadata__":{"a":{"b":"c"}}}`, 0, ReasonField, "__metadata__"},
		{"entry not an object", `{"x":[1,2]}`, 0, ReasonField, "x"},
		{"entry null", `{"x":null}`, 0, ReasonField, "x"},
		{"no dtype", `{"x":{"shape":[1],"data_offsets":[0,4]}}`, 4, ReasonField, "x"},
		{"no shape", `{"x":{"dtype":"F32","data_offsets":[0,4]}}`, 4, ReasonField, "x"},
		{"no offsets", `{"x":{"dtype":"F32","shape":[1]}}`, 4, ReasonField, "x"},
		{"dtype not a string", `{"x":{"dtype":1,"shape":[1],"data_offsets":[0,4]}}`, 4, ReasonField, "x"},
		{"unknown dtype", one("F33", "[1]", "[0,4]"), 4, ReasonDType, "x"},
		{"lower-case dtype", one("f32", "[1]", "[0,4]"), 4, ReasonDType, "x"},
		{"shape not an array", one("F32", "1", "[0,4]"), 4, ReasonField, "x"},
		{"shape nested", one("F32", "[[1]]", "[0,4]"), 4, ReasonShape, "x"},
		{"shape of strings", one("F32", `["1"]`, "[0,4]"), 4, ReasonShape, "x"},
		{"negative dimension", one("F32", "[-1]", "[0,4]"), 4, ReasonShape, "x"},
		{"negative dimensions with a positive product", one("F32", "[-1,-1]", "[0,4]"), 4, ReasonShape, "x"},
		{"fractional dimension", one("F32", "[1.0]", "[0,4]"), 4, ReasonShape, "x"},
		{"exponent dimension", one("F32", "[1e0]", "[0,4]"), 4, ReasonShape, "x"},
		{"dimension over int", one("F32", "[9223372036854775808]", "[0,4]"), 4, ReasonShape, "x"},
		{"dimension over uint64", one("F32", "[99999999999999999999]", "[0,4]"), 4, ReasonShape, "x"},
		{"product wraps to the right size", one("F32", "[2147483647,2147483647,2147483647]", "[0,4]"), 4, ReasonOverflow, "x"},
		{"product overflows beside a zero", one("F32", "[0,2147483647,2147483647,2147483647]", "[0,0]"), 0, ReasonOverflow, "x"},
		{"half a byte", one("F4", "[3]", "[0,1]"), 1, ReasonPartialByte, "x"},
		{"one offset", one("F32", "[1]", "[0]"), 4, ReasonOffsets, "x"},
		{"three offsets", one("F32", "[1]", "[0,4,8]"), 4, ReasonOffsets, "x"},
		{"negative offset", one("F32", "[1]", "[-4,0]"), 4, ReasonOffsets, "x"},
		{"reversed offsets", one("F32", "[1]", "[4,0]"), 4, ReasonOffsets, "x"},
		{"offsets beyond the file", one("F32", "[2]", "[0,8]"), 4, ReasonOutOfBounds, "x"},
		{"offsets near the largest integer", one("F32", "[1]", "["+maxInt+",18446744073709551615]"), 4, ReasonOutOfBounds, "x"},
		{"empty tensor beyond the file", one("F32", "[0]", "[8,8]"), 4, ReasonOutOfBounds, "x"},
		{"hole at the start", one("F32", "[1]", "[4,8]"), 8, ReasonHole, "x"},
		{"trailing bytes", `{` + x4 + `}`, 5, ReasonHole, ""},
		{"data but no tensor", `{}`, 1, ReasonHole, ""},
		{"hole between", `{` + x4 + `,"y":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12, ReasonHole, "y"},
		{"overlap", `{` + x4 + `,"y":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}`, 6, ReasonOverlap, "y"},
		{"same bytes twice", `{` + x4 + `,"y":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, ReasonOverlap, ""},
		{"empty tensor inside another", `{` + x4 + `,"y":{"dtype":"F32","shape":[0],"data_offsets":[2,2]}}`, 4, ReasonOverlap, "y"},
		{"size too small", one("F32", "[2]", "[0,4]"), 4, ReasonSize, "x"},
		{"size too large", one("F32", "[1]", "[0,8]"), 8, ReasonSize, "x"},
		{"bytes for an empty tensor", one("F32", "[0]", "[0,4]"), 4, ReasonSize, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := build(tt.header, make([]byte, tt.data))
			_, err := Parse(file)
			var format *FormatError
			require.ErrorAs(t, err, &format)
			assert.Equal(t, tt.reason, format.Reason, err)
			if tt.tensor != "" {
				assert.Equal(t, tt.tensor, format.Name)
			}
			assert.LessOrEqual(t, format.Offset, int64(len(file)))
			assert.ErrorContains(t, err, "safetensors: "+string(tt.reason))
		})
	}
}

func TestHeaderLength(t *testing.T) {
	prefix := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	tests := []struct {
		name   string
		file   []byte
		reason Reason
	}{
		{"nothing", nil, ReasonTruncated},
		{"seven bytes", make([]byte, 7), ReasonTruncated},
		{"one byte longer than the file", append(prefix(3), "{}"...), ReasonTruncated},
		{"at the limit, file short", append(prefix(maxHeaderSize), "{}"...), ReasonTruncated},
		{"over the limit", append(prefix(maxHeaderSize+1), "{}"...), ReasonHeaderTooBig},
		{"largest integer", append(prefix(math.MaxUint64), "{}"...), ReasonHeaderTooBig},
		{"sign bit", append(prefix(1<<63), "{}"...), ReasonHeaderTooBig},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.file)
			var format *FormatError
			require.ErrorAs(t, err, &format)
			assert.Equal(t, tt.reason, format.Reason)
		})
	}
}

func TestEveryTruncationIsRefused(t *testing.T) {
	raw, err := os.ReadFile(referencePath)
	require.NoError(t, err)
	for n := range raw {
		_, err := Parse(raw[:n])
		var format *FormatError
		require.ErrorAs(t, err, &format, "first %d bytes", n)
	}
}

// A file of a few bytes that claims to be huge must be refused before memory is
// taken for the claim.
func TestClaimedSizesAllocateNothing(t *testing.T) {
	files := [][]byte{
		append(binary.LittleEndian.AppendUint64(nil, maxHeaderSize), '{'),
		build(one("F32", "[1000000000]", "[0,4000000000]"), nil),
		build(one("F32", "[2000000000,2000000000]", "[0,16000000000000000000]"), nil),
	}
	for i, file := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(file)
		runtime.ReadMemStats(&after)
		require.Error(t, err)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "file %d", i)
	}
}

func TestFormatErrorText(t *testing.T) {
	assert.Equal(t, `safetensors: tensors overlap: by 2 ("x", at byte 12)`,
		(&FormatError{Reason: ReasonOverlap, Name: "x", Offset: 12, Detail: "by 2"}).Error())
	assert.Equal(t, `safetensors: name appears twice`, (&FormatError{Reason: ReasonDuplicate, Offset: -1}).Error())
}

// Whatever the bytes are, Parse refuses them with a *FormatError or gives a
// file whose tensors can be read and written back.
func FuzzParse(f *testing.F) {
	raw, err := os.ReadFile(referencePath)
	require.NoError(f, err)
	f.Add(raw)
	f.Add(build(`{}`, nil))
	f.Add(build(one("F4", "[2]", "[0,1]"), []byte{9}))
	f.Add(build(one("BOOL", "[2]", "[0,2]"), []byte{0, 7}))
	for d := Bool; d < numDTypes; d++ {
		n := int(dtypeInfo[d].bits) // bytes of eight elements
		f.Add(build(one(d.String(), "[8]", "[0,"+strconv.Itoa(n)+"]"), make([]byte, n)))
	}
	f.Add(build(`{"__metadata__":{"\ud83d\ude00":"b"},"x":{"a":[[]],"dtype":"I64","shape":[0,1],"data_offsets":[0,0]}}`, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse(b)
		if err != nil {
			var format *FormatError
			require.ErrorAs(t, err, &format)
			return
		}
		tensors := map[string]Tensor{}
		covered := int64(0)
		for name, e := range file.All() {
			covered += e.Size
			dtype, shape, data, err := file.Bytes(name)
			if err != nil {
				var format *FormatError
				if _, known := e.DType.IR(); known {
					require.ErrorAs(t, err, &format)
					require.Equal(t, ReasonBool, format.Reason)
				}
				continue
			}
			require.Equal(t, b[e.Offset:e.Offset+e.Size], data)
			require.Equal(t, shape.NumElements()*dtype.Size(), len(data))
			tensors[name] = Tensor{dtype, shape, data}
		}
		require.Equal(t, int64(len(b))-8-int64(binary.LittleEndian.Uint64(b)), covered)
		roundTrip(t, tensors, file.Metadata())
	})
}

// A rank-0 and a rank-1 tensor of one element are different shapes.
func TestShapesAreKept(t *testing.T) {
	for text, want := range map[string]ir.Shape{"[]": {}, "[1]": {1}, "[1,1]": {1, 1}} {
		f, err := Parse(build(one("F32", text, "[0,4]"), make([]byte, 4)))
		require.NoError(t, err)
		e, _ := f.Entry("x")
		assert.Equal(t, want, e.Shape)
	}
}
