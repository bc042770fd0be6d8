package cpu

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/interp"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

func openStream(t *testing.T, d *Device) backend.Stream {
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s, err := d.NewStream()
	require.NoError(t, err)
	return s
}

func alloc(t *testing.T, d *Device, s backend.Stream, n int) *backend.Buffer {
	t.Helper()
	b, err := d.Alloc(s, n)
	require.NoError(t, err)
	return b
}

func doubleKernel() *codegen.Kernel {
	return &codegen.Kernel{
		Name: "double", Template: codegen.Map, Outer: 1,
		Buffers:  []codegen.Buffer{{DType: ir.F32, Mode: codegen.In}, {DType: ir.F32, Mode: codegen.Out}},
		Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}},
		Body: []codegen.Instr{
			{Op: codegen.OpLoad, Type: ir.F32},
			{Op: codegen.OpApply, Type: ir.F32, Fn: ir.SAdd, Args: []codegen.Value{0, 0}},
		},
		Stores: []codegen.Store{{Access: 1, Value: 1}},
	}
}

func doubleLaunch(n int) *codegen.Launch {
	return &codegen.Launch{Dims: []int{n}, Access: []codegen.AccessArgs{{Strides: []int{1}}, {Strides: []int{1}}}}
}

func TestRegistered(t *testing.T) {
	for _, name := range []string{"cpu", "cpu:0", "auto"} {
		d, err := backend.Open(name, backend.Options{Workers: 1})
		require.NoError(t, err)
		assert.Equal(t, "cpu", d.Name())
		require.NoError(t, d.Close())
	}
	_, err := backend.Open("cpu:1", backend.Options{})
	var e *backend.DeviceError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "cpu:1", e.Device)
}

func TestLaunchAndReplayAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("scratch memory is not kept under the race detector")
	}
	const n = 50_000
	d := Open(backend.Options{Workers: 3})
	s := openStream(t, d)
	mem := []*backend.Buffer{alloc(t, d, s, 4*n), alloc(t, d, s, 4*n)}
	e, err := d.Compile(doubleKernel())
	require.NoError(t, err)
	l := doubleLaunch(n)
	launch := func() {
		if d.Launch(s, e, l, mem) != nil {
			t.Fail()
		}
	}
	require.NoError(t, d.BeginCapture(s))
	for range 5 {
		launch()
	}
	require.NoError(t, d.Copy(s, mem[0], 0, mem[1], 0, 4*n))
	g, err := d.EndCapture(s, false)
	require.NoError(t, err)
	// A collection in between would empty the engine's pools of scratch memory.
	assert.Less(t, testing.AllocsPerRun(100, launch), 1.0)
	assert.Less(t, testing.AllocsPerRun(100, func() {
		if g.Replay(s, nil) != nil {
			t.Fail()
		}
	}), 1.0)
}

func TestMemoryIsReclaimedBeforeGrowing(t *testing.T) {
	d := Open(backend.Options{Workers: 1})
	s := openStream(t, d)
	const n = 1 << 20
	var garbage []*backend.Buffer
	hooks := 0
	d.SetReclaim(func() {
		hooks++
		for _, b := range garbage {
			d.Free(s, b)
		}
		garbage = nil
	})
	for range firstMark / n {
		garbage = append(garbage, alloc(t, d, s, n))
	}
	assert.Zero(t, hooks, "below the mark nobody is asked")
	first := alloc(t, d, s, n)
	assert.Equal(t, 1, hooks)
	assert.Equal(t, int64(firstMark), d.Memory().Reserved, "garbage was used again")

	// With nothing to reclaim the mark moves well ahead: growing to four times
	// as much asks a few times, not at each growth.
	live := []*backend.Buffer{first}
	for d.Memory().InUse < 4*firstMark {
		live = append(live, alloc(t, d, s, n))
	}
	assert.LessOrEqual(t, hooks, 6)
	assert.GreaterOrEqual(t, hooks, 3)
	for _, b := range live {
		d.Free(s, b)
	}
	require.NoError(t, d.Sync(context.Background(), s))
}

func TestTheLimitReclaims(t *testing.T) {
	d := Open(backend.Options{Workers: 1, MemoryLimit: 4 << 20})
	s := openStream(t, d)
	garbage := []*backend.Buffer{alloc(t, d, s, 3<<20)}
	hooks := 0
	d.SetReclaim(func() {
		hooks++
		for _, b := range garbage {
			d.Free(s, b)
		}
		garbage = nil
	})
	b := alloc(t, d, s, 2<<20) // only after the garbage is freed and its block given back
	assert.Equal(t, 1, hooks)
	_, err := d.Alloc(s, 3<<20)
	var oom *backend.OutOfMemoryError
	require.ErrorAs(t, err, &oom)
	assert.Equal(t, int64(2<<20), oom.Report.Usage.InUse)
	assert.Equal(t, 2, hooks)
	d.Free(s, b)
}

