package exec

import (
	"math/big"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// evaluateInt is evaluate of the instructions on integers and bits.
func evaluateInt(o *ptx.Opcode, in operands) (out outcome, ok bool) {
	t := o.Type()
	width := t.Bits()
	low := func(i int) uint64 { return in.x[i] & (^uint64(0) >> (64 - width)) }
	a, b, c := whole(t, in.x[0]), whole(t, in.x[1]), whole(t, in.x[2])
	product := new(big.Int).Mul(a, b)
	switch { // what mul and mad take of the product
	case o.Has(ptx.ModHi):
		product.Rsh(product, uint(width))
	case o.Has(ptx.ModWide):
		c = whole(map[ptx.Type]ptx.Type{ptx.U16: ptx.U32, ptx.S16: ptx.S32, ptx.U32: ptx.U64, ptx.S32: ptx.S64}[t], in.x[2])
	}
	big0 := new(big.Int)
	result := func(x *big.Int) (outcome, bool) {
		if o.Has(ptx.ModSat) {
			x = clamp(ptx.S32, x)
		}
		return outcome{d: wrap(x)}, true
	}
	switch o.Op {
	case ptx.OpAdd, ptx.OpAddc, ptx.OpSub, ptx.OpSubc, ptx.OpMad, ptx.OpMadc:
		if o.Op == ptx.OpMad && !o.Has(ptx.ModCC) {
			return result(product.Add(product, c))
		}
		if o.Op == ptx.OpAdd && !o.Has(ptx.ModCC) {
			return result(a.Add(a, b))
		}
		if o.Op == ptx.OpSub && !o.Has(ptx.ModCC) {
			return result(a.Sub(a, b))
		}
		return evaluateCarry(o, in, low, product)
	case ptx.OpMul:
		return result(product)
	case ptx.OpMul24, ptx.OpMad24:
		part := func(i int) *big.Int {
			if t.Signed() {
				return big.NewInt(int64(int32(in.x[i]) << 8 >> 8))
			}
			return big.NewInt(int64(in.x[i] & 0xffffff))
		}
		product = product.Mul(part(0), part(1))
		if o.Has(ptx.ModHi) {
			product.Rsh(product, 16)
		}
		if o.Op == ptx.OpMad24 {
			product.Add(product, c)
		}
		return result(product)
	case ptx.OpDiv, ptx.OpRem:
		q, r := big.NewInt(-1), a
		if b.Sign() != 0 {
			q, r = new(big.Int).QuoRem(a, b, new(big.Int))
		}
		return result(pick(o.Op == ptx.OpDiv, q, r))
	case ptx.OpMin, ptx.OpMax:
		return result(pick((a.Cmp(b) < 0) == (o.Op == ptx.OpMin), a, b))
	case ptx.OpAbs:
		return result(a.Abs(a))
	case ptx.OpNeg:
		return result(a.Neg(a))
	case ptx.OpSad:
		return result(a.Abs(a.Sub(a, b)).Add(a, c))
	case ptx.OpMov:
		return result(a)
	case ptx.OpAnd:
		return result(big0.And(a, b))
	case ptx.OpOr:
		return result(big0.Or(a, b))
	case ptx.OpXor:
		return result(big0.Xor(a, b))
	case ptx.OpNot:
		return result(big0.Not(a))
	case ptx.OpShl:
		n := min(uint32(in.x[1]), uint32(width))
		return result(big0.Lsh(a, uint(n)))
	case ptx.OpShr:
		n := min(uint32(in.x[1]), uint32(width))
		return result(big0.Rsh(a, uint(n))) // of a negative number toward minus infinity
	}
	return evaluateBits(o, in, width)
}

// evaluateCarry is the sums of multi-word arithmetic: unsigned, with the carry as
// one more bit.
func evaluateCarry(o *ptx.Opcode, in operands, low func(int) uint64, product *big.Int) (outcome, bool) {
	t := o.Type()
	first, second := new(big.Int).SetUint64(low(0)), new(big.Int).SetUint64(low(1))
	if o.Op == ptx.OpMad || o.Op == ptx.OpMadc {
		first.SetUint64(wrap(product) & (^uint64(0) >> (64 - t.Bits())))
		second.SetUint64(low(2))
	}
	carry := big.NewInt(0)
	if in.carry && (o.Op == ptx.OpAddc || o.Op == ptx.OpSubc || o.Op == ptx.OpMadc) {
		carry.SetInt64(1)
	}
	out := outcome{carry: in.carry}
	var s *big.Int
	if o.Op == ptx.OpSub || o.Op == ptx.OpSubc {
		s = first.Sub(first.Sub(first, second), carry)
	} else {
		s = first.Add(first.Add(first, second), carry)
	}
	if o.Has(ptx.ModCC) {
		out.carry = s.Sign() < 0 || s.BitLen() > t.Bits()
	}
	out.d = wrap(s)
	return out, true
}

// evaluateBits is bit by bit, as the manual's pseudo-code.
func evaluateBits(o *ptx.Opcode, in operands, width int) (out outcome, ok bool) {
	t := o.Type()
	x := in.x
	word := x[0] & (^uint64(0) >> (64 - width))
	field := func(v uint64, at, n int, signed bool) int64 {
		f := int64(v >> at & (1<<n - 1))
		if signed && f>>(n-1) != 0 {
			f -= 1 << n
		}
		return f
	}
	switch o.Op {
	case ptx.OpBrev:
		for i := range width {
			out.d |= bit(word, i, width) << (width - 1 - i)
		}
	case ptx.OpPopc:
		for i := range width {
			out.d += bit(word, i, width)
		}
	case ptx.OpClz:
		out.d = uint64(width - 1 - highest(word))
	case ptx.OpBfind:
		if t.Signed() && bit(word, width-1, width) != 0 {
			word = ^word & (^uint64(0) >> (64 - width))
		}
		at := highest(word)
		if o.Has(ptx.ModShiftamt) && at >= 0 {
			at = width - 1 - at
		}
		out.d = uint64(uint32(at))
	case ptx.OpBfe:
		pos, n := int(x[1]&255), int(x[2]&255)
		sign := uint64(0)
		if t.Signed() && n > 0 {
			sign = bit(word, min(pos+n-1, width-1), width)
		}
		for i := range width {
			b := sign
			if i < n && pos+i < width {
				b = bit(word, pos+i, width)
			}
			out.d |= b << i
		}
	case ptx.OpBfi:
		pos, n := int(x[2]&255), int(x[3]&255)
		out.d = x[1]
		for i := 0; i < n && pos+i < width; i++ {
			out.d = out.d&^(1<<(pos+i)) | bit(word, i, width)<<(pos+i)
		}
	case ptx.OpBmsk, ptx.OpSzext:
		first, n := uint64(uint32(x[0])), uint64(uint32(x[1]))
		if o.Has(ptx.ModWrap) {
			first, n = first&31, n&31
		}
		for i := range uint64(32) {
			switch {
			case o.Op == ptx.OpBmsk && i >= first && i < first+n:
				out.d |= 1 << i
			case o.Op == ptx.OpSzext && i < n:
				out.d |= bit(word, int(i), 32) << i
			case o.Op == ptx.OpSzext && n > 0 && t.Signed():
				out.d |= bit(word, int(n-1), 32) << i
			}
		}
	case ptx.OpShf:
		both := new(big.Int).SetUint64(x[1]<<32 | x[0]&0xffffffff)
		n := uint(x[2] & 31)
		if o.Has(ptx.ModClamp) {
			n = min(uint(uint32(x[2])), 32)
		}
		if o.Has(ptx.ModLeft) {
			out.d = wrap(both.Rsh(both.Lsh(both, n), 32))
		} else {
			out.d = wrap(both.Rsh(both, n))
		}
	case ptx.OpPrmt:
		bytes := x[1]<<32 | x[0]&0xffffffff
		s := int(x[2])
		nibbles := [4]int{s & 15, s >> 4 & 15, s >> 8 & 15, s >> 12 & 15}
		n := s & 3
		for mod, v := range map[ptx.Mod][4]int{ // the bytes of the result, the lowest first
			ptx.ModF4e: {n, n + 1, n + 2, n + 3}, ptx.ModB4e: {n, (n + 7) & 7, (n + 6) & 7, (n + 5) & 7}, ptx.ModRc8: {n, n, n, n},
			ptx.ModEcl: {n, max(n, 1), max(n, 2), 3}, ptx.ModEcr: {0, min(n, 1), min(n, 2), n}, ptx.ModRc16: {n & 1 * 2, n&1*2 + 1, n & 1 * 2, n&1*2 + 1},
		} {
			if o.Has(mod) {
				nibbles = v
			}
		}
		for i, n := range nibbles {
			b := bytes >> (8 * (n & 7)) & 255
			if n&8 != 0 {
				b = -(b >> 7) & 255
			}
			out.d |= b << (8 * i)
		}
	case ptx.OpLop3:
		for i := range 32 {
			index := bit(x[0], i, 32)<<2 | bit(x[1], i, 32)<<1 | bit(x[2], i, 32)
			out.d |= bit(x[3], int(index), 8) << i
		}
	case ptx.OpDp4a:
		s := int64(int32(x[2]))
		for i := range 4 {
			s += field(x[0], 8*i, 8, o.Types[0].Signed()) * field(x[1], 8*i, 8, o.Types[1].Signed())
		}
		out.d = uint64(s)
	case ptx.OpDp2a:
		s := int64(int32(x[2]))
		for i := range 2 {
			at := 8 * i
			if o.Has(ptx.ModHi) {
				at += 16
			}
			s += field(x[0], 16*i, 16, o.Types[0].Signed()) * field(x[1], at, 8, o.Types[1].Signed())
		}
		out.d = uint64(s)
	default:
		return out, false
	}
	return out, true
}
