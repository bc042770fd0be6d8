package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// helloBudget is the most bytes the program of the README may have, static and
// with its symbols: what linking Sinter costs at the most.
const helloBudget = 15 << 20

func goTool(t *testing.T, dir string, args ...string) string {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Log(string(exit.Stderr))
	}
	require.NoError(t, err)
	return string(out)
}

// The root package and graphapi link the standard library and x/sys alone, on
// every platform; what a module's go.mod requires beyond is for tools and tests.
func TestDependencyBudget(t *testing.T) {
	root := "../.."
	for _, platform := range []string{"linux/amd64", "darwin/arm64", "windows/amd64", "js/wasm"} {
		goos, goarch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".", "./graphapi", "./nn", "./safetensors")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
		out, err := cmd.Output()
		require.NoError(t, err)
		modules := strings.Fields(string(out))
		slices.Sort(modules)
		for _, m := range slices.Compact(modules) {
			assert.Contains(t, []string{module, "golang.org/x/sys"}, m, "%s links %s", platform, m)
		}
	}
}

// A program that runs, captures and replays a model stays small and needs no
// library of the system.
func TestBinaryBudget(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hello")
	goTool(t, "../..", "build", "-o", file, "./examples/hello")
	info, err := os.Stat(file)
	require.NoError(t, err)
	t.Logf("hello: %.1f MB", float64(info.Size())/(1<<20))
	assert.LessOrEqual(t, info.Size(), int64(helloBudget))
	out := goTool(t, "../..", "list", "-deps", "./examples/hello")
	for _, pkg := range []string{"runtime/cgo", "net/http", "testing", "plugin"} {
		assert.NotContains(t, strings.Fields(out), pkg)
	}
}
