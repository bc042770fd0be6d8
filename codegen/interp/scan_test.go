package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scanKernel joins along the last axis with a cast before and an operation
// after the scan.
func scanKernel(r *rand.Rand, dims []int, dt ir.DType, op codegen.ReduceOp, exclusive, reverse bool) *maker {
	m := &maker{r: r}
	m.k.Template, m.k.Outer, m.k.Inner = codegen.Scan, len(dims)-1, 1
	m.l.Dims = dims
	args, n := m.layout(len(dims), true)
	t := dt.Compute()
	x := m.emit(codegen.Instr{Op: codegen.OpLoad, Type: t, Access: m.access(m.buffer(dt, codegen.In, n), args, false)})
	s := m.emit(codegen.Instr{Op: codegen.OpScan, Reduce: op, Type: t, Exclusive: exclusive, Reverse: reverse, Args: []codegen.Value{x}})
	y := m.emit(codegen.Instr{Op: codegen.OpApply, Fn: ir.SAdd, Type: t, Args: []codegen.Value{s, x}})
	m.emit(codegen.Instr{Op: codegen.OpScan, Reduce: op, Type: t, Exclusive: !exclusive, Reverse: reverse, Args: []codegen.Value{y}})
	m.finish()
	m.tame()
	return m
}

func TestScans(t *testing.T) {
	for i, dims := range [][]int{{0}, {1}, {31}, {1023}, {1024}, {1025}, {4097}, {3, 5}, {0, 4}, {4, 0}, {40, 33}, {3, 4, 1030}} {
		for _, dt := range storage[1:] {
			if !ir.Numbers.Has(dt) {
				continue
			}
			for mode := range 4 {
				for op := codegen.RSum; op <= codegen.RMin; op++ {
					if testing.Short() && (mode != int(op+codegen.ReduceOp(dt))%4 || i%2 != int(dt)%2) {
						continue
					}
					r := rand.New(rand.NewPCG(uint64(i), uint64(mode)))
					m := scanKernel(r, dims, dt, op, mode&1 != 0, mode&2 != 0)
					t.Run(fmt.Sprint(dims, dt, op, mode), func(t *testing.T) { check(t, &m.k, &m.l, m.mem) })
				}
			}
		}
	}
}

// A maximum stays NaN after a NaN.
func TestScanNaN(t *testing.T) {
	m := scanKernel(rand.New(rand.NewPCG(1, 1)), []int{6}, ir.F64, codegen.RMax, false, false)
	m.l.Access[0] = codegen.AccessArgs{Strides: []int{1}}
	m.mem[0] = alloc(6 * 8)
	copy(view[float64](m.mem[0]), []float64{1, 3, 2, math.NaN(), 5, 4})
	check(t, &m.k, &m.l, m.mem)
}

func TestScansGoOneWay(t *testing.T) {
	m := scanKernel(rand.New(rand.NewPCG(1, 1)), []int{4}, ir.F32, codegen.RSum, false, false)
	m.k.Body[3].Reverse = true
	_, err := New().Compile(&m.k)
	var ve *codegen.VerifyError
	require.ErrorAs(t, err, &ve)
	require.Equal(t, "%3", ve.Where)
}
