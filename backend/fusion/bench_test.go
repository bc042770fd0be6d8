package fusion_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	_ "github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// idle is a device whose memory and launches cost next to nothing and leave no
// log, so that what remains is the runtime's own.
type idle struct{ backend.Device }

func (idle) Alloc(_ backend.Stream, n int) (*backend.Buffer, error) {
	return &backend.Buffer{Bytes: n}, nil
}
func (idle) Free(backend.Stream, *backend.Buffer) {}
func (idle) Write(context.Context, backend.Stream, *backend.Buffer, int, []byte) error {
	return nil
}
func (idle) Copy(backend.Stream, *backend.Buffer, int, *backend.Buffer, int, int) error { return nil }
func (idle) Launch(backend.Stream, codegen.Executable, *codegen.Launch, []*backend.Buffer) error {
	return nil
}

func BenchmarkRecord(b *testing.B) {
	rt := openNull(b)
	s := rt.Default()
	x := s.FromBytes(ir.F32, ir.Shape{4, 8}, make([]byte, 128), 0)
	b.ReportAllocs()
	const n = 1000
	for b.Loop() {
		h := x
		for range n / 2 {
			h = s.Record(scalarOp(ir.Mul, 2), h)
			h = s.Record(ir.Operation{Kind: ir.Add}, h, x)
		}
		b.StopTimer()
		_ = s.Flush(context.Background())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/op-recorded")
}

// BenchmarkKnownSegment is the drain of a segment whose plan is known, on a
// device that computes nothing.
func BenchmarkKnownSegment(b *testing.B) {
	b.Run("scope", func(b *testing.B) { benchKnown(b, true) })
	b.Run("no scope", func(b *testing.B) { benchKnown(b, false) }) // what is not stored becomes virtual
}

func benchKnown(b *testing.B, scoped bool) {
	rt := openNull(b)
	s := rt.Default()
	w := s.NewVar(s.FromBytes(ir.F32, ir.Shape{8, 8}, make([]byte, 256), 0))
	x := s.FromBytes(ir.F32, ir.Shape{4, 8}, make([]byte, 128), 0)
	b.ReportAllocs()
	const n = 1000
	for b.Loop() {
		b.StopTimer()
		var sc *fusion.Scope
		if scoped {
			sc = s.Begin()
		}
		h := x
		for i := range n / 4 {
			h = s.Record(scalarOp(ir.Mul, 2), h)
			h = s.Record(ir.Operation{Kind: ir.Add}, h, x)
			h = s.Record(ir.Operation{Kind: ir.Tanh}, h)
			if i%10 == 0 {
				h = s.Record(ir.Operation{Kind: ir.MatMul}, h, w.Value())
			} else {
				h = s.Record(ir.Operation{Kind: ir.Relu}, h)
			}
		}
		b.StartTimer()
		if scoped {
			_ = sc.End(context.Background())
		} else {
			_ = s.Flush(context.Background())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/op-recorded")
}

func openNull(b *testing.B) *fusion.Runtime {
	dev, err := backend.Open("null", backend.Options{})
	require.NoError(b, err)
	rt, err := fusion.New(idle{dev}, fusion.Options{Fusers: fuser.Default()})
	require.NoError(b, err)
	b.Cleanup(func() { rt.Close() })
	return rt
}
