//go:build !(linux && !android && (amd64 || arm64)) && !(windows && amd64)

package nvrtc

// There is no NVRTC for this platform: nothing is loaded, and so no symbol is
// looked up and no callback made.

func openShared(string, bool) (uintptr, error) { return 0, ErrNoPlatform }

func bindSymbol(uintptr, string, any) error { return ErrNoPlatform }

func newCallback(any) uintptr { return 0 }

var sharedNames = []string{"libnvrtc"}

var usualFolders, programFolders []string

func builtinsName(int, int) string { return "" }
