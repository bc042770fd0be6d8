package num

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words draws pairs of 64 bits, extremes among them.
func words(n int) [][3]uint64 {
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	edges := []uint64{0, 1, 2, 31, 32, 33, 63, 64, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 63, 1<<63 - 1, 1<<64 - 1, 0xffffffff80000000}
	var out [][3]uint64
	for range n {
		var v [3]uint64
		for i := range v {
			if v[i] = rng.Uint64() >> rng.UintN(64); rng.IntN(3) == 0 {
				v[i] = edges[rng.IntN(len(edges))]
			}
		}
		out = append(out, v)
	}
	return out
}

func TestProductsAndQuotients(t *testing.T) {
	low := func(x *big.Int, width uint) uint64 {
		return new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), width), big.NewInt(1))).Uint64()
	}
	for _, v := range words(trials(20000)) {
		for _, it := range intTypes[4:] {
			a, b := it.whole(it.Extend(v[0])), it.whole(it.Extend(v[1]))
			w := uint(it.Width)
			high := low(new(big.Int).Rsh(new(big.Int).Mul(a, b), w), w)
			diff := low(new(big.Int).Abs(new(big.Int).Sub(a, b)), w)
			quo, rem := low(big.NewInt(-1), w), low(a, w)
			if b.Sign() != 0 {
				q, r := new(big.Int).QuoRem(a, b, new(big.Int))
				quo, rem = low(q, w), low(r, w)
			}
			want := []uint64{high, quo, rem, diff}
			var got []uint64
			x, y := uint32(v[0]), uint32(v[1])
			switch it {
			case Int{32, false}:
				got = []uint64{uint64(MulHiU32(x, y)), uint64(DivU32(x, y)), uint64(RemU32(x, y)), uint64(DiffU32(x, y))}
			case Int{32, true}:
				got = []uint64{uint64(MulHiS32(x, y)), uint64(DivS32(x, y)), uint64(RemS32(x, y)), uint64(DiffS32(x, y))}
			case Int{64, false}:
				got = []uint64{MulHiU64(v[0], v[1]), DivU64(v[0], v[1]), RemU64(v[0], v[1]), DiffU64(v[0], v[1])}
			default:
				got = []uint64{MulHiS64(v[0], v[1]), DivS64(v[0], v[1]), RemS64(v[0], v[1]), DiffS64(v[0], v[1])}
			}
			require.Equal(t, want, got, "%v of %s and %s: high, quotient, remainder, difference", it, a, b)
		}
	}
}

// The pseudo-code of the PTX manual, bit by bit.
func bfeReference(a uint64, b, c uint32, width int, signed bool) uint64 {
	msb := width - 1
	pos, n := int(b&0xff), int(c&0xff)
	var sign uint64
	if signed && n != 0 {
		sign = a >> min(pos+n-1, msb) & 1
	}
	var d uint64
	for i := 0; i <= msb; i++ {
		bit := sign
		if i < n && pos+i <= msb {
			bit = a >> (pos + i) & 1
		}
		d |= bit << i
	}
	return d
}

func bfiReference(a, b uint64, c, d uint32, width int) uint64 {
	pos, n := int(c&0xff), int(d&0xff)
	f := b
	for i := 0; i < n && pos+i < width; i++ {
		f = f&^(1<<(pos+i)) | a>>i&1<<(pos+i)
	}
	return f
}

func TestBitFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, v := range words(trials(20000)) {
		pos, n := rng.Uint32N(70), rng.Uint32N(70)
		if rng.IntN(4) == 0 {
			pos, n = rng.Uint32(), rng.Uint32()
		}
		x, y := uint32(v[0]), uint32(v[1])
		require.EqualValues(t, bfeReference(uint64(x), pos, n, 32, false), BfeU32(x, pos, n), "%#x %d %d", x, pos, n)
		require.EqualValues(t, bfeReference(uint64(x), pos, n, 32, true), BfeS32(x, pos, n), "%#x %d %d", x, pos, n)
		require.EqualValues(t, bfeReference(v[0], pos, n, 64, false), BfeU64(v[0], pos, n), "%#x %d %d", v[0], pos, n)
		require.EqualValues(t, bfeReference(v[0], pos, n, 64, true), BfeS64(v[0], pos, n), "%#x %d %d", v[0], pos, n)
		require.EqualValues(t, bfiReference(uint64(x), uint64(y), pos, n, 32), Bfi32(x, y, pos, n), "%#x %#x %d %d", x, y, pos, n)
		require.EqualValues(t, bfiReference(v[0], v[1], pos, n, 64), Bfi64(v[0], v[1], pos, n), "%#x %#x %d %d", v[0], v[1], pos, n)

		both := new(big.Int).Or(new(big.Int).Lsh(big.NewInt(int64(y)), 32), big.NewInt(int64(x)))
		k := n % 33
		left := new(big.Int).Rsh(new(big.Int).Lsh(both, uint(k)), 32)
		right := new(big.Int).Rsh(both, uint(k))
		require.EqualValues(t, uint32(left.Uint64()), FunnelLeft(x, y, k), "%#x %#x %d", x, y, k)
		require.EqualValues(t, uint32(right.Uint64()), FunnelRight(x, y, k), "%#x %#x %d", x, y, k)

		find := func(a uint64, width int, signed bool) uint32 {
			msb := width - 1
			if signed && a>>msb&1 != 0 {
				a = ^a
			}
			for i := msb; i >= 0; i-- {
				if a>>i&1 != 0 {
					return uint32(i)
				}
			}
			return ^uint32(0)
		}
		require.Equal(t, find(uint64(x), 32, false), FindU32(x))
		require.Equal(t, find(uint64(x), 32, true), FindS32(x))
		require.Equal(t, find(v[0], 64, false), FindU64(v[0]))
		require.Equal(t, find(v[0], 64, true), FindS64(v[0]))
		if x != 0 {
			require.NotZero(t, x<<ShiftAmount(FindU32(x), 31)>>31)
		}
	}
	assert.Equal(t, ^uint32(0), ShiftAmount(FindU32(0), 31))
	for _, tt := range []struct{ pos, n, want uint32 }{{0, 0, 0}, {3, 5, 0xf8}, {0, 32, 0xffffffff}, {32, 5, 0}, {31, 32, 1 << 31}, {28, 8, 0xf0000000}} {
		assert.Equal(t, tt.want, Bmsk(tt.pos, tt.n), "%d bits from %d", tt.n, tt.pos)
	}
	for _, tt := range []struct{ a, n, unsigned, signed uint32 }{
		{0xffffffff, 0, 0, 0}, {0xf5, 4, 5, 5}, {0xfd, 4, 13, 0xfffffffd}, {0x87654321, 32, 0x87654321, 0x87654321}, {1, 1, 1, 0xffffffff},
	} {
		assert.Equal(t, tt.unsigned, SzextU32(tt.a, tt.n), "%d bits of %#x", tt.n, tt.a)
		assert.Equal(t, tt.signed, SzextS32(tt.a, tt.n), "%d bits of %#x", tt.n, tt.a)
	}
}

