package optimize

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// faultyFiles fails the k-th call; a write that fails leaves half a file.
type faultyFiles struct {
	osFiles
	calls, fail int
	all         bool // and every call after it
}

func (f *faultyFiles) next() error {
	f.calls++
	if f.fail > 0 && (f.calls == f.fail || f.all && f.calls > f.fail) {
		return errDisk
	}
	return nil
}

func (f *faultyFiles) MkdirAll(path string, perm fs.FileMode) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.osFiles.MkdirAll(path, perm)
}

func (f *faultyFiles) Stat(path string) (fs.FileInfo, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.osFiles.Stat(path)
}

func (f *faultyFiles) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.osFiles.ReadDir(path)
}

func (f *faultyFiles) ReadFile(path string) ([]byte, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.osFiles.ReadFile(path)
}

func (f *faultyFiles) WriteTemp(dir, pattern string, data []byte) (string, error) {
	if err := f.next(); err != nil {
		path, _ := f.osFiles.WriteTemp(dir, pattern, data[:len(data)/2])
		return path, err
	}
	return f.osFiles.WriteTemp(dir, pattern, data)
}

func (f *faultyFiles) Rename(from, to string) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.osFiles.Rename(from, to)
}

func (f *faultyFiles) Remove(path string) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.osFiles.Remove(path)
}

// Each call to the disk fails in turn, once or from then on: plans come out
// right or not at all, that is said once for each cause, and the directory is as
// good as before for whoever opens it next.
func TestDiskThatFails(t *testing.T) {
	p := newShop(Options{}).p
	for _, all := range []bool{false, true} {
		for fail := 1; ; fail++ {
			dir := t.TempDir()
			before := shopOf(p)
			before.OpenDir(dir)
			kept := before.plan(t, 1, small(4))
			require.True(t, before.Save(kept))

			f := &faultyFiles{fail: fail, all: all}
			s := shopOf(p)
			s.openDir(dir, f)
			got := s.Restore(kept.Key)
			saved := 0
			for i := range 3 {
				if s.Save(s.plan(t, uint64(10+i), small(5+i))) {
					saved++
				}
			}
			msg := fmt.Sprintf("call %d, %v: %s", fail, all, s.log.String())
			if f.calls < fail {
				require.Len(t, got, 1, msg)
				require.Equal(t, 3, saved, msg)
				require.Zero(t, s.warnings(), msg)
				break
			}
			require.True(t, len(got) == 0 || saved < 3, msg)
			require.LessOrEqual(t, s.warnings(), 2, msg)
			require.Positive(t, s.warnings(), msg)

			next := shopOf(p)
			next.OpenDir(dir)
			require.Len(t, next.Restore(kept.Key), 1, msg)
			for i := range saved {
				require.Len(t, next.Restore(Key{Hash: uint64(10 + i), Tokens: []uint64{uint64(10 + i), 5}}), 1, msg)
			}
			require.Zero(t, next.warnings(), "%s\n%s", msg, next.log.String())
			require.True(t, next.Save(next.plan(t, 20, small(9))), msg)
		}
	}
}

func TestDirectoryIsTidied(t *testing.T) {
	dir := t.TempDir()
	s := newShop(Options{})
	s.OpenDir(dir)
	old := time.Now().Add(-2 * time.Hour)
	write := func(name string, at time.Time) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	write("new-1.tmp", old)
	write("new-2.tmp", time.Now())
	write("oldest-1-1.plan", old.Add(-time.Hour))
	for i := range maxStateFiles {
		write(fmt.Sprintf("%d-1-1.plan", i), old)
	}
	next := newShop(Options{})
	next.OpenDir(dir)
	require.NoFileExists(t, filepath.Join(dir, "new-1.tmp"))
	require.FileExists(t, filepath.Join(dir, "new-2.tmp"), "somebody may be writing it")
	require.NoFileExists(t, filepath.Join(dir, "oldest-1-1.plan"))
	require.FileExists(t, filepath.Join(dir, "0-1-1.plan"))
	require.Zero(t, next.warnings())
}
