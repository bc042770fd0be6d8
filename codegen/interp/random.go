package interp

import (
	"math"
	"math/bits"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// philox4x32 is Philox 4x32 with ten rounds (Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3").
func philox4x32(c [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		h0, l0 := bits.Mul32(0xD2511F53, c[0])
		h1, l1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{h1 ^ c[1] ^ key[0], l1, h0 ^ c[3] ^ key[1], l0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return c
}

// stream is the random words of one seed and offset: the counter of position
// i is (offset, i/4), its word is i mod 4.
type stream struct {
	key    [2]uint32
	offset [2]uint32
}

func (w *worker) stream(in *codegen.Instr) stream {
	seed, offset := w.run.launch.Params[in.Index], w.run.launch.Params[in.Index+1]
	return stream{
		key:    [2]uint32{uint32(seed), uint32(seed >> 32)},
		offset: [2]uint32{uint32(offset), uint32(offset >> 32)},
	}
}

// group returns the four words of positions 4·g … 4·g+3.
func (s *stream) group(g int64) [4]uint32 {
	return philox4x32([4]uint32{s.offset[0], s.offset[1], uint32(g), uint32(uint64(g) >> 32)}, s.key)
}

// philoxStep replaces the positions of the tile's points by their words.
func philoxStep(v, slot int, in *codegen.Instr) func(*worker) {
	return func(w *worker) {
		s := w.stream(in)
		d := out[int64](w, v)
		w.positions(d, slot)
		group, words := int64(-1), [4]uint32{}
		for i, p := range d {
			if p>>2 != group {
				group = p >> 2
				words = s.group(group)
			}
			d[i] = int64(words[p&3])
		}
	}
}

// normalStep replaces positions by standard normal numbers of type T.
func normalStep[T float32 | float64](v, slot int, in *codegen.Instr) func(*worker) {
	return func(w *worker) {
		s := w.stream(in)
		at := view[int64](w.temp(0))[:w.n]
		w.positions(at, slot)
		d := out[T](w, v)
		group, normals := int64(-1), [4]float64{}
		for i, p := range at {
			if p>>2 != group {
				group = p >> 2
				words := s.group(group)
				normals[0], normals[1] = boxMuller(words[0], words[1])
				normals[2], normals[3] = boxMuller(words[2], words[3])
			}
			d[i] = T(normals[p&3])
		}
	}
}

// boxMuller makes two standard normal numbers from two words: r·cos 2πu₂ and
// r·sin 2πu₂ with r = √(−2·log u₁) and u₁ in (0, 1].
func boxMuller(w1, w2 uint32) (float64, float64) {
	u1 := float64(w1>>8+1) * 0x1p-24
	u2 := float64(w2>>8) * 0x1p-24
	r := math.Sqrt(-2 * math.Log(u1))
	sin, cos := math.Sincos(2 * math.Pi * u2)
	return r * cos, r * sin
}

// arangeStep computes start + i·step in float64 or int64, rounded once.
func arangeStep(v, slot int, in *codegen.Instr) func(*worker) {
	switch {
	case in.Type == ir.F64:
		return linear(v, slot, in, func(x float64) float64 { return x })
	case in.Type == ir.F32 && (in.To == ir.Invalid || in.To == ir.F32):
		return linear(v, slot, in, func(x float64) float32 { return float32(x) })
	case in.Type == ir.F32:
		round := rounding(in.To, false)
		return linear(v, slot, in, func(x float64) float32 { return round(ir.OddFloat32(x)) })
	}
	f := func(w *worker) {
		p := w.run.launch.Params
		start, step := int64(p[in.Index2]), int64(p[in.Index2+1])
		d := out[int64](w, v)
		w.positions(d, slot)
		for i, c := range d {
			d[i] = start + c*step
		}
	}
	return wrapped(f, v, in.Type)
}

func linear[T float32 | float64](v, slot int, in *codegen.Instr, round func(float64) T) func(*worker) {
	return func(w *worker) {
		p := w.run.launch.Params
		start, step := math.Float64frombits(p[in.Index2]), math.Float64frombits(p[in.Index2+1])
		at := view[int64](w.temp(0))[:w.n]
		w.positions(at, slot)
		d := out[T](w, v)
		for i, c := range at {
			d[i] = round(start + float64(float64(c)*step))
		}
	}
}
