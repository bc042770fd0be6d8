package trace

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// marker is a value whose bytes must not get into a trace.
const marker = 123456.789

func open(t testing.TB, o fusion.Options) *fusion.Runtime {
	t.Helper()
	o.Fusers = fuser.Default()
	rt, err := fusion.New(null.Open(backend.Options{}), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, rt.Close()) })
	return rt
}

func header(rt *fusion.Runtime) Header {
	return NewHeader(rt.Device().Name(), rt.Device().Profile(), fuser.Default())
}

func pc() uintptr {
	var at [1]uintptr
	runtime.Callers(2, at[:])
	return at[0]
}

func from(s *fusion.Stream, shape ...int) *fusion.Value {
	data := make([]byte, 4*ir.Shape(shape).NumElements())
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(marker))
	}
	return s.FromBytes(ir.F32, shape, data, pc())
}

// step records exp(x·2) summed by rows, then adds the sums to a Var.
func step(ctx context.Context, s *fusion.Stream, x *fusion.Value, v *fusion.Var) error {
	sc := s.Begin()
	y := s.Record(ir.Operation{Kind: ir.Mul, Scalars: []ir.Scalar{ir.F32Scalar(2)}, PC: pc()}, x)
	e := s.Record(ir.Operation{Kind: ir.Exp, PC: pc()}, y)
	e.SetName("exp")
	sum := s.Record(ir.Operation{Kind: ir.Sum, Attrs: ir.Attrs{Axes: []int{1}}, PC: pc()}, e)
	next := s.Record(ir.Operation{Kind: ir.Add, PC: pc()}, v.Value(), sum)
	s.Effect(v, ir.Operation{Kind: ir.Set, PC: pc()}, next)
	return sc.End(ctx)
}

func TestRecordsWhatRan(t *testing.T) {
	ctx := context.Background()
	rt := open(t, fusion.Options{})
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("from before"), 0o644))
	w, err := Open(path, header(rt))
	require.NoError(t, err)

	// What the observer is told is kept to compare with what is read back.
	var explored []*Segment
	seen := map[any]bool{}
	rt.Observe(func(r *fusion.Run) {
		if !seen[r.Plan] {
			seen[r.Plan] = true
			s := Describe(programOf(r.Segment, r.Names), r.Segment, r.Plan)
			s.Forced = positions(r.Forced)
			explored = append(explored, s)
		}
		w.Observe(r)
	})
	s := rt.Default()
	x, v := from(s, 4, 8), s.NewVar(from(s, 4, 1))
	v.SetName("total")
	const runs = 21
	for range runs {
		require.NoError(t, step(ctx, s, x, v))
	}
	require.NoError(t, w.Close())
	require.NoError(t, w.Close(), "closing again")

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
	assert.NotContains(t, string(raw), `"data"`)
	assert.NotContains(t, string(raw), "from before")
	assert.Less(t, bytes.Count(raw, []byte("\n")), runs, "runs are counted, not listed")

	tr, err := Read(bytes.NewReader(raw))
	require.NoError(t, err)
	assert.True(t, tr.Complete)
	assert.Equal(t, header(rt).complete(), tr.Header)
	assert.Equal(t, rt.Device().Profile(), fuser.Profile(tr.Header.Profile))
	require.Len(t, tr.Segments, len(explored))
	var total int64
	for i := range tr.Segments {
		got, want := tr.Segments[i], explored[i]
		total += got.Total()
		assert.Equal(t, i+1, got.ID)
		assert.True(t, got.Program.Equal(want.Program), "%v\nand\n%v", got.Program, want.Program)
		assert.Equal(t, want.Tensors, got.Tensors)
		assert.Equal(t, want.Blocks, got.Blocks)
		assert.Equal(t, want.InPlace, got.InPlace)
		assert.Equal(t, want.Forced, got.Forced)
		assert.Equal(t, want.Guards, got.Guards)
		assert.Equal(t, want.Recipes, got.Recipes)
		assert.Equal(t, want.Log.Decisions, got.Log.Decisions)
	}
	assert.EqualValues(t, rt.Stats().Segments, total)

	p := tr.Segments[0].Program
	assert.Empty(t, p.Constants)
	assert.Contains(t, p.String(), `"exp"`)
	assert.Contains(t, p.String(), `"total"`)
	assert.Contains(t, p.String(), "scalars(f32:0x1p+01)")
	assert.Contains(t, p.String(), "trace_test.go:")
	var kernels int
	for _, b := range tr.Segments[0].Blocks {
		for _, c := range b.Calls {
			kernels++
			assert.True(t, strings.HasPrefix(c.Kernel, "kernel "), c.Kernel)
			assert.Len(t, c.Tensors, strings.Count(c.Kernel, "\n  b"))
		}
	}
	assert.Positive(t, kernels)
}

