package fusion

import (
	"sync"

	"github.com/sinter-ml/sinter/ir"
)

// recomputations remembers where virtual values were asked for late, by call
// site: that should happen once, as such values are stored from then on.
type recomputations struct {
	mu   sync.Mutex
	seen map[uint64]*recomputation
}

type recomputation struct {
	last ir.TensorID // tensors with greater ids were made after the first one
	said bool
}

// maxRecomputations bounds the sites remembered; beyond it all are forgotten.
const maxRecomputations = 1 << 12

// again notes a recomputation of v and reports whether it is the first that
// should not have been: of a value recorded after one of the same call site was
// asked for late.
func (r *recomputations) again(v *Value, site uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.seen[site]
	if x == nil {
		if r.seen == nil || len(r.seen) >= maxRecomputations {
			r.seen = make(map[uint64]*recomputation)
		}
		r.seen[site] = &recomputation{last: ir.TensorID(nextID.Load())}
		return false
	}
	if x.said || v.id <= x.last {
		return false
	}
	x.said = true
	return true
}

// sayChurn warns of something that is done again and again for one place of the
// program.
func (rt *Runtime) sayChurn(text string) {
	rt.churned.Add(1)
	rt.log.Warn("sinter: " + text)
}

// noteLate counts a virtual value that is asked for late, and says once for a
// call site that it does not stay at one.
func (s *Stream) noteLate(v *Value) {
	s.rt.late.add(v.hash)
	s.stats.recomputed.Add(1)
	op := &v.recipe.node.op
	if !s.rt.again.again(v, siteHash(op)) {
		return
	}
	what := op.Kind.String()
	if name := v.Name(); name != "" {
		what += " " + name
	}
	if at := ir.Position(op.PC); at != "" {
		what += " at " + at
	}
	s.rt.sayChurn("the result of " + what + " was fused away and computed again when asked for, for the second time, of another shape or from other operations; " +
		"ask for it before the queue runs: keep it with Scope.Keep, or read it first")
}
