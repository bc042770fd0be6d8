package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// opcode decodes an opcode, its modifiers and types.
func opcode(t testing.TB, name string) *ptx.Opcode {
	t.Helper()
	m, err := ptx.Parse(".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n" + name + ";\n}\n")
	require.NoError(t, err)
	return m.Funcs[0].Body[0].Opcode
}
