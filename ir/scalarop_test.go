package ir

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScalarSigs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range ScalarOps() {
		sig := s.Sig()
		assert.NotEmpty(t, sig.Name)
		assert.False(t, seen[sig.Name], sig.Name)
		seen[sig.Name] = true
		assert.True(t, sig.Arity >= 1 && sig.Arity <= 3, sig.Name)
		assert.True(t, sig.Float || sig.Int || sig.Bool, sig.Name)
		assert.Equal(t, sig.Name, s.String())
	}
	assert.Equal(t, "none", SNone.String())
	assert.Equal(t, "none", ScalarOp(250).String())
}