// A file whose program ended without Close tells every segment, and its counts
// to a factor of two.
func TestCountsOfAnUnclosedTrace(t *testing.T) {
	ctx := context.Background()
	rt := open(t, fusion.Options{})
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w, err := Open(path, header(rt))
	require.NoError(t, err)
	rt.Observe(w.Observe)
	s := rt.Default()
	x, v := from(s, 4, 8), s.NewVar(from(s, 4, 1))
	for i := 1; i <= 40; i++ {
		require.NoError(t, step(ctx, s, x, v))
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		tr, err := Read(bytes.NewReader(raw))
		require.NoError(t, err)
		assert.False(t, tr.Complete)
		var total int64
		for j := range tr.Segments {
			total += tr.Segments[j].Total()
		}
		ran := int64(rt.Stats().Segments)
		assert.LessOrEqual(t, total, ran)
		assert.GreaterOrEqual(t, 2*total, ran)
	}
	require.NoError(t, w.Close())
}

func TestStreamsAtOnce(t *testing.T) {
	ctx := context.Background()
	rt := open(t, fusion.Options{})
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	w, err := Open(path, header(rt))
	require.NoError(t, err)
	rt.Observe(w.Observe)
	var group sync.WaitGroup
	const streams, runs = 4, 10
	for range streams {
		group.Go(func() {
			s, err := rt.NewStream()
			if !assert.NoError(t, err) {
				return
			}
			x, v := from(s, 4, 8), s.NewVar(from(s, 4, 1))
			for range runs {
				assert.NoError(t, step(ctx, s, x, v))
			}
			assert.NoError(t, s.Close())
		})
	}
	group.Wait()
	require.NoError(t, w.Close())
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	tr, err := Read(f)
	require.NoError(t, err)
	on := map[int]int64{}
	for i := range tr.Segments {
		for _, r := range tr.Segments[i].Runs {
			on[r.Stream] += r.Count
		}
	}
	assert.Len(t, on, streams)
	for stream, n := range on {
		assert.EqualValues(t, runs, n, "stream %d", stream)
	}
}

// A plan that fell out of the cache and was made again is the segment it was.
func TestForgottenPlansAreNotNew(t *testing.T) {
	ctx := context.Background()
	rt := open(t, fusion.Options{PlanCache: 1})
	var out buffer
	w, err := newWriter(&file{out: &out, open: 1}, header(rt))
	require.NoError(t, err)
	rt.Observe(w.Observe)
	s := rt.Default()
	x := from(s, 4, 8)
	for range 6 {
		for _, k := range []ir.Kind{ir.Exp, ir.Tanh} {
			sc := s.Begin()
			sc.Keep(s.Record(ir.Operation{Kind: k}, x))
			require.NoError(t, sc.End(ctx))
		}
	}
	require.NoError(t, w.Close())
	tr, err := Read(&out)
	require.NoError(t, err)
	require.Len(t, tr.Segments, 2)
	assert.EqualValues(t, 6, tr.Segments[0].Total())
	assert.EqualValues(t, 6, tr.Segments[1].Total())
}

// buffer is a file in memory, whose writes after the first so many fail.
type buffer struct {
	bytes.Buffer
	writes, failAt int
	closed         bool
}

var errFull = errors.New("no space left")

func (b *buffer) Write(p []byte) (int, error) {
	if b.writes++; b.failAt > 0 && b.writes >= b.failAt {
		n, _ := b.Buffer.Write(p[:len(p)/2])
		return n, errFull
	}
	return b.Buffer.Write(p)
}

func (b *buffer) Close() error {
	b.closed = true
	return nil
}

