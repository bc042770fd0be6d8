package interp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

func TestRandomPrologues(t *testing.T) {
	for seed := range kernels(150, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		dims := kerneltest.RandomDims(r, 3+r.IntN(3), 4000)
		ty := []ir.DType{ir.F32, ir.F32, ir.F64, ir.I64, ir.I32, ir.U8}[r.IntN(6)]
		m := kerneltest.RandomPrologues(r, dims, ty)
		t.Run(fmt.Sprint(seed, dims, ty), func(t *testing.T) { check(t, m.Case) })
	}
}

// A weight dequantised while it is packed gives the bits of one that was
// stored first, whatever the shape.
func TestPrologueLikeStored(t *testing.T) {
	for _, dims := range [][]int{{1, 33, 300}, {2, 7, 513}, {70, 140, 260}, {40, 1, 300}} {
		rows, n, k := dims[0], dims[1], dims[2]
		r := rand.New(rand.NewPCG(uint64(rows), 1))
		stored := kerneltest.MatMul(dims, ir.F32)
		scales := make([]float32, n)
		for i := range scales {
			scales[i] = float32(r.NormFloat64())
		}
		fused := kerneltest.NewBuilder(r, codegen.Contraction, 2, dims...)
		load := func(level codegen.Level, dt ir.DType, n int, strides ...int) (codegen.Value, int) {
			b := fused.Buffer(dt, codegen.In, n)
			return fused.Emit(codegen.Instr{Op: codegen.OpLoad, Level: level, Type: dt.Compute(), Access: fused.Access(b, codegen.AccessArgs{Strides: strides}, false)}), b
		}
		x, bx := load(codegen.Left, ir.F32, rows*k, k, 0, 1)
		q, bq := load(codegen.Right, ir.I8, k*n, 0, 1, n)
		s, bs := load(codegen.Right, ir.F32, n, 0, 1, 0)
		f := fused.Emit(codegen.Instr{Op: codegen.OpCast, Level: codegen.Right, From: ir.I8, To: ir.F32, Type: ir.F32, Args: []codegen.Value{q}})
		w := fused.Emit(codegen.Instr{Op: codegen.OpApply, Level: codegen.Right, Fn: ir.SMul, Type: ir.F32, Args: []codegen.Value{f, s}})
		c := fused.Emit(codegen.Instr{Op: codegen.OpContract, Type: ir.F32, From: ir.F32, To: ir.F32, Args: []codegen.Value{x, w}})
		out := fused.Access(fused.Buffer(ir.F32, codegen.Out, rows*n), codegen.AccessArgs{Strides: []int{n, 1, 0}}, false)
		fused.Kernel.Stores = []codegen.Store{{Access: out, Value: c}}
		copy(fused.Mem[bx], stored.Mem[0])
		copy(view[float32](fused.Mem[bs]), scales)
		weights := view[float32](stored.Mem[1])
		for i := range weights {
			weights[i] = float32(int8(fused.Mem[bq][i])) * scales[i%n]
		}
		require.NoError(t, compile(t, stored.Kernel).Run(stored.Launch, stored.Mem, codegen.Serial{}))
		require.NoError(t, compile(t, fused.Kernel).Run(fused.Launch, fused.Mem, workers(3)))
		require.Equal(t, stored.Mem[2], fused.Mem[len(fused.Mem)-1])
	}
}
