package fusion

import "context"

// headSites is how many call sites must recur for the start of a segment to
// be recognised.
const headSites = 8

// cut executes part of a queue that has grown long: a whole number of periods
// of the recorded sequence, so that the same plan serves every cut. If no
// period fits, the queue may grow to four times the limit until the segment's
// first call sites recur.
func (s *Stream) cut() {
	n := len(s.queue.nodes)
	if n < s.rt.opts.QueueLimit {
		return
	}
	if s.window != nil {
		return // a window's boundaries are its own
	}
	if p := period(s.queue.nodes); p > 0 {
		s.drain(context.Background(), n/p*p)
		return
	}
	if at := recurrence(s.queue.nodes); at > 0 {
		s.drain(context.Background(), at)
		return
	}
	if n >= 4*s.rt.opts.QueueLimit {
		s.drain(context.Background(), n)
	}
}

// period returns the smallest p such that the last p operations equal the p
// before them, by kind and call site, or 0. Over the reversed sequence that
// is a prefix that repeats at once: the Z function finds it in linear time.
func period(q []*node) int {
	n := len(q)
	at := func(i int) uint64 { return q[n-1-i].site }
	z := make([]int32, n)
	l, r := 0, 0
	for i := 1; i < n; i++ {
		k := 0
		if i < r {
			k = min(r-i, int(z[i-l]))
		}
		for i+k < n && at(k) == at(i+k) {
			k++
		}
		z[i] = int32(k)
		if k >= i {
			return i
		}
		if i+k > r {
			l, r = i, i+k
		}
	}
	return 0
}

// recurrence returns the last position, beyond a quarter of the queue, where
// the segment's first call sites recur, or 0.
func recurrence(q []*node) int {
	n := len(q)
	for at := n - headSites; at > n/4; at-- {
		same := true
		for k := range headSites {
			if q[at+k].site != q[k].site {
				same = false
				break
			}
		}
		if same {
			return at
		}
	}
	return 0
}
