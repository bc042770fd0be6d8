package kerneltest

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// attentionOf makes a builder of attention over lengths [batch…, query, value
// dim, key, head dim]; keys and values have the batch axes shared, and the others
// all.
func attentionOf(dt, out ir.DType, spec codegen.AttentionSpec, offset int64, shared int) func(dims []int, stream uint64) *Builder {
	return func(dims []int, stream uint64) *Builder {
		n := len(dims)
		batch, query, value, key, head := span(0, n-4), n-4, n-3, n-2, n-1
		m := NewBuilder(fixed(stream), codegen.Attention, n-2, dims...)
		m.Kernel.Attention = spec
		operand := func(dt ir.DType, axes ...int) int {
			args, size := m.Dense(axes...)
			m.Access(m.Buffer(dt, codegen.In, size), args, false)
			return len(m.Mem) - 1
		}
		heads := batch[:len(batch)-shared]
		operand(dt, append(span(0, n-4), query, head)...)
		operand(dt, append(append([]int{}, heads...), key, head)...)
		operand(dt, append(append([]int{}, heads...), key, value)...)
		m.Tame()
		switch { // a mask for each query and key, the same for all heads
		case spec.BoolMask:
			m.Fill(operand(ir.Bool, query, key), func(i int) Value { return Value{B: i%5 != 2} })
		case spec.HasMask:
			m.Fill(operand(dt, query, key), func(i int) Value { return Value{F: -0.25 * float64(i%9)} })
		}
		t := dt.Compute()
		m.Param(t, ScalarBits(t, number(0.25)))
		if spec.Causal {
			m.Param(ir.I64, uint64(offset))
		}
		v := m.Emit(codegen.Instr{Op: codegen.OpAttention, Type: t})
		if t != out {
			v = m.Cast(v, t, out)
		}
		m.Out(v, out, span(0, n-2)...)
		return m
	}
}

func goldenAttentions() []golden {
	// batch, head, query, value dim, key, head dim
	heads := at(d(1, 2, 7, 5, 11, 6), d(1, 2, 64, 32, 96, 32), d(8, 12, 128, 64, 128, 64))
	causal := codegen.AttentionSpec{Causal: true}
	return []golden{
		{"attention", heads, attentionOf(ir.F32, ir.F32, codegen.AttentionSpec{}, 0, 0)},
		{"attention-causal", heads, attentionOf(ir.F32, ir.F32, causal, 0, 0)},
		{"attention-causal-bf16", heads, attentionOf(ir.BF16, ir.BF16, causal, 0, 0)},
		{"attention-mask-f16", heads, attentionOf(ir.F16, ir.F16, codegen.AttentionSpec{HasMask: true, BoolMask: true}, 0, 0)},
		{"attention-bias", heads, attentionOf(ir.F32, ir.F32, codegen.AttentionSpec{HasMask: true}, 0, 0)},
		{"attention-f64", heads, attentionOf(ir.F64, ir.F64, causal, 3, 0)},
		// batch, key head, heads of each
		{"attention-grouped-bf16", at(d(1, 2, 3, 5, 4, 9, 8), d(1, 2, 4, 32, 32, 64, 32), d(2, 8, 4, 256, 128, 256, 128)), attentionOf(ir.BF16, ir.BF16, causal, 2, 1)},
		{"attention-decode-bf16", at(d(1, 2, 3, 1, 8, 19, 8), d(2, 2, 4, 1, 32, 128, 32), d(1, 8, 4, 1, 128, 2048, 128)), attentionOf(ir.BF16, ir.BF16, codegen.AttentionSpec{}, 0, 1)},
	}
}

// orderedOf makes a builder of scans and sorts, along the last axis.
func orderedOf(template codegen.Template, program func(m *Builder)) func(dims []int, stream uint64) *Builder {
	return func(dims []int, stream uint64) *Builder {
		m := NewBuilder(fixed(stream), template, len(dims)-1, dims...)
		program(m)
		m.Tame()
		return m
	}
}

func (m *Builder) scanOf(op codegen.ReduceOp, v codegen.Value, exclusive, reverse bool) codegen.Value {
	t := m.Kernel.Body[v].Type
	return m.Emit(codegen.Instr{Op: codegen.OpScan, Reduce: op, Type: t, Exclusive: exclusive, Reverse: reverse, Args: []codegen.Value{v}})
}

func (m *Builder) sortOf(v codegen.Value, positions, descending bool) codegen.Value {
	in := codegen.Instr{Op: codegen.OpSort, Type: m.Kernel.Body[v].Type, Positions: positions, Reverse: descending, Args: []codegen.Value{v}}
	if positions {
		in.Type = ir.I64
	}
	return m.Emit(in)
}

