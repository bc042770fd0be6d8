package num

import "math/bits"

// MulHiU32, MulHiS32, MulHiU64 and MulHiS64 are the upper half of the product.
func MulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }
func MulHiS32(a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }
func MulHiU64(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
func MulHiS64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
}

// Division as the hardware does it: by zero the quotient is all ones and the
// remainder the dividend; the least value by −1 wraps.

// DivU32 is a/b.
func DivU32(a, b uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return a / b
}

// DivS32 truncates.
func DivS32(a, b uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return uint32(int32(a) / int32(b))
}

// RemU32 is the remainder.
func RemU32(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return a % b
}

// RemS32 has the sign of the dividend.
func RemS32(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return uint32(int32(a) % int32(b))
}

// DivU64, DivS64, RemU64 and RemS64 are their like for 64 bits.
func DivU64(a, b uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return a / b
}

func DivS64(a, b uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return uint64(int64(a) / int64(b))
}

func RemU64(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	return a % b
}

func RemS64(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	return uint64(int64(a) % int64(b))
}

// SatS32 clamps to the range of s32 (add.sat.s32).
func SatS32(v int64) uint32 { return uint32(Int{32, true}.Sat(uint64(v), true)) }

// SignMaskS32 is all ones where a is not negative (slct).
func SignMaskS32(a uint32) uint32 { return ^uint32(int32(a) >> 31) }

// FunnelLeft is the upper word of hi:lo shifted left by n ≤ 32 bits (shf.l).
func FunnelLeft(lo, hi, n uint32) uint32 { return uint32((uint64(hi)<<32 | uint64(lo)) << n >> 32) }

// FunnelRight is the lower word of hi:lo shifted right by n ≤ 32 bits (shf.r).
func FunnelRight(lo, hi, n uint32) uint32 { return uint32((uint64(hi)<<32 | uint64(lo)) >> n) }

// BfeU32 extracts n bits of a from bit pos on; both count modulo 256, bits beyond
// the word are zero.
func BfeU32(a, pos, n uint32) uint32 { return a >> (pos & 255) & (1<<(n&255) - 1) }

// BfeU64 is BfeU32 of 64 bits.
func BfeU64(a uint64, pos, n uint32) uint64 { return a >> (pos & 255) & (1<<(n&255) - 1) }

// BfeS32 extends the field by its sign, that of its last bit inside the word.
func BfeS32(a, pos, n uint32) uint32 { return uint32(BfeS64(uint64(int64(int32(a))), pos, n)) }

// BfeS64 is BfeS32 of 64 bits.
func BfeS64(a uint64, pos, n uint32) uint64 {
	v := int64(a) >> (pos & 255)
	switch n &= 255; {
	case n == 0:
		return 0
	case n < 64:
		return uint64(v << (64 - n) >> (64 - n))
	}
	return uint64(v)
}

// Bfi32 is b with n bits from bit pos on taken from the low bits of a.
func Bfi32(a, b, pos, n uint32) uint32 {
	mask := uint32(1<<(n&255)-1) << (pos & 255)
	return b&^mask | a<<(pos&255)&mask
}

// Bfi64 is Bfi32 of 64 bits.
func Bfi64(a, b uint64, pos, n uint32) uint64 {
	mask := uint64(1<<(n&255)-1) << (pos & 255)
	return b&^mask | a<<(pos&255)&mask
}

// Bmsk is n bits set from bit pos on, both clamped to 32 (bmsk.clamp) or taken
// modulo 32 before (bmsk.wrap).
func Bmsk(pos, n uint32) uint32 { return uint32(1<<n-1) << pos }

// SzextU32 keeps the lowest n bits, n at most 32; SzextS32 extends them by the
// highest of them.
func SzextU32(a, n uint32) uint32 { return a & uint32(1<<n-1) }
func SzextS32(a, n uint32) uint32 { return uint32(int32(a<<(32-n)) >> (32 - n)) }

