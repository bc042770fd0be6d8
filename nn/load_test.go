package nn_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
	"github.com/sinter-ml/sinter/safetensors"
)

// file makes a file of tensors that were read from device tensors.
func file(t *testing.T, tensors map[string]*sinter.Tensor) *safetensors.File {
	t.Helper()
	in := make(map[string]safetensors.Tensor)
	for name, x := range tensors {
		data, err := sinter.ReadBytes(context.Background(), x)
		require.NoError(t, err)
		in[name] = safetensors.Tensor{DType: x.DType(), Shape: x.Shape(), Data: data}
	}
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, in, nil))
	f, err := safetensors.Parse(b.Bytes())
	require.NoError(t, err)
	return f
}

func value[T sinter.Elem](t *testing.T, v *sinter.Var) []T {
	t.Helper()
	out, err := sinter.ReadVar[T](context.Background(), v)
	require.NoError(t, err)
	return out
}

type net struct {
	Table *nn.Embedding
	Net   nn.Sequential
	Ids   *sinter.Var
}

func newNet(dev *sinter.Device) *net {
	zero := nn.WithInit(nn.ZeroInit)
	return &net{
		Table: nn.NewEmbedding(dev, 3, 2, zero, nn.WithDType(sinter.BF16)),
		Net:   nn.Sequential{nn.NewLinear(dev, 2, 3, zero), nn.Relu{}, nn.NewLinear(dev, 2, 2, zero, nn.WithoutBias())},
		Ids:   sinter.NewVar(sinter.Zeros(dev, sinter.I64, 2)),
	}
}

// tensors is a file that fits newNet. Square weights show that a transposition
// is not guessed from shapes.
func tensors(dev *sinter.Device) map[string]*sinter.Tensor {
	return map[string]*sinter.Tensor{
		"table.weight": sinter.From(dev, []sinter.BFloat16{1, 2, 3, 4, 5, 6}, 3, 2),
		"net.0.weight": sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3),
		"net.0.bias":   sinter.From(dev, []float32{7, 8, 9}, 3),
		"net.2.weight": sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2),
		"ids":          sinter.From(dev, []int64{5, -6}, 2),
	}
}

func TestLoadInto(t *testing.T) {
	ctx := context.Background()
	dev := open(t)
	m := newNet(dev)
	before := m.Net[0].(*nn.Linear).Bias.Value()
	require.NoError(t, nn.LoadInto(ctx, m, file(t, tensors(dev))))
	require.Equal(t, []sinter.BFloat16{1, 2, 3, 4, 5, 6}, value[sinter.BFloat16](t, m.Table.Weight))
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, value[float32](t, m.Net[0].(*nn.Linear).Weight))
	require.Equal(t, []float32{7, 8, 9}, value[float32](t, m.Net[0].(*nn.Linear).Bias))
	require.Equal(t, []float32{1, 2, 3, 4}, value[float32](t, m.Net[2].(*nn.Linear).Weight))
	require.Equal(t, []int64{5, -6}, value[int64](t, m.Ids))
	require.Equal(t, []float32{0, 0, 0}, read[float32](t, before), "an effect: values read before keep what they were")
}

func TestLoadIntoTransposed(t *testing.T) {
	dev := open(t)
	m := newNet(dev)
	in := tensors(dev)
	in["net.0.weight"] = sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	require.NoError(t, nn.LoadInto(context.Background(), m, file(t, in), nn.TransposeLinear()))
	require.Equal(t, []float32{1, 3, 5, 2, 4, 6}, value[float32](t, m.Net[0].(*nn.Linear).Weight))
	require.Equal(t, []float32{1, 3, 2, 4}, value[float32](t, m.Net[2].(*nn.Linear).Weight))
	require.Equal(t, []float32{7, 8, 9}, value[float32](t, m.Net[0].(*nn.Linear).Bias))
	require.Equal(t, []sinter.BFloat16{1, 2, 3, 4, 5, 6}, value[sinter.BFloat16](t, m.Table.Weight), "a table is not transposed")
}

func TestLoadIntoRenamed(t *testing.T) {
	dev := open(t)
	m := newNet(dev)
	in := map[string]*sinter.Tensor{"position": sinter.Ones(dev, sinter.I64, 3)}
	for name, x := range tensors(dev) {
		in["model/"+strings.ReplaceAll(name, ".", "/")] = x
	}
	rename := nn.Rename(func(path string) string { return "model/" + strings.ReplaceAll(path, ".", "/") })
	err := nn.LoadInto(context.Background(), m, file(t, in), rename)
	var bad *nn.LoadError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, &nn.LoadError{Unexpected: []string{"position"}}, bad)
	require.Equal(t, []int64{0, 0}, value[int64](t, m.Ids), "nothing was loaded")

	ignore := nn.IgnoreUnexpected(func(name string) bool { return name == "position" })
	require.NoError(t, nn.LoadInto(context.Background(), m, file(t, in), rename, ignore))
	require.Equal(t, []int64{5, -6}, value[int64](t, m.Ids))
	require.NoError(t, nn.LoadInto(context.Background(), m, file(t, in), rename, nn.IgnoreUnexpected(nil)))
}

