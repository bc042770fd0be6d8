package ir

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// lexer reads one line of a program's text. After a failure it reads zero
// values, so that callers need to look at err only where they loop.
type lexer struct {
	s   string
	i   int
	err *SyntaxError // the first failure; its Line is the caller's
}

// fail records a failure at the current place.
func (l *lexer) fail(format string, args ...any) {
	if l.err == nil {
		l.err = &SyntaxError{Col: l.i + 1, Msg: fmt.Sprintf(format, args...)}
		l.i = len(l.s)
	}
}

// space skips blanks and a comment.
func (l *lexer) space() {
	for l.i < len(l.s) && (l.s[l.i] == ' ' || l.s[l.i] == '\t') {
		l.i++
	}
	if l.i < len(l.s) && l.s[l.i] == '#' {
		l.i = len(l.s)
	}
}

func (l *lexer) atEnd() bool {
	l.space()
	return l.i == len(l.s)
}

// peekHere returns the next byte, 0 at the end.
func (l *lexer) peekHere() byte {
	if l.i == len(l.s) {
		return 0
	}
	return l.s[l.i]
}

// peek returns the next byte behind blanks, 0 at the end.
func (l *lexer) peek() byte {
	l.space()
	return l.peekHere()
}

func (l *lexer) acceptHere(c byte) bool {
	if l.i < len(l.s) && l.s[l.i] == c {
		l.i++
		return true
	}
	return false
}

func (l *lexer) accept(c byte) bool {
	l.space()
	return l.acceptHere(c)
}

func (l *lexer) expect(c byte) {
	if !l.accept(c) {
		l.fail("want %q", c)
	}
}

// while reads the bytes for which f holds.
func (l *lexer) while(f func(byte) bool) string {
	start := l.i
	for l.i < len(l.s) && f(l.s[l.i]) {
		l.i++
	}
	return l.s[start:l.i]
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func (l *lexer) word() string {
	l.space()
	return l.while(isWordByte)
}

// quoted reads a Go string literal in double quotes.
func (l *lexer) quoted() string {
	prefix, err := strconv.QuotedPrefix(l.s[l.i:])
	if err != nil || prefix[0] != '"' {
		l.fail("want a closed string in double quotes")
		return ""
	}
	text, err := strconv.Unquote(prefix)
	if err != nil || !utf8.ValidString(text) {
		l.fail("want a string of valid UTF-8 in double quotes")
		return ""
	}
	l.i += len(prefix)
	return text
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (l *lexer) unsigned(bits int) uint64 {
	l.space()
	n, err := strconv.ParseUint(l.while(isDigit), 10, bits)
	if err != nil {
		l.fail("want a whole number of at most %d bits", bits)
		return 0
	}
	return n
}

// integer reads a number with an optional sign.
func (l *lexer) integer(bits int) int64 {
	l.space()
	start := l.i
	l.acceptHere('-')
	l.while(isDigit)
	n, err := strconv.ParseInt(l.s[start:l.i], 10, bits)
	if err != nil {
		l.fail("want an integer of at most %d bits", bits)
		return 0
	}
	return n
}

func (l *lexer) signed() int { return int(l.integer(strconv.IntSize)) }

// list reads integers in brackets, [] as nil.
func (l *lexer) list() []int {
	l.expect('[')
	if l.accept(']') {
		return nil
	}
	var out []int
	for more := true; more && l.err == nil; more = l.accept(',') {
		out = append(out, l.signed())
	}
	l.expect(']')
	return out
}

// source reads the operand number behind $.
func (l *lexer) source() uint8 {
	n := uint8(l.unsigned(8))
	if n == 0 {
		l.fail("operand 0 is never a source")
	}
	return n
}

// scalar reads a scalar as Scalar.String writes it.
func (l *lexer) scalar() Scalar {
	name := l.word()
	dtype, ok := ParseDType(name)
	if !ok || dtype != dtype.Compute() {
		l.fail("want the type of a scalar (f64, f32, an integer type or bool), got %q", name)
		return Scalar{}
	}
	l.expect(':')
	if l.accept('$') {
		return Scalar{DType: dtype, Input: l.source()}
	}
	switch {
	case dtype == F32:
		return Scalar{DType: F32, Bits: l.float(32)}
	case dtype == F64:
		return Scalar{DType: F64, Bits: l.float(64)}
	case dtype == Bool:
		word := l.word()
		if word != "true" && word != "false" {
			l.fail("want true or false, got %q", word)
		}
		return BoolScalar(word == "true")
	case dtype.IsUnsigned():
		return Scalar{DType: dtype, Bits: l.unsigned(8 * dtype.Size())}
	default:
		return IntScalar(dtype, l.integer(8*dtype.Size()))
	}
}

// float reads a float of 32 or 64 bits and returns its bits.
func (l *lexer) float(size int) uint64 {
	l.space()
	start := l.i
	if text := l.while(isWordByte); text == "nan" {
		return l.nan(size)
	}
	l.i = start
	text := l.while(func(c byte) bool { return isWordByte(c) || c == '+' || c == '-' || c == '.' })
	f, err := strconv.ParseFloat(text, size)
	if err != nil || math.IsNaN(f) {
		l.i = start
		l.fail("want a number that f%d holds, got %q", size, text)
		return 0
	}
	if size == 32 {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// nan reads the bits of a NaN in parentheses.
func (l *lexer) nan(size int) uint64 {
	l.expect('(')
	raw, err := strconv.ParseUint(l.while(isWordByte), 16, size)
	f := math.Float64frombits(raw)
	if size == 32 {
		f = float64(math.Float32frombits(uint32(raw)))
	}
	if err != nil || !math.IsNaN(f) {
		l.fail("want the bits of a NaN of f%d", size)
	}
	l.expect(')')
	return raw
}

// rangeOf reads a range as Range.String writes it.
func (l *lexer) rangeOf() Range {
	r := Range{Step: 1}
	if l.accept('$') {
		r.Input = l.source()
	} else {
		r.Start = l.signed()
	}
	l.expect('+')
	r.Len = l.signed()
	if l.accept('*') {
		r.Step = l.signed()
	}
	return r
}
