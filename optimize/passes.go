package optimize

import "github.com/sinter-ml/sinter/ir"

// Pass is a rewrite of a segment before blocks are formed. No pass changes
// which tensors the user can see, nor any bit of them.
type Pass struct {
	Name string
	Doc  string
	run  func(w *work)
}

// Passes lists the passes in the order they run. Options.Disable switches them
// off by name.
var Passes = []Pass{
	{Name: "dead-code", Doc: "operations whose outputs are dead and needed by nobody are not computed; effects always run", run: deadCode},
	{Name: "fold-view", Doc: "views that change nothing are dropped; a view of a view of the same kind becomes one view of the origin", run: foldViews},
	{Name: "fold-cast", Doc: "casts to the same dtype, and casts back from a dtype that holds every value, are dropped", run: foldCasts},
	{Name: "cse", Doc: "pure operations with equal operands, attributes and scalars are computed once", run: shareEqual},
}

// deadCode marks the operations nobody needs. A random draw took its offset
// when it was recorded, so it may be dropped like anything else.
func deadCode(w *work) {
	read := make([]bool, len(w.seg.Tensors))
	for i := len(w.ops) - 1; i >= 0; i-- {
		need := w.class(i) == ir.ClassEffect
		for _, out := range w.ops[i].Outputs {
			need = need || !w.dead[out.ID] || read[out.ID]
		}
		if !need {
			w.unneeded[i] = true
			w.log.add(Decision{Event: EventRewrite, Rule: "dead-code", Op: i})
			continue
		}
		for _, in := range w.ops[i].Inputs {
			read[in.ID] = true
		}
	}
}
