package nvrtc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/cachedir/cachedirtest"
)

func compile(t *testing.T, c *Cache, in Input) *Output {
	t.Helper()
	out, err := c.Compile(t.Context(), in)
	require.NoError(t, err)
	return out
}

var full = Input{Source: "source", Name: "k.cu", Arch: "sm_80", Names: []string{"a<int>", "b"}, Kind: Both}

func TestCompiledOnce(t *testing.T) {
	dir := t.TempDir()
	f := &fake{}
	l := f.loaded(1)
	c := NewCache(l, CacheOptions{Dir: dir})
	assert.Same(t, l, c.Library())
	first := compile(t, c, full)
	assert.Equal(t, map[string]string{"a<int>": "lowered a<int>", "b": "lowered b"}, first.Lowered)
	assert.Same(t, first, compile(t, c, full))
	assert.Equal(t, CacheStats{Compiles: 1, MemoryHits: 1}, c.Stats())

	again := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir})
	assert.Equal(t, first, compile(t, again, full))
	assert.Equal(t, first, compile(t, again, full))
	assert.Equal(t, CacheStats{DiskHits: 1, MemoryHits: 1}, again.Stats())

	none := NewCache(l, CacheOptions{Dir: "off"})
	compile(t, none, full)
	assert.Equal(t, CacheStats{Compiles: 1}, none.Stats())
	assert.NoDirExists(t, "off")
}

// Whatever an output depends on makes it another one.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	l := (&fake{}).loaded(1)
	c := NewCache(l, CacheOptions{Dir: dir})
	for i, change := range []func(*Input){
		func(*Input) {},
		func(in *Input) { in.Source += " " },
		func(in *Input) { in.Name = "other.cu" },
		func(in *Input) { in.Arch = "sm_90a" },
		func(in *Input) { in.Kind = PTX },
		func(in *Input) { in.Kind = CUBIN },
		func(in *Input) { in.Options = []string{"-a", "-b"} },
		func(in *Input) { in.Options = []string{"-a-b"} },
		func(in *Input) { in.Options = []string{"-a"}; in.Names = []string{"-b", "a<int>", "b"} },
		func(in *Input) { in.Names = nil },
		func(in *Input) { in.Names = []string{"a<int>b"} },
		func(*Input) { l.minor++ },
		func(*Input) { l.major++ },
	} {
		in := full
		change(&in)
		compile(t, c, in)
		assert.Equal(t, CacheStats{Compiles: i + 1}, c.Stats(), i)
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	f := &fake{failing: "compile", with: failedCompiling}
	l := f.loaded(1)
	dir := t.TempDir()
	c := NewCache(l, CacheOptions{Dir: dir})
	for range 2 {
		_, err := c.Compile(t.Context(), full)
		require.Error(t, err)
	}
	assert.Equal(t, CacheStats{Compiles: 2}, c.Stats())
	f.failing = ""
	compile(t, c, full)
	_, err := c.Compile(t.Context(), Input{Arch: "sm_1"})
	var e *ArchError
	require.ErrorAs(t, err, &e)
}

func TestAskedForAtOnce(t *testing.T) {
	f := &fake{gate: make(chan struct{})}
	c := NewCache(f.loaded(4), CacheOptions{Dir: t.TempDir()})
	outs := make(chan *Output, 8)
	for range 8 {
		go func() {
			out, err := c.Compile(context.Background(), full)
			assert.NoError(t, err)
			outs <- out
		}()
	}
	require.Eventually(t, func() bool { return c.Stats().Shared == 7 }, time.Minute, time.Millisecond)
	f.gate <- struct{}{}
	first := <-outs
	for range 7 {
		assert.Same(t, first, <-outs)
	}
	assert.Equal(t, CacheStats{Compiles: 1, Shared: 7}, c.Stats())
}

// Who gives up takes nobody along; when all have, the compilation ends, and who
// asks afterwards gets one of their own.
func TestGivingUp(t *testing.T) {
	f := &fake{gate: make(chan struct{})}
	c := NewCache(f.loaded(1), CacheOptions{Dir: "off"})
	first, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	ask := func(ctx context.Context) {
		_, err := c.Compile(ctx, full)
		errs <- err
	}
	running := func() bool { _, n, _ := f.counts(); return n == 1 }
	go ask(first)
	require.Eventually(t, running, time.Minute, time.Millisecond)
	second, cancelSecond := context.WithCancel(t.Context())
	go ask(second)
	require.Eventually(t, func() bool { return c.Stats().Shared == 1 }, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-errs, context.Canceled)
	require.True(t, running(), "the second still waits")
	cancelSecond()
	require.ErrorIs(t, <-errs, context.Canceled)
	require.Eventually(t, func() bool { return c.Stats().Compiles == 1 && !running() }, time.Minute, time.Millisecond)

	go ask(t.Context())
	f.gate <- struct{}{}
	require.NoError(t, <-errs)
	compiles, _, _ := f.counts()
	assert.Equal(t, 2, compiles)
	_, err := c.Compile(first, full)
	require.ErrorIs(t, err, context.Canceled, "also when it is there")
}

