package interp

import (
	"os"
	"os/exec"
	"regexp"
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
	cmd := exec.Command("go", "build", "-o", os.DevNull, "-gcflags=-S", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "TEXT") {
		t.Skipf("the toolchain cannot build for arm64: %v\n%s", err, out)
	}
	require.NoError(t, err)
	require.Regexp(t, `\bFMULS\b`, string(out), "no arm64 listing")
	for _, line := range strings.Split(string(out), "\n") {
		assert.False(t, fused.MatchString(line), line)
	}
}