func goldenOrdered() []golden {
	rows := at(d(3, 41), d(12, 300), d(256, 4096))
	return []golden{
		{"cumsum", rows, orderedOf(codegen.Scan, func(m *Builder) {
			m.Out(m.scanOf(codegen.RSum, m.In(ir.F32, 0, 1), false, false), ir.F32, 0, 1)
		})},
		{"cumsum-long", at(d(1, 1100), d(2, 5000), d(4, 1<<18)), orderedOf(codegen.Scan, func(m *Builder) {
			m.Out(m.scanOf(codegen.RSum, m.In(ir.F32, 0, 1), false, false), ir.F32, 0, 1)
		})},
		{"cumsum-back-exclusive", rows, orderedOf(codegen.Scan, func(m *Builder) {
			m.Out(m.scanOf(codegen.RSum, m.In(ir.BF16, 0, 1), true, true), ir.BF16, 0, 1)
		})},
		{"cummax-columns", rows, orderedOf(codegen.Scan, func(m *Builder) {
			m.Out(m.scanOf(codegen.RMax, m.In(ir.I32, 1, 0), false, false), ir.I32, 1, 0)
		})},
		{"sort", rows, orderedOf(codegen.Sort, func(m *Builder) {
			m.Out(m.sortOf(m.In(ir.F32, 0, 1), false, false), ir.F32, 0, 1)
		})},
		{"argsort-i64", rows, orderedOf(codegen.Sort, func(m *Builder) {
			m.Out(m.sortOf(m.In(ir.I64, 0, 1), true, true), ir.I64, 0, 1)
		})},
		{"top-k", rows, orderedOf(codegen.Sort, func(m *Builder) { // values and places of the first three
			const k = 3
			x := m.In(ir.F16, 0, 1)
			for _, positions := range []bool{false, true} {
				dt := ir.F16
				if positions {
					dt = ir.I64
				}
				args := codegen.AccessArgs{Strides: d(k, 1), Window: []codegen.WindowArg{{Axis: 1, Lo: 0, Hi: k}}}
				m.Store(m.sortOf(x, positions, true), dt, args, k*m.Launch.Dims[0])
				m.Kernel.Accesses[len(m.Kernel.Accesses)-1].Masked = true
			}
		})},
		{"scatter-add", rows, scatterOf(ir.F32, ir.ScatterSum)},
		{"scatter-add-bf16", rows, scatterOf(ir.BF16, ir.ScatterSum)},
		{"scatter-max", rows, scatterOf(ir.I32, ir.ScatterMax)},
		{"scatter-assign", rows, scatterOf(ir.F32, ir.Assign)},
	}
}

// scatterOf makes a builder that joins rows to those of a target, several to
// some.
func scatterOf(dt ir.DType, mode ir.ScatterMode) func(dims []int, stream uint64) *Builder {
	return func(dims []int, stream uint64) *Builder {
		const targets = 4
		m := NewBuilder(fixed(stream), codegen.Scatter, 2, dims...)
		row := m.In(ir.I64, 0)
		m.Fill(0, func(i int) Value { return Value{I: int64(i*i) % targets} })
		v := m.In(dt, 0, 1)
		args := codegen.AccessArgs{Strides: d(0, 1), Index: []codegen.IndexArg{{Extent: targets, Stride: dims[1]}}}
		out := m.Access(m.Buffer(dt, codegen.InOut, targets*dims[1]), args, false)
		m.Kernel.Stores = []codegen.Store{{Access: out, Value: v, Index: []codegen.Value{row}, Mode: mode}}
		m.Tame()
		return m
	}
}

func goldenParts() []golden {
	return []golden{{"parts-of-20", at(d(3, 7), d(24, 32), d(384, 384)), func(dims []int, stream uint64) *Builder {
		var parts []Case
		for i := range 20 { // a step of an optimiser: matrices, and their biases
			n := dims[0] * dims[1]
			if i%2 == 1 {
				n = dims[1] + i
			}
			m := NewBuilder(fixed(stream+uint64(i)<<8), codegen.Map, 1, n)
			rate := m.Emit(codegen.Instr{Op: codegen.OpParam, Type: ir.F32, Index: m.Param(ir.F32, ScalarBits(ir.F32, number(0.125)))})
			m.Out(m.Apply(ir.SSub, m.In(ir.F32, 0), m.Apply(ir.SMul, rate, m.In(ir.F32, 0))), ir.F32, 0)
			m.Kernel.Name = fmt.Sprintf("part %d", i)
			m.Tame()
			parts = append(parts, m.Case)
		}
		return &Builder{Case: Join(parts...)}
	}}}
}
