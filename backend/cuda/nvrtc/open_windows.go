//go:build windows && amd64

package nvrtc

import (
	"fmt"
	"syscall"

	"github.com/ebitengine/purego"
)

// openShared loads a DLL, which serves all who name it.
func openShared(name string, _ bool) (uintptr, error) {
	h, err := syscall.LoadLibrary(name)
	return uintptr(h), err
}

// bindSymbol makes the function that to points to call a symbol.
func bindSymbol(handle uintptr, name string, to any) error {
	at, err := syscall.GetProcAddress(syscall.Handle(handle), name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	purego.RegisterFunc(to, at)
	return nil
}

func newCallback(f any) uintptr { return purego.NewCallback(f) }

// sharedNames are the names of the library, those the PTX of which more drivers
// take first.
var sharedNames = []string{"nvrtc64_120_0.dll", "nvrtc64_130_0.dll"}

// usualFolders are patterns of where CUDA is installed.
var usualFolders = []string{
	`C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v*\bin`, `C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v*\bin\x64`,
}

var programFolders = []string{`C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v*\bin`}

func builtinsName(major, minor int) string {
	return fmt.Sprintf("nvrtc-builtins64_%d%d.dll", major, minor)
}
