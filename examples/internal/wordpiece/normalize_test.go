package wordpiece

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

// The decompositions are those of the Unicode character database.
func TestNormalize(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"ASCII", "Hello, World", "hello, world"},
		{"precomposed", "ÀÇÉÎÕÜñ", "aceioun"},
		{"two marks", "ǕỆṩ", "ues"},
		{"combining", "e\u0301o\u0308\u0304", "eo"},
		{"no decomposition", "ßøłđı", "ßøłđı"},
		{"singletons", "\u212b\u2126\u212a", "aωk"},
		{"dotted capital I", "İ", "i"},
		{"compatibility forms stay", "ﬁ²Ⅷ", "ﬁ²ⅷ"},
		{"Greek", "Ὦ ᾧ ΐ Σς", "ω ω ι σς"},
		{"Cyrillic", "Йёї", "иеі"},
		{"kana", "がパヴ", "かハウ"},
		{"Hangul", "가각힣", "\u1100\u1161\u1100\u1161\u11a8\u1112\u1175\u11c2"},
		{"Hangul neighbours", "\uabff\ud7a4", "\uabff\ud7a4"},
		{"spacing marks stay", "ক\u09cb", "ক\u09c7\u09be"},
		{"Chinese", "a世b", "a 世 b"},
		{"compatibility ideograph", "\uf900", " \u8c48 "},
		{"controls", "a\u0001b\u00adc\ue000d", "abcd"},
		{"spaces", "a\tb\u2028c\u00a0d", "a b c d"},
		{"unassigned stays", "\u0378", "\u0378"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, normalize(tt.text))
		})
	}
}

func TestBasesAreOrderedAndFree(t *testing.T) {
	for i, e := range bases {
		if i > 0 {
			assert.Less(t, bases[i-1].char, e.char)
		}
		for _, r := range e.base {
			assert.False(t, unicode.Is(unicode.Mn, r), "%U keeps a nonspacing mark", e.char)
		}
	}
}

func TestWords(t *testing.T) {
	assert.Nil(t, words("  "))
	assert.Equal(t, []string{"a", "-", "b", "(", "c", ")", "“", "d", "”", "e", "$", "^"}, words("a-b (c) “d”e $^"))
	for r := rune(0); r < 0x80; r++ {
		graphic := r > ' ' && r < 0x7f
		alnum := r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		assert.Equal(t, graphic && !alnum, isPunctuation(r), "%q", r)
	}
}
