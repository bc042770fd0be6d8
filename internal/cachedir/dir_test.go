package cachedir_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/cachedir"
	"github.com/sinter-ml/sinter/internal/cachedir/cachedirtest"
)

var small = cachedir.Options{Suffix: ".x", MaxFile: 100}

func open(t *testing.T, path string, o cachedir.Options) *cachedir.Dir {
	t.Helper()
	d, err := cachedir.Open(path, o)
	require.NoError(t, err)
	return d
}

func TestFilesComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	d := open(t, path, small)
	assert.Empty(t, d.Names())
	_, err := d.Read("1.x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, d.Write("1.x", []byte("one")))
	require.NoError(t, d.Write("0.x", nil))
	require.NoError(t, d.Write("1.x", []byte("two")))
	require.ErrorIs(t, d.Write("2.x", make([]byte, 101)), cachedir.ErrTooBig)

	again := open(t, path, small)
	assert.Equal(t, []string{"0.x", "1.x"}, again.Names())
	got, err := again.Read("1.x")
	require.NoError(t, err)
	assert.Equal(t, "two", string(got))
	again.Discard("1.x")
	_, err = d.Read("1.x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]fs.FileMode{"": 0o700, "0.x": 0o600} {
			info, err := os.Stat(d.Path(name))
			require.NoError(t, err)
			assert.Equal(t, mode, info.Mode().Perm(), name)
		}
	}
}

// age makes a file look as if it had been used some time ago.
func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	require.NoError(t, os.Chtimes(path, at, at))
}

func TestUsedLongestAgoGoesFirst(t *testing.T) {
	for name, o := range map[string]cachedir.Options{
		"bytes": {Suffix: ".x", MaxFile: 100, MaxBytes: 1030},
		"files": {Suffix: ".x", MaxFile: 100, MaxFiles: 10},
	} {
		dir := t.TempDir()
		d := open(t, dir, o)
		notes := filepath.Join(dir, "notes.txt")
		require.NoError(t, os.WriteFile(notes, make([]byte, 5000), 0o600))
		for i := range 10 {
			file := fmt.Sprintf("%d.x", i)
			require.NoError(t, d.Write(file, make([]byte, 100)), name)
			age(t, d.Path(file), time.Duration(20-i)*time.Hour)
		}
		_, err := d.Read("0.x") // the oldest is used
		require.NoError(t, err)
		require.NoError(t, d.Write("10.x", make([]byte, 100)))
		assert.FileExists(t, d.Path("0.x"), name)
		assert.NoFileExists(t, d.Path("1.x"), name)
		assert.NoFileExists(t, d.Path("2.x"), "%s: some room is made", name)
		assert.FileExists(t, d.Path("3.x"), name)
		assert.FileExists(t, d.Path("10.x"), name)

		// Another process may have written more; who opens the directory bounds it.
		for i := range 4 {
			require.NoError(t, os.WriteFile(d.Path(fmt.Sprintf("new%d.x", i)), make([]byte, 100), 0o600))
		}
		again := open(t, dir, o)
		assert.Len(t, again.Names(), 10, name)
		assert.NoFileExists(t, d.Path("3.x"), name)
		assert.FileExists(t, notes, "%s: others' files stay", name)
	}
}

func TestLeftoversGo(t *testing.T) {
	dir := t.TempDir()
	for name, old := range map[string]time.Duration{"new-1.tmp": 2 * time.Hour, "new-2.tmp": 0} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		age(t, filepath.Join(dir, name), old)
	}
	open(t, dir, small)
	assert.NoFileExists(t, filepath.Join(dir, "new-1.tmp"))
	assert.FileExists(t, filepath.Join(dir, "new-2.tmp"), "somebody may be writing it")
}

func TestWhatIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, small)
	require.NoError(t, os.WriteFile(d.Path("big.x"), make([]byte, 101), 0o600))
	_, err := d.Read("big.x")
	require.ErrorIs(t, err, cachedir.ErrTooBig)
	require.NoError(t, os.Mkdir(d.Path("dir.x"), 0o700))
	_, err = d.Read("dir.x")
	require.ErrorIs(t, err, cachedir.ErrForeign)
	if runtime.GOOS == "windows" {
		return
	}
	require.NoError(t, d.Write("ok.x", nil))
	require.NoError(t, os.Symlink(d.Path("ok.x"), d.Path("link.x")))
	_, err = d.Read("link.x")
	require.ErrorIs(t, err, cachedir.ErrForeign)
	require.NoError(t, os.Chmod(d.Path("ok.x"), 0o622))
	_, err = d.Read("ok.x")
	require.ErrorIs(t, err, cachedir.ErrForeign)

	require.NoError(t, os.Chmod(dir, 0o770))
	_, err = cachedir.Open(dir, small)
	require.ErrorIs(t, err, cachedir.ErrForeign)
	require.NoError(t, os.Chmod(dir, 0o755))
	open(t, dir, small)
	if os.Geteuid() == 0 && runtime.GOOS != "js" { // where files have owners
		require.NoError(t, os.Chown(dir, 12345, -1))
		_, err = cachedir.Open(dir, small)
		require.ErrorIs(t, err, cachedir.ErrForeign)
		require.NoError(t, os.Chmod(d.Path("ok.x"), 0o600))
		require.NoError(t, os.Chown(d.Path("ok.x"), 12345, -1))
		_, err = d.Read("ok.x")
		require.ErrorIs(t, err, cachedir.ErrForeign)
	}
	_, err = cachedir.Open(filepath.Join(dir, "big.x"), small)
	require.Error(t, err, "a file")
}

// Each call fails in turn, once or from then on: a file is there whole or not at
// all, and who opens the directory next finds it as good as before.
func TestDiskThatFails(t *testing.T) {
	data := []byte("some data")
	for _, all := range []bool{false, true} {
		for fail := 1; ; fail++ {
			dir := t.TempDir()
			require.NoError(t, open(t, dir, small).Write("kept.x", data))
			age(t, filepath.Join(dir, "kept.x"), 2*time.Hour) // so that reading writes, too
			f := &cachedirtest.Faulty{Fail: fail, All: all}
			o := small
			o.Files, o.MaxFiles = f, 2
			var errs []error
			d, err := cachedir.Open(dir, o)
			errs = append(errs, err)
			if err == nil {
				got, err := d.Read("kept.x")
				if errs = append(errs, err); err == nil {
					require.Equal(t, data, got)
				}
				errs = append(errs, d.Write("new.x", data), d.Write("newer.x", data))
				d.Discard("newer.x")
			}
			if f.Calls() < fail {
				for _, err := range errs {
					require.NoError(t, err)
				}
				break
			}
			for _, err := range errs {
				if err != nil {
					require.ErrorIs(t, err, cachedirtest.ErrDisk)
				}
			}
			next := open(t, dir, small)
			for _, name := range next.Names() {
				got, err := next.Read(name)
				require.NoError(t, err)
				require.Equal(t, data, got, name)
			}
			require.NoError(t, next.Write("last.x", data))
		}
	}
}

func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	o := small
	o.MaxBytes = 500
	var wg sync.WaitGroup
	for w := range 4 {
		d := open(t, dir, o) // as processes of their own would
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("%d.x", (i+w)%20)
				if err := d.Write(name, []byte(name)); err != nil {
					assert.NoError(t, err)
				}
				if got, err := d.Read(name); err == nil {
					assert.Equal(t, name, string(got))
				} else {
					assert.ErrorIs(t, err, fs.ErrNotExist)
				}
			}
		})
	}
	wg.Wait()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		assert.NotEqual(t, ".tmp", filepath.Ext(e.Name()))
	}
}
