package fusion_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func newStream(t *testing.T, rt *fusion.Runtime) *fusion.Stream {
	t.Helper()
	s, err := rt.NewStream()
	require.NoError(t, err)
	return s
}

// together runs f on n goroutines.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// values reads without failing the test from another goroutine.
func elements(v *fusion.Value) ([]byte, error) {
	b := make([]byte, v.Shape().NumElements()*v.DType().Size())
	return b, v.Read(context.Background(), b)
}

func TestSharedVarReadConcurrently(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	w := rt.Default().NewVar(fromOnes(rt.Default(), 8, 8))
	want := read(t, rt.Default().Record(ir.Operation{Kind: ir.MatMul}, fromOnes(rt.Default(), 4, 8), w.Value()))
	together(6, func(int) {
		s, err := rt.NewStream()
		if !assert.NoError(t, err) {
			return
		}
		defer s.Close()
		for range 20 {
			sc := s.Begin()
			y := s.Record(ir.Operation{Kind: ir.MatMul}, fromOnes(s, 4, 8), w.Value())
			got, err := elements(y)
			assert.NoError(t, err)
			assert.Equal(t, floats(want...), got)
			assert.NoError(t, sc.End(context.Background()))
		}
	})
}

// TestOneWriterManyReaders: a reader sees a version as a whole, and the value
// of a handle never changes.
func TestOneWriterManyReaders(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	def := rt.Default()
	zero := def.FromBytes(ir.F32, ir.Shape{64}, make([]byte, 256), 0)
	w := def.NewVar(zero)
	const writes = 60
	done := make(chan struct{})
	together(5, func(i int) {
		s, err := rt.NewStream()
		if !assert.NoError(t, err) {
			return
		}
		defer s.Close()
		if i == 0 {
			defer close(done)
			for n := range writes {
				v := w.Value()
				next := s.Record(scalarOp(ir.Add, 1), v)
				if n%2 == 0 {
					s.Effect(w, ir.Operation{Kind: ir.Set}, next)
				} else { // the same by halves
					for h := range 2 {
						r := []ir.Range{{Start: 32 * h, Len: 32, Step: 1}}
						half := s.Record(ir.Operation{Kind: ir.Slice, Ranges: r}, next)
						if h == 0 {
							half = s.Record(scalarOp(ir.Add, 0), half)
						}
						s.Effect(w, ir.Operation{Kind: ir.SetSlice, Ranges: r}, half)
					}
				}
				if n%3 == 0 {
					v.Release(0)
				}
				if n%4 == 0 {
					assert.NoError(t, s.Flush(context.Background()))
				}
				runtime.Gosched()
			}
			assert.NoError(t, s.Flush(context.Background()))
			return
		}
		for {
			v := w.Value()
			first, err := elements(s.Record(scalarOp(ir.Mul, 1), v))
			assert.NoError(t, err)
			again, err := elements(v)
			assert.NoError(t, err)
			if !assert.Equal(t, first, again, "a handle's value changed") {
				return
			}
			v.Release(0)
			select {
			case <-done:
				return
			default:
			}
		}
	})
	want := make([]float32, 64)
	for i := range want {
		want[i] = writes
	}
	require.Equal(t, want, read(t, w.Value()))
}

func TestTensorsPassedBetweenStreams(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	const n = 4
	in, out := make([]chan *fusion.Value, n), make([]float32, n)
	for i := range in {
		in[i] = make(chan *fusion.Value, 1)
	}
	x := fromOnes(rt.Default(), 16)
	in[0] <- rt.Default().Record(scalarOp(ir.Add, 1), x) // pending when it is passed on
	together(n, func(i int) {
		s, err := rt.NewStream()
		if !assert.NoError(t, err) {
			return
		}
		defer s.Close()
		for range 10 {
			v := <-in[i]
			y := s.Record(scalarOp(ir.Mul, 0.5), v)
			z := s.Record(ir.Operation{Kind: ir.Add}, y, v)
			b, err := elements(y) // z and y drain; the next stream uses z, stored or virtual
			assert.NoError(t, err)
			_ = b
			in[(i+1)%n] <- s.Record(scalarOp(ir.Mul, 2.0/3), z)
			out[i]++
		}
	})
	last := <-in[0]
	got := read(t, last)
	want := read(t, rt.Default().Record(scalarOp(ir.Add, 1), x))
	for i := range got {
		require.InDelta(t, want[i], got[i], 1e-5)
	}
}

