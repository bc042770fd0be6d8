package codegen

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/ir"
)

func TestKernelText(t *testing.T) {
	tests := []struct {
		kernel *Kernel
		want   string
	}{
		{mapKernel(), `kernel map outer=2 inner=0 "scale-add"
  b0: in bf16
  b1: in f32
  b2: out bf16
  a0: b0
  a1: b1 masked
  a2: b2
  p0: f32
  %0: f32 = load a0
  %1: f32 = param p0
  %2: f32 = mul %0, %1
  %3: f32 = const -0.5
  %4: f32 = load a1 else %3
  %5: f32 = add %2, %4
  %6: f32 = cast f32 to bf16 %5
  store a2 %6
`},
		{gatherKernel(), `kernel map outer=2 inner=0 "gather"
  b0: in f32
  b1: in i64
  b2: out f32
  a0: b0 indices=1
  a1: b1
  a2: b2
  %0: i64 = load a1
  %1: f32 = load a0[%0]
  store a2 %1
`},
		{rowsKernel(), `kernel rows outer=1 inner=1 "center"
  b0: in f32
  b1: out f32
  b2: out i64
  a0: b0
  a1: b1
  a2: b2
  %0: f32 = load a0
  %1: f32 row = reduce sum %0
  %2: f32 row = count
  %3: f32 row = div %1, %2
  %4: f32 = sub %0, %3
  %5: i64 row = reduce argmax %4
  store a1 %4
  store a2 %5
`},
		{contractionKernel(), `kernel contraction outer=2 inner=1 "linear"
  b0: in f32
  b1: in bf16
  b2: in f32
  b3: out f32
  a0: b0
  a1: b1
  a2: b2
  a3: b3
  %0: f32 = contract a0 a1
  %1: f32 = load a2
  %2: f32 = add %0, %1
  store a3 %2
`},
		{scanKernel(), `kernel scan outer=1 inner=1 "cumsum"
  b0: in i64
  b1: out i64
  a0: b0
  a1: b1
  %0: i64 = load a0
  %1: i64 = scan sum exclusive reverse %0
  store a1 %1
`},
		{scatterKernel(), `kernel scatter outer=2 inner=0 "scatter-add"
  b0: in f32
  b1: in i64
  b2: inout f32
  a0: b0
  a1: b1
  a2: b2 indices=1
  %0: f32 = load a0
  %1: i64 = load a1
  store a2[%1] add %0
`},
		{attentionKernel(), `kernel attention outer=4 inner=2 "attention"
  b0: in f32
  b1: in f32
  b2: in f32
  b3: in bool
  b4: out f32
  a0: b0
  a1: b1
  a2: b2
  a3: b3
  a4: b4
  p0: f32
  p1: i64
  %0: f32 = attention causal boolmask
  store a4 %0
`},
		{randomKernel(), `kernel map outer=1 inner=0 "random"
  b0: out i64
  b1: out f32
  b2: out f32
  b3: out i64
  b4: out bool
  a0: b0
  a1: b1
  a2: b2
  a3: b3
  a4: b4
  p0: i64
  p1: i64
  p2: f64
  p3: f64
  %0: i64 = philox seed p0 offset p1
  %1: f32 = normal seed p0 offset p1
  %2: f32 = arange 0 from p2 step p3 to bf16
  %3: i64 = coord 0
  %4: bool = const true
  store a0 %0
  store a1 %1
  store a2 %2
  store a3 %3
  store a4 %4
`},
		{dequantKernel(), `kernel contraction outer=3 inner=1 "dequant"
  b0: in f16
  b1: in i8
  b2: in f32
  b3: out f16
  a0: b0
  a1: b1
  a2: b2
  a3: b3
  %0: f32 left = load a0
  %1: f32 left = neg %0
  %2: i8 right = load a1
  %3: f32 right = cast i8 to f32 %2
  %4: f32 right = load a2
  %5: f32 right = mul %3, %4
  %6: f32 = contract %1, %5 of f16, f32
  %7: f32 = cast f32 to f16 %6
  store a3 %7
`},
		{bytesKernel(), `kernel contraction outer=2 inner=1 "bytes"
  b0: in u8
  b1: in i8
  b2: out i32
  a0: b0
  a1: b1
  a2: b2
  %0: i32 = contract a0 a1
  store a2 %0
`},
		{sortKernel(), `kernel sort outer=1 inner=1 "topk"
  b0: in bf16
  b1: out bf16
  b2: out i64
  a0: b0
  a1: b1 masked
  a2: b2 masked
  %0: f32 = load a0
  %1: f32 = sort descending %0
  %2: i64 = sort positions descending %0
  store a1 %1
  store a2 %2
`},
		{bitsKernel(), `kernel map outer=1 inner=0 "bits"
  b0: in f64
  b1: out u8
  b2: out u16
  a0: b0
  a1: b1
  a2: b2
  %0: f64 = load a0
  %1: f32 = cast f64 to f8e5m2 %0 overflow
  %2: u8 = bitcast f8e5m2 to u8 %1
  %3: f32 = cast f64 to bf16 %0
  %4: u16 = bitcast bf16 to u16 %3
  store a1 %2
  store a2 %4
`},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.kernel.String())
	}
}

func TestConstantText(t *testing.T) {
	f := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	negativeZero := float32(math.Copysign(0, -1))
	for _, tt := range []struct {
		t    ir.DType
		bits uint64
		want string
	}{
		{ir.F32, f(0.1), "0.1"}, {ir.F32, f(negativeZero), "-0"}, {ir.F32, f(float32(math.Inf(-1))), "-Inf"},
		{ir.F32, f(1e-45), "1e-45"}, {ir.F32, 0x7fc00001, "nan(0x7fc00001)"},
		{ir.I64, uint64(1<<64 - 3), "-3"}, {ir.Bool, 0, "false"}, {ir.Invalid, 17, "0x11"},
		{ir.F64, math.Float64bits(0.1), "0.1"}, {ir.F64, math.Float64bits(math.Inf(1)), "+Inf"}, {ir.F64, 0x7ff8000000000001, "nan(0x7ff8000000000001)"},
		{ir.I8, uint64(1<<64 - 128), "-128"}, {ir.U64, math.MaxUint64, "18446744073709551615"}, {ir.U8, 255, "255"},
	} {
		assert.Equal(t, tt.want, constString(tt.t, tt.bits))
	}
}
