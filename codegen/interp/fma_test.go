package interp

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/race"
)

// fused matches the arm64 instructions that multiply and add with one
// rounding.
var fused = regexp.MustCompile(`\bFN?M(ADD|SUB)[SD]\b`)

// Go may contract x*y + z on arm64; no sum here is meant to be (mulAdd makes
// its single rounding from separate operations).
func TestNoFusedMultiplyAdd(t *testing.T) {
	if race.Enabled {
		t.Skip("what is compiled for arm64 does not depend on the race detector")
	}
	require.True(t, fused.MatchString("\tFMADDS F1, F2, F3, F4") && fused.MatchString("FNMSUBD F0, F1, F2, F3"))
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	targets, err := exec.Command(command, "tool", "dist", "list").Output()
	require.NoError(t, err)
	if !slices.Contains(strings.Fields(string(targets)), "linux/arm64") {
		t.Skip("the toolchain does not know arm64")
	}
	cmd := exec.Command(command, "build", "-o", os.DevNull, "-gcflags=-S", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `\bFMULS\b`, string(out), "no arm64 listing")
	for _, line := range strings.Split(string(out), "\n") {
		assert.False(t, fused.MatchString(line), line)
	}
}
