//go:build linux && !386 && !arm

package runner_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// far is a distance that 32 bits do not hold, whichever of them are taken.
const far = 1<<32 + 1<<31 + 7

// matrix returns two rows of bytes that lie far from each other, in memory of
// which nothing else is touched.
func matrix(t *testing.T, first, second []byte) []byte {
	m, err := syscall.Mmap(-1, 0, far+4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skipf("the system gives no 6 GB of addresses without memory: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Munmap(m)) })
	copy(m, first)
	copy(m[far:], second)
	return m
}

// farCase is a kernel over a matrix whose rows, of one byte or more, are
// far from each other.
type farCase struct {
	name   string
	make   func() *kerneltest.Builder // with no memory where the matrix is
	matrix int                        // its buffer
	want   []byte                     // the output, or if the matrix is written, its rows
}

var (
	// rowsFar are the strides of the matrix, over a space whose axes are its own.
	rowsFar = codegen.AccessArgs{Strides: []int{far, 1}}
	// rowFar is an index of a row of it.
	rowFar = codegen.AccessArgs{Strides: []int{0, 1}, Index: []codegen.IndexArg{{Extent: 2, Stride: far}}}
)

func farCases() []farCase {
	build := func(template codegen.Template, outer int, dims ...int) *kerneltest.Builder {
		return kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), template, outer, dims...)
	}
	load := func(m *kerneltest.Builder, args codegen.AccessArgs, index ...codegen.Value) codegen.Value {
		return m.Load(codegen.Element, ir.U8, 0, args, index...)
	}
	scatter := func(mode ir.ScatterMode) func() *kerneltest.Builder {
		return func() *kerneltest.Builder {
			m := kerneltest.RandomScatter(rand.New(rand.NewPCG(1, 1)), 3, 1, 2, ir.U8, mode, 0)
			m.Fill(0, func(i int) kerneltest.Value { return kerneltest.Value{I: int64(i+1) % 2} }) // rows 1, 0, 1
			m.Launch.Access[1] = codegen.AccessArgs{Strides: []int{1, 1}}
			m.Launch.Access[2] = rowFar
			m.Mem[1] = []byte{10, 20, 30}
			return m
		}
	}
	return []farCase{
		{"read", func() *kerneltest.Builder {
			m := build(codegen.Map, 2, 2, 4)
			m.Out(load(m, rowsFar), ir.U8, 0, 1)
			return m
		}, 0, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{"read backwards", func() *kerneltest.Builder {
			m := build(codegen.Map, 2, 2, 4)
			m.Out(load(m, codegen.AccessArgs{Offset: far, Strides: []int{-far, 1}}), ir.U8, 0, 1)
			return m
		}, 0, []byte{5, 6, 7, 8, 1, 2, 3, 4}},
		{"written", func() *kerneltest.Builder {
			m := build(codegen.Map, 2, 2, 4)
			x := m.In(ir.U8, 0, 1)
			m.Fill(0, func(i int) kerneltest.Value { return kerneltest.Value{I: int64(9 - i)} })
			m.Store(x, ir.U8, rowsFar, 0)
			return m
		}, 1, []byte{9, 8, 7, 6, 5, 4, 3, 2}},
		{"at an index", func() *kerneltest.Builder {
			m := build(codegen.Map, 2, 2, 4)
			x := m.In(ir.I64, 0)
			m.Fill(0, func(i int) kerneltest.Value { return kerneltest.Value{I: int64(1 - i)} })
			m.Out(load(m, rowFar, x), ir.U8, 0, 1)
			return m
		}, 1, []byte{5, 6, 7, 8, 1, 2, 3, 4}},
		{"sums of columns", func() *kerneltest.Builder {
			m := build(codegen.Rows, 1, 4, 2)
			m.Out(m.Reduce(codegen.RSum, load(m, codegen.AccessArgs{Strides: []int{1, far}})), ir.U8, 0)
			return m
		}, 0, []byte{6, 8, 10, 12}},
		{"the product with itself", func() *kerneltest.Builder {
			m := build(codegen.Contraction, 2, 2, 2, 4)
			left := m.Access(m.Buffer(ir.U8, codegen.In, 0), codegen.AccessArgs{Strides: []int{far, 0, 1}}, false)
			right := m.Access(0, codegen.AccessArgs{Strides: []int{0, far, 1}}, false)
			m.Out(m.Emit(codegen.Instr{Op: codegen.OpContract, Type: ir.I32, Access: left, Access2: right}), ir.I32, 0, 1)
			return m
		}, 0, []byte{30, 0, 0, 0, 70, 0, 0, 0, 70, 0, 0, 0, 174, 0, 0, 0}},
		{"scattered", scatter(ir.Assign), 2, []byte{20, 2, 3, 4, 30, 6, 7, 8}},
		{"added", scatter(ir.ScatterSum), 2, []byte{21, 2, 3, 4, 45, 6, 7, 8}},
	}
}

// Elements that are too far from each other for 32 bits are read and written where
// they are.
func TestFarPlaces(t *testing.T) {
	e := newEvery(t, cudac.Ampere)
	for _, c := range farCases() {
		t.Run(c.name, func(t *testing.T) {
			m := c.make()
			m.Mem[c.matrix] = matrix(t, []byte{1, 2, 3, 4}, []byte{5, 6, 7, 8})
			require.NoError(t, m.Check())
			e.list = nil
			for i := 0; i == 0 || i < len(e.list); i++ {
				copy(m.Mem[c.matrix], []byte{1, 2, 3, 4})
				copy(m.Mem[c.matrix][far:], []byte{5, 6, 7, 8})
				if f := e.run(m.Case, m.Mem, i); f != nil {
					t.Fatalf("%v\n%s", f, f.listing)
				}
				require.True(t, e.list[i].Wide)
				got := m.Mem[len(m.Mem)-1]
				if c.matrix == len(m.Mem)-1 {
					got = append(append([]byte{}, got[:4]...), got[far:far+4]...)
				}
				assert.Equal(t, c.want, got, fmt.Sprint(e.list[i]))
			}
		})
	}
}
