// Package wordpiece is the tokenizer of uncased BERT models: text → words →
// pieces of a fixed vocabulary → ids. It must not know models or tensors.
//
// Special tokens written in the text, such as "[SEP]", are split like any other
// text: a text cannot end its own sentence.
package wordpiece

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

const (
	// MaxTokens is the length a text is cut to, [CLS] and [SEP] counted.
	MaxTokens = 256

	maxWordRunes = 100 // a longer word is unknown
	continuation = "##"
)

// Tokenizer turns texts into token ids. It is never written to after New, so
// that any number of goroutines may use it.
type Tokenizer struct {
	ids                map[string]int64
	unk, cls, sep, pad int64
	longest            int // bytes of the longest piece
}

// Load reads a vocabulary file.
func Load(path string) (*Tokenizer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := New(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// New reads a vocabulary: a token a line, its id the number of the line from 0.
// It must hold [UNK], [CLS], [SEP] and [PAD].
func New(r io.Reader) (*Tokenizer, error) {
	t := &Tokenizer{ids: map[string]int64{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		token := lines.Text()
		if _, dup := t.ids[token]; dup {
			return nil, fmt.Errorf("wordpiece: token %q on line %d is already in the vocabulary", token, len(t.ids)+1)
		}
		t.ids[token] = int64(len(t.ids))
		t.longest = max(t.longest, len(token))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("wordpiece: %w", err)
	}
	for token, id := range map[string]*int64{"[UNK]": &t.unk, "[CLS]": &t.cls, "[SEP]": &t.sep, "[PAD]": &t.pad} {
		var ok bool
		if *id, ok = t.ids[token]; !ok {
			return nil, fmt.Errorf("wordpiece: vocabulary has no %s", token)
		}
	}
	return t, nil
}

// Encode returns the ids of [CLS], the pieces of the text and [SEP], at most
// MaxTokens of them: of a longer text the end is left out.
func (t *Tokenizer) Encode(text string) []int64 {
	ids := []int64{t.cls}
	for _, word := range words(normalize(text)) {
		ids = t.pieces(ids, word)
		if len(ids) >= MaxTokens-1 {
			ids = ids[:MaxTokens-1]
			break
		}
	}
	return append(ids, t.sep)
}

// pieces appends the ids of one word: from its start, always the longest piece
// in the vocabulary. A word that cannot be covered so is unknown as a whole.
func (t *Tokenizer) pieces(ids []int64, word string) []int64 {
	if utf8.RuneCountInString(word) > maxWordRunes {
		return append(ids, t.unk)
	}
	begin := len(ids)
	for prefix := ""; word != ""; prefix = continuation {
		n := min(len(word), t.longest)
		for ; n > 0; n-- {
			// A cut inside a character finds nothing: tokens are valid UTF-8.
			if id, ok := t.ids[prefix+word[:n]]; ok {
				ids = append(ids, id)
				break
			}
		}
		if n == 0 {
			return append(ids[:begin], t.unk)
		}
		word = word[n:]
	}
	return ids
}

// Batch is several texts padded to the longest of them.
type Batch struct {
	Rows, Len int
	IDs       []int64 // Rows × Len, row-major, [PAD] after a text's end
	Mask      []bool  // Rows × Len, true where IDs holds a token of the text
}

// EncodeBatch encodes every text; see Encode.
func (t *Tokenizer) EncodeBatch(texts []string) Batch {
	rows := make([][]int64, len(texts))
	b := Batch{Rows: len(texts)}
	for i, text := range texts {
		rows[i] = t.Encode(text)
		b.Len = max(b.Len, len(rows[i]))
	}
	b.IDs = make([]int64, b.Rows*b.Len)
	b.Mask = make([]bool, b.Rows*b.Len)
	for i, row := range rows {
		for j := range b.Len {
			at := i*b.Len + j
			b.IDs[at] = t.pad
			if j < len(row) {
				b.IDs[at], b.Mask[at] = row[j], true
			}
		}
	}
	return b
}
