package fusion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// TestBoundedWithoutScopes decodes with plain tensors, released by nobody and
// collected when the collector likes. A device that has reserved 64 MiB asks
// for a collection before it takes more: what an iteration works on fits in
// that many times, so it never takes more.
func TestBoundedWithoutScopes(t *testing.T) {
	const rows, d, bound = 4096, 4, 80 << 20
	iterations := 5000
	if testing.Short() {
		iterations = 2000
	}
	for _, fusers := range [][]fuser.Factory{nil, fuser.Default()} {
		rt := open(t, fusion.Options{Fusers: fusers})
		s := rt.Default()
		weights := s.NewVar(fromOnes(s, d, d))
		h := fromOnes(s, rows, d)
		for i := range iterations {
			x := s.Record(ir.Operation{Kind: ir.MatMul}, h, weights.Value())
			x = s.Record(scalarOp(ir.Mul, 0.5), x)
			h = s.Record(ir.Operation{Kind: ir.Add}, s.Record(scalarOp(ir.Mul, 0.25), h), x)
			require.NoError(t, s.Flush(t.Context()))
			if i == 0 {
				require.Less(t, rt.Stats().Memory.InUse, int64(bound/100), "the working set")
			}
		}
		st := rt.Stats()
		require.Greater(t, st.BytesWritten, int64(3*bound/2), "all results together do not fit")
		require.Less(t, st.Memory.Peak, int64(bound))
	}
}
