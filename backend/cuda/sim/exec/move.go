package exec

import "math/bits"

// moveForms are moves between registers, and those that pack narrow registers
// into a wide one or take it apart.
var moveForms = func() table {
	t := table{
		"mov.pred": {{sig: "p=p", run: movePred}},
		"mov.b32":  {{sig: "r=r", run: move32}, {sig: "r2=r", run: split32}, {sig: "r=r2", run: join32}, {sig: "r=r4", run: join32x4}, {sig: "r4=r", run: split32x4}},
		"mov.b64":  {{sig: "d=d", run: move64}, {sig: "r2=d", run: split64}, {sig: "d=r2", run: join64}, {sig: "r4=d", run: split64x4}, {sig: "d=r4", run: join64x4}},
		"mov.b16":  {{sig: "r=r", run: move32}, {sig: "r=r2", run: join16}, {sig: "r2=r", run: split16}},
	}
	for _, name := range []string{"mov.u16", "mov.s16", "mov.u32", "mov.s32", "mov.f32"} {
		t[name] = []form{{sig: "r=r", run: move32}}
	}
	for _, name := range []string{"mov.u64", "mov.s64", "mov.f64"} {
		t[name] = []form{{sig: "d=d", run: move64}}
	}
	return t
}()

func movePred(w *warp, in *inst, m uint32) { w.p[in.dst] = w.p[in.dst]&^m | w.p[in.a]&m }

func move32(w *warp, in *inst, m uint32) {
	d, a := &w.r[in.dst], &w.r[in.a]
	if m == full {
		*d = *a
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]
	}
}

func move64(w *warp, in *inst, m uint32) {
	d, a := &w.d[in.dst], &w.d[in.a]
	if m == full {
		*d = *a
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]
	}
}

func split16(w *warp, in *inst, m uint32) {
	lo, hi, a := &w.r[in.v[0]], &w.r[in.v[1]], &w.r[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := a[i]
		lo[i], hi[i] = v&0xff, v>>8&0xff
	}
}

func join16(w *warp, in *inst, m uint32) {
	d, lo, hi := &w.r[in.v[0]], &w.r[in.v[1]], &w.r[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = lo[i]&0xff | hi[i]&0xff<<8
	}
}

func split32(w *warp, in *inst, m uint32) {
	lo, hi, a := &w.r[in.v[0]], &w.r[in.v[1]], &w.r[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := a[i]
		lo[i], hi[i] = v&0xffff, v>>16
	}
}

func join32(w *warp, in *inst, m uint32) {
	d, lo, hi := &w.r[in.v[0]], &w.r[in.v[1]], &w.r[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = lo[i]&0xffff | hi[i]<<16
	}
}

func split32x4(w *warp, in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := w.r[in.v[4]][i]
		for j := range 4 {
			w.r[in.v[j]][i] = v >> (8 * j) & 0xff
		}
	}
}

func join32x4(w *warp, in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var v uint32
		for j := range 4 {
			v |= w.r[in.v[1+j]][i] & 0xff << (8 * j)
		}
		w.r[in.v[0]][i] = v
	}
}

func split64(w *warp, in *inst, m uint32) {
	lo, hi, a := &w.r[in.v[0]], &w.r[in.v[1]], &w.d[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := a[i]
		lo[i], hi[i] = uint32(v), uint32(v>>32)
	}
}

func join64(w *warp, in *inst, m uint32) {
	d, lo, hi := &w.d[in.v[0]], &w.r[in.v[1]], &w.r[in.v[2]]
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(lo[i]) | uint64(hi[i])<<32
	}
}

func split64x4(w *warp, in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := w.d[in.v[4]][i]
		for j := range 4 {
			w.r[in.v[j]][i] = uint32(v>>(16*j)) & 0xffff
		}
	}
}

func join64x4(w *warp, in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		var v uint64
		for j := range 4 {
			v |= uint64(w.r[in.v[1+j]][i]&0xffff) << (16 * j)
		}
		w.d[in.v[0]][i] = v
	}
}
