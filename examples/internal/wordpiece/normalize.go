package wordpiece

import (
	"slices"
	"strings"
	"unicode"
)

// normalize prepares a text as BERT's uncased tokenizer does: control
// characters are dropped, every white space becomes a blank, Chinese characters
// stand alone between blanks, accents are stripped and letters made lower case.
func normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	lower := func(r rune) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r == 0 || r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			// Dropped: control, format and private-use characters, and what
			// ranging over invalid UTF-8 gives.
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case isChinese(r):
			b.WriteByte(' ')
			decompose(r, lower)
			b.WriteByte(' ')
		default:
			decompose(r, lower)
		}
	}
	return b.String()
}

// decompose calls emit for the canonical decomposition of r without nonspacing
// marks; r alone if it has none.
func decompose(r rune, emit func(rune)) {
	if r < 0xc0 {
		emit(r)
		return
	}
	if hangul(r, emit) {
		return
	}
	i, ok := slices.BinarySearchFunc(bases[:], r, func(e struct {
		char rune
		base string
	}, r rune) int {
		return int(e.char) - int(r)
	})
	if !ok {
		emit(r)
		return
	}
	for _, d := range bases[i].base {
		emit(d)
	}
}

// hangul decomposes a Hangul syllable into its letters (The Unicode Standard,
// section 3.12) and reports whether r is one.
func hangul(r rune, emit func(rune)) bool {
	const (
		first, leading, vowel, trailing = 0xac00, 0x1100, 0x1161, 0x11a7
		vowels, trailings, syllables    = 21, 28, 11172
	)
	i := r - first
	if i < 0 || i >= syllables {
		return false
	}
	emit(leading + i/(vowels*trailings))
	emit(vowel + i/trailings%vowels)
	if t := i % trailings; t != 0 {
		emit(trailing + t)
	}
	return true
}

// isChinese reports whether r is in the CJK blocks that BERT splits into single
// characters; Hangul and kana are written with spaces or as words and are not.
func isChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff ||
		r >= 0x3400 && r <= 0x4dbf ||
		r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2b73f ||
		r >= 0x2b740 && r <= 0x2b81f ||
		r >= 0x2b820 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff ||
		r >= 0x2f800 && r <= 0x2fa1f
}

// isPunctuation reports whether r is a word of its own: Unicode punctuation and
// every ASCII character that is no letter, digit or space.
func isPunctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// words splits a normalized text at blanks and around punctuation.
func words(text string) []string {
	var out []string
	for _, field := range strings.Fields(text) {
		start := 0
		for i, r := range field {
			if !isPunctuation(r) {
				continue
			}
			if start < i {
				out = append(out, field[start:i])
			}
			start = i + len(string(r))
			out = append(out, field[i:start])
		}
		if start < len(field) {
			out = append(out, field[start:])
		}
	}
	return out
}
