package interp

import (
	"math/rand/v2"
	"testing"

	"github.com/sinter-ml/sinter/codegen"
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
			m := plainContraction([]int{c.m, c.n, c.k}, ir.F32)
			x := compile(b, &m.k)
			b.SetBytes(int64(2 * c.m * c.n * c.k))
			for range b.N {
				if err := x.Run(&m.l, m.mem, codegen.Serial{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
