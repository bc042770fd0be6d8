package cudac

import (
	"fmt"
	"strings"
)

// writer writes indented lines.
type writer struct {
	b      strings.Builder
	indent int
}

// line writes one line.
func (w *writer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		w.b.WriteString(strings.Repeat("    ", w.indent))
	}
	w.b.WriteString(text)
	w.b.WriteByte('\n')
}

// open writes a line that ends in an opening brace; what follows is indented.
func (w *writer) open(format string, args ...any) {
	w.line(format+" {", args...)
	w.indent++
}

// close ends what open began; after follows the brace.
func (w *writer) close(after string) {
	w.indent--
	w.line("}%s", after)
}
