package backend

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// model is the book of a recording kept another way: each stream has the set of
// all work it comes after,.
type model struct {
	open  []int
	next  int
	in    map[Stream]int
	after map[Stream]map[int]bool
	of    map[int]Stream // work by number
}

func (m *model) top() int { return m.open[len(m.open)-1] }

// missing lists work of the given streams that s does not come after.
func (m *model) missing(s Stream, which func(work int) bool) bool {
	for work := range m.of {
		if which(work) && !m.after[s][work] {
			return true
		}
	}
	return false
}

func (m *model) work(s Stream) bool {
	if in, ok := m.in[s]; !ok || in != m.top() {
		return false
	}
	n := len(m.of)
	m.of[n] = s
	m.after[s][n] = true
	return true
}

func (m *model) join(s, other Stream) bool {
	own := func(x Stream) func(int) bool { return func(w int) bool { return m.of[w] == x } }
	inside, sIn := m.in[other] == m.top(), false
	if in, ok := m.in[s]; ok {
		sIn = in == m.top()
	}
	if !inside && m.missing(s, own(other)) || inside && !sIn && m.missing(other, own(s)) {
		return false
	}
	if m.after[s] == nil {
		m.after[s] = map[int]bool{}
	}
	for w := range m.after[other] {
		m.after[s][w] = true
	}
	if inside {
		m.in[s] = m.top()
	}
	return true
}

// Random sequences of calls are answered as the model answers them.
func TestForksAgainstAModel(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := NewForks(1)
		m := &model{open: []int{0}, in: map[Stream]int{1: 0}, after: map[Stream]map[int]bool{1: {}}, of: map[int]Stream{}}
		var calls []string
		check := func(call string, ok bool, err error) {
			calls = append(calls, call)
			var c *CaptureError
			require.True(t, err == nil || errors.As(err, &c))
			require.Equal(t, ok, err == nil, "seed %d: %v: %v", seed, calls, err)
		}
		for range 30 {
			s, other := Stream(r.IntN(3)+1), Stream(r.IntN(3)+1)
			_, takesPart := m.in[other]
			switch k := r.IntN(6); {
			case k < 2:
				if _, ok := m.in[s]; ok {
					check("work "+streamName(s), m.work(s), f.Work(s))
				}
			case k < 4:
				if takesPart && s != other {
					check(streamName(s)+" waits for "+streamName(other), m.join(s, other), f.Join(s, other))
				}
			case k == 4:
				if in, ok := m.in[s]; ok && len(m.open) < 4 {
					fine := in == m.top()
					if fine {
						m.next++
						m.open = append(m.open, m.next)
						m.in[s] = m.next
					}
					check("enter "+streamName(s), fine, f.Enter(s))
				}
			default:
				in, ok := m.in[s]
				if !ok {
					continue
				}
				fine := len(m.open) > 1 && in == m.top() && !m.missing(s, func(w int) bool { return m.in[m.of[w]] == m.top() })
				if fine {
					m.open = m.open[:len(m.open)-1]
					m.in[s] = m.top()
				}
				check("leave "+streamName(s), fine, f.Leave(s))
			}
		}
		whole := len(m.open) == 1 && !m.missing(1, func(int) bool { return true })
		require.True(t, f.Active())
		check("end", whole, f.End())
		require.False(t, f.Active())
	}
}

func TestForksNameTheStream(t *testing.T) {
	f := NewForks(1)
	for _, s := range []Stream{4, 3, 2} {
		require.NoError(t, f.Join(s, 1))
		require.NoError(t, f.Work(s))
	}
	require.NoError(t, f.Join(1, 2))
	var c *CaptureError
	require.ErrorAs(t, f.End(), &c)
	require.Equal(t, CaptureUnjoined, c.Reason)
	require.Equal(t, Stream(3), c.Stream)
	require.Contains(t, c.Error(), "stream 3")
	require.False(t, (*Forks)(nil).Active())
	for _, x := range []struct {
		a, b   *Forks
		reason string
	}{{NewForks(1), nil, CaptureIsolation}, {NewForks(1), NewForks(2), CaptureMerge}} {
		join, err := WaitRecording(1, 2, x.a, x.b)
		require.False(t, join)
		require.ErrorAs(t, err, &c)
		require.Equal(t, x.reason, c.Reason)
	}
	join, err := WaitRecording(1, 2, nil, nil)
	require.False(t, join)
	require.NoError(t, err)
}
