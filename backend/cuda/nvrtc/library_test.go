package nvrtc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
)

// What another process is to do, and the variable that tells it.
const task = "SINTER_TEST_NVRTC_TASK"

func TestMain(m *testing.M) {
	if todo := os.Getenv(task); todo != "" {
		out, err := tasks[todo]()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Stdout.WriteString(out)
		return
	}
	os.Exit(m.Run())
}

// tasks run in a process of their own, since a library that was loaded stays.
var tasks = map[string]func() (string, error){
	"load": func() (string, error) {
		l, err := nvrtc.Load()
		if err != nil {
			return "", err
		}
		again, err := nvrtc.Load()
		if l != again {
			return "", errors.New("loaded twice")
		}
		return l.Path(), err
	},
	"compile": func() (string, error) {
		l, err := nvrtc.Load()
		if err != nil {
			return "", err
		}
		out, err := l.Compile(ctx, nvrtc.Input{Source: addSource, Name: "add.cu", Arch: "sm_80"})
		if err != nil {
			return "", err
		}
		return string(out.PTX), nil
	},
	"cache": func() (string, error) {
		l, err := nvrtc.Load()
		if err != nil {
			return "", err
		}
		c := nvrtc.NewCache(l, nvrtc.CacheOptions{})
		for _, arch := range []string{"sm_80", "sm_90a", "sm_80"} {
			if _, err := c.Compile(ctx, nvrtc.Input{Source: addSource, Name: "add.cu", Arch: arch}); err != nil {
				return "", err
			}
		}
		stats, err := json.Marshal(c.Stats())
		return string(stats), err
	},
}

// elsewhere does a task in another process with variables set.
func elsewhere(t *testing.T, todo string, vars ...string) (out, failure string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), append(vars, task+"="+todo)...)
	var said strings.Builder
	cmd.Stderr = &said
	b, err := cmd.Output()
	if err != nil && said.Len() == 0 {
		return string(b), err.Error()
	}
	return string(b), said.String()
}

func TestLoad(t *testing.T) {
	l := nvrtctest.Require(t)
	major, minor := l.Version()
	assert.GreaterOrEqual(t, major, 12)
	assert.Equal(t, fmt.Sprintf("NVRTC %d.%d (%s)", major, minor, l.Path()), l.String())
	assert.Subset(t, l.Archs(), []int{80, 90, 100})
	assert.True(t, slices.IsSorted(l.Archs()))

	for _, where := range []string{l.Path(), filepath.Dir(l.Path())} {
		out, failure := elsewhere(t, "load", "SINTER_NVRTC="+where)
		assert.Equal(t, l.Path(), out, failure)
	}
	out, failure := elsewhere(t, "load", "SINTER_NVRTC=", "LD_LIBRARY_PATH="+filepath.Dir(l.Path()))
	assert.Equal(t, filepath.Base(l.Path()), out, "the system's loader finds it: %s", failure)
}

func TestWhereThereIsNone(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processes here")
	}
	dir := t.TempDir()
	out, failure := elsewhere(t, "load", "SINTER_NVRTC="+dir)
	assert.Empty(t, out)
	assert.Contains(t, failure, "was not found; tried\n\t"+dir)
	assert.Contains(t, failure, "let SINTER_NVRTC name the folder")
}

// copyFile copies a file, or links it where that is the same.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if os.Link(from, to) == nil {
		return
	}
	src, err := os.Open(from)
	require.NoError(t, err)
	defer src.Close()
	dst, err := os.Create(to)
	require.NoError(t, err)
	_, err = io.Copy(dst, src)
	require.NoError(t, errors.Join(err, dst.Close()))
}

func TestLibraryWithoutItsBuiltins(t *testing.T) {
	l := nvrtctest.Require(t)
	dir := t.TempDir()
	copyFile(t, l.Path(), filepath.Join(dir, filepath.Base(l.Path())))
	out, failure := elsewhere(t, "compile", "SINTER_NVRTC="+dir)
	assert.Empty(t, out)
	assert.Contains(t, failure, "(7)")
	major, minor := l.Version()
	assert.Contains(t, failure, fmt.Sprintf("%d.%d must lie beside %s", major, minor, dir))

	builtins, err := filepath.Glob(filepath.Join(filepath.Dir(l.Path()), "*nvrtc-builtins*"))
	require.NoError(t, err)
	for _, b := range builtins {
		copyFile(t, b, filepath.Join(dir, filepath.Base(b)))
	}
	out, failure = elsewhere(t, "compile", "SINTER_NVRTC="+dir)
	assert.Contains(t, out, ".entry add(", failure)
	for _, b := range builtins {
		_, err := nvrtc.Open(b)
		var e *nvrtc.NotFoundError
		require.ErrorAs(t, err, &e)
		assert.ErrorContains(t, err, "this is no NVRTC")
	}
}

func TestLibraryCutOff(t *testing.T) {
	l := nvrtctest.Require(t)
	whole, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), filepath.Base(l.Path()))
	for _, n := range []int{0, 63, 4096, len(whole) / 2, len(whole) - 4096} {
		require.NoError(t, os.WriteFile(file, whole[:n], 0o700))
		out, failure := elsewhere(t, "load", "SINTER_NVRTC="+file)
		assert.Empty(t, out, n)
		assert.Contains(t, failure, "was not found; tried\n\t"+file, n)
	}
}
