package livemodel

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twisted is an engine that follows the rules but for what it reports.
type twisted struct {
	*Model
	read   func([]float32, error) ([]float32, error)
	events func([]Event) []Event
}

func (w *twisted) Read(site int, t Tensor) ([]float32, error) {
	v, err := w.Model.Read(site, t)
	if w.read != nil {
		v, err = w.read(v, err)
	}
	return v, err
}

func (w *twisted) Events() []Event {
	ev := w.Model.Events()
	if w.events != nil {
		ev = w.events(ev)
	}
	return ev
}

// drained changes the n-th drain an engine reports.
func drained(n int, f func(d *Drain)) func([]Event) []Event {
	return func(ev []Event) []Event {
		for _, e := range ev {
			if e.Kind != EventDrain {
				continue
			}
			if n--; n == 0 {
				f(e.Drain)
			}
		}
		return ev
	}
}

func TestCompareFindsWhatDiffers(t *testing.T) {
	s := newScript([]int{2, 2})
	s.body()
	x := s.from(2, 2)
	a := s.times(x, 2)
	b := s.plus(a, 1)
	s.set(0, b)
	s.read(b)
	s.read(a)
	s.op(OpMatMul, x, s.from(3, 3))
	s.step(OpFlush, -1)
	p := &s.p
	require.NoError(t, Compare(&twisted{Model: New(Config{})}, p, Config{}))

	reads, drains := 0, 0
	for _, c := range []struct {
		name, says string
		e          twisted
	}{
		{"a bit of a value", "differs", twisted{read: func(v []float32, err error) ([]float32, error) {
			if reads++; reads == 5 {
				v[3] = -v[3]
			}
			return v, err
		}}},
		{"an error instead of a value", "differs", twisted{read: func([]float32, error) ([]float32, error) {
			return nil, &failure{}
		}}},
		{"operations of a drain", "drained operations", twisted{events: drained(2, func(d *Drain) {
			d.Ops = d.Ops[1:]
		})}},
		{"a drain is missing", "did not drain", twisted{events: func([]Event) []Event { return nil }}},
		{"a late demand is missing", "want late", twisted{events: func(ev []Event) []Event {
			return slices.DeleteFunc(ev, func(e Event) bool { return e.Kind == EventLate })
		}}},
		{"a late demand nobody made", "got  late", twisted{events: func(ev []Event) []Event {
			if len(ev) > 0 && ev[0].Kind == EventDrain {
				ev = append(ev, Event{Kind: EventLate})
			}
			return ev
		}}},
		{"what is asked for", "differs", twisted{events: drained(1, func(d *Drain) { d.Asked = []bool{true, true, false} })}},
		{"what is dead", "differs", twisted{events: drained(1, func(d *Drain) { d.Dead = []bool{true, false, false} })}},
		{"what is kept", "differs", twisted{events: drained(2, func(d *Drain) { d.Keeps = []bool{false, false, true} })}},
		{"a fate", "differs", twisted{events: drained(1, func(d *Drain) { d.Fates[0] = Stored })}},
		{"a recipe", "differs", twisted{events: drained(1, func(d *Drain) { d.Recipes[0] = []int{0, 1} })}},
		{"an illegal order", "illegal plan", twisted{events: drained(1, func(d *Drain) { d.Blocks = [][]int{{1, 2}, {0}} })}},
		{"plans every time", "plan number 3", twisted{events: func(ev []Event) []Event {
			for _, e := range ev {
				if e.Kind == EventDrain {
					e.Drain.Planned = true
				}
			}
			return ev
		}}},
		{"a late plan", "its drain number 4", twisted{events: func(ev []Event) []Event {
			for _, e := range ev {
				if e.Kind == EventDrain {
					drains++
					e.Drain.Planned = drains == 4
				}
			}
			return ev
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.e.Model = New(Config{})
			err := Compare(&c.e, p, Config{})
			require.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, "repeat 12", "the program is printed")
		})
	}
}

func TestProgramText(t *testing.T) {
	s := newScript([]int{4, 2})
	s.p.Times, s.p.Seed = 3, 9
	x := s.from(4, 2)
	s.body()
	r, st := s.make(OpRows, x)
	st.Start, st.Len, st.Mod = 1, 2, 2
	s.setSlice(0, r, 0, 3)
	y, st := s.make(OpMulScalar, s.sum(s.val(0), 1))
	st.Scalar, st.Grow = 0.5, true
	s.finally()
	s.when(3, 0, func() { s.read(y) })
	assert.Equal(t, `program 9
  v0 [4 2]
  t1 = from [4 2] @1
repeat 3
  t2 = rows t1 start 1+i mod 2 len 2 @2
  setslice v0 t2 start 0+i mod 3 @3
  t3 = value v0 @4
  t4 = sum t3 axis 1 @5
  t5 = mulscalar t4 0.5·(1+i) @6
finally
  read t5 when i mod 3 = 0 @7
`, s.p.String())
}
