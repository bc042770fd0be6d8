package codegen

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestValidKernelsVerify(t *testing.T) {
	for _, f := range validKernels {
		assert.NoError(t, f().Verify(), f().Name)
	}
}

func TestVerifyRefuses(t *testing.T) {
	tests := []struct {
		name   string
		kernel func() *Kernel
		spoil  func(k *Kernel)
		where  string
		rule   string
	}{
		{"template", mapKernel, func(k *Kernel) { k.Template = 9 }, "kernel", "unknown template"},
		{"negative axes", mapKernel, func(k *Kernel) { k.Outer = -1 }, "kernel", "outer"},
		{"too many axes", mapKernel, func(k *Kernel) { k.Outer = 65 }, "kernel", "outer"},
		{"inner axes of a map", mapKernel, func(k *Kernel) { k.Inner = 1 }, "kernel", "no inner axes"},
		{"buffer dtype", mapKernel, func(k *Kernel) { k.Buffers[0].DType = ir.Invalid }, "buffer 0", "dtype"},
		{"buffer mode", mapKernel, func(k *Kernel) { k.Buffers[0].Mode = 3 }, "buffer 0", "unknown mode"},
		{"access without buffer", mapKernel, func(k *Kernel) { k.Accesses[1].Buffer = 3 }, "access 1", "no buffer 3"},
		{"negative buffer", mapKernel, func(k *Kernel) { k.Accesses[1].Buffer = -1 }, "access 1", "no buffer -1"},
		{"param type", mapKernel, func(k *Kernel) { k.Params[0] = ir.BF16 }, "param 0", "bf16 is not a register type"},
		{"no stores", mapKernel, func(k *Kernel) { k.Stores = nil }, "kernel", "nothing is stored"},
		{"bf16 register", mapKernel, func(k *Kernel) { k.Body[0].Type = ir.BF16 }, "%0", "not a register type"},
		{"load type", mapKernel, func(k *Kernel) { k.Body[0].Type = ir.I64 }, "%0", "loads f32 as i64"},
		{"load without access", mapKernel, func(k *Kernel) { k.Body[0].Access = 3 }, "%0", "no access 3"},
		{"load of an output", mapKernel, func(k *Kernel) { k.Body[0].Access = 2 }, "%0", "reads an output"},
		{"load without fill", mapKernel, func(k *Kernel) { k.Body[4].Args = nil }, "%4", "takes 1 operands, not 0"},
		{"fill type", mapKernel, func(k *Kernel) { k.Body[3].Type = ir.Bool; k.Body[3].Bits = 0 }, "%4", "fill is bool"},
		{"param range", mapKernel, func(k *Kernel) { k.Body[1].Index = 1 }, "%1", "no param 1"},
		{"param of another type", mapKernel, func(k *Kernel) { k.Params[0] = ir.I64 }, "%1", "param 0 is i64, not f32"},
		{"operand after use", mapKernel, func(k *Kernel) { k.Body[2].Args[1] = 3 }, "%2", "not defined before"},
		{"operand is itself", mapKernel, func(k *Kernel) { k.Body[2].Args[1] = 2 }, "%2", "not defined before"},
		{"negative operand", mapKernel, func(k *Kernel) { k.Body[2].Args[1] = -1 }, "%2", "not defined before"},
		{"arity", mapKernel, func(k *Kernel) { k.Body[2].Args = k.Body[2].Args[:1] }, "%2", "takes 2 operands"},
		{"no function", mapKernel, func(k *Kernel) { k.Body[2].Fn = ir.SNone }, "%2", "unknown function"},
		{"function of another type", mapKernel, func(k *Kernel) { k.Body[2].Fn = ir.SAnd }, "%2", "not defined for f32"},
		{"comparison gives f32", mapKernel, func(k *Kernel) { k.Body[2].Fn = ir.SLess }, "%2", "gives bool, not f32"},
		{"cast operand", mapKernel, func(k *Kernel) { k.Body[6].From = ir.I64 }, "%6", "operand is f32, not i64"},
		{"cast result", mapKernel, func(k *Kernel) { k.Body[6].To = ir.I64 }, "%6", "result is f32, not i64"},
		{"cast to nothing", mapKernel, func(k *Kernel) { k.Body[6].To = ir.Invalid }, "%6", "cast from"},
		{"constant too wide", mapKernel, func(k *Kernel) { k.Body[3].Bits = 1 << 32 }, "%3", "constant"},
		{"bool constant", randomKernel, func(k *Kernel) { k.Body[4].Bits = 2 }, "%4", "bool constant"},
		{"unused value", mapKernel, func(k *Kernel) { k.Stores[0].Value = 5 }, "%6", "not used"},
		{"reduce in a map", mapKernel, func(k *Kernel) { k.Body[6] = Instr{Op: OpReduce, Type: ir.F32, Args: []Value{5}} }, "%6", "reduce in a map"},
		{"row in a map", mapKernel, func(k *Kernel) { k.Body[1].Level = Row }, "%1", "row value in a map"},
		{"unknown level", rowsKernel, func(k *Kernel) { k.Body[1].Level = 4 }, "%1", "unknown level"},
		{"invalid instruction", mapKernel, func(k *Kernel) { k.Body[6].Op = OpInvalid }, "%6", "unknown instruction"},
		{"unknown instruction", mapKernel, func(k *Kernel) { k.Body[6].Op = numOps }, "%6", "unknown instruction"},
		{"count in a map", randomKernel, func(k *Kernel) { k.Body[3].Op = OpCount }, "%3", "count in a map"},

		{"index type", gatherKernel, func(k *Kernel) { k.Buffers[1].DType = ir.F32; k.Body[0].Type = ir.F32 }, "%1", "index 0 is f32"},
		{"index missing", gatherKernel, func(k *Kernel) { k.Accesses[0].Indices = 2 }, "%1", "takes 2 operands"},
		{"negative indices", gatherKernel, func(k *Kernel) { k.Accesses[0].Indices = -1 }, "access 0", "indexed axes"},

		{"row from element", rowsKernel, func(k *Kernel) { k.Body[4].Level = Row }, "%4", "row value from element value %0"},
		{"reduce at element level", rowsKernel, func(k *Kernel) { k.Body[1].Level = Element }, "%1", "gives a row value"},
		{"reduce of a row", rowsKernel, func(k *Kernel) { k.Body[5].Args[0] = 3 }, "%5", "reduces a row value"},
		{"argmax type", rowsKernel, func(k *Kernel) { k.Body[5].Type = ir.F32 }, "%5", "no result of type f32"},
		{"sum type", rowsKernel, func(k *Kernel) { k.Body[1].Type = ir.I64 }, "%1", "sum of f32 gives i64"},
		{"any of floats", rowsKernel, func(k *Kernel) { k.Body[1].Reduce = RAny }, "%1", "any of f32"},
		{"unknown reduction", rowsKernel, func(k *Kernel) { k.Body[1].Reduce = 8 }, "%1", "unknown reduction"},
		{"row coordinate on an inner axis", rowsKernel, func(k *Kernel) { k.Body[2] = Instr{Op: OpCoord, Type: ir.I64, Level: Row, Index: 1} }, "%2", "no axis 1"},
		{"row random", rowsKernel, func(k *Kernel) {
			k.Params = []ir.DType{ir.I64, ir.I64}
			k.Body[2] = Instr{Op: OpNormal, Type: ir.F32, Level: Row}
		}, "%2", "belongs to an element"},

		{"contract not first", contractionKernel, func(k *Kernel) { k.Body[0], k.Body[1] = k.Body[1], k.Body[0] }, "kernel", "value %0 before the contraction is no prologue"},
		{"contract twice", contractionKernel, func(k *Kernel) { k.Body[1] = k.Body[0] }, "kernel", "contracts once, not 2 times"},
		{"contract masked", contractionKernel, func(k *Kernel) { k.Accesses[0].Masked = true }, "%0", "indexed or masked"},
		{"contract type", contractionKernel, func(k *Kernel) { k.Buffers[0].DType = ir.I64 }, "%0", "contracts i64 and f32"},
		{"contraction inner", contractionKernel, func(k *Kernel) { k.Inner = 2 }, "kernel", "one inner axis"},
		{"contraction outer", contractionKernel, func(k *Kernel) { k.Outer = 1 }, "kernel", "two outer axes"},
		{"epilogue on the contracted axis", contractionKernel, func(k *Kernel) { k.Body[1] = Instr{Op: OpCoord, Type: ir.I64, Index: 2} }, "%1", "no axis 2"},

		{"no contraction", contractionKernel, func(k *Kernel) { k.Body[0] = k.Body[1] }, "kernel", "is no prologue"},
		{"contract of a bool", contractionKernel, func(k *Kernel) { k.Body[0].Type = ir.Bool }, "%0", "no result of type bool"},
		{"contract gives a row", contractionKernel, func(k *Kernel) { k.Body[0].Level = Row }, "%0", "row value in a contraction kernel"},
		{"left in a map", mapKernel, func(k *Kernel) { k.Body[0].Level = Left }, "%0", "left value in a map kernel"},
		{"right in rows", rowsKernel, func(k *Kernel) { k.Body[0].Level = Right }, "%0", "right value in a rows kernel"},

		{"one operand", dequantKernel, func(k *Kernel) { k.Body[6].Args = k.Body[6].Args[:1] }, "%6", "contract takes 2 operands, not 1"},
		{"operands the wrong way", dequantKernel, func(k *Kernel) { k.Body[6].Args[0], k.Body[6].Args[1] = 5, 1 }, "%6", "contracts right and left values"},
		{"operands of one side", dequantKernel, func(k *Kernel) { k.Body[6].Args[1] = 0 }, "%6", "contracts left and left values"},
		{"operand types", dequantKernel, func(k *Kernel) { k.Body[6].Args[1], k.Body[6].To = 2, ir.I8 }, "%6", "contracts f32 and i8 to f32"},
		{"left from right", dequantKernel, func(k *Kernel) { k.Body[5].Args[1] = 1 }, "%5", "right value from left value %1"},
		{"prologue at an outer point", dequantKernel, func(k *Kernel) { k.Body[4].Level = Element }, "kernel", "value %4 before the contraction is no prologue"},
		{"epilogue from a prologue", dequantKernel, func(k *Kernel) { k.Body[7].Args[0] = 5 }, "%7", "element value from right value %5"},
		{"left along the other's axis", dequantKernel, func(k *Kernel) { k.Body[2] = Instr{Op: OpCoord, Type: ir.I64, Level: Left, Index: 2} }, "%2", "a left value along axis 2"},
		{"right along the other's axis", dequantKernel, func(k *Kernel) { k.Body[2] = Instr{Op: OpCoord, Type: ir.I64, Level: Right, Index: 1} }, "%2", "a right value along axis 1"},
		{"coordinate beyond", dequantKernel, func(k *Kernel) { k.Body[2] = Instr{Op: OpCoord, Type: ir.I64, Level: Right, Index: 4} }, "%2", "no axis 4"},
		{"random prologue", dequantKernel, func(k *Kernel) {
			k.Params = []ir.DType{ir.I64, ir.I64}
			k.Body[0] = Instr{Op: OpNormal, Type: ir.F32, Level: Left}
		}, "%0", "belongs to an element"},
		{"store of a prologue", dequantKernel, func(k *Kernel) { k.Stores = append(k.Stores, Store{Access: 3, Value: 1}) }, "store 1", "stores a left value"},
		{"factor of no dtype", dequantKernel, func(k *Kernel) { k.Body[6].To = ir.Invalid }, "%6", "right operand is f32, not invalid"},
		{"factor of another dtype", dequantKernel, func(k *Kernel) { k.Body[6].From = ir.F64 }, "%6", "left operand is f32, not f64"},
		{"bytes to i64", bytesKernel, func(k *Kernel) { k.Body[0].Type = ir.I64; k.Buffers[2].DType = ir.I64 }, "%0", "contracts u8 and i8 to i64"},
		{"bytes of two kinds", bytesKernel, func(k *Kernel) { k.Body[0].Type = ir.I8; k.Buffers[2].DType = ir.I8 }, "%0", "contracts u8 and i8 to i8"},
		{"words to i32", bytesKernel, func(k *Kernel) { k.Buffers[0].DType, k.Buffers[1].DType = ir.I16, ir.I16 }, "%0", "contracts i16 and i16 to i32"},

		{"sort in a map", sortKernel, func(k *Kernel) { k.Template = Map; k.Inner = 0 }, "%1", "sort in a map"},
		{"sort in rows", sortKernel, func(k *Kernel) { k.Template = Rows }, "%1", "sort in a rows"},
		{"sort inner", sortKernel, func(k *Kernel) { k.Inner = 2 }, "kernel", "a sort has one inner axis, not 2"},
		{"sort type", sortKernel, func(k *Kernel) { k.Body[1].Type = ir.I64 }, "%1", "result is i64, not f32"},
		{"positions type", sortKernel, func(k *Kernel) { k.Body[2].Type = ir.F32 }, "%2", "result is f32, not i64"},
		{"sort of nothing", sortKernel, func(k *Kernel) { k.Body[1].Args = nil }, "%1", "sort takes 1 operands, not 0"},
		{"sort without sort", sortKernel, func(k *Kernel) {
			k.Body = k.Body[:1]
			k.Stores = k.Stores[:1]
			k.Stores[0].Value = 0
			k.Buffers = k.Buffers[:2]
			k.Accesses = k.Accesses[:2]
		}, "kernel", "a sort kernel without sort"},
		{"contract in a sort", sortKernel, func(k *Kernel) { k.Body[1] = Instr{Op: OpContract, Type: ir.F32} }, "%1", "contract in a sort"},
		{"reduce in a sort", sortKernel, func(k *Kernel) { k.Body[1] = Instr{Op: OpReduce, Type: ir.F32, Args: []Value{0}} }, "%1", "reduce in a sort"},

		{"overflow of no f8", bitsKernel, func(k *Kernel) { k.Body[3].Overflow = true }, "%3", "a cast to bf16 has no choice of overflow"},
		{"cast of f64", bitsKernel, func(k *Kernel) { k.Body[1].From = ir.F32 }, "%1", "operand is f64, not f32"},
		{"bits of another size", bitsKernel, func(k *Kernel) { k.Body[2].To = ir.U16 }, "%2", "bits of f8e5m2 as u16"},
		{"bits of a bool", bitsKernel, func(k *Kernel) { k.Body[2].From = ir.Bool }, "%2", "bits of bool as u8"},
		{"bits of nothing", bitsKernel, func(k *Kernel) { k.Body[2].From = ir.Invalid }, "%2", "bits of invalid as u8"},
		{"bits' operand", bitsKernel, func(k *Kernel) { k.Body[2].From = ir.I8 }, "%2", "operand is f32, not i8"},
		{"bits' result", bitsKernel, func(k *Kernel) { k.Body[4].Type = ir.U32 }, "%4", "result is u32, not u16"},
		{"narrow register", bitsKernel, func(k *Kernel) { k.Body[0].Type = ir.F8E4M3 }, "%0", "f8e4m3 is not a register type"},
		{"i8 constant", bytesKernel, func(k *Kernel) { k.Body = append(k.Body, Instr{Op: OpConst, Type: ir.I8, Bits: 200}) }, "%1", "i8 constant 0xc8"},
		{"f64 param as f32", randomKernel, func(k *Kernel) { k.Body[3] = Instr{Op: OpParam, Type: ir.F32, Index: 2} }, "%3", "param 2 is f64, not f32"},
		{"normal type", randomKernel, func(k *Kernel) { k.Body[1].Type = ir.I32 }, "%1", "normal has no result of type i32"},
		{"arange of bools", randomKernel, func(k *Kernel) { k.Body[2].Type = ir.Bool }, "%2", "no result of type bool"},
		{"int arange", randomKernel, func(k *Kernel) { k.Body[2] = Instr{Op: OpArange, Type: ir.U8, Index2: 2} }, "%2", "param 2 is f64, not i64"},

		{"scan inner", scanKernel, func(k *Kernel) { k.Inner = 2 }, "kernel", "one inner axis"},
		{"scan of positions", scanKernel, func(k *Kernel) { k.Body[1].Reduce = RArgMax }, "%1", "no scan by argmax"},
		{"scan type", scanKernel, func(k *Kernel) { k.Body[1].Type = ir.F32 }, "%1", "operand is i64, not f32"},
		{"scan in a map", scanKernel, func(k *Kernel) { k.Template = Map; k.Inner = 0 }, "%1", "scan in a map"},
		{"scan without scan", scanKernel, func(k *Kernel) { k.Body = k.Body[:1]; k.Stores[0].Value = 0 }, "kernel", "without scan"},

		{"scatter not indexed", scatterKernel, func(k *Kernel) { k.Accesses[2].Indices = 0; k.Stores[0].Index = nil }, "store 0", "index values"},
		{"scatter index missing", scatterKernel, func(k *Kernel) { k.Stores[0].Index = nil }, "store 0", "0 index values for 1"},
		{"scatter index type", scatterKernel, func(k *Kernel) { k.Stores[0].Index[0] = 0 }, "store 0", "index %0 is f32"},
		{"scatter index range", scatterKernel, func(k *Kernel) { k.Stores[0].Index[0] = 2 }, "store 0", "no value %2"},
		{"min of bools", scatterKernel, func(k *Kernel) {
			k.Buffers[0].DType, k.Buffers[2].DType, k.Body[0].Type, k.Stores[0].Mode = ir.Bool, ir.Bool, ir.Bool, ir.ScatterMin
		}, "store 0", "min of bool"},
		{"join in a map", mapKernel, func(k *Kernel) { k.Stores[0].Mode = ir.ScatterMul }, "store 0", "joining store in a map"},
		{"add to an output", scatterKernel, func(k *Kernel) { k.Buffers[2].Mode = Out }, "store 0", "not inout"},
		{"indexed store of a map", scatterKernel, func(k *Kernel) { k.Template = Map }, "store 0", "indexed or joining store in a map"},

		{"attention not first", attentionKernel, func(k *Kernel) { k.Body[0].Op = OpCoord; k.Body[0].Type = ir.I64 }, "kernel", "starts with attention"},
		{"attention inner axes", attentionKernel, func(k *Kernel) { k.Inner = 1 }, "kernel", "2 inner axes, not 4 and 1"},
		{"attention outer axes", attentionKernel, func(k *Kernel) { k.Outer = 1 }, "kernel", "at least 2 outer"},
		{"attention without offset", attentionKernel, func(k *Kernel) { k.Params = k.Params[:1] }, "%0", "no param 1"},
		{"attention mask type", attentionKernel, func(k *Kernel) { k.Attention.BoolMask = false }, "%0", "access 3 is bool, not f32"},
		{"bool mask without mask", attentionKernel, func(k *Kernel) { k.Attention.HasMask = false }, "%0", "without a mask"},
		{"attention spec elsewhere", mapKernel, func(k *Kernel) { k.Attention.Causal = true }, "kernel", "attention spec"},

		{"philox type", randomKernel, func(k *Kernel) { k.Body[0].Type = ir.F32 }, "%0", "no result of type f32"},
		{"seed type", randomKernel, func(k *Kernel) { k.Params[1] = ir.F32 }, "%0", "param 1 is f32"},
		{"arange param", randomKernel, func(k *Kernel) { k.Params[3] = ir.F32 }, "%2", "param 3 is f32"},
		{"arange param range", randomKernel, func(k *Kernel) { k.Body[2].Index2 = 3 }, "%2", "no param 4"},
		{"arange rounding", randomKernel, func(k *Kernel) { k.Body[2].To = ir.I64 }, "%2", "rounds f32 to i64"},
		{"coordinate range", randomKernel, func(k *Kernel) { k.Body[3].Index = 1 }, "%3", "no axis 1"},

		{"store without access", mapKernel, func(k *Kernel) { k.Stores[0].Access = 3 }, "store 0", "no access 3"},
		{"store without value", mapKernel, func(k *Kernel) { k.Stores[0].Value = 7 }, "store 0", "no value %7"},
		{"store to an input", mapKernel, func(k *Kernel) { k.Stores[0].Access = 0 }, "store 0", "writes an input"},
		{"store type", randomKernel, func(k *Kernel) { k.Stores[4].Value = 3 }, "store 4", "stores i64 as bool"},
		{"masked store", mapKernel, func(k *Kernel) { k.Accesses[2].Masked = true }, "store 0", "masked store"},
		{"output not written", mapKernel, func(k *Kernel) { k.Buffers[1].Mode = InOut }, "buffer 1", "inout buffer is never written"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := tt.kernel()
			tt.spoil(k)
			err := k.Verify()
			var v *VerifyError
			require.ErrorAs(t, err, &v)
			assert.Equal(t, k.Name, v.Kernel)
			assert.Equal(t, tt.where, v.Where)
			assert.Contains(t, v.Rule, tt.rule)
			assert.ErrorContains(t, err, tt.where+": ")
			assert.NotEmpty(t, k.String(), "prints all the same")
		})
	}
}
