package fusion

import (
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// Run is one executed segment, as an observer sees it.
type Run struct {
	Stream   *Stream
	Segment  *optimize.Segment
	Plan     *optimize.Plan
	Own      bool                   // the segment is the runtime's own: a recipe, a copy, what an effect overwrites
	Late     *Value                 // the virtual value asked for late, if that is why
	Explored bool                   // the plan was made for this run
	Why      Why                    // why the segment ran
	Sequence uint64                 // names what was recorded, whatever is known of it beside: a hash
	Names    map[ir.TensorID]string // names given to tensors and Vars, by relative id
	Values   map[ir.TensorID]*Value // the values, by relative id
	Forced   []bool                 // effects that kept nothing of the old version
	Dims     []int                  // the table of lengths

	exec *executor
}

// Observer is told of every executed segment, on the goroutine that executed
// it, with the stream locked. It must not use the runtime.
type Observer func(*Run)

// Observe sets the observer, nil for none.
func (rt *Runtime) Observe(o Observer) {
	if o == nil {
		rt.observer.Store(nil)
		return
	}
	rt.observer.Store(&o)
}

func (e *executor) observe(o Observer) {
	r := &Run{
		Stream: e.s, Segment: e.segment(), Plan: e.plan.Plan, Own: e.own, Late: e.late, Explored: e.explored, Why: e.why(), Sequence: e.seg.rel.Hash, exec: e,
		Names: make(map[ir.TensorID]string), Values: make(map[ir.TensorID]*Value),
		Forced: append([]bool(nil), e.flags.forced[:len(e.seg.nodes)]...), Dims: e.seg.rel.Dims,
	}
	for i, v := range e.seg.tensors {
		name := v.Name()
		if name == "" && v.version != nil {
			name = v.version.v.Name()
		}
		if name != "" {
			r.Names[ir.TensorID(i)] = name
		}
		r.Values[ir.TensorID(i)] = v
	}
	o(r)
}
