package interp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// BenchmarkLoops measures loops over one tile in cache.
func BenchmarkLoops(b *testing.B) {
	x, d := make([]float32, tileLen), make([]float32, tileLen)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = float32(r.NormFloat64() * 3)
	}
	for _, op := range ir.ScalarOps() {
		if int(op) < len(unaryF32ToF32) && unaryF32ToF32[op] != nil {
			b.Run(op.String(), func(b *testing.B) {
				b.SetBytes(tileLen * 4)
				for range b.N {
					unaryF32ToF32[op](d, x)
				}
			})
		}
		if int(op) < len(binaryF32ToF32) && binaryF32ToF32[op].vv != nil {
			b.Run(op.String(), func(b *testing.B) {
				b.SetBytes(tileLen * 4)
				for range b.N {
					binaryF32ToF32[op].vv(d, x, x)
				}
			})
		}
	}
}

// BenchmarkMatMul measures a contraction as a model has it; MB/s stands for
// millions of multiplications and additions.
func BenchmarkMatMul(b *testing.B) {
	for _, c := range []struct {
		name    string
		m, n, k int
	}{{"linear", 128, 384, 384}, {"vector", 1, 1536, 384}, {"column", 1536, 1, 384}} {
		b.Run(c.name, func(b *testing.B) {
			m := kerneltest.MatMul([]int{c.m, c.n, c.k}, ir.F32)
			x := compile(b, m.Kernel)
			b.SetBytes(int64(2 * c.m * c.n * c.k))
			for range b.N {
				if err := x.Run(m.Launch, m.Mem, codegen.Serial{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRows measures a softmax over the last axis and the sum of columns.
func BenchmarkRows(b *testing.B) {
	bench := func(name string, m *kerneltest.Builder) {
		b.Run(name, func(b *testing.B) {
			x := compile(b, m.Kernel)
			b.SetBytes(int64(len(m.Mem[0])))
			for range b.N {
				if err := x.Run(m.Launch, m.Mem, codegen.Serial{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, n := range []int{10, 32, 128, 1024, 8192} {
		bench(fmt.Sprint("softmax", n), kerneltest.Softmax(1<<18/n, n))
	}
	bench("sum rows", kerneltest.Reduction([]int{1000, 768}, 1, codegen.RSum, ir.F32))
	columns := kerneltest.Reduction([]int{768, 1000}, 1, codegen.RSum, ir.F32)
	columns.Launch.Access[0].Strides = []int{1, 768}
	bench("sum columns", columns)
	bench("sum all", kerneltest.Reduction([]int{1 << 20}, 0, codegen.RSum, ir.F32))
}

// BenchmarkLaunch measures what a launch costs beside its elements.
func BenchmarkLaunch(b *testing.B) {
	for _, m := range []*kerneltest.Builder{kerneltest.Softmax(1, 1), kerneltest.MatMul([]int{1, 1, 1}, ir.F32), kerneltest.Gather(12, 1, 4, 1)} {
		b.Run(m.Kernel.Template.String(), func(b *testing.B) {
			x := compile(b, m.Kernel)
			for range b.N {
				if err := x.Run(m.Launch, m.Mem, codegen.Serial{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("compile", func(b *testing.B) {
		m := kerneltest.Softmax(1, 1)
		for range b.N {
			compile(b, m.Kernel)
		}
	})
}
