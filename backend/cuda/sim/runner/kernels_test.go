package runner_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
)

var (
	kernels   = flag.Int("kernels", 0, "how many random kernels TestRandomKernels runs; 0 is a bounded number")
	firstSeed = flag.Uint64("seed", 0, "the seed of TestRandomKernels' first kernel")
	arch      = flag.String("arch", "", "the architecture of TestRandomKernels; sm_80 and sm_90a in turn if empty")
)

// executedTargets are the architectures whose PTX is executed, in short tests one.
func executedTargets() []cudac.Target {
	if testing.Short() {
		return []cudac.Target{cudac.Ampere}
	}
	return []cudac.Target{cudac.Ampere, cudac.Hopper}
}

// The named kernels, and the cases that are kept, in each of their candidates.
func TestGoldenKernels(t *testing.T) {
	kept, err := kerneltest.Kept()
	require.NoError(t, err)
	for _, target := range executedTargets() {
		e := newEvery(t, target)
		for _, c := range some(append(kerneltest.Golden(), kept...), 3) {
			t.Run(target.Arch()+" "+c.Kernel.Name, func(t *testing.T) { e.check(t, c) })
		}
	}
}

// TestRandomKernels runs random kernels in each of their candidates; one that fails
// is made small. With -kernels, -seed and -arch it is a campaign of any length;
// its last line counts.
func TestRandomKernels(t *testing.T) {
	n, compile := uint64(*kernels), runner.Library(nvrtctest.Require(t)) // kernels that do not come again
	if n == 0 {
		n, compile = 300, runner.Cached(nvrtctest.Cache(t))
		if testing.Short() {
			n = 30
		}
	}
	targets := []cudac.Target{cudac.Ampere, cudac.Hopper}
	if *arch != "" {
		only, err := cudac.ParseTarget(*arch)
		require.NoError(t, err)
		targets = []cudac.Target{only}
	}
	var next, candidates atomic.Uint64
	found := failures{}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < n && found.few(); i = next.Add(1) - 1 {
				seed := *firstSeed + i
				c := random(seed)
				e := everyOf(compile, targets[seed%uint64(len(targets))], seed)
				if err := e.try(c); err != nil {
					found.small(t, e, seed, c, err)
				}
				candidates.Add(uint64(len(e.list)))
			}
		})
	}
	workers.Wait()
	t.Logf("%d random kernels in %d variants from seed %d", min(next.Load(), n), candidates.Load(), *firstSeed)
}

// random returns the kernel of a seed. Every fourth is larger; some hold strange
// numbers, some have places beyond 32 bits.
func random(seed uint64) kerneltest.Case {
	r := rand.New(rand.NewPCG(seed, 80))
	o := kerneltest.Options{AllFunctions: true}
	if seed%4 == 3 {
		o.Size = kerneltest.Medium
	}
	c := kerneltest.Random(r, o)
	switch seed % 8 {
	case 4:
		return withStrange(c, r, 12, true)
	case 5:
		return withStrange(c, r, 3, false)
	case 7:
		return wide(c)
	}
	return c
}

// failures are the sorts of failures so far, by template: one small case of each is
// printed.
type failures struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (f *failures) few() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen) < 20
}

// isNew reports whether a sort of failure was not seen before.
func (f *failures) isNew(sort string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	old := f.seen[sort]
	f.seen[sort] = true
	return !old
}

// small fails the test with a small case that fails as c does.
func (f *failures) small(t *testing.T, e *every, seed uint64, c kerneltest.Case, first error) {
	sort := sortOf(first)
	if !f.isNew(fmt.Sprint(c.Kernel.Template, " ", sort)) {
		t.Errorf("seed %d, too: %v", seed, first)
		return
	}
	small := kerneltest.Shrink(c, func(c kerneltest.Case) bool { return sortOf(e.try(c)) == sort })
	t.Errorf("seed %d: %s", seed, report(small, e.try(small)))
}

// sortOf returns the sort of a failure, "" if there is none.
func sortOf(err error) string {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f.sort
	}
	return ""
}
