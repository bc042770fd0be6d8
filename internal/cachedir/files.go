package cachedir

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Files is what a directory needs of a file system.
type Files interface {
	MkdirAll(path string, perm fs.FileMode) error
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	ReadFile(path string) ([]byte, error)
	// WriteTemp writes a new file of a name of its own in dir, for its owner
	// alone, and returns its path, also after a failure.
	WriteTemp(dir, pattern string, data []byte) (string, error)
	Rename(from, to string) error
	Remove(path string) error
	Chtimes(path string, used time.Time) error
}

// OS is the file system of the machine.
type OS struct{}

func (OS) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }
func (OS) Stat(path string) (fs.FileInfo, error)        { return os.Stat(path) }
func (OS) Lstat(path string) (fs.FileInfo, error)       { return os.Lstat(path) }
func (OS) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(path) }
func (OS) ReadFile(path string) ([]byte, error)         { return os.ReadFile(path) }
func (OS) Rename(from, to string) error                 { return os.Rename(from, to) }
func (OS) Remove(path string) error                     { return os.Remove(path) }
func (OS) Chtimes(path string, used time.Time) error    { return os.Chtimes(path, used, used) }

func (OS) WriteTemp(dir, pattern string, data []byte) (string, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Close())
}
