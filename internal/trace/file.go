package trace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// file is the file of one or several devices of a process. Each of its lines
// is written by one call. It outlives its devices, so that one opened after
// another was closed goes on where that stopped.
type file struct {
	mu      sync.Mutex
	out     io.WriteCloser
	open    int // devices that have it open
	devices int // headers written
	ids     int // segments written
}

var files struct {
	sync.Mutex
	byPath map[string]*file
}

// openFile opens the file for one more device. The first of the process
// empties it.
func openFile(path string) (*file, error) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	files.Lock()
	defer files.Unlock()
	f := files.byPath[path]
	mode := os.O_APPEND
	if f == nil {
		f, mode = new(file), os.O_TRUNC
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == 0 {
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o600)
		if err != nil {
			return nil, err
		}
		// A file that was there keeps its mode otherwise.
		if err := out.Chmod(0o600); err != nil {
			return nil, errors.Join(err, out.Close())
		}
		f.out = out
	}
	f.open++
	if files.byPath == nil {
		files.byPath = map[string]*file{}
	}
	files.byPath[path] = f
	return f, nil
}

// device numbers the file's devices from 0.
func (f *file) device() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.devices++
	return f.devices - 1
}

// id numbers the file's segments from 1.
func (f *file) id() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	return f.ids
}

// Write writes a line.
func (f *file) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(line)
}

// Close closes the file after the last device.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
	if f.open > 0 {
		return nil
	}
	return f.out.Close()
}
