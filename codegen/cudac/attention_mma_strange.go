package cudac

import "github.com/sinter-ml/sinter/ir"

// strangeValues writes what happens where keys are hidden from some queries and
// values among the block's are infinite or NaN: tensor cores would multiply them
// by the weight 0 and get NaN, though a hidden key has no effect. What such values
// add is found one by one, as two bits for each result in strange, and added at the
// end; to the tensor cores they are 0.
func (g *generator) strangeValues(s tensorShape) {
	exponent := map[ir.DType]uint32{ir.F16: 0x7c00, ir.BF16: 0x7f80}[s.dtype]
	g.line("// infinite and NaN values of keys that are hidden from some queries")
	g.line("bool any = false;")
	if g.k.Attention.BoolMask {
		g.line("{")
		g.indent++
	} else {
		g.open("if ((long long)k_base + %d > (long long)q_base + reach)", keyBlock-1)
	}
	g.eachValueWord(s, 4, func() {
		g.line("any = any || (pair & 0x%[1]xu) == 0x%[1]xu || (pair & 0x%[2]xu) == 0x%[2]xu;", exponent, exponent<<16)
	})
	g.close("")
	g.open("if (__syncthreads_or(any))")
	g.sights()
	g.strangeSums(s, exponent)
	g.line("__syncthreads();")
	g.eachValueWord(s, 1, func() {
		g.line("if ((pair & 0x%[1]xu) == 0x%[1]xu) pair &= 0xffff0000u;", exponent)
		g.line("if ((pair & 0x%[1]xu) == 0x%[1]xu) pair &= 0x0000ffffu;", exponent<<16)
	})
	g.line("__syncthreads();")
	g.close("")
}

// eachValueWord writes the loop of a thread over its share of the values of the
// block, pair being two of them.
func (g *generator) eachValueWord(s tensorShape, unroll int, body func()) {
	g.line("#pragma unroll %d", unroll)
	g.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", keyBlock*s.values/2, s.threads())
	g.line("unsigned int& pair = ((unsigned int*)(shared + %d))[e / %d * %d + e %% %d];", s.valuesAt(), s.values/2, s.valuePitch()/2, s.values/2)
	body()
	g.close("")
}

// sights writes how the lane's queries see its keys, two bits for each key: 0 not
// at all, 1 with a weight above 0, 2 with 0 or NaN.
func (g *generator) sights() {
	g.line("unsigned int sight[2] = {};")
	g.each("half", 2)
	g.tensorVisible()
	g.line("if (most[half] == %s) visible = 0;", literal(ir.F32, minusInf(ir.F32)))
	g.each("j", keyBlock/8)
	g.each("c", 2)
	g.line("const int key = j * 8 + lane %% 4 * 2 + c;")
	g.line("if (%s) sight[half] |= (score[j][2 * half + c] > 0 ? 1u : 2u) << (4 * j + 2 * c);", g.seen("key"))
	g.close("")
	g.close("")
	g.close("")
}

// strangeSums notes for each result whether +inf, bit 0, and -inf, bit 1, are among
// the values it is a sum of; NaN is both.
func (g *generator) strangeSums(s tensorShape, exponent uint32) {
	mantissa := 0x7fff &^ exponent
	g.line("#pragma unroll 1")
	g.open("for (int key = 0; key < %d; key++)", keyBlock)
	g.line("const int owner = lane / 4 * 4 + key / 2 %% 4, place = key / 8 * 4 + key %% 2 * 2;")
	g.each("half", 2)
	g.line("const unsigned int how = __shfl_sync(0xffffffffu, sight[half], owner) >> place & 3;")
	g.line("if (how == 0) continue;")
	g.line("#pragma unroll 1")
	g.open("for (int n = 0; n < %d; n++)", s.values/4)
	g.line("const unsigned int value = *(const unsigned short*)(shared + %s);", s.at(valueAccess, "key", "n / 2 * 8 + lane % 4 * 2 + n % 2"))
	g.line("if ((value & 0x%[1]xu) != 0x%[1]xu) continue;", exponent)
	g.line("const unsigned long long sum = how == 2 || (value & 0x%xu) != 0 ? 3 : (value & 0x8000u) == 0 ? 1 : 2;", mantissa)
	g.line("strange[half] |= sum << 2 * n;")
	g.close("")
	g.close("")
	g.close("")
}

// strangeFade writes what fading does to infinite results: those that fade to
// nothing are NaN.
func (g *generator) strangeFade() {
	g.line("if (fade == 0) strange[half] = ((strange[half] | strange[half] >> 1) & 0x5555555555555555ull) * 3;")
}

// strangeResults adds what was noted to the results in shared memory.
func (g *generator) strangeResults(s tensorShape) {
	g.line("#pragma unroll 1")
	g.open("for (int n = 0; n < %d; n++)", s.values/4)
	g.line("const unsigned int sum = (unsigned int)(strange[half] >> 2 * n) & 3;")
	g.line("float& r = mine[n / 2 * 8 + n %% 2];")
	g.line("if (sum & 1) r = r + %s;", literal(ir.F32, minusInf(ir.F32)^1<<31))
	g.line("if (sum & 2) r = r + %s;", literal(ir.F32, minusInf(ir.F32)))
	g.close("")
}
