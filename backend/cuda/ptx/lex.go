package ptx

import (
	"math"
	"strconv"
	"strings"
)

// tokenKind is a class of tokens; punctuation is its own character.
type tokenKind uint8

const (
	tokEOF    tokenKind = 0
	tokIdent  tokenKind = 'a'
	tokDot    tokenKind = '.' // a directive or modifier; its text has no dot
	tokInt    tokenKind = '0'
	tokF32    tokenKind = 'f'
	tokF64    tokenKind = 'd'
	tokString tokenKind = '"'
)

type token struct {
	kind tokenKind
	text string
	bits uint64 // of a number
	pos  int
	line int
}

// lexer cuts a text into tokens. It holds one token, the current one.
type lexer struct {
	src  string
	pos  int // after the current token
	line int
	tok  token
}

// failure is a SyntaxError on its way up; parse methods panic with it and
// Parse recovers.
type failure struct{ err *SyntaxError }

func (l *lexer) fail(rule string) { l.failAt(l.tok.pos, l.tok.line, l.tok.text, rule) }

func (l *lexer) failAt(pos, line int, text, rule string) {
	if text == "" && pos < len(l.src) {
		text = l.src[pos:min(pos+1, len(l.src))]
	}
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	col := pos - strings.LastIndexByte(l.src[:pos], '\n')
	panic(failure{&SyntaxError{Line: line, Col: col, Text: text, Rule: rule}})
}

// Character classes.
const (
	charSpace = 1 << iota
	charIdent // may continue an identifier
	charStart // may start one
	charDigit
)

var chars = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-32] = charIdent|charStart, charIdent|charStart
	}
	for _, c := range "_$%" {
		t[c] = charIdent | charStart
	}
	t['%'] = charStart
	for c := '0'; c <= '9'; c++ {
		t[c] = charIdent | charDigit
	}
	for _, c := range " \t\r\n\v\f" {
		t[c] = charSpace
	}
	return t
}()

// skip passes white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\n':
			l.line++
			l.pos++
		case chars[c]&charSpace != 0:
			l.pos++
		case c == '/' && strings.HasPrefix(l.src[l.pos:], "//"):
			if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.src)
			}
		case c == '/' && strings.HasPrefix(l.src[l.pos:], "/*"):
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				l.failAt(l.pos, l.line, "/*", "want an end of the comment")
			}
			l.line += strings.Count(l.src[l.pos:l.pos+n+4], "\n")
			l.pos += n + 4
		default:
			return
		}
	}
}

func (l *lexer) ident(from int) int {
	end := from
	for end < len(l.src) && chars[l.src[end]]&charIdent != 0 {
		end++
	}
	return end
}

// next reads the next token into l.tok.
func (l *lexer) next() {
	l.skip()
	start := l.pos
	l.tok = token{pos: start, line: l.line}
	if start == len(l.src) {
		return
	}
	c := l.src[start]
	switch {
	case chars[c]&charStart != 0:
		l.pos = l.ident(start + 1)
		l.tok.kind, l.tok.text = tokIdent, l.src[start:l.pos]
	case chars[c]&charDigit != 0:
		l.number()
	case c == '.':
		l.pos = l.dotted(start + 1)
		l.tok.kind, l.tok.text = tokDot, l.src[start+1:l.pos]
	case c == '"':
		n := strings.IndexAny(l.src[start+1:], "\"\n")
		if n < 0 || l.src[start+1+n] != '"' {
			l.fail("want an end of the string")
		}
		l.pos = start + n + 2
		l.tok.kind, l.tok.text = tokString, l.src[start+1:l.pos-1]
	case strings.IndexByte(",;{}[]()<>:+-@!|=~", c) >= 0:
		l.pos++
		l.tok.kind, l.tok.text = tokenKind(c), l.src[start:l.pos]
	default:
		l.failAt(start, l.line, l.src[start:start+1], "want a token of PTX")
	}
}

// dotted returns the end of a modifier's text: identifier characters, with ::
// between words.
func (l *lexer) dotted(from int) int {
	end := l.ident(from)
	for strings.HasPrefix(l.src[end:], "::") {
		end = l.ident(end + 2)
	}
	return end
}

// opcode returns the text of an opcode that starts with the current identifier,
// with all its modifiers, and reads the token after it.
func (l *lexer) opcode() string {
	start := l.tok.pos
	for l.pos+1 < len(l.src) && l.src[l.pos] == '.' && chars[l.src[l.pos+1]]&charIdent != 0 {
		l.pos = l.dotted(l.pos + 1)
	}
	text := l.src[start:l.pos]
	l.next()
	return text
}

// number reads an integer in any base, a hexadecimal float or a decimal one.
func (l *lexer) number() {
	start := l.pos
	end := l.ident(start)
	text := l.src[start:end]
	if len(text) > 2 && text[0] == '0' {
		kind, digits := tokInt, 0
		switch text[1] {
		case 'f', 'F':
			kind, digits = tokF32, 8
		case 'd', 'D':
			kind, digits = tokF64, 16
		}
		if digits > 0 {
			v, err := strconv.ParseUint(text[2:], 16, 64)
			if err != nil || len(text) != digits+2 {
				l.failAt(start, l.line, text, "want the hexadecimal digits of a float")
			}
			l.pos = end
			l.tok.kind, l.tok.text, l.tok.bits = kind, text, v
			return
		}
	}
	if end < len(l.src) && l.src[end] == '.' || strings.ContainsAny(text, "eE") && !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		if end < len(l.src) && l.src[end] == '.' {
			end = l.ident(end + 1)
		}
		if c := l.src[end-1]; (c == 'e' || c == 'E') && end < len(l.src) && (l.src[end] == '+' || l.src[end] == '-') {
			end = l.ident(end + 1)
		}
		text = l.src[start:end]
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			l.failAt(start, l.line, text, "want a decimal float")
		}
		l.pos = end
		l.tok.kind, l.tok.text, l.tok.bits = tokF64, text, math.Float64bits(v)
		return
	}
	v, err := strconv.ParseUint(strings.TrimSuffix(text, "U"), 0, 64)
	if err != nil || strings.Contains(text, "_") {
		l.failAt(start, l.line, text, "want an integer of 64 bits")
	}
	l.pos = end
	l.tok.kind, l.tok.text, l.tok.bits = tokInt, text, v
}

// line passes the rest of the current line, for directives that end with it.
func (l *lexer) restOfLine() {
	if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.src)
	}
	l.next()
}
