package codegen

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryInstructionHasAName(t *testing.T) {
	seen := map[string]bool{}
	for o := OpInvalid; o < numOps; o++ {
		assert.NotEmpty(t, o.String())
		assert.False(t, seen[o.String()], "%v", o)
		seen[o.String()] = true
	}
	assert.Equal(t, "op(200)", Op(200).String())
	assert.Equal(t, []string{"in", "out", "inout"}, []string{In.String(), Out.String(), InOut.String()})
	assert.Equal(t, []string{"element", "row", "left", "right"}, []string{Element.String(), Row.String(), Left.String(), Right.String()})
}

type spans [][3]int

func (s *spans) Run(worker, lo, hi int) { *s = append(*s, [3]int{worker, lo, hi}) }

func TestSerial(t *testing.T) {
	var s spans
	assert.NoError(t, Serial{}.For(5, 2, &s))
	assert.NoError(t, Serial{}.For(0, 2, &s))
	assert.Equal(t, spans{{0, 0, 5}}, s)
	assert.Equal(t, 1, Serial{}.Workers())
}
