package wordpiece

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/examples/internal/models"
)

const (
	unk = 1
	cls = 2
	sep = 3
)

// small returns a tokenizer whose ids are the positions in this list.
func small(t *testing.T) *Tokenizer {
	t.Helper()
	tok, err := New(strings.NewReader(strings.Join([]string{
		"[PAD]", "[UNK]", "[CLS]", "[SEP]", // 0–3
		"un", "##aff", "##able", "##a", "##f", "u", // 4–9
		"cafe", "!", "x", "##x", "日", "##na", // 10–15
	}, "\n") + "\n"))
	require.NoError(t, err)
	return tok
}

func TestEncode(t *testing.T) {
	tests := []struct {
		name, text string
		want       []int64
	}{
		{"nothing", "", nil},
		{"longest piece first", "unaffable", []int64{4, 5, 6}},
		{"shorter pieces where the longest do not fit", "unaf", []int64{4, 7, 8}},
		{"a word is unknown as a whole", "unaffq", []int64{unk}},
		{"greedy does not go back", "una", []int64{4, 7}},
		{"a piece inside a word does not start one", "able", []int64{unk}},
		{"case and accents", "CAFÉ cafe\u0301", []int64{10, 10}},
		{"punctuation stands alone", "x!!x", []int64{12, 11, 11, 12}},
		{"white space", "\tx\r\n x\u00a0x\u3000x ", []int64{12, 12, 12, 12}},
		{"control characters vanish", "x\u0000x\u200bx\ufffdx\x7f", []int64{12, 13, 13, 13}},
		{"invalid UTF-8 vanishes", "x\xffx", []int64{12, 13}},
		{"Chinese characters stand alone", "x日日x", []int64{12, 14, 14, 12}},
		{"longest word", strings.Repeat("x", 100), append([]int64{12}, repeat(13, 99)...)},
		{"too long a word", strings.Repeat("x", 101), []int64{unk}},
		{"special tokens are text", "x[SEP]", []int64{12, unk, unk, unk}},
	}
	tok := small(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := append(append([]int64{cls}, tt.want...), sep)
			assert.Equal(t, want, tok.Encode(tt.text))
		})
	}
}

func repeat(id int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = id
	}
	return out
}

func TestTruncation(t *testing.T) {
	tok := small(t)
	for _, n := range []int{253, 254, 255, 1000} {
		got := tok.Encode(strings.Repeat("x ", n))
		assert.Len(t, got, min(n+2, MaxTokens), "%d words", n)
		assert.Equal(t, int64(sep), got[len(got)-1])
		assert.Equal(t, int64(12), got[len(got)-2])
	}
	// The cut may fall inside a word.
	got := tok.Encode(strings.Repeat("x ", 253) + "unaffable")
	require.Len(t, got, MaxTokens)
	assert.Equal(t, []int64{12, 4, sep}, got[253:])
}

func TestEncodeBatch(t *testing.T) {
	tok := small(t)
	assert.Equal(t, Batch{
		Rows: 3, Len: 5,
		IDs:  []int64{cls, 12, sep, 0, 0, cls, 4, 5, 6, sep, cls, sep, 0, 0, 0},
		Mask: []bool{true, true, true, false, false, true, true, true, true, true, true, true, false, false, false},
	}, tok.EncodeBatch([]string{"x", "unaffable", ""}))
	assert.Equal(t, Batch{IDs: []int64{}, Mask: []bool{}}, tok.EncodeBatch(nil))
}

func TestVocabularyErrors(t *testing.T) {
	_, err := New(strings.NewReader("[PAD]\n[UNK]\n[CLS]\n"))
	require.ErrorContains(t, err, "no [SEP]")
	_, err = New(strings.NewReader("a\nb\na\n"))
	require.ErrorContains(t, err, `"a" on line 3`)
	_, err = New(strings.NewReader(strings.Repeat("x", 1<<20)))
	require.ErrorContains(t, err, "token too long")
	_, err = Load(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "vocab.txt")
	require.NoError(t, os.WriteFile(path, []byte("a\n"), 0o600))
	_, err = Load(path)
	require.ErrorContains(t, err, path)
}

type encoded struct {
	Text string  `json:"text"`
	IDs  []int64 `json:"ids"`
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, v))
}

// The ids of the golden embeddings, and those that the reference tokenizer
// gives for texts meant to break a tokenizer.
func TestReferenceIDs(t *testing.T) {
	tok, err := Load(filepath.Join(models.Dir(t), "vocab.txt"))
	require.NoError(t, err)
	var golden struct {
		Cases []encoded `json:"cases"`
	}
	readJSON(t, filepath.Join("..", "..", "embed", "testdata", "minilm-golden.json"), &golden)
	require.Len(t, golden.Cases, 24)
	var reference []encoded
	readJSON(t, filepath.Join("testdata", "reference.json"), &reference)
	require.Len(t, reference, 81)
	for _, c := range append(golden.Cases, reference...) {
		assert.Equal(t, c.IDs, tok.Encode(c.Text), "%q", c.Text)
	}
}
