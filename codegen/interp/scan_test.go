package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

func TestScans(t *testing.T) {
	for i, dims := range [][]int{{0}, {1}, {31}, {1023}, {1024}, {1025}, {4097}, {3, 5}, {0, 4}, {4, 0}, {40, 33}, {3, 4, 1030}} {
		for _, dt := range append([]ir.DType{ir.F32, ir.BF16, ir.I64, ir.Bool}, ir.DTypes()...) {
			if !ir.Numbers.Has(dt) {
				continue
			}
			for mode := range 4 {
				for op := codegen.RSum; op <= codegen.RMin; op++ {
					if testing.Short() && (mode != int(op+codegen.ReduceOp(dt))%4 || i%2 != int(dt)%2) {
						continue
					}
					r := rand.New(rand.NewPCG(uint64(i), uint64(mode)))
					m := kerneltest.RandomScan(r, dims, dt, op, mode&1 != 0, mode&2 != 0)
					t.Run(fmt.Sprint(dims, dt, op, mode), func(t *testing.T) { check(t, m.Case) })
				}
			}
		}
	}
}

// A maximum stays NaN after a NaN.
func TestScanNaN(t *testing.T) {
	m := kerneltest.RandomScan(rand.New(rand.NewPCG(1, 1)), []int{6}, ir.F64, codegen.RMax, false, false)
	m.Launch.Access[0] = codegen.AccessArgs{Strides: []int{1}}
	m.Mem[0] = alloc(6 * 8)
	copy(view[float64](m.Mem[0]), []float64{1, 3, 2, math.NaN(), 5, 4})
	check(t, m.Case)
}

func TestScansGoOneWay(t *testing.T) {
	m := kerneltest.RandomScan(rand.New(rand.NewPCG(1, 1)), []int{4}, ir.F32, codegen.RSum, false, false)
	m.Kernel.Body[3].Reverse = true
	_, err := New().Compile(m.Kernel)
	var ve *codegen.VerifyError
	require.ErrorAs(t, err, &ve)
	require.Equal(t, "%3", ve.Where)
}
