package optimize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxStateFiles bounds the files of a directory: when it is opened with more,
// those written longest ago go.
const maxStateFiles = 4096

// files is what a state directory needs of a file system.
type files interface {
	MkdirAll(path string, perm fs.FileMode) error
	Stat(path string) (fs.FileInfo, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	ReadFile(path string) ([]byte, error)
	// WriteTemp writes a new file of a name of its own in dir, for its owner
	// alone, and returns its path, also after a failure.
	WriteTemp(dir, pattern string, data []byte) (string, error)
	Rename(from, to string) error
	Remove(path string) error
}

// stateDir keeps states as files, one each, of the name version-hash-sum.plan.
// A file is written under another name and renamed, so that no reader sees half
// of one, and two writers of one state write the same.
type stateDir struct {
	path    string
	version Version
	files   files
	names   []string // of this version, as found when opened
	failed  atomic.Bool

	mu      sync.Mutex
	written map[string]bool
}

const (
	stateSuffix = ".plan"
	tempPattern = "new-*.tmp"
)

var errSaved = errors.New("saved already")

// openStateDir makes the directory if need be, reads its names and tidies up.
func openStateDir(path string, v Version, f files) (*stateDir, error) {
	if err := f.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	info, err := f.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory", path)
	case runtime.GOOS != "windows" && info.Mode()&0o022 != 0:
		return nil, fmt.Errorf("others may write to %s (%v)", path, info.Mode())
	}
	list, err := f.ReadDir(path)
	if err != nil {
		return nil, err
	}
	d := &stateDir{path: path, version: v, files: f, written: make(map[string]bool)}
	for _, e := range d.tidy(list) {
		if _, ok := d.parse(e.Name()); ok {
			d.names = append(d.names, e.Name())
			d.written[e.Name()] = true
		}
	}
	return d, nil
}

// tidy removes the oldest files when there are too many, and what a writer left
// behind long ago. What cannot be removed stays.
func (d *stateDir) tidy(list []fs.DirEntry) []fs.DirEntry {
	type aged struct {
		fs.DirEntry
		at time.Time
	}
	var plans []aged
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case strings.HasSuffix(e.Name(), stateSuffix):
			plans = append(plans, aged{e, info.ModTime()})
		case strings.HasSuffix(e.Name(), ".tmp") && time.Since(info.ModTime()) > time.Hour:
			_ = d.files.Remove(filepath.Join(d.path, e.Name()))
		}
	}
	if len(plans) > maxStateFiles {
		slices.SortFunc(plans, func(a, b aged) int { return b.at.Compare(a.at) })
		for _, e := range plans[maxStateFiles:] {
			_ = d.files.Remove(filepath.Join(d.path, e.Name()))
		}
		plans = plans[:maxStateFiles]
	}
	slices.SortFunc(plans, func(a, b aged) int { return strings.Compare(a.Name(), b.Name()) })
	out := make([]fs.DirEntry, len(plans))
	for i := range plans {
		out[i] = plans[i].DirEntry
	}
	return out
}

// parse returns the hash a file of this version is named after.
func (d *stateDir) parse(name string) (uint64, bool) {
	parts := strings.Split(strings.TrimSuffix(name, stateSuffix), "-")
	if len(parts) != 3 || parts[0] != d.version.String() {
		return 0, false
	}
	hash, err := strconv.ParseUint(parts[1], 16, 64)
	return hash, err == nil
}

// read returns the bytes of the one state of a file.
func (d *stateDir) read(name string, hash uint64) ([]byte, error) {
	data, err := d.files.ReadFile(filepath.Join(d.path, name))
	if err != nil {
		return nil, err
	}
	all, err := readEntries(bytes.NewReader(data), d.version)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, &StateError{Fault: StateTruncated}
	case len(all) > 1 || all[0].hash != hash:
		return nil, &StateError{Fault: StateCorrupt}
	}
	return all[0].data, nil
}

// write writes a state, errSaved if it is there already.
func (d *stateDir) write(e savedState) error {
	sum := e.sum()
	name := fmt.Sprintf("%v-%016x-%x%s", d.version, e.hash, sum[:8], stateSuffix)
	d.mu.Lock()
	known := d.written[name]
	d.written[name] = true
	d.mu.Unlock()
	if known {
		return errSaved
	}
	var out bytes.Buffer
	if err := writeEntries(&out, d.version, []savedState{e}); err != nil {
		return err
	}
	temp, err := d.files.WriteTemp(d.path, tempPattern, out.Bytes())
	if err == nil {
		err = d.files.Rename(temp, filepath.Join(d.path, name))
	}
	if err != nil && temp != "" {
		_ = d.files.Remove(temp)
	}
	return err
}

// osFiles is the file system of the machine.
type osFiles struct{}

func (osFiles) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }
func (osFiles) Stat(path string) (fs.FileInfo, error)        { return os.Stat(path) }
func (osFiles) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(path) }
func (osFiles) Rename(from, to string) error                 { return os.Rename(from, to) }
func (osFiles) Remove(path string) error                     { return os.Remove(path) }

// ReadFile reads no more than a state can take.
func (osFiles) ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxState+1024 || !info.Mode().IsRegular() {
		return nil, &StateError{StateCorrupt, fmt.Errorf("a file of %d bytes", info.Size())}
	}
	return os.ReadFile(path)
}

func (osFiles) WriteTemp(dir, pattern string, data []byte) (string, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Close())
}
