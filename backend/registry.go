package backend

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Options are what a device is opened with. The zero value is the default.
type Options struct {
	// Workers is how many threads of a host device work at once, the caller's
	// among them; 0: one for each processor Go uses.
	Workers int
	// MemoryLimit is the most bytes the device takes from the system; 0: what
	// the machine has.
	MemoryLimit int64
	// Logger takes warnings; nil: slog.Default().
	Logger *slog.Logger
	// Poison fills freed and fresh memory with NaN patterns (bytes 0xFF), so
	// that reading what was never written or already freed shows.
	Poison bool
}

// Log returns the logger to use.
func (o *Options) Log() *slog.Logger {
	if o.Logger == nil {
		return slog.Default()
	}
	return o.Logger
}

// Driver opens the devices of one backend.
type Driver struct {
	// Rank orders drivers for "auto", which opens the highest that works;
	// negative: "auto" never takes it.
	Rank int
	// Open opens device number, from 0.
	Open func(number int, o Options) (Device, error)
}

var registry struct {
	sync.RWMutex
	drivers map[string]Driver
}

// Register makes a backend known under a name; backends call it from init. It
// panics when the name is taken, empty, "auto", or has a colon.
func Register(name string, d Driver) {
	registry.Lock()
	defer registry.Unlock()
	_, taken := registry.drivers[name]
	if taken || name == "" || name == "auto" || strings.Contains(name, ":") || d.Open == nil {
		panic(fmt.Sprintf("backend: cannot register %q", name))
	}
	if registry.drivers == nil {
		registry.drivers = map[string]Driver{}
	}
	registry.drivers[name] = d
}

// Registered returns the names of the linked backends, best first.
func Registered() []string {
	registry.RLock()
	defer registry.RUnlock()
	names := slices.Collect(maps.Keys(registry.drivers))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(registry.drivers[b].Rank, registry.drivers[a].Rank), cmp.Compare(a, b))
	})
	return names
}

// NotLinkedError says that a program does not import the backend it opens, one
// the project has a package for.
type NotLinkedError struct {
	Backend string
	Import  string // the package to import
}

func (e *NotLinkedError) Error() string {
	return fmt.Sprintf("backend %q is not linked: import _ %q", e.Backend, e.Import)
}

// Open opens a device by name: "cpu", "cuda:1" (a backend and a device
// number), or "auto", the best linked backend that works. It returns a
// *NotLinkedError for a backend of the project that is not linked, a
// *DeviceError for a bad or unknown name, and otherwise what the backend returns.
func Open(name string, o Options) (Device, error) {
	base, rest, numbered := strings.Cut(name, ":")
	number := 0
	if numbered {
		n, err := strconv.ParseUint(rest, 10, 16)
		if err != nil || base == "auto" {
			return nil, &DeviceError{Device: name, Err: fmt.Errorf("bad device number %q", rest)}
		}
		number = int(n)
	}
	if base == "" {
		return nil, &DeviceError{Device: name, Err: errors.New("the name says no backend")}
	}
	if base == "auto" {
		return openBest(o)
	}
	d, ok := driver(base)
	if !ok {
		return nil, unknown(name, base)
	}
	return d.Open(number, o)
}

func driver(name string) (Driver, bool) {
	registry.RLock()
	defer registry.RUnlock()
	d, ok := registry.drivers[name]
	return d, ok
}

// packages names the packages of the project's own backends, by backend.
var packages = map[string]string{"cpu": "cpu", "null": "null", "cuda": "cuda", "cuda-sim": "cuda/sim"}

func notLinked(base string) error {
	return &NotLinkedError{Backend: base, Import: "github.com/sinter-ml/sinter/backend/" + packages[base]}
}

// unknown says why there is no driver of a name: only the project's own have an
// import that can be suggested.
func unknown(name, base string) error {
	if packages[base] != "" {
		return notLinked(base)
	}
	linked := "none"
	if all := Registered(); len(all) > 0 {
		linked = strings.Join(all, ", ")
	}
	return &DeviceError{Device: name, Err: fmt.Errorf("no backend %q; linked: %s", base, linked)}
}

func openBest(o Options) (Device, error) {
	var failed []error
	for _, name := range Registered() {
		d, _ := driver(name)
		if d.Rank < 0 {
			continue
		}
		dev, err := d.Open(0, o)
		if err == nil {
			return dev, nil
		}
		o.Log().Debug("backend does not open", "backend", name, "error", err)
		failed = append(failed, err)
	}
	if len(failed) == 0 {
		return nil, notLinked("cpu")
	}
	return nil, errors.Join(failed...)
}
