package optimize

import "github.com/sinter-ml/sinter/ir"

// Replace returns a pass, for Options.Extra, that drops operations whose result
// is one of their operands. Of each pure operation f names the operand that the
// result equals in every bit, if there is one: of the same shape and dtype,
// otherwise the answer does not count. f may look at all of the operation; that
// it says the same of other lengths and scalars becomes a guard, so it must
// depend on nothing else.
func Replace(name, doc string, f func(op *ir.Operation) (operand int, ok bool)) Pass {
	return Pass{Name: name, Doc: doc, run: func(w *work) {
		for i := range w.ops {
			if w.unneeded[i] || w.merged[i] {
				continue
			}
			w.resolve(i)
			if c := w.class(i); c == ir.ClassEffect || c == ir.ClassRandom {
				continue
			}
			k, ok := f(&w.ops[i])
			w.guards = append(w.guards, Guard{Name: GuardReplaced, Detail: opName(w.seg, i), Op: i, HoldsOps: func(ops []ir.Operation) bool {
				now, same := f(&ops[i])
				return now == k && same == ok
			}})
			if !ok || k < 0 || k >= len(w.ops[i].Inputs) {
				continue
			}
			in, out := w.ops[i].Inputs[k], w.ops[i].Outputs[0]
			if in.DType == out.DType && in.Shape.Equal(out.Shape) {
				w.merge(name, i, in.ID)
			}
		}
	}}
}
