//go:build linux && !android && (amd64 || arm64)

package nvrtc

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ebitengine/purego"
)

// openShared loads a shared library. A library that is global serves what others
// look up.
func openShared(name string, global bool) (uintptr, error) {
	if filepath.IsAbs(name) {
		if err := checkWhole(name); err != nil {
			return 0, err
		}
	}
	mode := purego.RTLD_NOW | purego.RTLD_LOCAL
	if global {
		mode = purego.RTLD_NOW | purego.RTLD_GLOBAL
	}
	return purego.Dlopen(name, mode)
}

// checkWhole refuses a file that is no ELF file or was cut off: the loader maps
// what the headers promise, and to touch what is not there is a SIGBUS.
func checkWhole(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is no shared library: %w", path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off+p.Filesz > uint64(info.Size()) {
			return fmt.Errorf("%s is cut off: it has %d bytes of at least %d", path, info.Size(), p.Off+p.Filesz)
		}
	}
	return nil
}

// bindSymbol makes the function that to points to call a symbol.
func bindSymbol(handle uintptr, name string, to any) error {
	at, err := purego.Dlsym(handle, name)
	if err != nil {
		return err
	}
	purego.RegisterFunc(to, at)
	return nil
}

func newCallback(f any) uintptr { return purego.NewCallback(f) }

// sharedNames are the names of the library, those the PTX of which more drivers
// take first.
var sharedNames = []string{"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"}

// usualFolders are patterns of where CUDA is installed.
var usualFolders = []string{
	"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/usr/local/cuda-*/targets/*-linux/lib", "/opt/cuda/lib64",
	"/opt/nvidia/hpc_sdk/Linux_*/*/cuda/lib64",
}

var programFolders = []string{"/usr/local/cuda/bin", "/usr/local/cuda-*/bin", "/opt/cuda/bin"}

func builtinsName(major, minor int) string {
	return fmt.Sprintf("libnvrtc-builtins.so.%d.%d", major, minor)
}
