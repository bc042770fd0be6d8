package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// tensorScores writes the scores of a block of keys: score[j] is the fragment of
// the warp's queries and keys j*8 … j*8+7.
func (g *generator) tensorScores(s tensorShape) {
	g.need("read_matrices", s.multiply())
	g.line("// scores")
	g.line("float score[%d][4] = {};", keyBlock/8)
	g.line("#pragma unroll 2")
	g.open("for (int step = 0; step < %d; step++)", s.dims/16)
	g.line("unsigned int left[4], right[2][2];")
	g.line("read_matrices(base + %s, left[0], left[1], left[2], left[3]);",
		s.at(queryAccess, fmt.Sprintf("warp * %d + lane %% 16", warpQueries), "step * 16 + lane / 16 * 8"))
	g.line("#pragma unroll")
	g.open("for (int j = 0; j < %d; j += 2)", keyBlock/8)
	g.line("read_matrices(base + %s, right[0][0], right[0][1], right[1][0], right[1][1]);",
		s.at(keyAccess, "j * 8 + lane / 16 * 8 + lane % 8", "step * 16 + lane / 8 % 2 * 8"))
	g.line("%s(score[j], left, right[0]);", s.multiply())
	g.line("%s(score[j + 1], left, right[1]);", s.multiply())
	g.close("")
	g.close("")
}

// multiply is the device function that multiplies fragments.
func (s tensorShape) multiply() string { return fmt.Sprintf("multiply_%v", s.dtype) }

// tensorWeights writes the softmax of a block of keys: scores become weights, and
// what came before fades.
func (g *generator) tensorWeights(s tensorShape) {
	least := literal(ir.F32, minusInf(ir.F32))
	weight := g.apply(ir.SExp, "w - top")
	if s.dtype == ir.F16 {
		weight += fmt.Sprintf(" * %d.0f", halfScale)
	}
	g.line("// weights: exp(score - maximum); the score of a key that is not seen is -inf")
	g.each("half", 2)
	g.tensorVisible()
	if g.k.Attention.HasMask {
		g.maskRow()
	}
	g.line("float now = most[half];")
	g.each("j", keyBlock/8)
	g.each("c", 2)
	g.line("const int key = j * 8 + lane %% 4 * 2 + c;")
	g.line("float& w = score[j][2 * half + c];")
	score := "w * scale"
	if g.additive() {
		score += " + " + g.mask("key")
	}
	g.line("w = %s ? %s : %s;", g.seen("key"), score, least)
	g.line("now = %s;", g.apply(ir.SMaximum, "now", "w"))
	g.close("")
	g.close("")
	g.acrossQuad("now", func(other string) string { return g.apply(ir.SMaximum, "now", other) })
	g.line("const float top = now == %s ? 0 : now;  // of a query that has seen nothing, weights are 0", least)
	g.line("const float fade = %s;", g.apply(ir.SExp, "most[half] - top"))
	if g.strange() {
		g.strangeFade()
	}
	g.line("float total = 0;")
	g.each("j", keyBlock/8)
	g.each("c", 2)
	g.line("float& w = score[j][2 * half + c];")
	g.line("w = %s;", weight)
	g.line("total = total + w;")
	g.close("")
	g.close("")
	g.acrossQuad("total", func(other string) string { return "total + " + other })
	g.line("weights[half] = weights[half] * fade + total;")
	g.line("most[half] = now;")
	g.each("j", s.values/8)
	g.line("result[j][2 * half] = result[j][2 * half] * fade;")
	g.line("result[j][2 * half + 1] = result[j][2 * half + 1] * fade;")
	g.close("")
	g.close("")
}

// tensorVisible declares which keys a query of the lane sees.
func (g *generator) tensorVisible() {
	g.visible(fmt.Sprintf("q_base + warp * %d + lane / 4 + 8 * half", warpQueries))
}

// acrossQuad joins a value of the 4 lanes of a row of fragments.
func (g *generator) acrossQuad(name string, join func(other string) string) {
	g.line("#pragma unroll")
	g.open("for (int apart = 1; apart < 4; apart *= 2)")
	g.line("%s = %s;", name, join(fmt.Sprintf("__shfl_xor_sync(0xffffffffu, %s, apart)", name)))
	g.close("")
}

// tensorWeighted writes the products of the weights, whose fragments of scores are
// those of a left operand, and the values.
func (g *generator) tensorWeighted(s tensorShape) {
	split := fmt.Sprintf("split_%v", s.dtype)
	g.need("read_transposed", split)
	g.line("// values, weighted")
	g.each("step", keyBlock/16)
	g.line("unsigned int halves[4], rest[4];")
	g.each("i", 4)
	g.line("float (&w)[4] = score[2 * step + i / 2];")
	g.line("%s(w[i %% 2 * 2], w[i %% 2 * 2 + 1], halves[i], rest[i]);", split)
	g.close("")
	g.each("j", s.values/16)
	g.line("unsigned int right[2][2];")
	g.line("read_transposed(base + %s, right[0][0], right[0][1], right[1][0], right[1][1]);",
		s.at(valueAccess, "step * 16 + lane % 16", "j * 16 + lane / 16 * 8"))
	for n := range 2 {
		g.line("%s(result[2 * j + %d], halves, right[%d]);", s.multiply(), n, n)
		if g.v.Kind != attentionKinds[AttentionTensorRounded] {
			g.line("%s(result[2 * j + %d], rest, right[%d]);", s.multiply(), n, n)
		}
	}
	g.close("")
	g.close("")
}

// tensorResults writes the sums to shared memory, that of the weights in a column
// after those of the values, and what is made of them.
func (g *generator) tensorResults(s tensorShape) {
	g.arrived(0)
	g.line("__syncthreads();")
	g.line("float* const results = (float*)shared;")
	g.line("float* const sums = results + %d;  // of weights", s.queries()*s.resultPitch())
	g.each("half", 2)
	g.line("float* const mine = results + (warp * %d + lane / 4 + 8 * half) * %d + lane %% 4 * 2;", warpQueries, s.resultPitch())
	g.each("j", s.values/8)
	pair := g.vectorType(ir.F32, 2) // of neighbouring columns: element by element, banks would meet
	g.line("*(%s*)(mine + j * 8) = {result[j][2 * half], result[j][2 * half + 1]};", pair)
	g.close("")
	g.line("if (lane %% 4 == 0) sums[warp * %d + lane / 4 + 8 * half] = weights[half];", warpQueries)
	if g.strange() {
		g.strangeResults(s)
	}
	g.close("")
	result := func(line, column string) string {
		return fmt.Sprintf("results[%s * %d + %s]", line, s.resultPitch(), column)
	}
	g.eachResult(s.queries(), s.values, s.threads(), result, func(line string) string { return "sums[" + line + "]" })
}