// FindU32 is the position of the highest bit set, all ones if there is none
// (bfind); FindS32 finds the highest bit that is not the sign's. FindU64 and
// FindS64 are their like.
func FindU32(a uint32) uint32 { return uint32(31 - bits.LeadingZeros32(a)) }
func FindS32(a uint32) uint32 { return FindU32(a ^ uint32(int32(a)>>31)) }
func FindU64(a uint64) uint32 { return uint32(63 - bits.LeadingZeros64(a)) }
func FindS64(a uint64) uint32 { return FindU64(a ^ uint64(int64(a)>>63)) }

// ShiftAmount turns a result of Find into the shift that brings the bit to the
// highest place, msb (bfind.shiftamt).
func ShiftAmount(at, msb uint32) uint32 {
	if at == ^uint32(0) {
		return at
	}
	return msb - at
}

// Prmt picks bytes of b:a, one for each of the four lowest nibbles of s; bit 3 of
// a nibble replicates the byte's sign instead.
func Prmt(a, b, s uint32) uint32 {
	var out uint32
	v := uint64(b)<<32 | uint64(a)
	for i := range uint32(4) {
		n := s >> (4 * i)
		by := uint32(v>>(8*(n&7))) & 255
		if n&8 != 0 {
			by = by >> 7 * 255
		}
		out |= by << (8 * i)
	}
	return out
}

// PrmtMode is a mode of prmt: the selector for each value of the two lowest bits.
type PrmtMode [4]uint32

var (
	F4E  = PrmtMode{0x3210, 0x4321, 0x5432, 0x6543}
	B4E  = PrmtMode{0x5670, 0x6701, 0x7012, 0x0123}
	RC8  = PrmtMode{0x0000, 0x1111, 0x2222, 0x3333}
	ECL  = PrmtMode{0x3210, 0x3211, 0x3222, 0x3333}
	ECR  = PrmtMode{0x0000, 0x1110, 0x2210, 0x3210}
	RC16 = PrmtMode{0x1010, 0x3232, 0x1010, 0x3232}
)

// PrmtBy is Prmt in a mode.
func PrmtBy(a, b, s uint32, mode *PrmtMode) uint32 { return Prmt(a, b, mode[s&3]) }

// Dp4a adds to c the products of the four bytes of a and b, each extended by its
// type's signedness.
func Dp4a(a, b, c uint32, signedA, signedB bool) uint32 {
	ta, tb := Int{8, signedA}, Int{8, signedB}
	for i := 0; i < 32; i += 8 {
		c += uint32(ta.Extend(uint64(a>>i))) * uint32(tb.Extend(uint64(b>>i)))
	}
	return c
}

// Dp2a adds to c the products of the halves of a with two bytes of b: the lower
// ones, or the upper ones if shift is 16.
func Dp2a(a, b, c uint32, signedA, signedB bool, shift uint) uint32 {
	ta, tb := Int{16, signedA}, Int{8, signedB}
	b >>= shift
	for i := range 2 {
		c += uint32(ta.Extend(uint64(a>>(16*i)))) * uint32(tb.Extend(uint64(b>>(8*i))))
	}
	return c
}

// Lop3 is any bitwise function of three words: bit 4a+2b+c of table is its value.
func Lop3(a, b, c, table uint32) uint32 {
	var out uint32
	for i := range uint32(8) {
		if table>>i&1 == 0 {
			continue
		}
		out |= same(a, i>>2) & same(b, i>>1) & same(c, i)
	}
	return out
}

// same is a if the lowest bit of want is set, else its complement.
func same(a, want uint32) uint32 { return a ^ (want&1 - 1) }

// DiffU32, DiffS32, DiffU64 and DiffS64 are |a−b| (sad).
func DiffU32(a, b uint32) uint32 { return max(a, b) - min(a, b) }
func DiffS32(a, b uint32) uint32 { return DiffU32(a^1<<31, b^1<<31) }
func DiffU64(a, b uint64) uint64 { return max(a, b) - min(a, b) }
func DiffS64(a, b uint64) uint64 { return DiffU64(a^1<<63, b^1<<63) }
