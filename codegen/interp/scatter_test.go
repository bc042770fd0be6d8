package interp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

func TestScatter(t *testing.T) {
	for i, dims := range [][3]int{{1, 1, 1}, {5, 3, 4}, {40, 33, 7}, {3, 1030, 2}, {700, 5, 3}, {0, 4, 3}, {4, 0, 3}} {
		for _, dt := range ir.DTypes() {
			for mode := ir.Assign; mode <= ir.ScatterMax; mode++ {
				if mode != ir.Assign && !ir.Numbers.Has(dt) {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), 5))
				m := kerneltest.RandomScatter(r, dims[0], dims[1], dims[2], dt, mode, 0)
				t.Run(fmt.Sprint(dims, dt, mode), func(t *testing.T) { check(t, m.Case) })
			}
		}
	}
}

// 256 + 1 rounds back to 256 in BF16: only a sum rounded once counts the ones.
func TestScatterAddBF16(t *testing.T) {
	m := kerneltest.RandomScatter(rand.New(rand.NewPCG(1, 1)), 300, 1, 2, ir.BF16, ir.ScatterSum, 0)
	target := m.Mem[len(m.Mem)-1]
	kerneltest.WriteElem(target, ir.BF16, 0, kerneltest.Value{F: 256})
	signalling := binary.NativeEndian.AppendUint16(nil, 0x7f81) // a NaN whose bits rounding would change
	copy(target[2:], signalling)
	for i := range 300 {
		kerneltest.WriteElem(m.Mem[0], ir.I64, i, kerneltest.Value{})
		for j := range len(m.Mem[1]) / 2 {
			kerneltest.WriteElem(m.Mem[1], ir.BF16, j, kerneltest.Value{F: 1})
		}
	}
	require.NoError(t, compile(t, m.Kernel).Run(m.Launch, m.Mem, codegen.Serial{}))
	assert.Equal(t, 556.0, kerneltest.ReadElem(target, ir.BF16, 0).F)
	assert.Equal(t, signalling, target[2:4], "what is not written keeps its bits")
}

// Two stores of one kernel to the same buffer: those of a point come before
// those of the next.
func TestScatterTwice(t *testing.T) {
	modes := []ir.ScatterMode{ir.ScatterSum, ir.ScatterMul}
	for i, dt := range []ir.DType{ir.F32, ir.BF16, ir.F16, ir.I64, ir.U8} {
		m := kerneltest.RandomScatter(rand.New(rand.NewPCG(2, 2)), 30, 3, 4, dt, modes[i%2], 0)
		first := m.Kernel.Stores[0]
		out := m.Launch.Access[first.Access]
		m.Kernel.Stores = append(m.Kernel.Stores, codegen.Store{
			Access: m.Access(m.Kernel.Accesses[first.Access].Buffer, out, false), Value: first.Value, Index: first.Index,
		})
		check(t, m.Case)
		m.Kernel.Stores[0], m.Kernel.Stores[1] = m.Kernel.Stores[1], m.Kernel.Stores[0]
		check(t, m.Case)
	}
}

func TestIndexOutOfRange(t *testing.T) {
	for _, bad := range []int64{-1, 4, 1 << 62, -1 << 63} {
		m := kerneltest.RandomScatter(rand.New(rand.NewPCG(7, 7)), 20, 3, 4, ir.F32, ir.Assign, bad)
		check(t, m.Case)

		for _, width := range []int{1, 3, 300} {
			g := kerneltest.Gather(20, width, 4, bad)
			x := compile(t, g.Kernel)
			for range 2 { // an executable stays usable
				err := x.Run(g.Launch, g.Mem, workers(4))
				var ie *ir.IndexError
				require.True(t, errors.As(err, &ie), "%v", err)
				assert.Equal(t, fmt.Sprintf("index %d out of range for an axis of length 4", bad), ie.Msg)
			}
			kerneltest.WriteElem(g.Mem[0], ir.I64, 11, kerneltest.Value{I: 3})
			require.NoError(t, x.Run(g.Launch, g.Mem, workers(4)))
		}
	}
}

func TestGatherRows(t *testing.T) {
	for _, width := range []int{1, 3, 255, 256, 384, 1030} {
		m := kerneltest.Gather(20, width, 4, 2)
		check(t, m.Case)
	}
}
