package backend

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

// sumKernel adds a scalar that a parameter holds and one that operand 1 holds to
// a vector.
func sumKernel() *codegen.Kernel {
	return &codegen.Kernel{
		Name: "sum", Template: codegen.Custom, Outer: 2,
		Buffers:  []codegen.Buffer{{DType: ir.F32, Mode: codegen.In}, {DType: ir.I16, Mode: codegen.In}, {DType: ir.F32, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Params:   []ir.DType{ir.F32, ir.I16},
		Custom:   codegen.CustomSpec{Name: "test.sum", Ints: []int{3}, Flag: true, Ranks: []int{1, 0, 1}, Sources: []int{0, 1}},
	}
}

func TestHostFunctions(t *testing.T) {
	var arg *ir.ArgumentError
	sum := func(c *HostCall) error {
		if len(c.Inputs) != 1 || len(c.Outputs) != 1 || len(c.Scalars) != 2 || c.Ints[0] != 3 || !c.Flag || c.Name != "test.sum" {
			return errors.New("not what was called")
		}
		x, y := &c.Inputs[0], &c.Outputs[0]
		for i := range y.Shape[0] {
			at := x.Offset + i*x.Strides[0]
			f := math.Float32frombits(uint32(x.Data[4*at]) | uint32(x.Data[4*at+1])<<8 | uint32(x.Data[4*at+2])<<16 | uint32(x.Data[4*at+3])<<24)
			bits := math.Float32bits(f + c.Scalars[0].Float32() + float32(c.Scalars[1].Int64()))
			y.Data[4*i], y.Data[4*i+1], y.Data[4*i+2], y.Data[4*i+3] = byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24)
		}
		return nil
	}
	k := sumKernel()
	require.NoError(t, k.Verify())
	_, err := CompileHost("test", k)
	require.ErrorContains(t, err, `no host function "test.sum" is registered for test`)
	require.NoError(t, RegisterHost("test", "test.sum", sum))
	for _, bad := range []error{RegisterHost("test", "test.sum", sum), RegisterHost("", "x", sum), RegisterHost("test", "", sum), RegisterHost("test", "x", nil)} {
		require.ErrorAs(t, bad, &arg)
	}
	_, err = CompileHost("other", k)
	require.Error(t, err, "it is registered for one backend")
	x, err := CompileHost("test", k)
	require.NoError(t, err)
	require.Same(t, k, x.Kernel())
	require.Contains(t, x.Listing(), "test.sum")
	require.True(t, UnregisterHost("test", "test.sum"))
	require.False(t, UnregisterHost("test", "test.sum"))

	l := &codegen.Launch{Dims: []int{2, 2}, Params: []uint64{uint64(math.Float32bits(0.5)), 0}, Access: []codegen.AccessArgs{
		{Offset: 1, Strides: []int{-1, 0}}, {Strides: []int{0, 0}}, {Strides: []int{0, 1}},
	}}
	mem := [][]byte{{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, {0xfe, 0xff}, make([]byte, 8)} // [1, 2] backwards, -2
	require.NoError(t, x.Run(l, mem, codegen.Serial{}))
	require.Equal(t, []byte{0, 0, 0, 0x3f, 0, 0, 0, 0xbf}, mem[2], "2 + 0.5 - 2, 1 + 0.5 - 2")
	if !race.Enabled {
		require.Zero(t, testing.AllocsPerRun(20, func() { err = errors.Join(err, x.Run(l, mem, codegen.Serial{})) }))
	}
	require.NoError(t, err)
	var args *codegen.ArgsError
	require.ErrorAs(t, x.Run(l, [][]byte{mem[0][:4], mem[1], mem[2]}, codegen.Serial{}), &args)
}

// A scalar held by an operand of any dtype has the bits of a literal one.
func TestScalarBits(t *testing.T) {
	f32 := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
	for d, c := range map[ir.DType]struct {
		data []byte
		want uint64
	}{
		ir.F64:    {[]byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, math.Float64bits(1.5)},
		ir.F32:    {[]byte{0, 0, 0xc0, 0x3f}, f32(1.5)},
		ir.F16:    {[]byte{0, 0x3e}, f32(1.5)},
		ir.BF16:   {[]byte{0xc0, 0x3f}, f32(1.5)},
		ir.F8E4M3: {[]byte{0x3c}, f32(1.5)},
		ir.F8E5M2: {[]byte{0x3e}, f32(1.5)},
		ir.I64:    {[]byte{0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, math.MaxUint64 - 2},
		ir.I32:    {[]byte{0xfd, 0xff, 0xff, 0xff}, math.MaxUint64 - 2},
		ir.I16:    {[]byte{0xfd, 0xff}, math.MaxUint64 - 2},
		ir.I8:     {[]byte{0xfd}, math.MaxUint64 - 2},
		ir.U64:    {[]byte{0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, math.MaxUint64 - 2},
		ir.U32:    {[]byte{0xfd, 0xff, 0xff, 0xff}, 0xfffffffd},
		ir.U16:    {[]byte{0xfd, 0xff}, 0xfffd},
		ir.U8:     {[]byte{0xfd}, 0xfd},
		ir.Bool:   {[]byte{1}, 1},
	} {
		data := append(make([]byte, d.Size()), c.data...)
		got := scalarBits(&HostTensor{DType: d, Offset: 1, Data: data})
		require.Equal(t, c.want, got, "%v", d)
		require.True(t, ir.Scalar{DType: d.Compute(), Bits: got}.Canonical(), "%v", d)
	}
	require.Len(t, ir.DTypes(), 15)
}
