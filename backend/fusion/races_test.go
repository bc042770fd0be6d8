package fusion_test

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// released fails the test unless err says that a tensor was released.
func released(t *testing.T, err error) {
	t.Helper()
	var dead *fusion.ReleasedError
	assert.ErrorAs(t, err, &dead)
}

// alike stores a tensor of n elements x.
func alike(s *fusion.Stream, x float32, n int) *fusion.Value {
	return s.FromBytes(ir.F32, ir.Shape{n}, floats(slices.Repeat([]float32{x}, n)...), 0)
}

// TestReadWhileReleased: a read, or an operation, that races with the release
// of its tensor gives its value or says that it was released.
func TestReadWhileReleased(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	def, other := rt.Default(), newStream(t, rt)
	v := def.NewVar(alike(def, 1, 2))
	for k := range 400 {
		var x *fusion.Value
		switch k % 4 {
		case 0:
			x = def.Record(scalarOp(ir.Add, 5), alike(def, 1, 2))
		case 1: // in memory already
			x = alike(def, 6, 2)
		case 2:
			x = rt.Defer(scalarOp(ir.Add, 5), v.Value())
		case 3:
			def.Effect(v, ir.Operation{Kind: ir.Set}, alike(def, 1, 2))
			x = rt.Defer(scalarOp(ir.Add, 5), rt.Defer(scalarOp(ir.Mul, 1), v.Value()))
		}
		together(4, func(i int) {
			y := x
			switch i {
			case 0:
				x.Release(0)
				return
			case 1:
				y = other.Record(scalarOp(ir.Mul, 1), x)
			case 2:
				y = def.Record(scalarOp(ir.Mul, 1), x)
			}
			if got, err := elements(y); err != nil {
				released(t, err)
			} else {
				assert.Equal(t, floats(6, 6), got)
			}
		})
	}
}

// TestHandleReadWhileReleased is the same for the handles of a Var that others
// overwrite.
func TestHandleReadWhileReleased(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	def, other := rt.Default(), newStream(t, rt)
	v := def.NewVar(alike(def, 1, 4))
	for k := range 200 {
		h := v.Value()
		together(3, func(i int) {
			switch i {
			case 0:
				h.Release(0)
			case 1:
				x := alike(other, 1, 4)
				other.Effect(v, ir.Operation{Kind: ir.Set}, other.Record(scalarOp(ir.Add, float32(k)), x))
				assert.NoError(t, other.Flush(context.Background()))
			case 2:
				if got, err := elements(h); err != nil {
					released(t, err)
				} else {
					assert.Equal(t, got[:4], got[12:])
				}
			}
		})
	}
}

// TestScopesOfOneStreamConcurrently: scopes of a stream nest, whoever opens
// them, so one goroutine's may end another's tensors; they say so.
func TestScopesOfOneStreamConcurrently(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	s := rt.Default()
	v := s.NewVar(alike(s, 1, 2))
	together(8, func(i int) {
		for range 40 {
			sc := s.Begin()
			y := s.Record(scalarOp(ir.Add, float32(i)), alike(s, 1, 2))
			z := rt.Defer(scalarOp(ir.Add, float32(i)), v.Value())
			sc.Keep(y)
			sc.Keep(z)
			if err := sc.End(context.Background()); err != nil {
				released(t, err)
			}
			for _, x := range []*fusion.Value{y, z} {
				if got, err := elements(x); err != nil {
					released(t, err)
				} else {
					assert.Equal(t, floats(float32(i+1), float32(i+1)), got)
				}
			}
		}
	})
}

