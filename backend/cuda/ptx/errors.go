package ptx

import "fmt"

// SyntaxError says where a text is not PTX that this package reads.
type SyntaxError struct {
	Line, Col int    // from 1
	Text      string // what stands there, shortened
	Rule      string // what should be the case
}

// Error prints the place, the rule and the text.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("ptx: line %d:%d: %s, found %q", e.Line, e.Col, e.Rule, e.Text)
}
