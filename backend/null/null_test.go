package null

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/backendtest"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

func TestConformance(t *testing.T) {
	backendtest.RunWithoutValues(t, func(o backend.Options) backend.Device { return Open(o) })
}

func negKernel() *codegen.Kernel {
	return &codegen.Kernel{
		Name: "neg", Template: codegen.Map, Outer: 1,
		Buffers:  []codegen.Buffer{{DType: ir.F32, Mode: codegen.In}, {DType: ir.F32, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}},
		Body: []codegen.Instr{
			{Op: codegen.OpLoad, Type: ir.F32},
			{Op: codegen.OpApply, Type: ir.F32, Fn: ir.SNeg, Args: []codegen.Value{0}},
		},
		Stores: []codegen.Store{{Access: 1, Value: 1}},
	}
}

func TestLogTellsEveryCall(t *testing.T) {
	ctx := context.Background()
	d := Open(backend.Options{})
	s, err := d.NewStream()
	require.NoError(t, err)
	other, err := d.NewStream()
	require.NoError(t, err)
	a, err := d.Alloc(s, 12)
	require.NoError(t, err)
	require.NoError(t, d.Write(ctx, s, a, 4, make([]byte, 8)))
	b, err := d.Alloc(s, 12)
	require.NoError(t, err)
	e, err := d.Compile(negKernel())
	require.NoError(t, err)
	l := &codegen.Launch{Dims: []int{3}, Access: []codegen.AccessArgs{{Strides: []int{1}}, {Strides: []int{1}}}}
	require.NoError(t, d.Launch(s, e, l, []*backend.Buffer{a, b}))
	l.Dims[0] = 4
	require.Error(t, d.Launch(s, e, l, []*backend.Buffer{a, b}))
	got := []byte{1, 2, 3}
	require.NoError(t, d.Read(ctx, s, got, b, 0))
	assert.Equal(t, []byte{0, 0, 0}, got, "reads are zeros")
	require.NoError(t, d.Copy(s, a, 1, b, 0, 2))
	require.NoError(t, d.Wait(s, other))
	p := d.NewPool()
	d.UsePool(s, p)
	d.UsePool(s, 0)
	require.NoError(t, d.ClosePool(p))
	require.NoError(t, d.BeginCapture(s))
	g, err := d.EndCapture(s, false)
	require.NoError(t, err)
	require.NoError(t, g.Replay(s, nil))
	require.NoError(t, g.Destroy())
	d.Free(s, a)
	_, err = d.AllocHost(7)
	require.NoError(t, err)
	_, err = d.Trim()
	require.NoError(t, err)
	require.NoError(t, d.Sync(ctx, s))
	require.NoError(t, d.CloseStream(other))
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())

	var lines []string
	for _, e := range d.Log() {
		lines = append(lines, e.String())
	}
	assert.Equal(t, []string{
		"NewStream s1", "NewStream s2", "Alloc s1 b1 12B", "Write s1 b1+4 8B", "Alloc s1 b2 12B", "Compile neg",
		"Launch s1 neg dims=[3] b1 b2", "Launch s1 neg dims=[4] b1 b2 failed", "Read s1 b2 3B", "Copy s1 b1+1 b2 2B",
		"Wait s1 for s2", "NewPool p3", "UsePool s1 p3", "UsePool s1", "ClosePool p3", "BeginCapture s1", "EndCapture s1",
		"Replay s1", "Destroy", "Free s1 b1", "AllocHost b3 7B", "Trim", "Sync s1", "CloseStream s2", "Close",
	}, lines)
	assert.Equal(t, []string{"neg"}, d.Launched())
	d.ClearLog()
	assert.Empty(t, d.Log())
}

func TestFailAt(t *testing.T) {
	d := Open(backend.Options{})
	s, err := d.NewStream()
	require.NoError(t, err)
	d.FailAt(backend.CallAlloc, 2)
	_, err = d.Alloc(s, 1)
	require.NoError(t, err)
	_, err = d.Alloc(s, 1)
	var oom *backend.OutOfMemoryError
	require.ErrorAs(t, err, &oom)
	_, err = d.Alloc(s, 1)
	require.NoError(t, err)
	d.FailAt(backend.CallCompile, 1)
	_, err = d.Compile(negKernel())
	require.ErrorIs(t, err, backend.ErrInjected)
	_, err = d.Compile(negKernel())
	require.NoError(t, err)
	d.FailAt(backend.CallEndCapture, 1)
	require.NoError(t, d.BeginCapture(s))
	_, err = d.EndCapture(s, false)
	require.ErrorIs(t, err, backend.ErrInjected)
	require.NoError(t, d.BeginCapture(s), "the window is closed all the same")
	assert.Equal(t, 3, d.Calls(backend.CallAlloc))
}

// Golden plans depend on these numbers.
func TestProfileIsFixed(t *testing.T) {
	p := Open(backend.Options{}).Profile()
	assert.Equal(t, 10.0, p.Bandwidth)
	assert.Equal(t, 5000.0, p.LaunchCost)
}

func TestNoMemoryIsTaken(t *testing.T) {
	d := Open(backend.Options{})
	s, err := d.NewStream()
	require.NoError(t, err)
	b, err := d.Alloc(s, 1<<30)
	require.NoError(t, err)
	assert.Nil(t, b.Host)
}
