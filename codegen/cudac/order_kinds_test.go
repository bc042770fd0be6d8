package cudac_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// Scans of each type and kind, one the operand of the other, over rows that end
// inside a turn of a warp or a block.
func TestScanKinds(t *testing.T) {
	k := newKinds(t, narrow)
	for i, dims := range [][]int{{1}, {32}, {77}, {2100}, {5, 3}, {3, 2, 40}, {2, 2500}, {0, 4}, {4, 0}} {
		for _, dt := range ir.DTypes() {
			if !ir.Numbers.Has(dt) {
				continue
			}
			for op := codegen.RSum; op <= codegen.RMin; op++ {
				mode := (i + int(dt) + int(op)) % 4
				if which := i + int(dt); which%3 > 0 || testing.Short() && which%9 > 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(i), uint64(op)))
				c := kerneltest.RandomScan(r, dims, dt, op, mode&1 != 0, mode&2 != 0).Case
				t.Run(fmt.Sprint(dims, dt, op, mode), func(t *testing.T) { k.run(t, c, 0, nil) })
			}
		}
	}
	// columns: threads side by side
	for _, dt := range []ir.DType{ir.F32, ir.I16} {
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), codegen.Scan, 1, 40, 50)
		v := m.In(dt, 1, 0)
		m.Tame()
		v = m.Emit(codegen.Instr{Op: codegen.OpScan, Type: dt.Compute(), Reduce: codegen.RSum, Reverse: true, Exclusive: true, Args: []codegen.Value{v}})
		m.Out(v, dt, 1, 0)
		k.run(t, m.Case, 0, nil)
		k.run(t, m.Case, 1, nil)
	}
	if testing.Short() {
		return
	}
	for _, kind := range []string{"scan-thread", "scan-warp", "scan-block"} {
		assert.NotZero(t, k.seen[kind], kind)
	}
}

// A maximum stays NaN after a NaN, in every kind; +0 is greater than -0.
func TestScanSpecials(t *testing.T) {
	k := newKinds(t, narrow)
	for _, op := range []codegen.ReduceOp{codegen.RMax, codegen.RMin} {
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), codegen.Scan, 1, 2, 3000)
		v := m.In(ir.F64, 0, 1)
		m.Fill(0, func(i int) kerneltest.Value {
			switch i {
			case 2990, 3033:
				return kerneltest.Value{F: math.NaN()}
			case 3001, 3:
				return kerneltest.Value{F: math.Copysign(0, -1)}
			}
			return kerneltest.Value{}
		})
		v = m.Emit(codegen.Instr{Op: codegen.OpScan, Type: ir.F64, Reduce: op, Args: []codegen.Value{v}})
		m.Out(v, ir.F64, 0, 1)
		k.run(t, m.Case, 0, nil)
	}
}

// Sorts of each type, both ways, with ties, NaNs and zeros of both signs, through
// windows, in shared memory and by merging.
func TestSortKinds(t *testing.T) {
	k := newKinds(t, narrow)
	small := narrow
	small.Shared = 2 << 10
	merging := newKinds(t, small)
	for i, dims := range [][]int{{1}, {2}, {70}, {3, 33}, {200, 5}, {1, 400}, {0, 4}, {4, 0}, {1, 2500}, {1, 4500}} {
		for _, dt := range ir.DTypes() {
			every := 3
			if i >= 8 || testing.Short() {
				every = 9
			}
			if dt.IsFloat8() || (i+int(dt))%every > 0 || testing.Short() && i == 9 {
				continue
			}
			mode := i + int(dt)
			c := kerneltest.RandomSort(rand.New(rand.NewPCG(uint64(i), uint64(dt))), dims, dt, mode%2 == 0, mode%4 < 2).Case
			t.Run(fmt.Sprint(dims, dt, mode%4), func(t *testing.T) {
				if i < 8 {
					k.run(t, c, 0, nil)
				}
				if i == 1 || i >= 5 {
					merging.run(t, c, 0, nil)
				}
			})
		}
	}
	assert.NotZero(t, k.seen["sort-block"])
	assert.NotZero(t, merging.seen["sort-merge"])
}

// Several sorts of several values, one of what another gave, in place.
func TestSortOfSorts(t *testing.T) {
	for _, shared := range []int{24 << 10, 2 << 10} {
		target := narrow
		target.Shared = shared
		k := newKinds(t, target)
		m := kerneltest.NewBuilder(rand.New(rand.NewPCG(9, 9)), codegen.Sort, 1, 2, 300)
		x, y := m.In(ir.F32, 0, 1), m.In(ir.I64, 0, 1)
		sort := func(v codegen.Value, positions, reverse bool) codegen.Value {
			in := codegen.Instr{Op: codegen.OpSort, Type: m.Kernel.Body[v].Type, Positions: positions, Reverse: reverse, Args: []codegen.Value{v}}
			if positions {
				in.Type = ir.I64
			}
			return m.Emit(in)
		}
		places := sort(x, true, true)
		m.Out(sort(m.Apply(ir.SSub, places, y), false, false), ir.I64, 0, 1)
		m.Out(sort(y, true, false), ir.I64, 0, 1)
		m.Out(sort(x, false, false), ir.F32, 0, 1)
		m.Out(sort(x, false, true), ir.F32, 0, 1)
		k.run(t, m.Case, len(m.Mem)-1, func(_ string, r *runner.Report) {
			assert.Equal(t, shared < 4<<10, len(r.Calls) > 1)
		})
	}
}

// Places beyond 32 bits: the same in 64.
func TestWidePlaces(t *testing.T) {
	k := newKinds(t, narrow)
	merging := narrow
	merging.Shared = 2 << 10
	for _, n := range []int{40, 2100} {
		if testing.Short() && n > 2048 {
			continue
		}
		for template, axes := range map[codegen.Template][]int{codegen.Rows: {2, 0}, codegen.Scan: {0, 2}, codegen.Sort: {0, 2}} {
			m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, uint64(n))), template, 2, 17, 1, n)
			x := m.In(ir.F32, axes...)
			m.Tame()
			switch template {
			case codegen.Rows:
				m.Out(m.Reduce(codegen.RArgMax, x), ir.I64, 0)
				m.Out(m.Apply(ir.SSub, x, m.Reduce(codegen.RSum, x)), ir.F32, axes...)
			case codegen.Scan:
				m.Out(m.Emit(codegen.Instr{Op: codegen.OpScan, Type: ir.F32, Args: []codegen.Value{x}}), ir.F32, axes...)
			case codegen.Sort:
				m.Out(m.Emit(codegen.Instr{Op: codegen.OpSort, Type: ir.I64, Positions: true, Args: []codegen.Value{x}}), ir.I64, axes...)
			}
			m.Launch.Access[0].Strides[1] = math.MaxInt // of an axis of length 1
			each := func(_ string, r *runner.Report) { assert.Contains(t, r.Source.Variant.Key(), " wide") }
			k.run(t, m.Case, 0, each)
			if template == codegen.Sort && n > 2048 {
				newKinds(t, merging).run(t, m.Case, 0, each)
			}
		}
	}
}
