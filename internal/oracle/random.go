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
	seed, at, four := uint64(c.int(0)), uint64(c.int(1)), uint64(i/4)
	return philox(
		[4]uint32{uint32(at), uint32(at >> 32), uint32(four), uint32(four >> 32)},
		[2]uint32{uint32(seed), uint32(seed >> 32)})
}

// unit maps a word to a multiple of 2⁻²⁴ in [0, 1).
func unit(w uint32) float64 { return float64(w>>8) * 0x1p-24 }

// evalUniform is low + u·(high−low), each step in the compute dtype.
func evalUniform(c *call) (Tensor, error) {
	a := arith{c.compute()}
	low, high := c.float(2), c.float(3)
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	for i := range out.F {
		out.F[i] = round(out.DType, a.add(low, a.mul(unit(c.words(i)[i%4]), a.sub(high, low))))
	}
	return out, nil
}

// evalBernoulli is true where u < p.
func evalBernoulli(c *call) (Tensor, error) {
	out := New(ir.Bool, c.op.Attrs.Shape)
	for i := range out.B {
		out.B[i] = unit(c.words(i)[i%4]) < c.float(2)
	}
	return out, nil
}

// evalRandInt is low + ⌊w·(high−low)/2³²⌋, the product taken exactly in 96
// bits; an empty range gives low.
func evalRandInt(c *call) (Tensor, error) {
	low, high := c.int(2), c.int(3)
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	for i := range out.I {
		hi, lo := bits.Mul64(uint64(c.words(i)[i%4]), uint64(high)-uint64(low))
		out.I[i] = out.DType.Wrap(low + int64(hi<<32|lo>>32))
	}
	return out, nil
}

// evalNormal is mean + deviation·z. Words 0, 1 and words 2, 3 each give a pair
// of standard normal z by Box and Muller's method: with u1 in (0, 1] and u2 in
// [0, 1), √(−2 ln u1) times the cosine and the sine of 2π·u2.
func evalNormal(c *call) (Tensor, error) {
	a := arith{c.compute()}
	mean, deviation := c.float(2), c.float(3)
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	c.abs = make([]float64, out.Len())
	for i := range out.F {
		w := c.words(i)
		pair := w[i%4/2*2:][:2]
		r := wideLog(exact(unit(pair[0]) + 0x1p-24)).times(-2).sqrt()
		sin, cos := wideSinCos(widePi.scale(1).times(unit(pair[1])))
		z := r.mul(cos)
		if i%2 == 1 {
			z = r.mul(sin)
		}
		out.F[i] = round(out.DType, a.add(mean, a.mul(roundWide(a.d, z), deviation)))
		// An angle up to 2π is off by 2π units of roundoff or a little more, so
		// next to its zeros a sine or cosine has an absolute error.
		c.abs[i] = (24*r.hi*math.Abs(deviation) + math.Abs(mean)) * formats[a.d].unit()
	}
	return out, nil
}
