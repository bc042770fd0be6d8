package cpu

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
)

type taskFunc func(worker, lo, hi int)

func (f taskFunc) Run(worker, lo, hi int) { f(worker, lo, hi) }

func startWorkers(t *testing.T, n int) *workers {
	w := newWorkers(n)
	t.Cleanup(w.close)
	return w
}

func TestPartsCoverTheLoopOnce(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		w := startWorkers(t, n)
		assert.Equal(t, n, w.Workers())
		for _, length := range []int{-1, 0, 1, 2, 7, 64, 1000, 12345} {
			for _, grain := range []int{-1, 0, 1, 3, 64, 5000} {
				seen := make([]atomic.Int32, max(length, 0))
				inside := make([]atomic.Int32, n)
				err := w.For(length, grain, taskFunc(func(worker, lo, hi int) {
					if inside[worker].Add(1) != 1 {
						t.Error("two parts at once with one worker number")
					}
					if hi-lo < grain && hi != length {
						t.Errorf("part %d..%d is shorter than %d", lo, hi, grain)
					}
					for i := lo; i < hi; i++ {
						seen[i].Add(1)
					}
					inside[worker].Add(-1)
				}))
				require.NoError(t, err)
				for i := range seen {
					require.Equal(t, int32(1), seen[i].Load(), "element %d of %d, grain %d", i, length, grain)
				}
			}
		}
	}
}

// Every worker can be inside at the same time: each part waits for the others.
func TestWorkersRunAtOnce(t *testing.T) {
	const n = 4
	w := startWorkers(t, n)
	var arrived sync.WaitGroup
	arrived.Add(n)
	var numbers sync.Map
	require.NoError(t, w.For(n, 1, taskFunc(func(worker, _, _ int) {
		numbers.Store(worker, true)
		arrived.Done()
		arrived.Wait()
	})))
	for i := range n {
		_, ok := numbers.Load(i)
		assert.True(t, ok, "worker %d", i)
	}
}

func TestLoopsInsideLoopsFromSeveralGoroutines(t *testing.T) {
	w := startWorkers(t, 3)
	var total atomic.Int64
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 30 {
				err := w.For(8, 1, taskFunc(func(_, lo, hi int) {
					for range hi - lo {
						if err := w.For(10, 1, taskFunc(func(_, lo, hi int) { total.Add(int64(hi - lo)) })); err != nil {
							t.Error(err)
						}
					}
				}))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, int64(6*30*8*10), total.Load())
}

var errTest = errors.New("test")

func TestPanicsComeBackAsErrors(t *testing.T) {
	for _, n := range []int{1, 3} {
		w := startWorkers(t, n)
		for bad := range 20 {
			err := w.For(20, 1, taskFunc(func(_, lo, hi int) {
				if lo <= bad && bad < hi {
					panic(fmt.Errorf("part %d: %w", bad, errTest))
				}
			}))
			var p *backend.PanicError
			require.ErrorAs(t, err, &p)
			require.ErrorIs(t, err, errTest)
			assert.Contains(t, string(p.Stack), "TestPanicsComeBackAsErrors")
		}
		var all *backend.PanicError
		require.ErrorAs(t, w.For(100, 1, taskFunc(func(int, int, int) { panic("each") })), &all)
		assert.Equal(t, "each", all.Value)
		require.NoError(t, w.For(100, 1, taskFunc(func(int, int, int) {})), "usable afterwards")
	}
}

type countTask struct{ n atomic.Int64 }

func (c *countTask) Run(_, lo, hi int) { c.n.Add(int64(hi - lo)) }

func TestForAllocatesNothing(t *testing.T) {
	w := startWorkers(t, 3)
	var task countTask
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		if w.For(1000, 10, &task) != nil {
			t.Fail()
		}
	}))
	assert.Equal(t, int64(201*1000), task.n.Load())
}

// workerGoroutines counts the goroutines of worker pools.
func workerGoroutines() int {
	buf := make([]byte, 1<<20)
	text := string(buf[:runtime.Stack(buf, true)])
	return strings.Count(text, "created by sync.(*WaitGroup).Go") + strings.Count(text, "created by github.com/sinter-ml/sinter/backend/cpu.newWorkers")
}

func TestNoGoroutineIsLeft(t *testing.T) {
	// Close has waited for the last statement of each worker; the goroutine
	// itself ends a moment later.
	settle := func(want int) {
		t.Helper()
		for i := 0; workerGoroutines() != want && i < 10_000; i++ {
			time.Sleep(time.Millisecond)
		}
		require.Equal(t, want, workerGoroutines())
	}
	settle(0)
	d := Open(backend.Options{Workers: 6})
	require.NoError(t, d.par.For(1000, 1, &countTask{}))
	settle(5)
	require.NoError(t, d.Close())
	settle(0)
}

func TestWorkersFollowTheOption(t *testing.T) {
	for option, want := range map[int]int{0: runtime.GOMAXPROCS(0), 1: 1, 5: 5} {
		d := Open(backend.Options{Workers: option})
		assert.Equal(t, want, d.par.Workers())
		require.NoError(t, d.Close())
	}
}