func TestPermute(t *testing.T) {
	const a, b = 0x83828180, 0x07060504 // bytes 0 to 7, of which the first four have the sign
	for _, tt := range []struct{ s, want uint32 }{
		{0x3210, a}, {0x7654, b}, {0x0123, 0x80818283}, {0x5140, 0x05810480}, {0xba98, 0xffffffff}, {0xfedc, 0}, {0xffff48c1, 0x04ff0081},
	} {
		assert.Equal(t, tt.want, Prmt(a, b, tt.s), "%#x", tt.s)
	}
	// Of each mode the bytes of the result, the highest first, for selectors 0 to 3.
	for name, tt := range map[string]struct {
		mode *PrmtMode
		want [4]uint32
	}{
		"f4e":  {&F4E, [4]uint32{0x03020100, 0x04030201, 0x05040302, 0x06050403}},
		"b4e":  {&B4E, [4]uint32{0x05060700, 0x06070001, 0x07000102, 0x00010203}},
		"rc8":  {&RC8, [4]uint32{0x00000000, 0x01010101, 0x02020202, 0x03030303}},
		"ecl":  {&ECL, [4]uint32{0x03020100, 0x03020101, 0x03020202, 0x03030303}},
		"ecr":  {&ECR, [4]uint32{0x00000000, 0x01010100, 0x02020100, 0x03020100}},
		"rc16": {&RC16, [4]uint32{0x01000100, 0x03020302, 0x01000100, 0x03020302}},
	} {
		for s, want := range tt.want {
			assert.Equal(t, want, PrmtBy(0x03020100, 0x07060504, uint32(s)|0xfffffffc, tt.mode), "%s %d", name, s)
		}
	}
}

func TestDotProductsAndLogic(t *testing.T) {
	for _, v := range words(trials(4000)) {
		a, b, c := uint32(v[0]), uint32(v[1]), uint32(v[2])
		field := func(x uint32, at, width int, signed bool) int64 {
			f := int64(x >> at & (1<<width - 1))
			if signed && f>>(width-1) != 0 {
				f -= 1 << width
			}
			return f
		}
		for _, sa := range []bool{false, true} {
			for _, sb := range []bool{false, true} {
				four, lo, hi := int64(int32(c)), int64(int32(c)), int64(int32(c))
				for i := range 4 {
					four += field(a, 8*i, 8, sa) * field(b, 8*i, 8, sb)
				}
				for i := range 2 {
					lo += field(a, 16*i, 16, sa) * field(b, 8*i, 8, sb)
					hi += field(a, 16*i, 16, sa) * field(b, 16+8*i, 8, sb)
				}
				require.Equal(t, uint32(four), Dp4a(a, b, c, sa, sb))
				require.Equal(t, uint32(lo), Dp2a(a, b, c, sa, sb, 0))
				require.Equal(t, uint32(hi), Dp2a(a, b, c, sa, sb, 16))
			}
		}
		// The manual makes the table of a function by applying it to these words.
		const ta, tb, tc = 0xf0, 0xcc, 0xaa
		require.Equal(t, a&b&c, Lop3(a, b, c, ta&tb&tc))
		require.Equal(t, a|b&^c, Lop3(a, b, c, ta|tb&(0xff^tc)))
		require.Equal(t, a^b^c, Lop3(a, b, c, ta^tb^tc))
		require.Equal(t, ^a, Lop3(a, b, c, 0xff^ta))
		require.Equal(t, a&b|^a&c, Lop3(a, b, c, ta&tb|(0xff^ta)&tc))
	}
	assert.Equal(t, 32, bits.OnesCount32(Lop3(1, 2, 3, 0xff)))
}
