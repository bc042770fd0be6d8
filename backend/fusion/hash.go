package fusion

import (
	"sync"

	"github.com/sinter-ml/sinter/ir"
)

// mix joins a word to a hash (the finaliser of splitmix64 over their sum).
func mix(h, w uint64) uint64 {
	h += w + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// siteHash names an operation's kind and call site.
func siteHash(op *ir.Operation) uint64 { return mix(mix(0, uint64(op.Kind)), uint64(op.PC)) }

// structuralHash identifies a recorded value across iterations (see
// ir.StructHash). It ends at the segment's inputs: what was made before is an anonymous leaf,
// stored or virtual alike, and a Var counts by identity.
func structuralHash(n *node, s *Stream) uint64 {
	var buf [4]uint64
	in := buf[:0]
	for _, v := range n.in {
		switch {
		case v.home == s && v.seg == s.seg && v.is(Pending):
			in = append(in, v.hash)
		case v.version != nil:
			in = append(in, v.version.v.number<<1|1)
		default:
			in = append(in, 2)
		}
	}
	return ir.StructHash(&n.op, in)
}

// lateSet is the structural hashes of values that were asked for late, so
// that the next value of the same structure is stored at once. It is bounded:
// forgetting one costs a recomputation, nothing else.
type lateSet struct {
	mu  sync.RWMutex
	set map[uint64]struct{}
}

const maxLate = 1 << 16

func (l *lateSet) init() { l.set = make(map[uint64]struct{}) }

func (l *lateSet) has(h uint64) bool {
	l.mu.RLock()
	_, ok := l.set[h]
	l.mu.RUnlock()
	return ok
}

func (l *lateSet) add(h uint64) {
	l.mu.Lock()
	if len(l.set) >= maxLate {
		clear(l.set)
	}
	l.set[h] = struct{}{}
	l.mu.Unlock()
}
