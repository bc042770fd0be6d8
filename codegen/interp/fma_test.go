package interp

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/race"
)

// fused matches the arm64 instructions that multiply and add with one
// rounding.
var fused = regexp.MustCompile(`\bFN?M(ADD|SUB)[SD]\b`)

// Go may contract x*y + z on arm64, of either width; none is meant to but where
// the source says math.FMA.
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
	require.Regexp(t, `\bFMULD\b`, string(out), "no arm64 listing")
	meant := 0
	for _, line := range strings.Split(string(out), "\n") {
		if !fused.MatchString(line) {
			continue
		}
		if at := position.FindStringSubmatch(line); at != nil && strings.Contains(source(t, at[1], at[2]), "math.FMA(") {
			meant++
			continue
		}
		assert.Fail(t, "contracted", line)
	}
	assert.Positive(t, meant)
}

// position is where the listing says that an instruction comes from.
var position = regexp.MustCompile(`\(\S*?([^/ ]+\.go):(\d+)\)`)

// source returns a line of a file of this package.
func source(t *testing.T, file, line string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	n, err := strconv.Atoi(line)
	require.NoError(t, err)
	return strings.Split(string(text), "\n")[n-1]
}
