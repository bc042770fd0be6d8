package traps

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
	"github.com/sinter-ml/sinter/internal/oracle"
)

var (
	ctx  = context.Background()
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	zero = float32(math.Copysign(0, -1)) // −0
)

type (
	tensor  = sinter.Tensor
	tensors = []*sinter.Tensor
	input   = func(at sinter.Placer) *tensor
)

// trap is a failure met elsewhere as a small program with a known answer.
type trap struct {
	name  string // what the program does
	why   string // and why
	in    []input
	f     func(in tensors) tensors
	want  []any   // of each output a slice of elements; nil: any
	tol   float64 // of floats, absolute; 0: the same bits
	check func(t *testing.T, out []result)
}

// of makes an input from elements.
func of[T sinter.Elem](shape []int, data ...T) input {
	return func(at sinter.Placer) *tensor { return sinter.From(at, data, shape...) }
}

// dims is a shape.
func dims(d ...int) []int { return d }

// gen makes an f32 input from a function of the position.
func gen(f func(i int) float32, shape ...int) input {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = f(i)
	}
	return of(shape, data...)
}

// wavy are numbers without pattern in about ±3.
func wavy(i int) float32 { return float32(3 * math.Sin(1+float64(i)*1.7)) }

// result is an output as it was read.
type result struct {
	dtype sinter.DType
	shape sinter.Shape
	bytes []byte
}

func (r result) floats() []float32 {
	out := make([]float32, len(r.bytes)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.bytes[4*i:]))
	}
	return out
}

func (r result) ints() []int64 {
	out := make([]int64, len(r.bytes)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(r.bytes[8*i:]))
	}
	return out
}

func (r result) bools() []bool {
	out := make([]bool, len(r.bytes))
	for i := range out {
		out[i] = r.bytes[i] != 0
	}
	return out
}

// canonical makes all NaNs one value.
func (r result) canonical() []byte {
	out := bytes.Clone(r.bytes)
	oracle.Canonical(r.dtype, out)
	return out
}

func fetch(t *testing.T, ts tensors) []result {
	t.Helper()
	var out []result
	for _, x := range ts {
		b, err := sinter.ReadBytes(ctx, x)
		require.NoError(t, err)
		out = append(out, result{x.DType(), x.Shape(), b})
	}
	return out
}

func same(t *testing.T, how string, want, got []result) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].shape, got[i].shape, "%s: output %d", how, i)
		require.Equal(t, want[i].canonical(), got[i].canonical(), "%s: output %d: other bits than unfused", how, i)
	}
}

func open(t *testing.T, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open("cpu", append([]sinter.Option{sinter.WithPoison(true), sinter.WithSeed(9)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

func (x trap) inputs(dev *sinter.Device) tensors {
	var in tensors
	for _, f := range x.in {
		in = append(in, f(dev))
	}
	return in
}

// run runs the program unfused, fused, fused with the plan known, and as a
// graph replayed twice; all must give the same bits, and the right ones.
func (x trap) run(t *testing.T) {
	unfused := open(t, sinter.WithFusion(false))
	want := fetch(t, x.f(x.inputs(unfused)))
	x.right(t, want)
	dev := open(t)
	for _, how := range []string{"fused", "planned before"} {
		dev.Seed(9)
		same(t, how, want, fetch(t, x.f(x.inputs(dev))))
	}
	if len(x.in) == 0 {
		return
	}
	dev.Seed(9)
	g, err := graphapi.Capture(ctx, dev.Stream(), func(_ *sinter.Stream, in tensors) (tensors, error) { return x.f(in), nil }, x.inputs(dev))
	require.NoError(t, err)
	require.True(t, g.IsHardware(), "%v", g.FallbackReason())
	for _, in := range []tensors{nil, x.inputs(dev)} {
		dev.Seed(9)
		require.NoError(t, g.Replay(in...))
		out := make(tensors, len(want))
		for i := range out {
			out[i] = g.Out(i)
		}
		same(t, "replayed", want, fetch(t, out))
	}
	require.NoError(t, g.Close())
	require.NoError(t, dev.Flush(ctx))
}

func (x trap) right(t *testing.T, got []result) {
	for i, want := range x.want {
		switch w := want.(type) {
		case nil:
		case []float32:
			g := got[i].floats()
			require.Len(t, g, len(w))
			for k := range w {
				close := math.Abs(float64(w[k])-float64(g[k])) <= x.tol
				bits := math.Float32bits(w[k]) == math.Float32bits(g[k])
				if !bits && !(w[k] != w[k] && g[k] != g[k]) && (x.tol == 0 || !close) {
					t.Fatalf("output %d, element %d: got %v, want %v: %s", i, k, g[k], w[k], x.why)
				}
			}
		default:
			b, err := binary.Append(nil, binary.LittleEndian, w)
			require.NoError(t, err)
			require.Equal(t, dtypeOf(w), got[i].dtype, "output %d", i)
			oracle.Canonical(got[i].dtype, b)
			require.Equal(t, b, got[i].canonical(), "output %d is not %v: %s", i, w, x.why)
		}
	}
	if x.check != nil {
		x.check(t, got)
	}
}

// dtypeOf returns the dtype of tensors made from a slice.
func dtypeOf(slice any) sinter.DType {
	switch slice.(type) {
	case []float64:
		return sinter.F64
	case []sinter.Float16:
		return sinter.F16
	case []int64:
		return sinter.I64
	case []int32:
		return sinter.I32
	case []int16:
		return sinter.I16
	case []int8:
		return sinter.I8
	case []uint8:
		return sinter.U8
	case []bool:
		return sinter.Bool
	}
	panic(fmt.Sprintf("no dtype of %T", slice))
}

func runAll(t *testing.T, traps []trap) {
	for _, x := range traps {
		t.Run(x.name, x.run)
	}
}
