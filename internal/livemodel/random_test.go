package livemodel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kinds of random programs.
var kinds = []struct {
	name string
	opts Options
	cut  int
}{
	{"plain", Options{}, 0},
	{"scopes", Options{Scopes: true}, 0},
	{"deaths", Options{Scopes: true, Releases: true}, 0},
	{"faults", Options{Scopes: true, Releases: true, Faults: true}, 0},
	{"long queues", Options{Rare: true}, 48},
	{"long queues in scopes", Options{Rare: true, Scopes: true, Releases: true}, 48},
	{"unsteady", Options{Scopes: true, Releases: true, Unsteady: true, Rare: true}, 100},
}

// seeds is how many programs of each kind a test runs.
func seeds() int64 {
	if testing.Short() {
		return 15
	}
	return 60
}

// TestRandomPrograms runs the rules with two ways of forming blocks: values
// equal eager evaluation, plans settle, and dropped handles change nothing.
func TestRandomPrograms(t *testing.T) {
	for _, k := range kinds {
		for _, planner := range []Planner{Greedy{}, Random{1}} {
			t.Run(fmt.Sprintf("%s/%T", k.name, planner), func(t *testing.T) {
				for seed := range seeds() {
					p := Generate(seed, k.opts)
					cfg := Config{Cut: k.cut, Planner: planner}
					tr, _ := run(t, p, cfg)
					plans, last := tr.Settling().Worst()
					if p.Steady() {
						require.LessOrEqual(t, plans, 2, "%v", p)
						require.LessOrEqual(t, last, 3, "%v", p)
					}
					require.NoError(t, differ(Run(New(cfg), forgetful(p)), tr), "%v", p)
				}
			})
		}
	}
}

// TestEagerComparison runs the two implementations of values and errors
// against each other.
func TestEagerComparison(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for seed := range seeds() {
				require.NoError(t, Compare(newEager(), Generate(1000+seed, k.opts), Config{Cut: k.cut}))
			}
		})
	}
}

// TestModelComparison lets a model be the engine of the comparison: with
// random blocks, some of them views, every decision must agree.
func TestModelComparison(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for seed := range seeds() {
				p := Generate(2000+seed, k.opts)
				e := New(Config{Cut: k.cut, Planner: Random{seed}})
				require.NoError(t, Compare(e, p, Config{Cut: k.cut}))
			}
		})
	}
}

// TestGeneratedProgramsReachEverything counts what random programs meet.
func TestGeneratedProgramsReachEverything(t *testing.T) {
	met := map[string]int{}
	for _, k := range kinds {
		for seed := range int64(20) {
			p := Generate(seed, k.opts)
			require.Equal(t, p.String(), Generate(seed, k.opts).String())
			length := len(p.Body)
			assert.True(t, 8 <= length && length <= 130 && 6 <= p.Times && p.Times <= 14, "%d steps", length)
			for _, e := range first(t, p, k.cut) {
				switch e.Kind {
				case EventLate:
					met["late"]++
				case EventErr:
					met[fmt.Sprint("error ", e.Cause.Kind)]++
				case EventValue:
					met["value"]++
					if slices.ContainsFunc(e.Values, func(v float32) bool { return v-v != 0 }) {
						met["not finite"]++
					}
				case EventDrain:
					d := e.Drain
					for i := range d.Ops {
						met[d.Fates[i].String()]++
						met[fmt.Sprint("keeps ", d.Keeps[i])]++
						met[fmt.Sprint("alias ", d.Alias[i])]++
					}
					if !d.Planned {
						met["known"]++
					}
				}
			}
		}
	}
	for _, what := range []string{
		"late", "value", "known", "error 1", "error 2", "stored", "virtual", "temporary", "dropped",
		"keeps true", "keeps false", "alias true", "alias false",
	} {
		assert.Greater(t, met[what], 8, what)
	}
	assert.Less(t, met["not finite"], met["value"]/100, "programs whose numbers say little")
}

func first(t *testing.T, p *Program, cut int) Trace {
	tr, _ := run(t, p, Config{Cut: cut, Planner: Random{3}})
	return tr
}

func TestShrink(t *testing.T) {
	p := misc(false)
	sets := func(q *Program) bool {
		n := 0
		for _, s := range q.Body {
			if s.Op == OpValue {
				n++
			}
		}
		return n > 0 && q.Times > 2
	}
	require.True(t, sets(p))
	q := Shrink(p, sets)
	assert.Len(t, q.Body, 1)
	assert.Equal(t, 3, q.Times)
	assert.Empty(t, q.Init)
	assert.Empty(t, q.Final)
	assert.Equal(t, misc(false), p, "the program given is left alone")
}
