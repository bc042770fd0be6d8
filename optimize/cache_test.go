package optimize

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// guarded returns a plan that holds when the first length is n.
func guarded(n int) *Plan {
	return &Plan{Guards: []Guard{{Name: "length", Detail: "0:Neg", Holds: func(dims []int, _ []codegen.Layout) bool { return dims[0] == n }}}}
}

func TestCache(t *testing.T) {
	c := NewCache(2)
	seg := &Segment{}
	a, b, d := &Plan{}, &Plan{}, &Plan{}
	key := func(hash uint64, tokens ...uint64) Key { return Key{Hash: hash, Tokens: tokens, Sequence: hash} }
	lookup := func(k Key) *Plan {
		p, ok := c.Lookup(k.Hash, k.Tokens, Facts{})
		require.Equal(t, ok, p != nil)
		return p
	}
	require.Nil(t, lookup(key(1, 7)))
	c.Add(key(1, 7), seg, a)
	require.Same(t, a, lookup(key(1, 7)))
	require.Nil(t, lookup(key(1, 8)), "equal hashes of other tokens")
	c.Add(key(1, 8), seg, b)
	require.Same(t, a, lookup(key(1, 7)))
	require.Same(t, b, lookup(key(1, 8)))
	require.Same(t, a, lookup(key(1, 7)))
	c.Add(key(2, 9), seg, d)
	require.Nil(t, lookup(key(1, 8)), "the least recently used one went")
	require.Same(t, a, lookup(key(1, 7)))
	require.Same(t, d, lookup(key(2, 9)))
	require.Equal(t, 2, c.Len())
	require.Equal(t, CacheStats{Hits: 6, Misses: 3, Explorations: 3, Evictions: 1}, c.Stats())
}

func TestCacheKeepsPlansApartByGuards(t *testing.T) {
	c := NewCache(8)
	k := Key{Hash: 1, Tokens: []uint64{1}, Sequence: 1}
	four, five, six := guarded(4), guarded(5), guarded(6)
	for i, p := range []*Plan{four, five, six} {
		c.Add(k, &Segment{Dims: []int{4 + i}}, p)
	}
	for n, want := range map[int]*Plan{4: four, 5: five, 6: six} {
		p, ok := c.Lookup(1, k.Tokens, Facts{Dims: []int{n}})
		require.True(t, ok)
		require.Same(t, want, p)
	}
}

func TestCacheHitsDoNotAllocate(t *testing.T) {
	c := NewCache(8)
	seg := encoder(2)
	p, err := fakePlanner(fakes(), Options{}).Plan(seg)
	require.NoError(t, err)
	require.NotEmpty(t, p.Guards)
	k := Key{Hash: 1, Tokens: []uint64{1}}
	c.Add(k, seg, p)
	f := seg.Facts()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, ok := c.Lookup(1, k.Tokens, f); !ok {
			panic("miss")
		}
	}))
}

func TestCacheServesSeveralStreams(t *testing.T) {
	c := NewCache(4)
	var reports sync.Map
	c.OnChurn = func(r Churn) { reports.Store(r.Plans, true) }
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			for i := range uint64(200) {
				k := Key{Hash: i % 6, Tokens: []uint64{i % 6}, Sequence: g}
				if _, ok := c.Lookup(k.Hash, k.Tokens, Facts{}); !ok {
					c.Add(k, &Segment{}, &Plan{})
				}
			}
		})
	}
	wg.Wait()
	s := c.Stats()
	require.EqualValues(t, 800, s.Hits+s.Misses)
	require.Equal(t, s.Misses, s.Explorations)
	require.LessOrEqual(t, c.Len(), 4)
}

