package fusion

import (
	"io"
	"log/slog"
	"sync"

	"github.com/sinter-ml/sinter/optimize"
)

// planCache holds the device's plans, ready to run. In front of it each stream
// keeps its own bindings, so that a known segment needs no shared lock.
type planCache struct {
	cache *optimize.Cache
	store *optimize.Store // plans other processes made
	limit int

	mu    sync.Mutex
	ready map[*optimize.Plan]*plan
}

func newPlanCache(planner *optimize.Planner, limit int, dir string, log *slog.Logger) *planCache {
	c := &planCache{cache: optimize.NewCache(limit), store: optimize.NewStore(planner, log), limit: limit, ready: make(map[*optimize.Plan]*plan)}
	if dir != "" {
		c.store.OpenDir(dir)
	}
	return c
}

// key returns the tokens that name the segment and their hash: relative form,
// then facts.
func (e *executor) key() optimize.Key {
	tokens := append(e.tokens[:0], e.seg.rel.Tokens...)
	tokens = append(tokens, e.facts...)
	e.tokens = tokens
	return optimize.Key{Hash: e.hash(), Tokens: tokens, Sequence: e.seg.rel.Hash}
}

func (e *executor) hash() uint64 {
	h := e.seg.rel.Hash
	for _, f := range e.facts {
		h = mix(h, f)
	}
	return h
}

// lookup returns the plan of the segment if one is known, here or where plans
// are saved, and holds.
func (c *planCache) lookup(e *executor, k optimize.Key) *plan {
	e.layouts()
	facts := optimize.Facts{Dims: e.seg.rel.Dims, Layouts: e.stored, Ops: e.operations()}
	made, ok := c.cache.Lookup(k.Hash, k.Tokens, facts)
	if !ok {
		saved := c.store.Restore(k)
		if len(saved) == 0 {
			return nil
		}
		for _, state := range saved {
			c.cache.Insert(state)
		}
		e.s.stats.plansLoaded.Add(int64(len(saved)))
		if made, ok = c.cache.Lookup(k.Hash, k.Tokens, facts); !ok {
			return nil
		}
	}
	c.mu.Lock()
	p := c.ready[made]
	c.mu.Unlock()
	if p == nil {
		p = c.prepare(e, made)
	}
	return p
}

// add keeps a plan that was made for the segment, and saves it.
func (c *planCache) add(e *executor, k optimize.Key, seg *optimize.Segment, made *optimize.Plan) {
	c.cache.Add(k, seg, made)
	if c.store.Save(&optimize.State{Key: k, Segment: seg, Plan: made}) {
		e.s.stats.plansSaved.Add(1)
	}
}

// SavePlans writes every plan the runtime has, for LoadPlans of another process
// that runs the same program on a device of the same profile.
func (rt *Runtime) SavePlans(w io.Writer) error {
	return rt.plans.store.Write(w, rt.plans.cache.States())
}

// LoadPlans takes plans that SavePlans wrote, up to the first fault, and returns
// how many. They are checked when they are first needed. A fault is an
// *optimize.StateError; other errors are the reader's.
func (rt *Runtime) LoadPlans(r io.Reader) (int, error) { return rt.plans.store.Read(r) }

// prepare makes a plan ready to run and remembers it.
func (c *planCache) prepare(e *executor, made *optimize.Plan) *plan {
	p := e.s.rt.prepare(made, e)
	c.mu.Lock()
	if len(c.ready) >= 2*c.limit {
		clear(c.ready) // evicted plans; kernels stay compiled on the device
	}
	c.ready[made] = p
	c.mu.Unlock()
	return p
}
