package oracle

import (
	"math"
	"math/bits"

	"github.com/sinter-ml/sinter/ir"
)

// philox is Philox4x32-10 of Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011): four random words for a counter and
// a key.
func philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	for round := range 10 {
		if round > 0 {
			key[0] += 0x9E3779B9
			key[1] += 0xBB67AE85
		}
		hi0, lo0 := bits.Mul32(0xD2511F53, counter[0])
		hi1, lo1 := bits.Mul32(0xCD9E8D57, counter[2])
		counter = [4]uint32{hi1 ^ counter[1] ^ key[0], lo1, hi0 ^ counter[3] ^ key[1], lo0}
	}
	return counter
}

// words returns the four words that element i shares with its neighbours: the
// counter is (offset, i/4), two words each, low first, the key the seed.
func (c *call) words(i int) [4]uint32 {
	seed, at, four := uint64(c.i64(0)), uint64(c.i64(1)), uint64(i/4)
	return philox(
		[4]uint32{uint32(at), uint32(at >> 32), uint32(four), uint32(four >> 32)},
		[2]uint32{uint32(seed), uint32(seed >> 32)})
}

// unit maps a word to a multiple of 2⁻²⁴ in [0, 1).
func unit(w uint32) float32 { return float32(w>>8) * 0x1p-24 }

// evalUniform is low + u·(high−low), each step in float32.
func evalUniform(c *call) (Tensor, error) {
	low, high := c.f32(2), c.f32(3)
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	for i := range out.F {
		scaled := float32(unit(c.words(i)[i%4]) * (high - low))
		out.F[i] = round32(out.DType, low+scaled)
	}
	return out, nil
}

// evalBernoulli is true where u < p.
func evalBernoulli(c *call) (Tensor, error) {
	out := New(ir.Bool, c.op.Attrs.Shape)
	for i := range out.B {
		out.B[i] = unit(c.words(i)[i%4]) < c.f32(2)
	}
	return out, nil
}

// evalRandInt is low + ⌊w·(high−low)/2³²⌋, the product taken exactly in 96
// bits; an empty range gives low.
func evalRandInt(c *call) (Tensor, error) {
	low, high := c.i64(2), c.i64(3)
	out := New(ir.I64, c.op.Attrs.Shape)
	for i := range out.I {
		hi, lo := bits.Mul64(uint64(c.words(i)[i%4]), uint64(high)-uint64(low))
		out.I[i] = low + int64(hi<<32|lo>>32)
	}
	return out, nil
}

// evalNormal is mean + deviation·z. Words 0, 1 and words 2, 3 each give a pair
// of standard normal z by Box and Muller's method: with u1 in (0, 1] and u2 in
// [0, 1), √(−2 ln u1) times the cosine and the sine of 2π·u2.
func evalNormal(c *call) (Tensor, error) {
	mean, deviation := c.f32(2), c.f32(3)
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	c.abs = make([]float64, out.Len())
	for i := range out.F {
		w := c.words(i)
		pair := w[i%4/2*2:][:2]
		u1 := (float64(pair[0]>>8) + 1) * 0x1p-24
		u2 := float64(pair[1]>>8) * 0x1p-24
		r := math.Sqrt(-2 * math.Log(u1))
		z := r * math.Cos(2*math.Pi*u2)
		if i%2 == 1 {
			z = r * math.Sin(2*math.Pi*u2)
		}
		scaled := float32(float32(z) * deviation)
		out.F[i] = round32(out.DType, mean+scaled)
		// A float32 angle up to 2π is off by 2π units of roundoff or a little
		// more, so next to its zeros a sine or cosine has an absolute error.
		c.abs[i] = (24*r*math.Abs(float64(deviation)) + math.Abs(float64(mean))) * u
	}
	return out, nil
}
