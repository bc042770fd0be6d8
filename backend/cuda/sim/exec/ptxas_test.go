package exec

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
)

// The real assembler accepts every opcode of the tables, so that none is there
// that PTX does not have, or under another name.
func TestAssemblerAcceptsEveryForm(t *testing.T) {
	folder := nvrtctest.Folder(t)
	var text strings.Builder
	text.WriteString(head + ".visible .entry k()\n{\n" + registers)
	for _, name := range opcodes() {
		dst, src := operandTypes(opcode(t, name)).operands()
		fmt.Fprintf(&text, "\t%s %s, %s;\n", name, dst, strings.Join(src, ", "))
	}
	text.WriteString("}\n")
	file := filepath.Join(t.TempDir(), "forms.ptx")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	out, err := exec.Command(filepath.Join(folder, "ptxas"), "-arch=sm_100a", "-O0", "-o", os.DevNull, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
