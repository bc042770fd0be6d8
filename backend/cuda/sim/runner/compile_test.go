package runner_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
)

var targets = []cudac.Target{cudac.Ampere, cudac.Hopper, cudac.Blackwell}

// compiled is a source with what the compiler and the assembler made of it.
type compiled struct {
	name      string
	source    *cudac.Source
	ptx       []byte
	resources *nvrtc.Resources
}

// sources returns those of a case's candidates on a target: all of them, or the
// first.
func sources(t testing.TB, c kerneltest.Case, target cudac.Target, all bool) []*cudac.Source {
	t.Helper()
	list := cudac.Candidates(c.Kernel, c.Launch, target, false)
	if !all {
		list = list[:1]
	}
	var out []*cudac.Source
	for _, v := range list {
		s, err := cudac.Generate(c.Kernel, v, target, c.Launch)
		require.NoError(t, err, "%v", c)
		out = append(out, s)
	}
	return out
}

// compileAll compiles and assembles sources, as many at once as there are
// processors, and has f look at each.
func compileAll(t *testing.T, list []*cudac.Source, f func(*compiled)) {
	t.Helper()
	cache := nvrtc.NewCache(nvrtctest.Require(t), nvrtc.CacheOptions{})
	assembler := nvrtctest.Assembler(t)
	work := make(chan *cudac.Source)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for s := range work {
				c := &compiled{name: s.Kernel.Name + ", " + s.Variant.Key(), source: s}
				var err error
				if c.ptx, err = runner.Cached(cache)(context.Background(), s.Text, s.Target); err == nil {
					c.resources, err = assembler.Assemble(context.Background(), c.ptx, s.Target.Arch())
				}
				if !assert.NoError(t, err, "%s\n%s", c.name, s.Text) {
					continue
				}
				f(c)
			}
		})
	}
	for _, s := range list {
		work <- s
	}
	close(work)
	workers.Wait()
}

// unordered matches instructions whose bits depend on what only a card knows:
// atomic additions of floats, and approximations.
var unordered = regexp.MustCompile(`(?m)^.*(\b(atom|red)\.\S*\b(f16|f16x2|bf16|bf16x2|f32|f64)\b|\.approx\b).*$`)

// Every named kernel, in each of its variants, and random ones compile for every
// target, pass the assembler, and can be executed by the interpreter.
func TestEverySourceCompiles(t *testing.T) {
	random := 300
	if testing.Short() {
		random = 4
	}
	for _, target := range targets {
		t.Run(target.Arch(), func(t *testing.T) {
			var list []*cudac.Source
			for i, c := range kerneltest.GoldenAt(kerneltest.Medium) {
				if !testing.Short() || i%8 == 0 {
					list = append(list, sources(t, c, target, !testing.Short())...)
				}
			}
			for seed := range random {
				c := kerneltest.Random(rand.New(rand.NewPCG(uint64(seed), 81)), kerneltest.Options{AllFunctions: true})
				list = append(list, sources(t, c, target, false)...)
			}
			compileAll(t, list, func(c *compiled) {
				m, err := ptx.Parse(string(c.ptx))
				if assert.NoError(t, err, c.name) {
					_, err = exec.Load(m)
					assert.NoError(t, err, c.name)
				}
				assert.Len(t, c.resources.Entries, len(c.source.Entries()), c.name)
				assert.NotRegexp(t, unordered, string(c.ptx), c.name)
			})
			t.Logf("%d sources for %s", len(list), target.Arch())
		})
	}
}
