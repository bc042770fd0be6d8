package livemodel

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutAsker breaks a rule on purpose: one reason to keep a version is not
// seen.
func withoutAsker(name string) func(*Model) {
	return func(m *Model) {
		m.rules.askers = slices.DeleteFunc(slices.Clone(m.rules.askers), func(a asker) bool { return a.name == name })
	}
}

// splice queues a virtual value's recipe instead of running it at once.
func splice(m *Model) {
	m.rules.late = func(m *Model, n *node) {
		copies := map[*node]*node{}
		for _, o := range n.recipe {
			c := n
			if o != n {
				c = &node{op: m.ops, call: o.call, shape: o.shape, truth: o.truth, drawn: o.drawn}
				m.ops++
			}
			c.in = slices.Clone(o.in)
			for i, x := range o.in {
				if y, ok := copies[x]; ok {
					c.in[i] = y
				}
			}
			copies[o] = c
			c.state, c.segment, c.recipe = pending, m.segment, nil
			c.hash = m.rules.hash(m, c)
			m.queue = append(m.queue, c)
		}
	}
}

// hashAll lets hashes go on through earlier segments.
func hashAll(m *Model) {
	m.rules.hash = func(_ *Model, n *node) uint64 {
		h := fnv.New64a()
		fmt.Fprintln(h, n.call.Op, n.call.Len, n.call.Axis, n.call.Site)
		for _, x := range n.in {
			fmt.Fprintln(h, x.hash)
		}
		return h.Sum64()
	}
}

// hashNoSite makes the same computation at two call sites one value.
func hashNoSite(m *Model) {
	m.rules.hash = func(m *Model, n *node) uint64 {
		site := n.call.Site
		n.call.Site = 0
		h := structuralHash(m, n)
		n.call.Site = site
		return h
	}
}

func fixedCut(m *Model) {
	m.rules.cut = func(m *Model) int {
		if n := len(m.queue); n >= m.cfg.Cut {
			return n
		}
		return 0
	}
}

// careless forgets that readers of an old version go before what overwrites it.
type careless struct{ Random }

func (c careless) Plan(s *Segment) (Plan, error) {
	free := &Segment{Ops: slices.Clone(s.Ops)}
	for i, o := range free.Ops {
		free.Ops[i].After = nil
		for _, p := range o.In {
			if p >= 0 {
				free.Ops[i].After = append(free.Ops[i].After, p)
			}
		}
	}
	p, err := c.Random.Plan(free)
	slices.Reverse(p.Blocks) // the latest possible order of independent blocks
	for i := range p.Blocks {
		for j := i; j > 0 && free.legal(swapped(p.Blocks, j)) == nil; j-- {
			p.Blocks = swapped(p.Blocks, j)
		}
	}
	return p, err
}

func swapped(b [][]int, j int) [][]int {
	b = slices.Clone(b)
	b[j-1], b[j] = b[j], b[j-1]
	return b
}

// TestBrokenRulesGiveWrongValues: each reason to keep a version is needed, and
// so is the order of readers and effects.
func TestBrokenRulesGiveWrongValues(t *testing.T) {
	for _, a := range askers {
		t.Run(a.name, func(t *testing.T) {
			assert.NotNil(t, failing(withoutAsker(a.name)), "no random program needs the rule")
		})
	}
}

// failing returns a random program that goes wrong under a broken rule, nil if
// none does.
func failing(b func(*Model)) *Program {
	for seed := range int64(100) {
		for _, k := range kinds {
			p := Generate(seed, k.opts)
			m := New(Config{Cut: k.cut, Planner: Random{seed}})
			b(m)
			Run(m, p)
			if m.Fault() != nil {
				return p
			}
		}
	}
	return nil
}

func TestBrokenOrderGivesWrongValues(t *testing.T) {
	wrong := 0
	for seed := range int64(30) {
		m := New(Config{Planner: careless{}})
		Run(m, Generate(seed, Options{Scopes: true}))
		for _, err := range m.faults {
			if !assert.ObjectsAreEqual("illegal", err.Error()[:7]) {
				wrong++
				break
			}
		}
	}
	assert.Greater(t, wrong, 0)
}

// TestBrokenRulesShow: rules that only decide what is stored show in plans that
// do not settle, or differ from what the model decides.
func TestBrokenRulesShow(t *testing.T) {
	compare := func(p *Program, cut int, b func(*Model)) error {
		e := New(Config{Cut: cut})
		b(e)
		return Compare(e, p, Config{Cut: cut})
	}
	t.Run("splice", func(t *testing.T) {
		require.Error(t, compare(misc(false), 0, splice))
	})
	t.Run("hash through segments", func(t *testing.T) {
		good, _ := run(t, lstm(), Config{})
		m := New(Config{})
		hashAll(m)
		bad := Run(m, lstm())
		assert.Equal(t, 1, lates(good))
		assert.Greater(t, lates(bad), 5, "every iteration asks late")
		require.Error(t, compare(lstm(), 0, hashAll))
	})
	t.Run("hash without site", func(t *testing.T) {
		require.Error(t, compare(twins(), 0, hashNoSite))
	})
	t.Run("cut anywhere", func(t *testing.T) {
		require.Error(t, compare(train(training{}), 128, fixedCut))
	})
	t.Run("nothing broken", func(t *testing.T) {
		for _, p := range []*Program{misc(false), lstm(), twins()} {
			require.NoError(t, compare(p, 0, func(*Model) {}))
		}
		require.NoError(t, compare(train(training{}), 128, func(*Model) {}))
	})
}

// twins computes the same from two call sites and asks late for one of them.
func twins() *Program {
	s := newScript()
	s.body()
	x := s.from(4, 4)
	a, b := s.times(x, 2), s.times(x, 2)
	s.read(s.op(OpAdd, s.plus(a, 1), s.plus(b, 1)))
	s.read(a)
	return &s.p
}
