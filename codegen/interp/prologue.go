package interp

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
)

// side is one operand of a contraction: an access, or the value of a prologue,
// which is computed while the operand is packed.
type side[T factor] struct {
	access int
	codec  *codec[T] // of the access; nil with a prologue
	steps  []*step   // the prologue
	value  int       // its result
	slots  []int     // what it moves with
}

// inMemory returns an operand that is read where it lies.
func inMemory[T factor](k *codegen.Kernel, access int) side[T] {
	return side[T]{access: access, codec: codecOf[T](k.Buffers[k.Accesses[access].Buffer].DType), slots: []int{access}}
}

// prologue returns the operand that the steps of a level compute. A plain load
// is an operand in memory.
func prologue[T factor](e *executable, v int, level codegen.Level) side[T] {
	k := e.kernel
	if in := &k.Body[v]; in.Op == codegen.OpLoad && len(in.Args) == 0 {
		return inMemory[T](k, in.Access)
	}
	s := side[T]{value: v, steps: e.prologues[level-codegen.Left]}
	for i := range k.Body {
		in := &k.Body[i]
		if in.Level != level {
			continue
		}
		slot := -1
		switch in.Op {
		case codegen.OpLoad:
			slot = in.Access
		case codegen.OpCoord, codegen.OpArange:
			slot = e.coord(in.Index)
		}
		if slot >= 0 && !slices.Contains(s.slots, slot) {
			s.slots = append(s.slots, slot)
		}
	}
	return s
}

// startLine moves the slots to the first element of a line of an operand:
// point i of g in a batch.
func (w *worker) startLine(g *grid, batch, i int) {
	b := &w.run.contract.batch
	at, line := w.outer[:len(b.dims)], w.outer[len(b.dims):len(b.dims)+len(g.dims)]
	b.place(batch, at)
	g.place(i, line)
	for s := range w.base {
		w.base[s] = w.run.slots[s].offset + b.dot(s, at) + g.dot(s, line)
	}
}

// packComputed is pack for an operand with a prologue: lines first … first+n-1
// of g in a batch.
func (s *side[T]) packComputed(w *worker, dst []T, width int, g *grid, batch, first, n, k0, k int) {
	if n%width != 0 {
		clear(dst[n/width*width*k:][:width*k])
	}
	for j := range n {
		w.startLine(g, batch, first+j)
		w.seek(&w.run.inner, k0, k)
		w.exec(s.steps)
		packLine(dst[j/width*width*k:][:width*k][j%width:], width, spread[T](w, s.value, 0), 0, 1)
	}
}
