package runner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen"
)

// Kernels over contiguous memory ask for each element once, in sectors that are
// used whole, and each lane for as much as one instruction can: 16 bytes where
// lengths divide by it, else one element.
func TestCoalesced(t *testing.T) {
	const (
		elements = 512 * 1024
		odd      = 511 * 1023
		normed   = 512 * 768
	)
	for _, c := range []struct {
		figure        string
		reads, writes []int // bytes, for each access
		lane          int   // bytes a lane asks for at once
	}{
		{"add-f32", []int{4 * elements, 4 * elements}, []int{4 * elements}, 16},
		{"add-bf16", []int{2 * elements, 2 * elements}, []int{2 * elements}, 16},
		{"add-f32-odd", []int{4 * odd, 4 * odd}, []int{4 * odd}, 4},
		{"gelu-chain", []int{4 * elements, 4 * elements}, []int{4 * elements}, 16},
		{"adam", []int{2 * elements, 2 * elements, 2 * elements, 2 * elements}, []int{2 * elements, 2 * elements, 2 * elements}, 16},
		// rows: not again for a later pass; weight and bias once a row, from cache
		{"softmax", []int{4 * elements}, []int{4 * elements}, 4},
		{"layer-norm", []int{4 * normed, 4 * normed, 4 * normed}, []int{4 * normed}, 4},
	} {
		t.Run(c.figure, func(t *testing.T) {
			for _, m := range figureOf(t, c.figure).executed(t) {
				calls := m.run(t).Calls
				require.Len(t, calls, 1)
				assert.Equal(t, whole(c.reads, c.lane), calls[0].Counts.GlobalLoads, "loads for %s", m.arch())
				assert.Equal(t, whole(c.writes, c.lane), calls[0].Counts.GlobalStores, "stores for %s", m.arch())
			}
		})
	}
}

// whole is the traffic of accesses to so many contiguous bytes each, so many a lane.
func whole(accesses []int, lane int) (x exec.Traffic) {
	const warp, sector = 32, 32
	parts := func(n, size int) uint64 { return uint64((n + size - 1) / size) }
	for _, n := range accesses {
		x.Requests += parts(n, lane*warp)
		x.Sectors += parts(n, sector)
		x.Bytes += uint64(n)
	}
	return x
}

func figureOf(t *testing.T, name string) *figure {
	t.Helper()
	for i := range figures {
		if figures[i].name == name {
			return &figures[i]
		}
	}
	require.Fail(t, "no benchmark kernel "+name)
	return nil
}

// Kernels that stream move what their operands hold from and to DRAM, and no more.
func TestStreamed(t *testing.T) {
	for i := range figures {
		f := &figures[i]
		if !f.streams {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			for _, c := range f.executed(t) {
				var in, out, read, written uint64
				for b, m := range c.at.Mem {
					switch c.at.Kernel.Buffers[b].Mode {
					case codegen.In:
						in += uint64(len(m))
					case codegen.Out:
						out += uint64(len(m))
					default:
						require.Fail(t, "a buffer that is read and written")
					}
				}
				for _, call := range c.run(t).Calls {
					read += call.Counts.DRAMRead
					written += call.Counts.DRAMWritten
				}
				assert.Equal(t, in, read, c.arch())
				assert.Equal(t, out, written, c.arch())
			}
		})
	}
}