func TestMemoryIsBounded(t *testing.T) {
	c := NewCache((&fake{}).loaded(1), CacheOptions{Dir: "off", MaxBytes: 3000})
	in := Input{Name: "k.cu", Arch: "sm_80", Options: []string{}}
	get := func(i int) {
		in.Source = fmt.Sprint(i, strings.Repeat(" ", 950))
		compile(t, c, in)
	}
	for i := range 3 {
		get(i)
	}
	get(0)
	get(3) // lets go of 1
	get(0)
	get(2)
	assert.Equal(t, CacheStats{Compiles: 4, MemoryHits: 3}, c.Stats())
	get(1)
	assert.Equal(t, 5, c.Stats().Compiles)
	assert.LessOrEqual(t, c.memory.bytes, int64(3000))
	in.Source = strings.Repeat(" ", 5000) // larger than all: kept alone
	compile(t, c, in)
	compile(t, c, in)
	assert.Equal(t, CacheStats{Compiles: 6, MemoryHits: 4}, c.Stats())
}

func TestDiskIsBounded(t *testing.T) {
	dir := t.TempDir()
	c := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir, MaxDisk: 5000})
	in := Input{Name: "k.cu", Arch: "sm_80"}
	for i := range 20 {
		in.Source = fmt.Sprint(i, strings.Repeat(" ", 900))
		compile(t, c, in)
		total := int64(0)
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range list {
			info, err := e.Info()
			require.NoError(t, err)
			total += info.Size()
		}
		assert.LessOrEqual(t, total, int64(5000))
	}
	last := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir})
	compile(t, last, in)
	assert.Equal(t, CacheStats{DiskHits: 1}, last.Stats())

	var log logged
	small := NewCache((&fake{}).loaded(1), CacheOptions{Dir: t.TempDir(), MaxDisk: 100, Logger: log.logger()})
	compile(t, small, in)
	assert.Equal(t, 1, log.warnings(), "what is larger than all room is not kept: %s", log.String())
}

// Whatever is where an output should be and is not that output is removed, said
// once, and compiled anew.
func TestWhatIsNotTheOutput(t *testing.T) {
	dir := t.TempDir()
	compile(t, NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir}), full)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	file := filepath.Join(dir, list[0].Name())
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	other := full
	other.Source = "another source"
	compile(t, NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir}), other)
	list, err = os.ReadDir(dir)
	require.NoError(t, err)
	otherFile := filepath.Join(dir, list[0].Name())
	if otherFile == file {
		otherFile = filepath.Join(dir, list[1].Name())
	}
	foreign, err := os.ReadFile(otherFile)
	require.NoError(t, err)

	refused := func(what string, put func() error) {
		t.Helper()
		require.NoError(t, os.RemoveAll(file))
		require.NoError(t, put(), what)
		var log logged
		c := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir, Logger: log.logger()})
		out := compile(t, c, full)
		require.Contains(t, string(out.PTX), "source", what)
		require.Equal(t, CacheStats{Compiles: 1, Rejected: 1}, c.Stats(), what)
		require.Equal(t, 1, log.warnings(), "%s: %s", what, log.String())
		again := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir})
		require.Equal(t, out, compile(t, again, full), what)
		require.Equal(t, CacheStats{DiskHits: 1}, again.Stats(), what)
	}
	write := func(b []byte) func() error { return func() error { return os.WriteFile(file, b, 0o600) } }
	for at := range whole {
		refused("cut at "+fmt.Sprint(at), write(whole[:at]))
		changed := append([]byte(nil), whole...)
		changed[at] ^= 0x40
		refused("changed at "+fmt.Sprint(at), write(changed))
	}
	refused("more at the end", write(append(append([]byte(nil), whole...), 0)))
	refused("another output", write(foreign))
	refused("too large", func() error { return errors.Join(write(whole)(), os.Truncate(file, maxFile+1)) })
	refused("a folder", func() error { return os.Mkdir(file, 0o700) })
	refused("a link", func() error { return os.Symlink(otherFile, file) })
	if os.Geteuid() == 0 && runtime.GOOS != "js" { // where files have owners
		refused("of another user", func() error { return errors.Join(write(whole)(), os.Chown(file, 12345, -1)) })
	}
	refused("writable by others", func() error { return errors.Join(write(whole)(), os.Chmod(file, 0o666)) })

	// Two are said once.
	require.NoError(t, errors.Join(write(nil)(), os.WriteFile(otherFile, nil, 0o600)))
	var log logged
	c := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir, Logger: log.logger()})
	compile(t, c, full)
	compile(t, c, other)
	assert.Equal(t, 2, c.Stats().Rejected)
	assert.Equal(t, 1, log.warnings())
}

func TestFoldersThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	for _, dir := range []string{file, filepath.Join(file, "below"), open} {
		var log logged
		c := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir, Logger: log.logger()})
		compile(t, c, full)
		compile(t, c, full)
		assert.Equal(t, CacheStats{Compiles: 1, MemoryHits: 1}, c.Stats(), dir)
		assert.Equal(t, 1, log.warnings(), log.String())
		assert.Contains(t, log.String(), "compiled kernels are not kept")
	}
}

func TestFolderByDefault(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData", "home"} {
		t.Setenv(name, home)
	}
	t.Setenv("SINTER_KERNEL_DIR", "")
	compile(t, NewCache((&fake{}).loaded(1), CacheOptions{}), full)
	user, err := os.UserCacheDir()
	require.NoError(t, err)
	list, err := filepath.Glob(filepath.Join(user, "sinter", "cuda", "*.cuda"))
	require.NoError(t, err)
	assert.Len(t, list, 1)

	own := filepath.Join(home, "own")
	t.Setenv("SINTER_KERNEL_DIR", own)
	compile(t, NewCache((&fake{}).loaded(1), CacheOptions{}), full)
	list, err = filepath.Glob(filepath.Join(own, "*.cuda"))
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// Each call to the disk fails in turn, once or from then on: what is compiled is
// right, the failure is said once for each cause, and the next process finds the
// directory as good as before.
func TestDiskThatFails(t *testing.T) {
	inputs := []Input{full, {Source: "b", Name: "b.cu", Arch: "sm_80"}, {Source: "c", Name: "c.cu", Arch: "sm_80"}}
	for _, all := range []bool{false, true} {
		for fail := 1; ; fail++ {
			dir := t.TempDir()
			kept := compile(t, NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir}), full)
			age(t, dir)
			disk := &cachedirtest.Faulty{Fail: fail, All: all}
			var log logged
			c := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir, Logger: log.logger(), MaxDisk: 400, files: disk})
			for _, in := range inputs {
				out := compile(t, c, in)
				require.Contains(t, string(out.PTX), in.Source)
			}
			require.Equal(t, kept, compile(t, c, full))
			msg := fmt.Sprintf("call %d, %v: %s", fail, all, log.String())
			require.LessOrEqual(t, log.warnings(), 2, msg)
			if disk.Calls() < fail {
				require.Zero(t, log.warnings(), msg)
				break
			}
			next := NewCache((&fake{}).loaded(1), CacheOptions{Dir: dir, Logger: log.logger()})
			for _, in := range inputs {
				require.Contains(t, string(compile(t, next, in).PTX), in.Source, msg)
			}
			require.Zero(t, next.Stats().Rejected, msg)
		}
	}
}

// age makes the files of a folder look as if they had been used two hours ago.
func age(t *testing.T, dir string) {
	t.Helper()
	at := time.Now().Add(-2 * time.Hour)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	}))
}

func TestManyCachesOfOneFolder(t *testing.T) {
	dir := t.TempDir()
	var log logged
	var wg sync.WaitGroup
	for range 4 {
		c := NewCache((&fake{}).loaded(2), CacheOptions{Dir: dir, MaxDisk: 2000, MaxBytes: 500, Logger: log.logger()})
		for range 2 {
			wg.Go(func() {
				for i := range 60 {
					in := Input{Source: fmt.Sprint("source ", i%12), Name: "k.cu", Arch: "sm_80"}
					out, err := c.Compile(context.Background(), in)
					if assert.NoError(t, err) {
						assert.True(t, strings.HasSuffix(string(out.PTX), in.Source))
					}
				}
			})
		}
	}
	wg.Wait()
	assert.Zero(t, log.warnings(), log.String())
}

func FuzzDecode(f *testing.F) {
	k := key{1, 2, 3}
	f.Add([]byte(nil))
	f.Add(encode(k, &Output{}))
	f.Add(encode(k, &Output{PTX: []byte("ptx"), CUBIN: []byte{0, 1}, Log: "log", Lowered: map[string]string{"a": "b"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := decode(k, data)
		if err != nil {
			require.ErrorIs(t, err, errCorrupt)
			// The same content under a right hash, so that what lies below is reached.
			signed := encode(k, &Output{})[:entryPrefix]
			signed = resign(append(signed, data...))
			if out, err = decode(k, signed); err != nil {
				require.ErrorIs(t, err, errCorrupt)
				return
			}
		}
		again, err := decode(k, encode(k, out))
		require.NoError(t, err)
		require.Equal(t, out, again)
	})
}

// resign puts the right hash into a file.
func resign(file []byte) []byte {
	sum := sha256.Sum256(file[entryPrefix:])
	copy(file[entryPrefix-len(sum):], sum[:])
	return file
}