// A failed write leaves the program alone, is told at Close, and leaves a file
// that can be read.
func TestWritesThatFail(t *testing.T) {
	ctx := context.Background()
	rt := open(t, fusion.Options{})
	s := rt.Default()
	x, v := from(s, 4, 8), s.NewVar(from(s, 4, 1))
	_, err := newWriter(&file{out: &buffer{failAt: 1}, open: 1}, header(rt))
	require.ErrorIs(t, err, errFull)
	for at := 2; at <= 6; at++ {
		out := &buffer{failAt: at}
		w, err := newWriter(&file{out: out, open: 1}, header(rt))
		require.NoError(t, err)
		rt.Observe(w.Observe)
		for range 16 {
			require.NoError(t, step(ctx, s, x, v))
		}
		rt.Observe(nil)
		require.ErrorIs(t, w.Close(), errFull, "write %d", at)
		assert.True(t, out.closed)
		assert.Equal(t, at, out.writes, "nothing is written behind half a line")
		tr, err := Read(&out.Buffer)
		require.NoError(t, err)
		assert.False(t, tr.Complete)
	}
}

func TestOpenFails(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "missing", "trace"), Header{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Runs that cannot be described are left out, and the error is kept.
func TestObserveNeverPanics(t *testing.T) {
	var out buffer
	w, err := newWriter(&file{out: &out, open: 1}, Header{})
	require.NoError(t, err)
	w.Observe(nil)
	w.Observe(&fusion.Run{})
	require.ErrorContains(t, w.Close(), "panic")
	tr, err := Read(&out)
	require.NoError(t, err)
	assert.Empty(t, tr.Segments)
	assert.True(t, tr.Complete)
	w.Observe(nil) // after Close
}

// Memory is bounded: plans that are gone are forgotten, and so are the numbers
// of streams beyond a limit.
func TestManyPlansAndStreams(t *testing.T) {
	ctx := context.Background()
	rt := open(t, fusion.Options{})
	s := rt.Default()
	var one *fusion.Run
	rt.Observe(func(r *fusion.Run) { one = r })
	sc := s.Begin()
	sc.Keep(s.Record(ir.Operation{Kind: ir.Exp}, from(s, 3)))
	require.NoError(t, sc.End(ctx))

	var out buffer
	w, err := newWriter(&file{out: &out, open: 1}, Header{})
	require.NoError(t, err)
	w.sweep = 8
	const runs = 3 * maxStreams
	streams := make([]*fusion.Stream, runs)
	for i := range runs {
		r, plan := *one, *one.Plan
		streams[i] = new(fusion.Stream)
		r.Stream, r.Plan = streams[i], &plan
		w.Observe(&r)
		if i%256 == 255 {
			runtime.GC()
		}
	}
	assert.Less(t, len(w.plans), runs)
	assert.Len(t, w.streams, maxStreams)
	assert.Len(t, w.ids, 1)
	runtime.KeepAlive(streams)
	require.NoError(t, w.Close())
	tr, err := Read(&out)
	require.NoError(t, err)
	require.Len(t, tr.Segments, 1)
	assert.EqualValues(t, runs, tr.Segments[0].Total())
	assert.Contains(t, tr.Segments[0].Runs, Runs{0, runs - maxStreams})
}

// Devices of one process share the file, one after another or side by side.
func TestSeveralDevices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	first := open(t, fusion.Options{Fusers: fuser.Default()})
	a, err := Open(path, header(first))
	require.NoError(t, err)
	first.Observe(a.Observe)
	chain(t, first)
	require.NoError(t, a.Close())

	second, third := open(t, fusion.Options{}), open(t, fusion.Options{Fusers: fuser.Default()})
	b, err := Open(path, NewHeader("cpu", second.Device().Profile(), nil))
	require.NoError(t, err)
	c, err := Open(path, header(third))
	require.NoError(t, err)
	second.Observe(b.Observe)
	third.Observe(c.Observe)
	chain(t, third)
	chain(t, second)
	require.NoError(t, b.Close())
	require.NoError(t, c.Close())

	in, err := os.Open(path)
	require.NoError(t, err)
	defer in.Close()
	tr, err := Read(in)
	require.NoError(t, err)
	require.True(t, tr.Complete)
	require.Len(t, tr.Devices, 3)
	require.Empty(t, tr.Devices[1].Fusers)
	devices := map[int]bool{}
	for _, s := range tr.Segments {
		devices[s.Device] = true
	}
	require.Len(t, devices, 3)
}

// chain runs a small segment.
func chain(t *testing.T, rt *fusion.Runtime) {
	s := rt.Default()
	x := from(s, 4)
	y := s.Record(ir.Operation{Kind: ir.Exp}, s.Record(ir.Operation{Kind: ir.Neg}, x))
	require.NoError(t, y.Read(t.Context(), make([]byte, 16)))
}
