package exec

import "math/bits"

// packForms are the moves that pack narrow registers into a wide one or take it
// apart, by the opcode's name.
var packForms = map[string][]form{
	"mov.b16": {{"r=r2", join8x2}, {"r2=r", split8x2}},
	"mov.b32": {{"r=r2", join16x2}, {"r2=r", split16x2}, {"r=r4", join8x4}, {"r4=r", split8x4}},
	"mov.b64": {{"d=r2", join32x2}, {"r2=d", split32x2}, {"d=r4", join16x4}, {"r4=d", split16x4}},
}

func join8x2(w *warp, in *inst, m uint32)   { join(w, in, m, 8) }
func join16x2(w *warp, in *inst, m uint32)  { join(w, in, m, 16) }
func join8x4(w *warp, in *inst, m uint32)   { join(w, in, m, 8) }
func split8x2(w *warp, in *inst, m uint32)  { split(w, in, m, 8) }
func split16x2(w *warp, in *inst, m uint32) { split(w, in, m, 16) }
func split8x4(w *warp, in *inst, m uint32)  { split(w, in, m, 8) }
func join16x4(w *warp, in *inst, m uint32)  { join64(w, in, m, 16) }
func split16x4(w *warp, in *inst, m uint32) { split64(w, in, m, 16) }

// join packs the sources, of width bits each, the first one lowest.
func join(w *warp, in *inst, m uint32, width int) {
	d := &w.r[in.v[0]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var v uint32
		for j, reg := range in.v[1:] {
			v |= w.r[reg][i] & (1<<width - 1) << (j * width)
		}
		d[i] = v
	}
}

// split takes the source apart, as join packs it.
func split(w *warp, in *inst, m uint32, width int) {
	last := len(in.v) - 1
	a := &w.r[in.v[last]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := a[i] // a destination may be the source
		for _, reg := range in.v[:last] {
			w.r[reg][i] = v & (1<<width - 1)
			v >>= width
		}
	}
}

func join64(w *warp, in *inst, m uint32, width int) {
	d := &w.d[in.v[0]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var v uint64
		for j, reg := range in.v[1:] {
			v |= uint64(w.r[reg][i]&(1<<width-1)) << (j * width)
		}
		d[i] = v
	}
}

func split64(w *warp, in *inst, m uint32, width int) {
	last := len(in.v) - 1
	a := &w.d[in.v[last]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := a[i]
		for _, reg := range in.v[:last] {
			w.r[reg][i] = uint32(v) & (1<<width - 1)
			v >>= width
		}
	}
}

// The halves of 64 bits are by far the most frequent, and need no masks.

func join32x2(w *warp, in *inst, m uint32) {
	d, lo, hi := &w.d[in.v[0]], &w.r[in.v[1]], &w.r[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(lo[i]) | uint64(hi[i])<<32
	}
}

func split32x2(w *warp, in *inst, m uint32) {
	lo, hi, a := &w.r[in.v[0]], &w.r[in.v[1]], &w.d[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := a[i]
		lo[i], hi[i] = uint32(v), uint32(v>>32)
	}
}