// TestOneVarManyWriters: each adds on a stream of its own.
func TestOneVarManyWriters(t *testing.T) {
	rt := open(t, fusion.Options{Fusers: fuser.Default()})
	def := rt.Default()
	v := def.NewVar(def.FromBytes(ir.F32, ir.Shape{8}, make([]byte, 32), 0))
	const writers, adds = 8, 200
	together(writers, func(i int) {
		s, err := rt.NewStream()
		if !assert.NoError(t, err) {
			return
		}
		defer s.Close()
		for k := range adds {
			at := s.FromBytes(ir.I64, ir.Shape{1}, binary.LittleEndian.AppendUint64(nil, uint64(i)), 0)
			s.Effect(v, ir.Operation{Kind: ir.ScatterAdd, Attrs: ir.Attrs{Axes: []int{0}}}, at, alike(s, 1, 1))
			if k%7 == 0 {
				assert.NoError(t, s.Flush(context.Background()))
			}
		}
	})
	want := make([]float32, 8)
	for i := range writers {
		want[i] = adds
	}
	require.Equal(t, want, read(t, v.Value()))
}

// collecting is a device in the middle of whose reads there are collections.
type collecting struct{ backend.Device }

func (d collecting) Read(ctx context.Context, s backend.Stream, dst []byte, b *backend.Buffer, at int) error {
	for range 3 {
		cleaned := make(chan struct{})
		func() {
			mark := new(*int)
			runtime.AddCleanup(mark, func(c chan struct{}) { close(c) }, cleaned)
		}()
		runtime.GC()
		<-cleaned
		time.Sleep(time.Millisecond) // the other cleanups of the collection
	}
	return d.Device.Read(ctx, s, dst, b, at)
}

// TestReadWhileCollecting: nothing but the read itself knows the tensor, and a
// collection in the middle of it must not free its memory.
func TestReadWhileCollecting(t *testing.T) {
	dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
	require.NoError(t, err)
	rt, err := fusion.New(collecting{dev}, fusion.Options{Logger: silent, Fusers: fuser.Default()})
	require.NoError(t, err)
	defer rt.Close()
	s := rt.Default()
	got := make([]byte, 16)
	for _, f := range []func() *fusion.Value{
		func() *fusion.Value { return s.Record(scalarOp(ir.Add, 1), alike(s, 1, 4)) },
		func() *fusion.Value { return s.NewVar(alike(s, 2, 4)).Value() },
		func() *fusion.Value {
			part := []ir.Range{{Start: 7, Len: 4, Step: -1}}
			return s.Record(ir.Operation{Kind: ir.Slice, Ranges: part}, alike(s, 2, 8))
		},
	} {
		require.NoError(t, f().Read(context.Background(), got))
		require.Equal(t, floats(2, 2, 2, 2), got)
	}
}

// TestForgottenFailures: a stream that nobody flushes does not keep every
// failure; a flush still returns the first nobody was told of.
func TestForgottenFailures(t *testing.T) {
	for _, told := range []bool{true, false} {
		rt := open(t, fusion.Options{})
		s := rt.Default()
		const n = 3000
		var freed atomic.Int64
		first := errors.New("the first")
		v := s.Fail("Test", 0, nil, ir.F32, first)
		for range n {
			err := &ir.ShapeError{Msg: "one more"}
			runtime.AddCleanup(err, func(int) { freed.Add(1) }, 0)
			bad := s.Fail("Test", 0, nil, ir.F32, err)
			if told {
				_, err := elements(bad)
				assert.Error(t, err)
			}
		}
		assert.Eventually(t, func() bool { runtime.GC(); return freed.Load() > n-1000 }, 10e9, 1e6)
		require.ErrorIs(t, s.Flush(context.Background()), first)
		require.NoError(t, s.Flush(context.Background()))
		require.ErrorIs(t, v.Err(), first)
	}
}

// TestScopeTellsOfItsFailures even where more of them happened than are kept.
func TestScopeTellsOfItsFailures(t *testing.T) {
	rt := open(t, fusion.Options{})
	s := rt.Default()
	for range 1000 {
		s.Fail("Before", 0, nil, ir.F32, &ir.ShapeError{})
	}
	sc := s.Begin()
	mine := errors.New("in the scope")
	s.Fail("Test", 0, nil, ir.F32, mine)
	require.ErrorIs(t, sc.End(context.Background()), mine)
	require.ErrorContains(t, s.Flush(context.Background()), "Before")
}
