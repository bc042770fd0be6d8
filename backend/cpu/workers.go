package cpu

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
)

// partsPerWorker is how many parts a loop is split into for each worker, so
// that a slow worker does not keep the others waiting for long.
const partsPerWorker = 4

// workers is a codegen.Parallel over goroutines that sleep when there is
// nothing to do. Several loops may run at once: each caller works on its own
// loop, and idle workers join whichever loop has parts left. A caller only
// ever waits for workers that are inside a part of its own loop, so loops that
// start loops cannot wait for each other in a circle.
type workers struct {
	n    int // parts at once: the goroutines and the caller
	mu   sync.Mutex
	wake sync.Cond
	jobs []*job // loops that may have parts left
	idle []*job // for use again
	stop bool
	wg   sync.WaitGroup
}

// job is one loop.
type job struct {
	task     codegen.Task
	n, chunk int64        // 64 bits wide so that next cannot wrap around
	next     atomic.Int64 // where the next part starts
	failed   atomic.Pointer[backend.PanicError]

	// under workers.mu
	joined  int           // goroutines that ever joined: they number the workers
	active  int           // goroutines inside
	waiting bool          // the caller waits until none is active
	done    chan struct{} // capacity 1
}

// newWorkers starts the goroutines; n counts the caller.
func newWorkers(n int) *workers {
	w := &workers{n: max(n, 1)}
	w.wake.L = &w.mu
	for range w.n - 1 {
		w.wg.Go(w.loop)
	}
	return w
}

// Workers returns how many parts can run at once.
func (w *workers) Workers() int { return w.n }

// For runs t on the parts of 0..n-1, as codegen.Parallel promises. It
// allocates nothing in the steady state.
func (w *workers) For(n, grain int, t codegen.Task) error {
	if n <= 0 {
		return nil
	}
	grain = max(grain, 1)
	grains := (n-1)/grain + 1
	chunk := grain * max(1, grains/(w.n*partsPerWorker))
	j := w.begin(n, chunk, t)
	j.run(0)
	return w.finish(j)
}

// begin lists a loop and wakes as many workers as can help.
func (w *workers) begin(n, chunk int, t codegen.Task) *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	var j *job
	if last := len(w.idle) - 1; last >= 0 {
		j, w.idle = w.idle[last], w.idle[:last]
	} else {
		j = &job{done: make(chan struct{}, 1)}
	}
	j.task, j.n, j.chunk, j.joined = t, int64(n), int64(chunk), 0
	j.next.Store(0)
	j.failed.Store(nil)
	others := min((n-1)/chunk, w.n-1)
	if others > 0 {
		w.jobs = append(w.jobs, j)
	}
	for range others {
		w.wake.Signal()
	}
	return j
}

// finish waits for the workers inside a loop and returns its failure.
func (w *workers) finish(j *job) error {
	w.mu.Lock()
	w.unlist(j)
	if j.active > 0 {
		j.waiting = true
		w.mu.Unlock()
		<-j.done
		w.mu.Lock()
		j.waiting = false
	}
	failed := j.failed.Load()
	j.task = nil
	w.idle = append(w.idle, j)
	w.mu.Unlock()
	if failed != nil {
		return failed
	}
	return nil
}

func (w *workers) unlist(j *job) {
	for i, x := range w.jobs {
		if x == j {
			last := len(w.jobs) - 1
			w.jobs[i], w.jobs[last] = w.jobs[last], nil
			w.jobs = w.jobs[:last]
			return
		}
	}
}

// loop is the life of a worker.
func (w *workers) loop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		j := w.pick()
		if j == nil {
			if w.stop {
				return
			}
			w.wake.Wait()
			continue
		}
		j.joined++
		j.active++
		number := j.joined
		w.mu.Unlock()
		j.run(number)
		w.mu.Lock()
		j.active--
		if j.active == 0 && j.waiting {
			j.done <- struct{}{}
		}
	}
}

// pick returns a loop with parts left. A worker leaves a loop only when it has
// none, so it joins each at most once and its number stays below Workers.
func (w *workers) pick() *job {
	for _, j := range w.jobs {
		if j.next.Load() < j.n {
			return j
		}
	}
	return nil
}

// close ends the goroutines and waits for them.
func (w *workers) close() {
	w.mu.Lock()
	w.stop = true
	w.mu.Unlock()
	w.wake.Broadcast()
	w.wg.Wait()
}

// run takes parts until none is left. A panic ends the loop.
func (j *job) run(worker int) {
	defer func() {
		if v := recover(); v != nil {
			j.failed.CompareAndSwap(nil, &backend.PanicError{Value: v, Stack: debug.Stack()})
			j.next.Store(j.n)
		}
	}()
	for {
		hi := j.next.Add(j.chunk)
		lo := hi - j.chunk
		if lo >= j.n {
			return
		}
		j.task.Run(worker, int(lo), int(min(hi, j.n)))
	}
}
