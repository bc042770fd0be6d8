package exec

import (
	"math/bits"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// conversion is a decoded cvt: how it rounds and what it clamps.
type conversion struct {
	round          num.Round
	float, integer bool // a rounding of floats, or to integral values, is written
	ftz, sat       bool
	satfinite      bool
	relu           bool
	dst, src       ptx.Type
}

var (
	floatRounds   = map[ptx.Mod]num.Round{ptx.ModRn: num.RN, ptx.ModRz: num.RZ, ptx.ModRm: num.RM, ptx.ModRp: num.RP, ptx.ModRna: num.RNA}
	integerRounds = map[ptx.Mod]num.Round{ptx.ModRni: num.RN, ptx.ModRzi: num.RZ, ptx.ModRmi: num.RM, ptx.ModRpi: num.RP}

	formats = map[ptx.Type]*num.Format{
		ptx.F64: num.F64, ptx.F32: num.F32, ptx.TF32: num.TF32, ptx.F16: num.F16.Format, ptx.BF16: num.BF16.Format,
		ptx.F16x2: num.F16.Format, ptx.BF16x2: num.BF16.Format, ptx.E4M3x2: num.E4M3, ptx.E5M2x2: num.E5M2,
	}
)

// cvt is the form of a conversion that the table does not have.
func cvt(o *ptx.Opcode) (form, bool) {
	if len(o.Types) != 2 {
		return form{}, false
	}
	c := conversion{dst: o.Types[0], src: o.Types[1]}
	for _, m := range o.Mods {
		if r, ok := floatRounds[m]; ok && !c.float && !c.integer {
			c.round, c.float = r, true
			continue
		}
		if r, ok := integerRounds[m]; ok && !c.float && !c.integer {
			c.round, c.integer = r, true
			continue
		}
		flag := map[ptx.Mod]*bool{ptx.ModFtz: &c.ftz, ptx.ModSat: &c.sat, ptx.ModSatfinite: &c.satfinite, ptx.ModRelu: &c.relu}[m]
		if flag == nil || *flag {
			return form{}, false
		}
		*flag = true
	}
	if c.ftz && c.dst != ptx.F32 && c.src != ptx.F32 {
		return form{}, false
	}
	from, to := formats[c.src], formats[c.dst]
	switch {
	case from == nil && to == nil:
		return c.ints()
	case c.dst.Bits() == 16 && to != nil && to.Bits() == 8, to != nil && c.dst != ptx.F32 && c.dst.Bits() == 32 && to.Bits() == 16:
		return c.pairs(from, to)
	case c.satfinite && c.dst != ptx.F16 && c.dst != ptx.BF16 && c.dst != ptx.TF32, c.relu && to == nil:
		return form{}, false
	case to == nil:
		return c.toInt(from)
	case from == nil:
		return c.toFloat(to)
	}
	return c.floats(from, to)
}

// integer is an integer type of num.
func integer(t ptx.Type) (i num.Int, ok bool) {
	ok = t >= ptx.U8 && t <= ptx.S64
	return num.Int{Width: uint8(t.Bits()), Signed: t.Signed()}, ok
}

// ints converts between integers with .sat; without, the table has them.
func (c conversion) ints() (form, bool) {
	s, ok1 := integer(c.src)
	d, ok2 := integer(c.dst)
	if !ok1 || !ok2 || c.float || c.integer || c.relu || c.satfinite || !c.sat {
		return form{}, false
	}
	return lanes1(c.dst, c.src, func(x uint64) uint64 { return d.Sat(s.Extend(x), s.Signed) }), true
}

func (c conversion) toInt(from *num.Format) (form, bool) {
	d, ok := integer(c.dst)
	if !ok || !c.integer {
		return form{}, false
	}
	return lanes1(c.dst, c.src, func(x uint64) uint64 {
		switch {
		case c.src == ptx.F64:
			return d.FromF64(x, c.round)
		case c.src != ptx.F32: // exact in f32
			return d.FromF32(uint32(num.F32.Pack(from.Value(x&0xffff), num.RN)), c.round)
		case c.ftz:
			x = num.F32.Ftz(x)
		}
		return d.FromF32(uint32(x), c.round)
	}), true
}

func (c conversion) toFloat(to *num.Format) (form, bool) {
	s, ok := integer(c.src)
	if !ok || !c.float || c.round == num.RNA || c.ftz || c.satfinite || c.dst == ptx.TF32 {
		return form{}, false
	}
	return lanes1(c.dst, c.src, func(x uint64) uint64 {
		return c.clamp(to, to.PackInt(s.Extend(x), s.Signed, c.round))
	}), true
}

// floats converts between floats, one to one.
func (c conversion) floats(from, to *num.Format) (form, bool) {
	// A rounding must be written where one may happen, and only there.
	narrows := !to.Holds(from)
	if c.float != narrows || c.integer && from != to || c.round == num.RNA && c.dst != ptx.TF32 || c.src == ptx.TF32 ||
		c.dst == ptx.TF32 && c.src != ptx.F32 || c.src.Bits() == 8 {
		return form{}, false
	}
	return lanes1(c.dst, c.src, func(x uint64) uint64 {
		if c.src.Bits() == 16 {
			x &= 0xffff
		}
		if c.ftz && c.src == ptx.F32 {
			x = num.F32.Ftz(x)
		}
		return c.one(from, to, x)
	}), true
}

// one converts a float.
func (c conversion) one(from, to *num.Format, x uint64) uint64 {
	v := from.Value(x)
	if c.integer {
		v = num.Integral(v, c.round)
	}
	packed := to.Pack(v, c.round)
	if c.satfinite && !from.IsNaN(x) {
		packed = to.Clamped(packed)
	}
	return c.clamp(to, packed)
}

// clamp applies the modifiers that change a result.
func (c conversion) clamp(to *num.Format, v uint64) uint64 {
	if c.relu {
		v = to.Relu(v)
	}
	if c.sat {
		v = to.Sat(v)
	}
	if c.ftz && c.dst == ptx.F32 {
		v = to.Ftz(v)
	}
	if c.dst == ptx.TF32 {
		v <<= 13
	}
	return v
}

// pairs converts two values into one register: two of f32, the first of them
// into the upper half, or a packed pair.
func (c conversion) pairs(from, to *num.Format) (form, bool) {
	eight := to.Bits() == 8
	if from == nil || !c.float || c.integer || c.sat || c.ftz || c.round == num.RNA || eight && (!c.satfinite || c.round != num.RN) {
		return form{}, false
	}
	one := func(x uint64) uint32 { return uint32(c.one(from, to, x)) }
	n := to.Bits()
	switch {
	case c.src == ptx.F32:
		return form{"r=rr", func(w *warp, in *inst, m uint32) {
			d, a, b := &w.r[in.dst], &w.r[in.a], &w.r[in.b]
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				d[i] = one(uint64(a[i]))<<n | one(uint64(b[i]))
			}
		}}, true
	case eight && (c.src == ptx.F16x2 || c.src == ptx.BF16x2), c.dst == ptx.F16x2 && from.Bits() == 8 && !c.satfinite:
		k := from.Bits()
		return lanes1(c.dst, c.src, func(x uint64) uint64 {
			low := uint64(1)<<k - 1
			return uint64(one(x>>k&low)<<n | one(x&low))
		}), true
	}
	return form{}, false
}

// lanes1 is a form of one operand from a function of bit patterns, for what is
// too rare to have a loop of its own.
func lanes1(dst, src ptx.Type, f func(uint64) uint64) form {
	sig := file(dst) + "=" + file(src)
	return form{sig, func(w *warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var x uint64
			if sig[2] == 'd' {
				x = w.d[in.a][i]
			} else {
				x = uint64(w.r[in.a][i])
			}
			if x = f(x); sig[0] == 'd' {
				w.d[in.dst][i] = x
			} else {
				w.r[in.dst][i] = uint32(x)
			}
		}
	}}
}

// file is the register file of a type, as signatures write it.
func file(t ptx.Type) string {
	if t.Bits() == 64 {
		return "d"
	}
	return "r"
}
