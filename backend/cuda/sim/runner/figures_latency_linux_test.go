package runner_test

import (
	"maps"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
)

// inputs returns the sources of the named kernels for sm_80, each launch's best
// candidate, by template.
func inputs(t testing.TB, kind nvrtc.Kind) map[string][]nvrtc.Input {
	out := map[string][]nvrtc.Input{}
	for _, c := range kerneltest.GoldenAt(kerneltest.Medium) {
		for _, s := range sources(t, c, cudac.Ampere, false) {
			template := c.Kernel.Template.String()
			out[template] = append(out[template], nvrtc.Input{
				Source: s.Text, Name: c.Kernel.Name + ".cu", Arch: s.Target.Arch(), Options: s.Target.Options(), Kind: kind,
			})
		}
	}
	return out
}

// latencies reports how long each call takes, the least of the rounds: the median
// over the calls and the nine tenths' quantile. On a busy machine the processor's
// time says more than the clock's.
func latencies(b *testing.B, n int, call func(i int)) {
	clock, processor := make([]time.Duration, n), make([]time.Duration, n)
	least := func(d *time.Duration, took time.Duration) {
		if *d == 0 || took < *d {
			*d = took
		}
	}
	for b.Loop() {
		for i := range n {
			used, start := processorTime(b), time.Now()
			call(i)
			least(&clock[i], time.Since(start))
			least(&processor[i], processorTime(b)-used)
		}
	}
	for name, list := range map[string][]time.Duration{"ms": clock, "cpu-ms": processor} {
		slices.Sort(list)
		ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
		b.ReportMetric(ms(list[n/2]), "median-"+name)
		b.ReportMetric(ms(list[n*9/10]), "p90-"+name)
	}
	b.ReportMetric(float64(n), "kernels")
	b.ReportMetric(0, "ns/op") // of a round says nothing
}

// processorTime is what the process has used of the processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var first sync.Once // compilation of the process

// BenchmarkColdCompile measures what a kernel costs that nobody compiled before, by
// template. The first compilation of a process takes longer and is told apart.
func BenchmarkColdCompile(b *testing.B) {
	l := nvrtctest.Require(b)
	first.Do(func() {
		start := time.Now()
		_, err := l.Compile(b.Context(), slices.Collect(maps.Values(inputs(b, nvrtc.CUBIN)))[0][0])
		require.NoError(b, err)
		b.Logf("the first compilation of the process took %v", time.Since(start))
	})
	for _, kind := range []struct {
		name string
		nvrtc.Kind
	}{{"cubin", nvrtc.CUBIN}, {"ptx", nvrtc.PTX}} {
		all := inputs(b, kind.Kind)
		for _, template := range slices.Sorted(maps.Keys(all)) {
			list := all[template]
			compile := func(i int) {
				_, err := l.Compile(b.Context(), list[i])
				require.NoError(b, err)
			}
			b.Run("kind="+kind.name+"/template="+template, func(b *testing.B) { latencies(b, len(list), compile) })
		}
	}
}

// BenchmarkKeptKernel measures what a kernel costs that another process compiled
// before (disk), or this one (memory).
func BenchmarkKeptKernel(b *testing.B) {
	l := nvrtctest.Require(b)
	list := slices.Concat(slices.Collect(maps.Values(inputs(b, nvrtc.CUBIN)))...)
	options := nvrtc.CacheOptions{Dir: b.TempDir()}
	compile := func(b *testing.B, c *nvrtc.Cache, i int) {
		_, err := c.Compile(b.Context(), list[i])
		require.NoError(b, err)
	}
	memory := nvrtc.NewCache(l, options)
	for i := range list {
		compile(b, memory, i)
	}
	compiles := memory.Stats().Compiles
	b.Run("from=disk", func(b *testing.B) {
		disk := nvrtc.NewCache(l, nvrtc.CacheOptions{Dir: options.Dir, MaxBytes: 1}) // of memory: only the last one stays there
		latencies(b, len(list), func(i int) { compile(b, disk, i) })
		require.Zero(b, disk.Stats().Compiles+disk.Stats().MemoryHits)
	})
	b.Run("from=memory", func(b *testing.B) { latencies(b, len(list), func(i int) { compile(b, memory, i) }) })
	require.Equal(b, compiles, memory.Stats().Compiles)
}
