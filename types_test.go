package sinter_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/ir"
)

// thereAndBack takes values of a Go type to the device and back every way there
// is.
func thereAndBack[T sinter.Elem](t *testing.T, dtype sinter.DType, name string, v ...T) {
	t.Run(name, func(t *testing.T) {
		require.Equal(t, dtype, sinter.DTypeOf[T]())
		for _, dev := range both(t) {
			x := sinter.From(dev, v, len(v))
			require.Equal(t, dtype, x.DType())
			require.True(t, strings.HasPrefix(x.String(), fmt.Sprintf("%s[%d]", name, len(v))), x.String())
			require.Equal(t, v, read[T](t, x))
			require.Equal(t, v, read[T](t, x.Reshape(1, len(v)).Flip(1).Flip(1).Cast(dtype)))
			dst := make([]T, len(v))
			require.NoError(t, sinter.ReadInto(ctx, x, dst))
			require.Equal(t, v, dst)
			raw, err := sinter.ReadBytes(ctx, x)
			require.NoError(t, err)
			require.Equal(t, v, read[T](t, sinter.FromBytes(dev, dtype, raw, len(v))))
			for i, one := range v {
				got, err := sinter.Item[T](ctx, sinter.Scalar(dev, one))
				require.NoError(t, err)
				require.Equal(t, one, got)
				require.Equal(t, []T{one, one}, read[T](t, sinter.FullOf(dev, one, 2)), "element %d", i)
			}
			require.Empty(t, read[T](t, sinter.From(dev, []T{}, 0, 3)))
			s := sinter.NewVar(sinter.FullOf(dev, v[0], len(v)))
			sinter.Write(s, v)
			state, err := sinter.ReadVar[T](ctx, s)
			require.NoError(t, err)
			require.Equal(t, v, state)
			if dtype != sinter.F32 {
				_, err = sinter.Read[float32](ctx, x)
				isDType(t, err, "Read")
			}
		}
	})
}

func TestElementTypes(t *testing.T) {
	inf := math.Inf(1)
	thereAndBack(t, sinter.F64, "f64", 0, math.Copysign(0, -1), math.MaxFloat64, 5e-324, inf, -inf, math.Pi)
	thereAndBack(t, sinter.F32, "f32", 0, float32(math.MaxFloat32), 1e-45, float32(inf), -1.5)
	thereAndBack(t, sinter.F16, "f16", sinter.ToFloat16(65504), sinter.ToFloat16(-6e-8), sinter.Float16(0x8000), sinter.Float16(0x7c00))
	thereAndBack(t, sinter.BF16, "bf16", sinter.ToBFloat16(3e38), sinter.ToBFloat16(-1), sinter.BFloat16(0x8000), sinter.BFloat16(1))
	thereAndBack(t, sinter.I64, "i64", int64(math.MinInt64), math.MaxInt64, -1, 1<<53+1)
	thereAndBack(t, sinter.I32, "i32", int32(math.MinInt32), math.MaxInt32, -1)
	thereAndBack(t, sinter.I16, "i16", int16(math.MinInt16), math.MaxInt16, -1)
	thereAndBack(t, sinter.I8, "i8", int8(math.MinInt8), math.MaxInt8, -1)
	thereAndBack(t, sinter.U64, "u64", uint64(math.MaxUint64), 1<<63, 1<<53+1, 0)
	thereAndBack(t, sinter.U32, "u32", uint32(math.MaxUint32), 1<<31, 0)
	thereAndBack(t, sinter.U16, "u16", uint16(math.MaxUint16), 1<<15, 0)
	thereAndBack(t, sinter.U8, "u8", uint8(math.MaxUint8), 1<<7, 0)
	thereAndBack(t, sinter.Bool, "bool", true, false)
	thereAndBack(t, sinter.F8E4M3, "f8e4m3", sinter.Float8E4M3(0x7e), 0xfe, 0x01, 0x80)
	thereAndBack(t, sinter.F8E5M2, "f8e5m2", sinter.Float8E5M2(0x7b), 0x7c, 0xfc, 0x01, 0x80)
}

// Go numbers take the tensor's dtype if it holds them, and are refused if not.
func TestScalarsTakeTheDType(t *testing.T) {
	dev := open(t)
	for _, c := range []struct {
		dtype   ir.DType
		in, out []float64
	}{
		{ir.U8, []float64{0, 255}, []float64{-1, 256, 0.5, math.NaN(), math.Inf(1)}},
		{ir.I8, []float64{-128, 127}, []float64{-129, 128, -0.5}},
		{ir.U16, []float64{0, 65535}, []float64{-1, 65536}},
		{ir.I16, []float64{-32768, 32767}, []float64{32768, -32769}},
		{ir.U32, []float64{0, math.MaxUint32}, []float64{-1, 1 << 32}},
		{ir.I32, []float64{math.MinInt32, math.MaxInt32}, []float64{1 << 31, -1<<31 - 1}},
		{ir.U64, []float64{0, 1 << 63, 1<<64 - 2048}, []float64{-1, 1 << 64}},
		{ir.I64, []float64{-1 << 63, 1<<63 - 1024}, []float64{1 << 63, -1<<63 - 2048}},
		{ir.F16, []float64{65504, 1e9, 0.1, math.NaN()}, nil},
		{ir.F64, []float64{math.MaxFloat64, 1e-320}, nil},
	} {
		x := sinter.Zeros(dev, c.dtype, 1)
		for _, v := range c.in {
			got := get(t, x.AddScalar(v))
			want := get(t, sinter.From(dev, []float64{v}, 1))
			if c.dtype.IsInt() {
				require.Equal(t, uint64(c.dtype.Wrap(int64(uint64(max(v, 0)))))|uint64(c.dtype.Wrap(int64(min(v, 0)))), uint64(got.I[0]), "%v %v", c.dtype, v)
				continue
			}
			if c.dtype == ir.F16 {
				want = get(t, sinter.From(dev, []float32{float32(v)}, 1).Cast(ir.F16))
			}
			require.Equal(t, fmt.Sprint(want.F), fmt.Sprint(got.F), "%v %v", c.dtype, v)
		}
		for _, v := range c.out {
			isArgument(t, x.AddScalar(v).Err(), "Add")
			isArgument(t, sinter.Full(dev, c.dtype, v, 2).Err(), "Full")
		}
	}
	for dev.Flush(ctx) != nil {
	}
}
