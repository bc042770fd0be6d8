package livemodel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// once returns what a program whose body runs once does, by step, Drains
// summarised by their fates.
func once(t *testing.T, s *script, cfg Config) Trace {
	s.p.Times = 1
	tr, _ := run(t, &s.p, cfg)
	require.NoError(t, Compare(newEager(), &s.p, cfg))
	return tr
}

func causes(t Trace) (out []Cause) {
	for _, e := range t {
		if e.Kind == EventErr {
			out = append(out, e.Cause)
		}
	}
	return out
}

func TestErrorsStick(t *testing.T) {
	s := newScript([]int{2, 2})
	a, b := s.from(2, 3), s.from(2, 2)
	bad := s.op(OpAdd, a, b)
	site := s.site
	dependent := s.op(OpMatMul, s.times(bad, 2), b)
	s.set(0, dependent)
	s.read(s.val(0))
	s.step(OpFlush, -1)
	s.step(OpFlush, -1)
	s.read(dependent)
	s.step(OpFlush, -1)
	tr := once(t, s, Config{})
	first := Cause{BadOp, site}
	assert.Equal(t, []Cause{first, first}, causes(tr), "one flush tells, and each read does")
	assert.Empty(t, drains(tr), "nothing was recorded")
	assert.Equal(t, fill(0, 4), tr[0].Values, "the Var is as it was")
}

func TestBadEffectLeavesVar(t *testing.T) {
	s := newScript([]int{2, 2})
	s.setSlice(0, s.from(1, 2), 2, 0)
	site := s.site
	s.read(s.val(0))
	s.step(OpFlush, -1)
	tr := once(t, s, Config{})
	assert.Equal(t, fill(0, 4), tr[0].Values)
	assert.Equal(t, []Cause{{BadOp, site}}, causes(tr))
}

func TestScopeTellsItsFirstError(t *testing.T) {
	s := newScript()
	a := s.from(2, 3)
	s.op(OpMatMul, a, a)
	outer := s.site
	var inner int
	s.scope(true, func() []int {
		s.op(OpMatMul, a, a)
		inner = s.site
		s.op(OpMatMul, a, a)
		return nil
	})
	s.scope(true, func() []int { return nil })
	s.step(OpFlush, -1)
	assert.Equal(t, []Cause{{BadOp, inner}, {BadOp, outer}}, causes(once(t, s, Config{})))
}

func TestUseAfterDeath(t *testing.T) {
	s := newScript([]int{2, 2})
	var lost int
	kept := s.scope(true, func() []int {
		lost = s.times(s.val(0), 2)
		return []int{s.plus(lost, 1)}
	})
	s.read(lost)
	first := s.site
	s.set(0, lost)
	second := s.site
	s.step(OpRelease, -1, kept[0])
	next := s.plus(kept[0], 1)
	third := s.site
	s.read(next)
	s.step(OpFlush, -1)
	assert.Equal(t, []Cause{{Released, first}, {Released, third}, {Released, second}}, causes(once(t, s, Config{})))
}

func TestFates(t *testing.T) {
	s := newScript([]int{2, 2})
	x, big := s.from(2, 2), s.from(20, 2)
	fates := map[string]int{} // by name, the operation's number
	recorded := 0
	name := func(n string, reg int) int { fates[n] = recorded; recorded++; return reg }
	double := name("used in its block", s.times(x, 2))
	small, st := s.make(OpSum, big)
	st.Axis = 0
	name("reduction", small)
	name("unused", s.plus(double, 1))
	// Ten times its bytes: a row of sums, made again from all of big.
	square := name("used by the sum", s.op(OpSquare, big))
	part := name("reduction used in its block", s.sum(square, 0))
	name("made from little", s.plus(part, 1))
	r, st := s.make(OpRows, big)
	st.Len = 2
	slice := name("made from much", r)
	name("uses it", s.plus(slice, 1))
	gone := name("dead and unused", s.plus(x, 3))
	s.step(OpRelease, -1, gone)
	dead := name("dead and used", s.plus(x, 4))
	name("uses the dead", s.plus(dead, 1))
	s.step(OpRelease, -1, dead)
	s.step(OpFlush, -1)
	all := [][]int{{}}
	for i := range recorded {
		if i != fates["dead and unused"] {
			all[0] = append(all[0], i)
		}
	}
	d := drains(once(t, s, Config{Planner: fixed{all}}))[0]
	for what, want := range map[string]Fate{
		"used in its block": Virtual, "reduction": Stored, "unused": Stored, "used by the sum": Virtual,
		"reduction used in its block": Stored, "made from little": Stored, "made from much": Stored,
		"dead and unused": Dropped, "dead and used": Dropped,
	} {
		assert.Equal(t, want, d.Fates[fates[what]], what)
	}
	assert.Equal(t, []int{0}, d.Recipes[fates["used in its block"]])

	var alone [][]int
	for _, i := range all[0] {
		alone = append(alone, []int{i})
	}
	d = drains(once(t, s, Config{Planner: fixed{alone}}))[0]
	assert.Equal(t, Stored, d.Fates[fates["used in its block"]])
	assert.Equal(t, Temporary, d.Fates[fates["dead and used"]])
	assert.Empty(t, d.Recipes)
}

// fixed plans every segment with the same blocks.
type fixed struct{ blocks [][]int }

func (f fixed) Plan(*Segment) (Plan, error) { return Plan{Blocks: f.blocks}, nil }

func TestIllegalPlansAreFaults(t *testing.T) {
	s := newScript([]int{2, 2})
	old := s.val(0)
	s.op(OpNeg, old)
	s.setSlice(0, s.from(1, 2), 0, 0)
	s.op(OpAbs, s.val(0))
	s.step(OpFlush, -1)
	for _, blocks := range [][][]int{
		{{0, 1}},         // one is missing
		{{0, 1, 2}, {2}}, // one is there twice
		{{0}, {2}, {1}},  // a reader of the new version runs first
		{{1, 2}, {0}},    // a reader of the old version runs last
		{{0, 2, 1}},      // out of order
	} {
		m := New(Config{Planner: fixed{blocks}})
		Run(m, &s.p)
		assert.ErrorContains(t, m.Fault(), "illegal plan", "%v", blocks)
	}
	m := New(Config{Planner: fixed{[][]int{{0}, {1, 2}}}})
	Run(m, &s.p)
	assert.NoError(t, m.Fault())
}

func TestLongQueues(t *testing.T) {
	steps := func(body func(s *script, x int) int) []int {
		s := newScript()
		s.p.Times = 30
		x := s.from(2, 2)
		y := s.op(OpAbs, s.op(OpNeg, x)) // before the first period
		s.body()
		s.step(OpMove, y, body(s, y))
		tr, _ := run(t, &s.p, Config{Cut: 16})
		return lengths(tr)
	}
	assert.Equal(t, []int{15, 15, 15, 15, 15, 15}, steps(func(s *script, x int) int {
		return s.plus(s.times(s.op(OpNeg, x), 0.5), 1)
	})[:6], "whole periods of three")

	s := newScript()
	x := s.from(2, 2)
	for range 100 {
		x = s.op(OpNeg, x)
	}
	tr, _ := run(t, &s.p, Config{Cut: 16})
	assert.Equal(t, []int{64}, lengths(tr), "no period and no recurrence: four times the threshold")
}
