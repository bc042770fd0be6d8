package nvrtc

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "some.so")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.Equal(t, []string{file}, namesAt(file))
	assert.Equal(t, []string{filepath.Join(dir, sharedNames[0])}, namesAt(dir), "what should be there")
	for _, name := range sharedNames {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	assert.Len(t, namesAt(dir), len(sharedNames))
	assert.Equal(t, []string{filepath.Join(dir, "none", "x.so")}, namesAt(filepath.Join(dir, "none", "x.so")))
	assert.Equal(t, sharedNames, systemNames()[:len(sharedNames)], "the system's loader is asked first")
}

func TestNewestFolderFirst(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"cuda-12.4", "cuda-12.10", "cuda-12.9", "cuda-11.8"} {
		require.NoError(t, os.Mkdir(at(name), 0o700))
	}
	assert.Equal(t, []string{at("cuda-12.10"), at("cuda-12.9"), at("cuda-12.4"), at("cuda-11.8"), at("cuda-11.8")},
		matching([]string{at("none"), at("cuda-*"), at("cuda-11.8")}))
}

// executable is the test's own program.
func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skip("this platform has no programs: ", err)
	}
	return self
}

func TestWhatIsNoLibrary(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "libnvrtc.so.12")
	self := executable(t)
	whole, err := os.ReadFile(self)
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"empty":      {},
		"text":       []byte("this is no library"),
		"a header":   whole[:min(64, len(whole))],
		"half":       whole[:len(whole)/2],
		"no library": whole, // a program
	} {
		require.NoError(t, os.WriteFile(file, content, 0o700))
		_, err := Open(file)
		var e *NotFoundError
		require.ErrorAs(t, err, &e, name)
		require.Len(t, e.Tried, 1)
		assert.Equal(t, file, e.Tried[0].Name)
		assert.ErrorContains(t, err, "\t"+file+": ")
		assert.ErrorContains(t, err, "let SINTER_NVRTC name the folder")
		if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
			assert.ErrorIs(t, err, ErrNoPlatform)
		}
	}
	require.NoError(t, os.Remove(file))
	for _, path := range []string{file, dir} {
		_, err = Open(path)
		var e *NotFoundError
		require.ErrorAs(t, err, &e)
	}
}

func TestWhatIsNoAssembler(t *testing.T) {
	dir := t.TempDir()
	self := executable(t)
	for _, path := range []string{dir, filepath.Join(dir, "ptxas"), self, "no-such-program"} {
		_, err := OpenAssembler(path)
		var e *NotFoundError
		require.ErrorAs(t, err, &e, path)
		assert.ErrorContains(t, err, "ptxas, CUDA's assembler of PTX, was not found")
	}
}

// A program of the right name is found beside the library, in the place that CUDA
// has for programs, or in PATH.
func TestFindAssembler(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("programs are not files with a mode here")
	}
	root := t.TempDir()
	t.Setenv("PATH", filepath.Join(root, "path"))
	put := func(parts ...string) string {
		path := filepath.Join(append([]string{root}, parts...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
		return path
	}
	lib := put("cuda", "lib64", "libnvrtc.so.12")
	for _, folder := range []string{"path", "cuda/bin", "cuda/lib64"} { // each before those so far
		at := put(folder, "ptxas")
		for _, named := range []string{lib, filepath.Dir(lib)} {
			t.Setenv("SINTER_NVRTC", named)
			a, err := FindAssembler()
			require.NoError(t, err)
			assert.Equal(t, at, a.Path())
		}
	}
	require.NoError(t, os.RemoveAll(root))
	if _, err := os.Stat("/usr/local/cuda"); err == nil {
		return // the system's is found
	}
	_, err := FindAssembler()
	var e *NotFoundError
	require.ErrorAs(t, err, &e)
	assert.GreaterOrEqual(t, len(e.Tried), 3)
	assert.ErrorContains(t, err, "nvidia-cuda-nvcc-cu12")
}

func TestResourcesThatWereNotSaid(t *testing.T) {
	_, err := parseResources("ptxas info    : Compiling entry function 'f' for 'sm_80'\n")
	require.ErrorContains(t, err, "what kernel f takes was not said")
	r, err := parseResources("")
	require.NoError(t, err)
	assert.Empty(t, r.Entries)
}