func TestLoadIntoSaysAllThatIsWrong(t *testing.T) {
	dev := open(t)
	m := newNet(dev)
	in := tensors(dev)
	delete(in, "net.0.bias")
	delete(in, "ids")
	in["extra.b"], in["extra.a"] = sinter.Ones(dev, sinter.F32), sinter.Ones(dev, sinter.F32)
	in["net.0.weight"] = sinter.Ones(dev, sinter.F32, 2, 3)
	in["table.weight"] = sinter.Ones(dev, sinter.F32, 3, 2)
	err := nn.LoadInto(context.Background(), m, file(t, in), nn.TransposeLinear())
	var bad *nn.LoadError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, &nn.LoadError{
		Missing:    []string{"net.0.bias", "ids"},
		Unexpected: []string{"extra.a", "extra.b"},
		Mismatched: []nn.Mismatch{
			{Path: "table.weight", Name: "table.weight", Want: sinter.Shape{3, 2}, WantDType: sinter.BF16,
				Got: sinter.Shape{3, 2}, GotDType: safetensors.F32},
			{Path: "net.0.weight", Name: "net.0.weight", Want: sinter.Shape{3, 2}, WantDType: sinter.F32,
				Got: sinter.Shape{2, 3}, GotDType: safetensors.F32},
		},
	}, bad)
	require.EqualError(t, err, "nn: weights do not fit: missing net.0.bias, ids; unexpected extra.a, extra.b; "+
		"table.weight is F32[3,2] in the file, needs BF16[3,2]; net.0.weight is F32[2,3] in the file, needs F32[3,2]")
	require.Equal(t, []float32{0, 0, 0, 0}, value[float32](t, m.Net[2].(*nn.Linear).Weight), "nothing was loaded")
}

// Parameters of every element type are loaded as they lie in the file.
func TestLoadIntoEveryDType(t *testing.T) {
	dev := open(t)
	for d := sinter.F64; d <= sinter.F8E5M2; d++ {
		x := sinter.From(dev, []bool{true, false, true}, 3).Cast(d)
		m := struct{ W *sinter.Var }{sinter.NewVar(sinter.Zeros(dev, d, 3))}
		require.NoError(t, nn.LoadInto(context.Background(), &m, file(t, map[string]*sinter.Tensor{"w": x})), d)
		want, err := sinter.ReadBytes(context.Background(), x)
		require.NoError(t, err)
		got, err := sinter.ReadBytes(context.Background(), m.W.Value())
		require.NoError(t, err)
		require.Equal(t, want, got, d)
	}
}

// A tensor whose type no parameter can have is a mismatch, not a broken file.
func TestLoadIntoUnknownDType(t *testing.T) {
	dev := open(t)
	header := `{"w":{"dtype":"C64","shape":[2],"data_offsets":[0,16]}}`
	f, err := safetensors.Parse([]byte(string(rune(len(header))) + "\x00\x00\x00\x00\x00\x00\x00" + header + strings.Repeat("\x00", 16)))
	require.NoError(t, err)
	m := struct {
		Weight *sinter.Var `nn:"w"`
	}{variable(dev, []float32{1, 2}, 2)}
	var bad *nn.LoadError
	require.ErrorAs(t, nn.LoadInto(context.Background(), m, f), &bad)
	require.Len(t, bad.Mismatched, 1)
	require.ErrorContains(t, bad, "w is C64[2] in the file, needs F32[2]")
}

// What was loaded before, and the copies made on the way, are given back.
func TestLoadIntoKeepsNothing(t *testing.T) {
	dev := open(t)
	m := newNet(dev)
	f := file(t, tensors(open(t))) // of another device, whose memory does not count
	var inUse int64
	for i := range 3 {
		require.NoError(t, nn.LoadInto(context.Background(), m, f))
		now := dev.Stats().Memory.InUse
		if i > 0 {
			require.Equal(t, inUse, now)
		}
		inUse = now
	}
}

func TestLoadIntoCancelled(t *testing.T) {
	dev := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := nn.LoadInto(ctx, newNet(dev), file(t, tensors(dev)))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "nn: loading table.weight: ")
}

func TestLoadIntoClosed(t *testing.T) {
	dev := open(t)
	m := newNet(dev)
	f := file(t, tensors(dev))
	require.NoError(t, dev.Close())
	var closed *sinter.ClosedError
	require.ErrorAs(t, nn.LoadInto(context.Background(), m, f), &closed)
}
