package fusion_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/internal/cudatest"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

var (
	programs  = flag.Int("programs", 0, "how many random programs TestDifferential runs; 0 is a bounded number")
	firstSeed = flag.Uint64("seed", 1, "the seed of TestDifferential's first program")
)

// TestDifferential runs random programs unfused, compares every result with the
// oracle, and runs them again in two other ways in turn, which must give the
// same bits. With -programs and -seed it is a campaign of any length; its last
// line counts.
func TestDifferential(t *testing.T) { campaign(t, "", 2500, 250) }

// The same on kernels in CUDA C++, compiled by NVRTC and interpreted.
func TestDifferentialCUDA(t *testing.T) { campaign(t, cudatest.Register(t), 150, 3) }

// campaign runs as many programs on a device as -programs says, or a bounded
// number.
func campaign(t *testing.T, device string, bounded, short uint64) {
	n := uint64(*programs)
	if n == 0 {
		n = bounded
		if testing.Short() {
			n = short
		}
	}
	var next, operations atomic.Uint64
	found := failures{byWhat: map[string]string{}}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			kept := arena{}
			defer kept.close()
			for i := next.Add(1) - 1; i < n && found.few(); i = next.Add(1) - 1 {
				seed := *firstSeed + i
				p, special := progen.Varied(seed)
				operations.Add(uint64(len(p.Ops)))
				check := func(play playing, p *ir.Program) error {
					d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: special})
					return checkWays(play, device, p, d, seed, ways[seed%uint64(len(ways))], ways[(seed/2+1)%uint64(len(ways))])
				}
				if err := check(kept.play, p); err != nil {
					kept.close()
					found.add(seed, p, err, func(p *ir.Program) error { return check(way.play, p) })
				}
			}
		})
	}
	workers.Wait()
	for _, text := range found.byWhat {
		t.Error(text)
	}
	t.Logf("%d programs of %d operations from seed %d: %d differ", min(next.Load(), n), operations.Load(), *firstSeed, found.count)
}

// failures are programs that failed, one small one of each sort.
type failures struct {
	mu     sync.Mutex
	byWhat map[string]string
	count  int
}

func (f *failures) few() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.byWhat) < 20
}

// what says which sort a failure is of: its words without numbers.
func what(err error) string {
	var words []string
	for _, w := range strings.Fields(err.Error()) {
		if !strings.ContainsAny(w, "0123456789") {
			words = append(words, w)
		}
	}
	return strings.Join(words[:min(len(words), 3)], " ")
}

func (f *failures) add(seed uint64, p *ir.Program, first error, check func(*ir.Program) error) {
	f.mu.Lock()
	f.count++
	key := what(first)
	_, known := f.byWhat[key]
	if !known {
		f.byWhat[key] = ""
	}
	f.mu.Unlock()
	if known {
		return
	}
	small := p
	if check(p) == nil {
		first = fmt.Errorf("only behind other programs: %w", first)
	} else {
		small = progen.Shrink(p, func(q *ir.Program) bool {
			err := check(q)
			return err != nil && what(err) == what(first)
		})
		first = check(small)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.byWhat[key] = fmt.Sprintf("seed %d: %v\n%v", seed, first, small)
}

// playing runs a program in a way, as way.play does.
type playing func(w way, p *ir.Program, d progen.Data, seed uint64) (map[ir.TensorID]result, error)

// arena keeps a runtime open for each way, for some programs: they cost less,
// and meet what earlier ones left in caches and pools.
type arena map[string]*kept

type kept struct {
	rt       *fusion.Runtime
	programs int
}

func (a arena) play(w way, p *ir.Program, d progen.Data, seed uint64) (map[ir.TensorID]result, error) {
	k := a[w.name]
	if k == nil {
		rt, err := w.open()
		if err != nil {
			return nil, err
		}
		k = &kept{rt: rt}
		a[w.name] = k
	}
	got, err := w.playOn(k.rt, p, d, seed)
	if err != nil { // a runtime that panicked is lost
		delete(a, w.name)
		return got, err
	}
	if n := k.rt.Stats().Fallbacks; n != 0 {
		err = fmt.Errorf("%d blocks fell back", n)
	}
	if k.programs++; k.programs == 50 || err != nil {
		delete(a, w.name)
		if failed := k.rt.Close(); err == nil {
			err = failed
		}
	}
	return got, err
}

func (a arena) close() {
	for name, k := range a {
		_ = k.rt.Close() // the programs' results are read
		delete(a, name)
	}
}
