package optimize

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// shareEqual computes equal operations once. Tensor ids name versions, so
// reading the same id twice reads the same value whatever effects lie between.
// The relative form knows where scalars come from but not their values: that
// they are equal becomes a guard.
func shareEqual(w *work) {
	seen := make(map[string][]int)
	var key []byte
	for i := range w.ops {
		if w.unneeded[i] || w.merged[i] {
			continue
		}
		w.resolve(i)
		if c := w.class(i); c == ir.ClassEffect || c == ir.ClassRandom || len(w.ops[i].Outputs) != 1 {
			continue
		}
		key = appendKey(key[:0], &w.ops[i])
		first := -1
		for _, j := range seen[string(key)] {
			if equalScalars(w.seg.Ops, i, j) {
				first = j
				break
			}
		}
		if first < 0 {
			seen[string(key)] = append(seen[string(key)], i)
			continue
		}
		if len(w.ops[i].Scalars)+len(w.ops[i].Ranges) > 0 {
			w.guards = append(w.guards, Guard{
				Name: GuardScalarEqual, Detail: fmt.Sprintf("%s, %s", opName(w.seg, first), opName(w.seg, i)), Op: i,
				HoldsOps: func(ops []ir.Operation) bool { return equalScalars(ops, i, first) },
			})
		}
		w.merge("cse", i, w.ops[first].Outputs[0].ID)
	}
}

// equalScalars compares what the relative form leaves open of two operations
// of equal structure.
func equalScalars(ops []ir.Operation, i, j int) bool {
	a, b := &ops[i], &ops[j]
	return slices.EqualFunc(a.Scalars, b.Scalars, func(x, y ir.Scalar) bool { return x.Bits == y.Bits }) &&
		slices.EqualFunc(a.Ranges, b.Ranges, func(x, y ir.Range) bool { return x.Start == y.Start })
}

// appendKey appends everything of an operation that the relative form fixes and
// its result depends on.
func appendKey(b []byte, op *ir.Operation) []byte {
	num := func(v int) { b = binary.AppendVarint(b, int64(v)) }
	list := func(v []int) {
		num(len(v))
		for _, x := range v {
			num(x)
		}
	}
	flag := func(v bool) {
		if v {
			num(1)
		} else {
			num(0)
		}
	}
	num(int(op.Kind))
	num(len(op.Inputs))
	for _, in := range op.Inputs {
		num(int(in.ID))
	}
	a := &op.Attrs
	list(a.Axes)
	list(a.Shape)
	list(a.Ints)
	num(a.N)
	num(int(a.DType))
	flag(a.Flag)
	flag(a.Reverse)
	num(int(a.Mode))
	num(len(a.Name))
	b = append(b, a.Name...)
	num(len(op.Scalars))
	for _, s := range op.Scalars {
		num(int(s.DType))
		num(int(s.Input))
	}
	num(len(op.Ranges))
	for _, r := range op.Ranges {
		num(r.Len)
		num(r.Step)
		num(int(r.Input))
	}
	return b
}
