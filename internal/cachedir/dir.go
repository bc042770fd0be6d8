// Package cachedir keeps files that can be made again in a directory that several
// processes share: each file is written under another name and renamed, so that no
// reader sees half of one, and when they take too much room those used longest ago
// go.
//
// It must not know what the files hold: whoever reads one checks it.
package cachedir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options bound a directory. Files whose names end otherwise are others' and stay.
type Options struct {
	Suffix   string
	MaxFile  int64 // bytes of one file
	MaxFiles int   // 0: any number
	MaxBytes int64 // of all files, 0: any number
	Files    Files // nil: those of the machine
}

// Dir is an open directory. It is safe for use by several goroutines.
type Dir struct {
	path  string
	o     Options
	names []string

	mu    sync.Mutex
	files int   // as far as this process knows
	bytes int64 // of them
}

const (
	tempPattern = "new-*.tmp"
	tempSuffix  = ".tmp"
	staleTemp   = time.Hour // a writer that took longer is gone
	freshUse    = time.Hour // uses that are nearer count as one
)

// ErrForeign says that a file or directory is not to be trusted: it belongs to
// another user, others may write to it, or it is no regular file.
var ErrForeign = errors.New("not ours")

// ErrTooBig says that a file is larger than any of the directory may be.
var ErrTooBig = errors.New("too big")

// Open makes the directory if need be, for its owner alone, and tidies it up: what
// is over the bounds goes, and what a writer left behind long ago.
func Open(path string, o Options) (*Dir, error) {
	if o.Files == nil {
		o.Files = OS{}
	}
	if err := o.Files.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	info, err := o.Files.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory", path)
	}
	if err := trusted(path, info); err != nil {
		return nil, err
	}
	d := &Dir{path: path, o: o}
	found, err := d.tidy(0)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		d.names = append(d.names, f.Name())
	}
	slices.Sort(d.names)
	return d, nil
}

// trusted refuses what another user owns or may write to.
func trusted(path string, info fs.FileInfo) error {
	if runtime.GOOS != "windows" && info.Mode()&0o022 != 0 {
		return fmt.Errorf("%w: others may write to %s (%v)", ErrForeign, path, info.Mode())
	}
	if !ours(info) {
		return fmt.Errorf("%w: %s belongs to another user", ErrForeign, path)
	}
	return nil
}

// Path is where a file of the directory lies.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Names are the files found when the directory was opened, in order.
func (d *Dir) Names() []string { return d.names }

// Read returns what a file holds and counts as a use of it. The error is
// fs.ErrNotExist if there is none, ErrForeign, ErrTooBig or the file system's.
func (d *Dir) Read(name string) ([]byte, error) {
	path := d.Path(name)
	info, err := d.o.Files.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is no regular file", ErrForeign, path)
	case info.Size() > d.o.MaxFile:
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are used", ErrTooBig, path, info.Size(), d.o.MaxFile)
	}
	if err := trusted(path, info); err != nil {
		return nil, err
	}
	data, err := d.o.Files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if now := time.Now(); now.Sub(info.ModTime()) > freshUse {
		_ = d.o.Files.Chtimes(path, now) // else it goes earlier than it should
	}
	return data, nil
}

// Write writes a file, for its owner alone, in the place of what was there.
func (d *Dir) Write(name string, data []byte) error {
	if int64(len(data)) > d.o.MaxFile {
		return fmt.Errorf("%w: %s would have %d bytes, at most %d are used", ErrTooBig, name, len(data), d.o.MaxFile)
	}
	temp, err := d.o.Files.WriteTemp(d.path, tempPattern, data)
	if err == nil {
		err = d.o.Files.Rename(temp, d.Path(name))
	}
	if err != nil {
		if temp != "" {
			_ = d.o.Files.Remove(temp)
		}
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files++
	d.bytes += int64(len(data))
	if d.o.MaxFiles > 0 && d.files > d.o.MaxFiles || d.o.MaxBytes > 0 && d.bytes > d.o.MaxBytes {
		// Room for some more, so that not every write looks at all files.
		_, _ = d.tidy(8) // the next write tries again
	}
	return nil
}

// Discard removes a file that is of no use. What cannot be removed stays.
func (d *Dir) Discard(name string) { _ = d.o.Files.Remove(d.Path(name)) }

// tidy removes the files used longest ago until the others are within the bounds,
// less a part of spare if that is not 0, and what writers left behind. It returns
// what stays. The lock is held, or nobody else knows the directory.
func (d *Dir) tidy(spare int64) ([]fs.FileInfo, error) {
	list, err := d.o.Files.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var found []fs.FileInfo
	d.bytes = 0
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case strings.HasSuffix(e.Name(), d.o.Suffix):
			found = append(found, info)
			d.bytes += info.Size()
		case strings.HasSuffix(e.Name(), tempSuffix) && time.Since(info.ModTime()) > staleTemp:
			d.Discard(e.Name())
		}
	}
	slices.SortStableFunc(found, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	maxFiles, maxBytes := int64(d.o.MaxFiles), d.o.MaxBytes
	if spare > 0 {
		maxFiles -= maxFiles / spare
		maxBytes -= maxBytes / spare
	}
	for n := len(found); n > 0 && (maxFiles > 0 && int64(n) > maxFiles || maxBytes > 0 && d.bytes > maxBytes); n-- {
		d.Discard(found[n-1].Name())
		d.bytes -= found[n-1].Size()
		found = found[:n-1]
	}
	d.files = len(found)
	return found, nil
}
