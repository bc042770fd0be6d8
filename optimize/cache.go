package optimize

import (
	"slices"
	"sync"
)

// Key identifies a segment before it is planned.
type Key struct {
	// Hash is the hash of Tokens.
	Hash uint64
	// Tokens is the relative form of the operations and everything that is
	// known before planning: outputs asked for, outputs dead, effects in place,
	// which storage may be taken, which inputs alias.
	Tokens []uint64
	// Sequence is the hash of the relative form alone: of what was recorded.
	// It groups plans for OnChurn.
	Sequence uint64
}

// CacheStats counts what a cache did.
type CacheStats struct {
	Hits, Misses int64
	Explorations int64 // plans added
	Loaded       int64 // plans inserted
	Evictions    int64
}

// Cache keeps plans by segment. The least recently used ones go first. It may
// be used by several goroutines at once.
type Cache struct {
	mu    sync.Mutex
	plans *lru[cachedPlan]
	churn *churn
	stats CacheStats

	// OnChurn, if set before the first use, is called once for each recorded
	// sequence for which a third plan is made.
	OnChurn func(Churn)
}

type cachedPlan struct {
	key  Key
	seg  *Segment
	plan *Plan
}

// NewCache returns a cache of at most limit plans.
func NewCache(limit int) *Cache {
	limit = max(1, limit)
	return &Cache{plans: newLRU[cachedPlan](limit), churn: newChurn(limit)}
}

// Lookup returns the plan of a segment with equal tokens whose guards hold for
// the facts. Of several the one added last is returned. A hit allocates
// nothing.
func (c *Cache) Lookup(hash uint64, tokens []uint64, f Facts) (*Plan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.find(hash, tokens, &f)
	if ok {
		c.stats.Hits++
		return p.plan, true
	}
	c.stats.Misses++
	return nil, false
}

// find is Lookup under the lock, uncounted.
func (c *Cache) find(hash uint64, tokens []uint64, f *Facts) (*cachedPlan, bool) {
	return c.plans.find(hash, func(p *cachedPlan) bool {
		return slices.Equal(p.key.Tokens, tokens) && p.plan.failed(f) == nil
	})
}

// Add keeps the plan made for a segment after a Lookup that missed, unless
// another stream planned an equal one meanwhile: that is no news of the
// sequence. The segment must not change any more.
func (c *Cache) Add(k Key, seg *Segment, p *Plan) {
	facts := seg.Facts()
	c.mu.Lock()
	c.stats.Explorations++
	if _, ok := c.find(k.Hash, k.Tokens, &facts); ok {
		c.mu.Unlock()
		return
	}
	k.Tokens = slices.Clone(k.Tokens)
	c.stats.Evictions += int64(c.plans.add(k.Hash, cachedPlan{k, seg, p}))
	report := c.churn.add(k, seg, p)
	c.mu.Unlock()
	if report != nil && c.OnChurn != nil {
		c.OnChurn(*report)
	}
}

// Insert keeps a plan that was made elsewhere.
func (c *Cache) Insert(s *State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Loaded++
	c.stats.Evictions += int64(c.plans.add(s.Key.Hash, cachedPlan{s.Key, s.Segment, s.Plan}))
}

// States returns what is kept, the plans used last first.
func (c *Cache) States() []State {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []State
	for p := range c.plans.all() {
		out = append(out, State{p.key, p.seg, p.plan})
	}
	return out
}

// Len returns how many plans are kept.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plans.len()
}

// Stats returns the counters.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
