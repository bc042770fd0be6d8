package nvrtc

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/sinter-ml/sinter/internal/env"
)

// Library is NVRTC, loaded. It is safe for use by several goroutines and stays
// loaded until the process ends.
type Library struct {
	path         string // as given to the loader
	api          api
	major, minor int
	archs        []int
	slots        chan struct{} // one for each compilation that may run
}

// Load finds and loads NVRTC, once a process. If the environment variable
// SINTER_NVRTC names a file or a folder, that is the library. Otherwise these are
// tried in turn: the names of the versions known, newest last, by the system's
// loader; the folders where CUDA is usually installed, newest first.
//
// The error is a *NotFoundError.
func Load() (*Library, error) { return load() }

var load = sync.OnceValues(func() (*Library, error) {
	settings, _ := env.Read() // what is wrong with other variables is no matter here
	if settings.NVRTC != "" {
		return Open(settings.NVRTC)
	}
	return first(systemNames())
})

// Open loads the NVRTC that is a file, or lies in a folder. The library of its
// built-in functions is taken from the same folder if it is there. The error is a
// *NotFoundError.
func Open(path string) (*Library, error) { return first(namesAt(path)) }

// first loads the first name that can be loaded.
func first(names []string) (*Library, error) {
	missing := &NotFoundError{What: library, Mend: mendLibrary}
	for _, name := range names {
		l, err := open(name)
		if err == nil {
			return l, nil
		}
		missing.Tried = append(missing.Tried, Attempt{name, err})
	}
	return nil, missing
}

func open(name string) (*Library, error) {
	handle, err := openShared(name, false)
	if err != nil {
		return nil, err
	}
	l := &Library{path: name, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	if err := l.api.bind(handle); err != nil {
		return nil, err
	}
	var major, minor, n int32
	if err := l.check("nvrtcVersion", l.api.version(&major, &minor)); err != nil {
		return nil, err
	}
	l.major, l.minor = int(major), int(minor)
	if err := l.check("nvrtcGetNumSupportedArchs", l.api.numArchs(&n)); err != nil {
		return nil, err
	}
	archs := make([]int32, max(n, 1))
	if err := l.check("nvrtcGetSupportedArchs", l.api.archs(&archs[0])); err != nil {
		return nil, err
	}
	for _, a := range archs[:n] {
		l.archs = append(l.archs, int(a))
	}
	// Some versions do not look for their built-in functions beside themselves,
	// but take what is loaded. If this fails, compilations say so.
	if dir := filepath.Dir(name); dir != "." {
		_, _ = openShared(filepath.Join(dir, builtinsName(l.major, l.minor)), true)
	}
	return l, nil
}

// check makes an error of what a call returned.
func (l *Library) check(call string, r result) error {
	if r == success {
		return nil
	}
	return &Error{Call: call, Code: int(r), Text: l.api.errorString(r)}
}

// Path is the file or the name that was loaded.
func (l *Library) Path() string { return l.path }

// Version is NVRTC's version, which is that of CUDA.
func (l *Library) Version() (major, minor int) { return l.major, l.minor }

// Archs are the compute capabilities the library compiles for, in ascending order:
// 80 is sm_80.
func (l *Library) Archs() []int { return slices.Clone(l.archs) }

func (l *Library) String() string { return fmt.Sprintf("NVRTC %d.%d (%s)", l.major, l.minor, l.path) }
