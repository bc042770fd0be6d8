// Package nvrtctest gives tests the real NVRTC and ptxas.
//
// It must not know kernels or devices.
package nvrtctest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/internal/env"
)

// folder is where scripts/nvrtc.sh puts the library, below the module's root.
const folder = ".nvrtc"

// Require returns NVRTC from where SINTER_NVRTC says, or scripts/nvrtc.sh put it.
// Without it the test is skipped and says why; with CI set it fails, except on
// platforms for which there is none.
func Require(tb testing.TB) *nvrtc.Library {
	tb.Helper()
	l, err := nvrtc.Open(Folder(tb))
	if errors.Is(err, nvrtc.ErrNoPlatform) {
		tb.Skip(err)
	}
	if err != nil {
		missing(tb, err.Error())
	}
	return l
}

var shared struct {
	once  sync.Once
	cache *nvrtc.Cache
}

// Cache returns the cache all tests of a process share. What it compiles stays in
// the user's directory of kernels, as programs' kernels do, so that another run
// of the tests compiles only what changed.
func Cache(tb testing.TB) *nvrtc.Cache {
	tb.Helper()
	l := Require(tb)
	shared.once.Do(func() { shared.cache = nvrtc.NewCache(l, nvrtc.CacheOptions{}) })
	return shared.cache
}

// Assembler returns ptxas from the same place, or from PATH.
func Assembler(tb testing.TB) *nvrtc.Assembler {
	tb.Helper()
	a, err := nvrtc.OpenAssembler(Folder(tb))
	if err != nil {
		a, err = nvrtc.FindAssembler()
	}
	if err != nil {
		missing(tb, err.Error())
	}
	return a
}

// Folder returns where NVRTC lies, as Require finds it.
func Folder(tb testing.TB) string {
	tb.Helper()
	settings, _ := env.Read()
	if settings.NVRTC != "" {
		return settings.NVRTC
	}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, folder)); err == nil && info.IsDir() {
			return filepath.Join(dir, folder)
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); !errors.Is(err, os.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	missing(tb, "NVRTC is not here: SINTER_NVRTC is not set and there is no "+folder+" in the module's root; scripts/nvrtc.sh fetches it")
	return ""
}

func missing(tb testing.TB, why string) {
	tb.Helper()
	if ci := strings.ToLower(os.Getenv("CI")); ci != "" && ci != "0" && ci != "false" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}
