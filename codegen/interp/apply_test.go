package interp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

func TestBinaryFunctions(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		if fn.Sig().Arity != 2 {
			continue
		}
		for _, ty := range kerneltest.OperandTypes(fn) {
			if ty.IsFloat() && !slices.Contains(kerneltest.ExactFunctions, fn) {
				continue // see TestBinaryFloatFunctions
			}
			for constant := range 3 {
				t.Run(fmt.Sprint(fn, ty, constant), func(t *testing.T) {
					check(t, kerneltest.Pairs(fn, ty, constant).Case)
				})
			}
		}
	}
}

// Functions of one operand other than those computed in float64, and those of
// three, on special values in every position.
func TestOtherFunctions(t *testing.T) {
	for _, fn := range ir.ScalarOps() {
		sig := fn.Sig()
		if sig.Arity == 2 || !slices.Contains(kerneltest.ExactFunctions, fn) {
			continue
		}
		for _, ty := range kerneltest.OperandTypes(fn) {
			t.Run(fmt.Sprint(fn, ty), func(t *testing.T) { check(t, kerneltest.Combinations(fn, ty).Case) })
		}
	}
}

// Every cast: exhaustively from dtypes of up to 16 bits.
func TestCasts(t *testing.T) {
	for _, from := range ir.DTypes() {
		vals := kerneltest.CastInputs(from, kernels(2000, 20000))
		for _, to := range ir.DTypes() {
			for _, overflow := range []bool{false, true} {
				if overflow && !to.IsFloat8() {
					continue
				}
				m := kerneltest.Convert(codegen.OpCast, from, to, overflow, vals)
				t.Run(fmt.Sprint(from, to, overflow), func(t *testing.T) { check(t, m.Case) })
			}
		}
	}
}

func TestBitcasts(t *testing.T) {
	for _, from := range ir.DTypes() {
		for _, to := range ir.DTypes() {
			if from.Size() != to.Size() || from == ir.Bool || to == ir.Bool {
				continue
			}
			m := kerneltest.Convert(codegen.OpBitcast, from, to, false, kerneltest.CastInputs(from, kernels(2000, 20000)))
			t.Run(fmt.Sprint(from, to), func(t *testing.T) { check(t, m.Case) })
		}
	}
}

// What is rounded once from 64 bits, where going through float32 would round
// twice.
func TestCastRoundsOnce(t *testing.T) {
	for _, c := range []struct {
		from, to ir.DType
		x, want  kerneltest.Value
	}{
		{ir.I64, ir.BF16, kerneltest.Value{I: 1077936129}, kerneltest.Value{F: 1082130432}},
		{ir.U64, ir.BF16, kerneltest.Value{I: 1077936129}, kerneltest.Value{F: 1082130432}},
		{ir.F64, ir.BF16, kerneltest.Value{F: 1077936129}, kerneltest.Value{F: 1082130432}},
		{ir.F64, ir.F16, kerneltest.Value{F: 1 + 0x1p-11 + 0x1p-40}, kerneltest.Value{F: 1 + 0x1p-10}},
		{ir.F32, ir.F8E4M3, kerneltest.Value{F: 464}, kerneltest.Value{F: 448}},
		{ir.F32, ir.U8, kerneltest.Value{F: 300}, kerneltest.Value{I: 255}},
		{ir.F32, ir.U8, kerneltest.Value{F: -2.7}, kerneltest.Value{}},
		{ir.I64, ir.U8, kerneltest.Value{I: -1}, kerneltest.Value{I: 255}},
	} {
		m := kerneltest.Convert(codegen.OpCast, c.from, c.to, false, []kerneltest.Value{c.x})
		require.NoError(t, compile(t, m.Kernel).Run(m.Launch, m.Mem, codegen.Serial{}))
		assert.Equal(t, c.want, kerneltest.ReadElem(m.Mem[1], c.to, 0), "%v → %v of %v", c.from, c.to, c.x)
	}
}
