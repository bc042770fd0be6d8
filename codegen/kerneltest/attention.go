package kerneltest

import (
	"math"
	"math/rand/v2"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Attention describes an attention of operands of one dtype.
type Attention struct {
	Batches, Heads, Queries, Keys, Dim, ValueDim int

	Spec   codegen.AttentionSpec
	Offset int64 // of a causal one
	DType  ir.DType
}

// Build returns the kernel, with operands in random layouts that hold tame
// numbers; of an additive mask one number in six is −inf.
func (c Attention) Build(r *rand.Rand) *Builder {
	m := NewBuilder(r, codegen.Attention, 4, c.Batches, c.Heads, c.Queries, c.ValueDim, c.Keys, c.Dim)
	m.Kernel.Attention = c.Spec
	operand := func(dt ir.DType, row, column int) int {
		// [batch, head, row, column], or with rows of all heads interleaved.
		s := make([]int, 6)
		dims := m.Launch.Dims
		s[column] = 1
		s[row] = dims[column]
		size := dims[row] * dims[column]
		if r.IntN(2) == 0 {
			s[row] = dims[column] * c.Heads
			s[1], s[0] = dims[column], size*c.Heads
		} else {
			s[1], s[0] = size, size*c.Heads
		}
		b := m.Buffer(dt, codegen.In, max(1, size*c.Heads*c.Batches))
		m.Access(b, codegen.AccessArgs{Strides: s}, false)
		return b
	}
	operand(c.DType, 2, 5)
	operand(c.DType, 4, 5)
	operand(c.DType, 4, 3)
	m.Tame()
	switch {
	case c.Spec.BoolMask:
		operand(ir.Bool, 2, 4)
	case c.Spec.HasMask:
		m.Fill(operand(c.DType, 2, 4), func(int) Value {
			v := r.NormFloat64()
			if r.IntN(6) == 0 {
				v = math.Inf(-1)
			}
			return Value{F: v}
		})
	}
	t := c.DType.Compute()
	scale := Value{F: 1 / math.Sqrt(float64(max(1, c.Dim)))}
	if c.Spec.ScaleRead {
		b := m.Buffer(c.DType, codegen.In, 1)
		WriteElem(m.Mem[b], c.DType, 0, scale)
		m.Access(b, codegen.AccessArgs{Strides: make([]int, 6)}, false)
	}
	m.Param(t, ScalarBits(t, scale))
	if c.Spec.Causal {
		m.Param(ir.I64, uint64(c.Offset))
	}
	v := m.Emit(codegen.Instr{Op: codegen.OpAttention, Type: t})
	args, n := m.Layout(4, false)
	m.Store(v, t, args, n)
	return m
}
