package fusion

import (
	"log/slog"
	"sync"

	"github.com/sinter-ml/sinter/optimize"
)

// planCache holds the device's plans, ready to run. In front of it each stream
// keeps its own bindings, so that a known segment needs no shared lock.
type planCache struct {
	cache *optimize.Cache
	limit int

	mu    sync.Mutex
	ready map[*optimize.Plan]*plan
}

func newPlanCache(limit int, log *slog.Logger) *planCache {
	c := &planCache{cache: optimize.NewCache(limit), limit: limit, ready: make(map[*optimize.Plan]*plan)}
	c.cache.OnChurn = func(x optimize.Churn) { log.Warn("sinter: " + x.String()) }
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

// lookup returns the plan of the segment if one is known and holds.
func (c *planCache) lookup(e *executor, k optimize.Key) *plan {
	e.layouts()
	made, ok := c.cache.Lookup(k.Hash, k.Tokens, optimize.Facts{Dims: e.seg.rel.Dims, Layouts: e.stored, Ops: e.operations()})
	if !ok {
		return nil
	}
	c.mu.Lock()
	p := c.ready[made]
	c.mu.Unlock()
	if p == nil {
		p = c.prepare(e, made)
	}
	return p
}

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
