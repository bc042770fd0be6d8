package nvrtc

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/sinter-ml/sinter/internal/cachedir"
	"github.com/sinter-ml/sinter/internal/env"
)

// CacheOptions say where and how much a cache keeps. What is zero has a default.
type CacheOptions struct {
	// Dir is the directory on disk, "off" for none. By default it is what
	// SINTER_KERNEL_DIR says, else sinter/cuda in the user's cache directory.
	Dir      string
	MaxDisk  int64        // bytes of files; by default 256 MB
	MaxBytes int64        // of memory; by default 64 MB
	Logger   *slog.Logger // for what the disk refuses, once for each cause

	files cachedir.Files
}

const (
	defaultMaxDisk  = 256 << 20
	defaultMaxBytes = 64 << 20
	maxFile         = 64 << 20 // bytes of one output on disk

	cacheOff    = "off"
	cacheSuffix = ".cuda"
)

// CacheStats counts what a cache did.
type CacheStats struct {
	Compiles   int // with success or without
	MemoryHits int
	DiskHits   int
	Shared     int // asked for while the same was being looked for or compiled
	Rejected   int // files that were corrupt or not ours, which were removed
}

// Cache compiles and keeps what came of it, in memory and on disk. The same input
// for the same version of NVRTC is compiled once, also when many ask for it at
// once or in other processes before. It is safe for use by several goroutines.
type Cache struct {
	lib *Library
	log *slog.Logger
	dir *cachedir.Dir // nil: nothing is kept on disk

	mu      sync.Mutex
	memory  recent
	flights map[key]*flight
	stats   CacheStats
	said    map[string]bool
}

// flight is a compilation somebody waits for.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // under the cache's lock
	out     *Output
	err     error
}

// NewCache returns a cache of what the library compiles. A directory that cannot
// be used is warned of, and nothing is kept on disk.
func NewCache(l *Library, o CacheOptions) *Cache {
	if o.MaxDisk == 0 {
		o.MaxDisk = defaultMaxDisk
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	c := &Cache{
		lib: l, log: o.Logger, memory: newRecent(o.MaxBytes), flights: make(map[key]*flight), said: make(map[string]bool),
	}
	path, err := cachePath(o.Dir)
	if err == nil && path != cacheOff {
		c.dir, err = cachedir.Open(path, cachedir.Options{
			Suffix: cacheSuffix, MaxFile: min(maxFile, o.MaxDisk), MaxBytes: o.MaxDisk, Files: o.files,
		})
	}
	if err != nil {
		c.warn("compiled kernels are not kept", err)
	}
	return c
}

// cachePath is the directory that an option asks for.
func cachePath(option string) (string, error) {
	if option != "" {
		return option, nil
	}
	if settings, _ := env.Read(); settings.KernelDir != "" {
		return settings.KernelDir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "sinter", "cuda"), err
}

// warn says what happened, once for each message. The lock is held, or nobody else
// knows the cache.
func (c *Cache) warn(msg string, err error) {
	if !c.said[msg] {
		c.said[msg] = true
		c.log.Warn("sinter: "+msg, "error", err)
	}
}

// Library is what compiles.
func (c *Cache) Library() *Library { return c.lib }

// Stats returns the counts so far.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Compile is Library.Compile with a memory. The output is shared: it must not be
// changed.
func (c *Cache) Compile(ctx context.Context, in Input) (*Output, error) {
	options, err := c.lib.prepare(in)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, stopped(ctx, in)
	}
	k := keyOf(c.lib, in, options)
	c.mu.Lock()
	if out := c.memory.get(k); out != nil {
		c.stats.MemoryHits++
		c.mu.Unlock()
		return out, nil
	}
	f := c.flights[k]
	if f == nil {
		// Not the first caller's context: others may want the result when that one
		// does not any more.
		work, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), cancel: cancel}
		c.flights[k] = f
		go c.fly(work, f, k, in, options)
	} else {
		c.stats.Shared++
	}
	f.waiting++
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.out, f.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.cancel()
		if c.flights[k] == f {
			delete(c.flights, k) // who asks from now on starts anew
		}
	}
	return nil, stopped(ctx, in)
}

// fly gets an output from the disk or the compiler.
func (c *Cache) fly(ctx context.Context, f *flight, k key, in Input, options []string) {
	defer f.cancel()
	out := c.load(k)
	if out == nil {
		if out, f.err = c.lib.dispatch(ctx, in, options); f.err == nil {
			c.store(k, out)
		}
		c.count(func(s *CacheStats) { s.Compiles++ })
	} else {
		c.count(func(s *CacheStats) { s.DiskHits++ })
	}
	f.out = out
	c.mu.Lock()
	if out != nil {
		c.memory.put(k, out)
	}
	if c.flights[k] == f {
		delete(c.flights, k)
	}
	c.mu.Unlock()
	close(f.done)
}

func (c *Cache) count(f func(*CacheStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

// load reads an output from the disk, nil if there is none to be used.
func (c *Cache) load(k key) *Output {
	if c.dir == nil {
		return nil
	}
	data, err := c.dir.Read(k.file())
	var out *Output
	if err == nil {
		out, err = decode(k, data)
	}
	switch {
	case err == nil:
		return out
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, errCorrupt) || errors.Is(err, cachedir.ErrForeign) || errors.Is(err, cachedir.ErrTooBig) {
		c.dir.Discard(k.file())
		c.stats.Rejected++
		c.warn("a kept kernel is not used, and removed", err)
	} else {
		c.warn("a kept kernel cannot be read", err)
	}
	return nil
}

// store writes an output to the disk.
func (c *Cache) store(k key, out *Output) {
	if c.dir == nil {
		return
	}
	if err := c.dir.Write(k.file(), encode(k, out)); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.warn("a compiled kernel is not kept", err)
	}
}