// A cleanup that the collector runs on another goroutine may free too.
func TestCleanupsFreeBeforeGrowth(t *testing.T) {
	d := Open(backend.Options{Workers: 1, MemoryLimit: 4 << 20})
	s := openStream(t, d)
	type handle struct{ b *backend.Buffer }
	freed := make(chan struct{}, 1)
	func() {
		h := &handle{alloc(t, d, s, 3<<20)}
		runtime.AddCleanup(h, func(b *backend.Buffer) {
			d.Free(s, b)
			freed <- struct{}{}
		}, h.b)
		runtime.KeepAlive(h)
	}()
	d.SetReclaim(func() { <-freed })
	alloc(t, d, s, 3<<20)
}

func TestSmallBuffersShareSlabs(t *testing.T) {
	d := Open(backend.Options{Workers: 1})
	s := openStream(t, d)
	var bufs []*backend.Buffer
	for range slabSize / 1024 {
		bufs = append(bufs, alloc(t, d, s, 1000))
	}
	assert.Equal(t, int64(slabSize), d.Memory().Reserved)
	bufs = append(bufs, alloc(t, d, s, 1))
	assert.Equal(t, int64(2*slabSize), d.Memory().Reserved)
	// A slab with one block in use stays, the other goes.
	for _, b := range bufs[1:] {
		d.Free(s, b)
	}
	given, err := d.Trim()
	require.NoError(t, err)
	assert.Equal(t, int64(slabSize), given)
	assert.Equal(t, int64(slabSize), d.Memory().Reserved)
	for range slabSize/1024 - 1 {
		alloc(t, d, s, 1000)
	}
	assert.Equal(t, int64(slabSize), d.Memory().Reserved, "its free blocks are used again")
}

func TestMachineMemoryIsALimit(t *testing.T) {
	assert.Positive(t, machineMemory())
	d := Open(backend.Options{Workers: 1})
	s := openStream(t, d)
	_, err := d.Alloc(s, maxBytes)
	var oom *backend.OutOfMemoryError
	require.ErrorAs(t, err, &oom)
}

// brokenEngine fails, then works.
type brokenEngine struct {
	codegen.Engine
	broken func() (codegen.Executable, error)
}

func (e *brokenEngine) Compile(k *codegen.Kernel) (codegen.Executable, error) {
	if f := e.broken; f != nil {
		e.broken = nil
		return f()
	}
	return e.Engine.Compile(k)
}

type deviceOnly struct{ codegen.Executable }

func TestCompileIsTriedAgain(t *testing.T) {
	cause := errors.New("cause")
	engine := &brokenEngine{Engine: interp.New()}
	d := OpenWith(engine, backend.Options{Workers: 1})
	openStream(t, d)
	for name, f := range map[string]func() (codegen.Executable, error){
		"error":          func() (codegen.Executable, error) { return nil, cause },
		"panic":          func() (codegen.Executable, error) { panic(cause) },
		"no host engine": func() (codegen.Executable, error) { return deviceOnly{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			engine.broken = f
			_, err := d.Compile(doubleKernel())
			var e *backend.CompileError
			require.ErrorAs(t, err, &e)
			if name != "no host engine" {
				require.ErrorIs(t, err, cause)
			}
			assert.Contains(t, e.Kernel, "double")
			assert.Zero(t, d.Counters().Compiles)
		})
	}
	_, err := d.Compile(doubleKernel())
	require.NoError(t, err)
}

// panicking is an executable that panics in Run.
type panicking struct{ codegen.HostExecutable }

func (p panicking) Run(*codegen.Launch, [][]byte, codegen.Parallel) error { panic("in Run") }

func TestAPanicInALaunchIsAnError(t *testing.T) {
	engine := &brokenEngine{Engine: interp.New()}
	d := OpenWith(engine, backend.Options{Workers: 1})
	s := openStream(t, d)
	engine.broken = func() (codegen.Executable, error) {
		e, err := interp.New().Compile(doubleKernel())
		return panicking{e.(codegen.HostExecutable)}, err
	}
	e, err := d.Compile(doubleKernel())
	require.NoError(t, err)
	mem := []*backend.Buffer{alloc(t, d, s, 4), alloc(t, d, s, 4)}
	var p *backend.PanicError
	var l *backend.LaunchError
	err = d.Launch(s, e, doubleLaunch(1), mem)
	require.ErrorAs(t, err, &p)
	require.ErrorAs(t, err, &l)
	assert.Equal(t, "in Run", p.Value)
	require.NoError(t, d.Write(context.Background(), s, mem[0], 0, make([]byte, 4)), "the stream works on")
}
