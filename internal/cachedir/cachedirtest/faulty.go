// Package cachedirtest makes disks fail on demand.
//
// It must not know what is kept on them.
package cachedirtest

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/sinter-ml/sinter/internal/cachedir"
)

// ErrDisk is the error of calls that fail.
var ErrDisk = errors.New("no space left on device")

// Faulty is the file system of the machine, of which call Fail fails, counted from
// 1, and with All every call after it. A write that fails leaves half a file.
type Faulty struct {
	Fail int
	All  bool

	mu    sync.Mutex
	calls int
	disk  cachedir.OS
}

// Calls is how many calls there were.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *Faulty) next() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.Fail > 0 && (f.calls == f.Fail || f.All && f.calls > f.Fail) {
		return ErrDisk
	}
	return nil
}

// call makes a call with one result, unless it is to fail.
func call[T any](f *Faulty, do func() (T, error)) (T, error) {
	if err := f.next(); err != nil {
		var none T
		return none, err
	}
	return do()
}

// act makes a call without a result, unless it is to fail.
func act(f *Faulty, do func() error) error {
	if err := f.next(); err != nil {
		return err
	}
	return do()
}

// MkdirAll implements cachedir.Files, as do the others.
func (f *Faulty) MkdirAll(path string, perm fs.FileMode) error {
	return act(f, func() error { return f.disk.MkdirAll(path, perm) })
}

// Stat is a call that may fail.
func (f *Faulty) Stat(path string) (fs.FileInfo, error) {
	return call(f, func() (fs.FileInfo, error) { return f.disk.Stat(path) })
}

// Lstat is a call that may fail.
func (f *Faulty) Lstat(path string) (fs.FileInfo, error) {
	return call(f, func() (fs.FileInfo, error) { return f.disk.Lstat(path) })
}

// ReadDir is a call that may fail.
func (f *Faulty) ReadDir(path string) ([]fs.DirEntry, error) {
	return call(f, func() ([]fs.DirEntry, error) { return f.disk.ReadDir(path) })
}

// ReadFile is a call that may fail.
func (f *Faulty) ReadFile(path string) ([]byte, error) {
	return call(f, func() ([]byte, error) { return f.disk.ReadFile(path) })
}

// WriteTemp is a call that may fail, with half of the file written.
func (f *Faulty) WriteTemp(dir, pattern string, data []byte) (string, error) {
	if err := f.next(); err != nil {
		path, _ := f.disk.WriteTemp(dir, pattern, data[:len(data)/2])
		return path, err
	}
	return f.disk.WriteTemp(dir, pattern, data)
}

// Rename is a call that may fail.
func (f *Faulty) Rename(from, to string) error {
	return act(f, func() error { return f.disk.Rename(from, to) })
}

// Remove is a call that may fail.
func (f *Faulty) Remove(path string) error {
	return act(f, func() error { return f.disk.Remove(path) })
}

// Chtimes is a call that may fail.
func (f *Faulty) Chtimes(path string, used time.Time) error {
	return act(f, func() error { return f.disk.Chtimes(path, used) })
}