func TestDefaultStreamFromManyGoroutines(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	together(8, func(i int) {
		for k := range 25 {
			x := s.FromBytes(ir.F32, ir.Shape{3}, floats(float32(i), float32(k), 1), 0)
			y := s.Record(scalarOp(ir.Mul, 2), s.Record(scalarOp(ir.Add, 1), x))
			got, err := elements(y)
			assert.NoError(t, err)
			assert.Equal(t, floats(2*float32(i+1), 2*float32(k+1), 4), got)
			if k%5 == 0 {
				y.Release(0)
				x.Release(0)
			}
		}
	})
}

// TestReadersOnOtherStreams: one stream overwrites what others still hold in
// their queues.
func TestReadersOnOtherStreams(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	a, b := newStream(t, rt), newStream(t, rt)
	w := a.NewVar(a.FromBytes(ir.F32, ir.Shape{4}, floats(1, 2, 3, 4), 0))
	for i := range 4 {
		h := w.Value()
		queued := b.Record(scalarOp(ir.Add, 10), h) // not executed yet
		before := read(t, w.Value())
		h.Release(0)
		op := ir.Operation{Kind: ir.Set}
		val := a.FromBytes(ir.F32, ir.Shape{4}, floats(float32(i), 0, 0, float32(i)), 0)
		if i%2 == 1 {
			op = ir.Operation{Kind: ir.SetSlice, Ranges: []ir.Range{{Start: 1, Len: 2, Step: 1}}}
			val = a.FromBytes(ir.F32, ir.Shape{2}, floats(float32(7*i), 5), 0)
		}
		a.Effect(w, op, val)
		require.NoError(t, a.Flush(context.Background()))
		got := read(t, queued)
		for k := range got {
			require.Equal(t, before[k]+10, got[k])
		}
	}
}

// TestPlansAreShared: what one stream explored another only looks up.
func TestPlansAreShared(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	f := func(s *fusion.Stream) {
		x := fromOnes(s, 4, 8)
		read(t, s.Record(ir.Operation{Kind: ir.Exp}, s.Record(scalarOp(ir.Mul, 2), x)))
	}
	f(rt.Default())
	f(newStream(t, rt))
	require.Equal(t, int64(1), rt.Stats().Explorations)
	require.Equal(t, int64(1), rt.Stats().PlanHits)
}

func TestManyStreamsExploreTogether(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default(), PlanCache: 4})
	together(4, func(i int) {
		s, err := rt.NewStream()
		if !assert.NoError(t, err) {
			return
		}
		defer s.Close()
		for k := range 12 {
			x := s.FromBytes(ir.F32, ir.Shape{2}, floats(1, 2), 0)
			for range k % 6 {
				x = s.Record(scalarOp(ir.Add, float32(i)), x)
			}
			got, err := elements(x)
			assert.NoError(t, err)
			n := float32(i * (k % 6))
			assert.Equal(t, floats(1+n, 2+n), got)
		}
	})
}

func TestOperandsOfAnotherDevice(t *testing.T) {
	a, b := open(t, fusion.Options{}), open(t, fusion.Options{})
	x := fromOnes(a.Default(), 2)
	y := b.Default().Record(ir.Operation{Kind: ir.Exp}, x)
	require.ErrorContains(t, y.Err(), "another device")
	w := a.Default().NewVar(x)
	b.Default().Effect(w, ir.Operation{Kind: ir.Set}, fromOnes(b.Default(), 2))
	require.ErrorContains(t, b.Default().Flush(context.Background()), "another device")
	require.Equal(t, read(t, x), read(t, w.Value()))
}