func TestChurn(t *testing.T) {
	segment := func(dims int, change func(b *builder)) *Segment {
		b := &builder{}
		b.op(ir.Neg, b.op(ir.Neg, b.in(dims)))
		change(b)
		return b.done()
	}
	none := func(*builder) {}
	never := func([]int, []codegen.Layout) bool { return false }
	once := []Guard{{Name: "once", Holds: never}}
	strided := func(b *builder) { b.seg.Tensors[0].Layout.Strides = []int{2} }
	effect := func(inPlace bool) *Segment {
		b := &builder{}
		t := b.set(b.variable(4), b.in(4), inPlace)
		b.seg.Tensors[t].Var = 1
		return b.done()
	}
	cases := map[string]struct {
		segs  []*Segment
		plans []*Plan
		keys  []uint64
		want  Churn
	}{
		"a guard": {
			[]*Segment{segment(4, none), segment(5, none), segment(6, none)},
			[]*Plan{{Guards: once}, {Guards: []Guard{{Name: "length", Detail: "0:Neg", Holds: func(dims []int, _ []codegen.Layout) bool { return dims[1] == 5 }}}}, {}},
			[]uint64{1, 1, 1},
			Churn{Plans: 3, Cause: "guard length failed", Op: "0:Neg", Mend: "keep lengths, layouts and scalars alike from run to run"},
		},
		"a tensor": {
			[]*Segment{segment(4, none), segment(4, func(b *builder) { b.asked(2) }), segment(4, func(b *builder) { b.asked(2); b.dead(1) })},
			[]*Plan{{}, {}, {}},
			[]uint64{1, 2, 3},
			Churn{Plans: 3, Cause: "t1 is dead now", Op: "result of 0:Neg", Mend: "release it, or let its scope end, at the same place in every run"},
		},
		"a guard of the table": {
			[]*Segment{segment(4, none), segment(5, none), segment(6, none)},
			[]*Plan{{Guards: once}, {Guards: []Guard{{Name: GuardRowFits, Detail: "1:Sum", Op: 1, Holds: never}}}, {}},
			[]uint64{1, 1, 1},
			Churn{Plans: 3, Cause: "guard row-fits failed", Op: "1:Sum", Mend: guardMends[GuardRowFits]},
		},
		"an input": {
			[]*Segment{segment(4, none), segment(4, none), segment(4, func(b *builder) { b.seg.Tensors[0].Takeable = true })},
			[]*Plan{{}, {}, {}},
			[]uint64{1, 2, 3},
			Churn{Plans: 3, Cause: "t0 is free to take now", Op: "input of 0:Neg", Mend: "release it, or keep what shares its memory, at the same place in every run"},
		},
		"a layout": {
			[]*Segment{segment(4, none), segment(4, strided), segment(4, none)},
			[]*Plan{{}, {}, {}},
			[]uint64{1, 2, 3},
			Churn{Plans: 3, Cause: "t0 is dense in memory now", Op: "input of 0:Neg", Mend: "pass it dense in every run or in none"},
		},
		"an effect": {
			[]*Segment{effect(true), effect(false), effect(true)},
			[]*Plan{{}, {}, {}},
			[]uint64{1, 2, 3},
			Churn{Plans: 3, Cause: "t2 is written over the old version now", Op: "result of 0:Set", Mend: "take values of the Var, and release them, at the same places in every run"},
		},
		"a Var": {
			[]*Segment{segment(4, none), segment(4, none), segment(4, func(b *builder) { b.seg.Tensors[0].Var = 1 })},
			[]*Plan{{}, {}, {}},
			[]uint64{1, 2, 3},
			Churn{Plans: 3, Cause: "t0 is a version of a Var now", Op: "input of 0:Neg", Mend: "use a Var, or a tensor, in every run"},
		},
		"aliases": {
			[]*Segment{segment(4, none), segment(4, none), segment(4, func(b *builder) { b.seg.Tensors[0].Buffer = 7 })},
			[]*Plan{{}, {}, {}},
			[]uint64{1, 2, 3},
			Churn{Plans: 3, Cause: "which tensors share memory differs", Mend: "let the same tensors share memory in every run"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cache := NewCache(16)
			var got []Churn
			cache.OnChurn = func(r Churn) { got = append(got, r) }
			for i := range c.segs {
				require.Empty(t, got)
				cache.Add(Key{Hash: c.keys[i], Tokens: []uint64{c.keys[i]}, Sequence: 9}, c.segs[i], c.plans[i])
			}
			require.Equal(t, []Churn{c.want}, got)
			require.Contains(t, got[0].String(), c.want.Cause)
			cache.Add(Key{Hash: 4, Tokens: []uint64{4}, Sequence: 9}, c.segs[0], &Plan{})
			require.Len(t, got, 1, "said once")
		})
	}
}

func TestChurnOfForgottenPlans(t *testing.T) {
	cache := NewCache(2)
	var got []Churn
	cache.OnChurn = func(r Churn) { got = append(got, r) }
	seg := &Segment{}
	for range 3 {
		cache.Add(Key{Hash: 1, Tokens: []uint64{1}, Sequence: 9}, seg, &Plan{})
		for other := range uint64(2) { // push it out
			cache.Add(Key{Hash: 5 + other, Tokens: []uint64{5 + other}, Sequence: 8}, seg, &Plan{})
		}
	}
	want := Churn{Plans: 3, Cause: "earlier plans were forgotten", Mend: "keep more plans, or record fewer different sequences"}
	require.Contains(t, got, want)
}

// Streams that meet a new sequence at the same time each plan it: those are not
// several plans of it.
func TestPlansMadeAtTheSameTimeAreOne(t *testing.T) {
	cache := NewCache(4)
	cache.OnChurn = func(r Churn) { t.Error(r) }
	for range 5 {
		cache.Add(Key{Hash: 1, Tokens: []uint64{1}, Sequence: 9}, &Segment{}, &Plan{})
	}
	require.Equal(t, 1, cache.Len())
	require.EqualValues(t, 5, cache.Stats().Explorations)
}
