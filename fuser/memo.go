package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// memo is what a kernel has already, so that nothing is computed, read or
// passed to it twice. Kernels are small: the lists are searched, and most
// kernels cost no more than their entries.
type memo struct {
	values []placed
	instrs []instr
	bounds []bound
}

// placed is the value of a tensor at the end of a path.
type placed struct {
	tensor ir.TensorID
	at     codegen.Level
	path   path
	value  codegen.Value
}

// instrKey tells apart the instructions that are no function of placed values
// alone.
type instrKey struct {
	op   codegen.Op
	at   codegen.Level
	typ  ir.DType
	n    int
	bits uint64
}

type instr struct {
	key   instrKey
	value codegen.Value
}

// bound is an access of a tensor through a path.
type bound struct {
	tensor ir.TensorID
	path   path
	window []Window
	access int
}

func (m *memo) value(t ir.TensorID, p path, at codegen.Level) (codegen.Value, bool) {
	for i := range m.values {
		if x := &m.values[i]; x.tensor == t && x.at == at && x.path.equal(p) {
			return x.value, true
		}
	}
	return 0, false
}

func (m *memo) instr(k instrKey) (codegen.Value, bool) {
	for i := range m.instrs {
		if m.instrs[i].key == k {
			return m.instrs[i].value, true
		}
	}
	return 0, false
}

// keep records the instruction of a key and returns it.
func (m *memo) keep(k instrKey, v codegen.Value) codegen.Value {
	m.instrs = append(m.instrs, instr{k, v})
	return v
}

func (m *memo) access(t ir.TensorID, p path, window []Window) (int, bool) {
	for i := range m.bounds {
		if x := &m.bounds[i]; x.tensor == t && x.path.equal(p) && slices.EqualFunc(x.window, window, Window.equal) {
			return x.access, true
		}
	}
	return 0, false
}

func (w Window) equal(v Window) bool {
	return w.Axis == v.Axis && w.Const == v.Const && w.Len == v.Len && w.Op == v.Op && w.Range == v.Range && slices.Equal(w.Sum, v.Sum)
}
