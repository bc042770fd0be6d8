package fusion

import (
	"runtime"
	"strings"
)

const module = "github.com/sinter-ml/sinter"

// callSite returns the innermost call on the stack that was made from outside
// the library, or pc if there is none. It walks the stack by name, so it is for
// failures and the ends of scopes, not for every operation.
func callSite(pc uintptr) uintptr {
	var pcs [64]uintptr
	for _, at := range pcs[:runtime.Callers(2, pcs[:])] {
		f, _ := runtime.CallersFrames([]uintptr{at}).Next()
		if !inLibrary(f.Function, f.File) {
			return at
		}
	}
	return pc
}

// inLibrary reports whether a function is the library's: of the module, but
// neither of its programs nor of a test. So is Go's runtime, which lies between
// when a panic unwinds the stack.
func inLibrary(function, file string) bool {
	if strings.HasPrefix(function, "runtime.") {
		return true
	}
	slash := strings.LastIndexByte(function, '/') + 1
	pkg, _, _ := strings.Cut(function[slash:], ".")
	below, ok := strings.CutPrefix(function[:slash]+pkg+"/", module+"/")
	if !ok || strings.HasSuffix(file, "_test.go") {
		return false
	}
	switch dir, _, _ := strings.Cut(below, "/"); dir {
	case "bench", "cmd", "examples":
		return false
	}
	return true
}
