package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// strange reports whether infinite and NaN values need care: tensor cores multiply
// them by the weight 0 of a key that is hidden, which has no effect, and by what
// rounding a weight leaves, which may be 0 or below.
func (g *generator) strange() bool {
	return g.v.Kind == attentionKinds[AttentionTensor] || g.k.Attention.BoolMask || g.k.Attention.Causal
}

// strangeValues writes what happens where values among the block's are infinite or
// NaN. What those that are seen add is found one by one, as two bits for each
// result in strange, and added at the end; to the tensor cores they are 0.
func (g *generator) strangeValues(s tensorShape) {
	exponent := map[ir.DType]uint32{ir.F16: 0x7c00, ir.BF16: 0x7f80}[s.dtype]
	g.line("// infinite and NaN values: adding 1 to the exponent carries into the sign")
	g.line("unsigned int carry = 0;")
	piece := g.vectorType(ir.U32, 4)
	g.line("#pragma unroll 4")
	g.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", keyBlock*s.values/widePiece, s.threads())
	g.line("const %s words = *(const %s*)(shared + %s);", piece, piece,
		s.at(valueAccess, fmt.Sprintf("e %% %d", keyBlock), fmt.Sprintf("e / %d * %d", keyBlock, widePiece)))
	g.line("#pragma unroll")
	g.line("for (int w = 0; w < 4; w++) carry |= (words.e[w] & 0x%08xu) + 0x%08xu;", exponent*0x10001, (0x8000-exponent)*0x10001)
	g.close("")
	g.open("if (__syncthreads_or((carry & 0x80008000u) != 0))")
	g.sights()
	g.strangeSums(s, exponent)
	g.line("__syncthreads();  // they are 0 from here on")
	g.line("#pragma unroll 1")
	g.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", keyBlock*s.values, s.threads())
	g.line("unsigned short& value = *(unsigned short*)(shared + %s);", s.at(valueAccess, fmt.Sprintf("e / %d", s.values), fmt.Sprintf("e %% %d", s.values)))
	g.line("if ((value & 0x%[1]xu) == 0x%[1]xu) value = 0;", exponent)
	g.close("")
	g.line("__syncthreads();")
	g.close("")
}

// sights writes how the lane's queries see its keys, two bits for each key: 0 not
// at all, 1 with a weight above 0, 2 with 0 or NaN.
func (g *generator) sights() {
	g.line("unsigned int sight[2] = {};  // two bits for each key of the lane: 1 where it is seen with a weight above 0, 2 with 0 or NaN")
	g.each("half", 2)
	g.tensorVisible()
	if g.k.Attention.BoolMask {
		g.maskRow()
	}
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
	g.line("// what values that are infinite or NaN add, key by key")
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
