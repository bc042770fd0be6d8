package optimize

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/internal/cachedir"
)

// maxStateFiles bounds the files of a directory: when there are more, those
// used longest ago go.
const maxStateFiles = 4096

// stateDir keeps states as files, one each, of the name version-hash-sum.plan:
// two writers of one state write the same.
type stateDir struct {
	dir     *cachedir.Dir
	version Version
	names   []string // of this version, as found when opened
	failed  atomic.Bool

	mu      sync.Mutex
	written map[string]bool
}

const stateSuffix = ".plan"

var errSaved = errors.New("saved already")

// openStateDir makes the directory if need be and reads its names.
func openStateDir(path string, v Version, files cachedir.Files) (*stateDir, error) {
	dir, err := cachedir.Open(path, cachedir.Options{
		Suffix: stateSuffix, MaxFile: maxState + 1024, MaxFiles: maxStateFiles, Files: files,
	})
	if err != nil {
		return nil, err
	}
	d := &stateDir{dir: dir, version: v, written: make(map[string]bool)}
	for _, name := range dir.Names() {
		if _, ok := d.parse(name); ok {
			d.names = append(d.names, name)
			d.written[name] = true
		}
	}
	return d, nil
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
	data, err := d.dir.Read(name)
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
	return d.dir.Write(name, out.Bytes())
}
