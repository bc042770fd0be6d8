package cudac

import (
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// An attention on tensor cores: each warp has 16 queries, whose scores and results
// it keeps in fragments of mma.sync. Queries, a block of keys and their values lie
// in shared memory, lines of halves that begin in other banks than the lines
// before. The next keys are copied while weights are computed, values while scores
// are.

const (
	warpQueries  = 16
	tensorValues = 128 // value columns of a block of threads at most
	linePad      = 8   // halves: eight lines lie in all banks
	resultPad    = 8
	widePiece    = 8 // halves that are copied at once
	// halfScale multiplies weights of f16, so that small ones keep their bits: its
	// least normal number is 2^-14, the greatest above 2^15.
	halfScale = 16384
)

// weightFuncs are the device functions of weights on tensor cores.
var weightFuncs = []deviceFunc{
	{name: "split_bf16", text: `// two weights rounded to halves, and what the roundings leave
__device__ __forceinline__ void split_bf16(float x, float y, unsigned int& halves, unsigned int& rest)
{
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(y), "f"(x));
    const float left_x = x - __uint_as_float(halves << 16), left_y = y - __uint_as_float(halves & 0xffff0000u);
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(rest) : "f"(left_y), "f"(left_x));
}
`},
	{name: "split_f16", text: `// two weights rounded to halves, and what the roundings leave
__device__ __forceinline__ void split_f16(float x, float y, unsigned int& halves, unsigned int& rest)
{
    float rounded_x, rounded_y;
    asm("{ .reg .b16 low, high; cvt.rn.f16x2.f32 %0, %4, %3; mov.b32 {low, high}, %0; cvt.f32.f16 %1, low; cvt.f32.f16 %2, high; }"
        : "=r"(halves), "=f"(rounded_x), "=f"(rounded_y) : "f"(x), "f"(y));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(rest) : "f"(y - rounded_y), "f"(x - rounded_x));
}
`},
}

// tensorShape is the tile of a variant on tensor cores.
type tensorShape struct {
	warps, dims, values int // dims and value columns are multiples of 16
	vector              int
	dtype               ir.DType
}

func (g *generator) tensorShape() tensorShape {
	t := g.v.Tile
	return tensorShape{t[0], t[1], t[2], g.v.Vector, g.k.Buffers[g.k.Accesses[queryAccess].Buffer].DType}
}

func (s tensorShape) queries() int { return s.warps * warpQueries }
func (s tensorShape) threads() int { return s.warps * 32 }

// dimPitch and valuePitch are how far lines lie apart, in halves; resultPitch in
// floats.
func (s tensorShape) dimPitch() int    { return s.dims + linePad }
func (s tensorShape) valuePitch() int  { return s.values + linePad }
func (s tensorShape) resultPitch() int { return s.values + resultPad }

// keysAt and valuesAt are where parts of shared memory begin, in bytes; queries
// come first.
func (s tensorShape) keysAt() int   { return 2 * s.queries() * s.dimPitch() }
func (s tensorShape) valuesAt() int { return s.keysAt() + 2*keyBlock*s.dimPitch() }

// at is where an element of a line of an operand is in shared memory, in bytes.
func (s tensorShape) at(access int, line, column string) string {
	first, pitch := 0, s.dimPitch()
	switch access {
	case keyAccess:
		first = s.keysAt()
	case valueAccess:
		first, pitch = s.valuesAt(), s.valuePitch()
	}
	place := fmt.Sprintf("(%s * %d + %s) * 2", group(line), pitch, column)
	if first > 0 {
		place = fmt.Sprintf("%d + %s", first, place)
	}
	return place
}

// bytes is how much shared memory there is. At the end it holds the results, and
// the sum of the weights of each query.
func (s tensorShape) bytes() int {
	return max(s.valuesAt()+2*keyBlock*s.valuePitch(), 4*s.queries()*(s.resultPitch()+1))
}

// tensorAttentions returns the variants on tensor cores: with operands copied 16
// bytes at once where their layout allows, and for any.
func tensorAttentions(b *binding, kind string) []*Variant {
	pad := func(n int) int { return max(1, (n+15)/16) * 16 }
	make := func(warps, vector int) *Variant {
		return &Variant{Kind: kind, Vector: vector, Tile: []int{warps, pad(b.loops[dimLoop].n), min(pad(b.loops[valueLoop].n), tensorValues)}}
	}
	warps := []int{4, 1}
	if b.loops[queryLoop].n <= warpQueries {
		warps = []int{1, 4}
	}
	var list []*Variant
	for _, vector := range []int{widePiece, 1} {
		for _, w := range warps {
			if v := make(w, vector); tensorFits(b, v) == "" {
				list = append(list, v)
			}
		}
	}
	return list
}

// tensorFits returns the rule a launch breaks, "" if it fits.
func tensorFits(b *binding, v *Variant) string {
	if n := b.loops[dimLoop].n; n > v.Tile[1] {
		return fmt.Sprintf("a head dim of %d", n)
	}
	if v.Vector == 1 {
		return ""
	}
	for access, last := range []int{queryAccess: dimLoop, keyAccess: dimLoop, valueAccess: valueLoop} {
		if x := b.loops[last]; len(x.dims) == 0 || x.strides[access][0] != 1 || x.n%v.Vector != 0 {
			return fmt.Sprintf("elements of operand %d are not %d neighbours", access, v.Vector)
		}
		odd := b.slots.list[access].offset%v.Vector != 0
		for loop, x := range b.loops {
			for _, s := range x.strides[access] {
				odd = odd || loop != last && s%v.Vector != 0
			}
		}
		if odd {
			return fmt.Sprintf("lines of operand %d do not begin at multiples of %d", access, v.Vector)
		}
	}
	return ""
}

// tensorAttention writes the entry on tensor cores.
func (g *generator) tensorAttention() {
	s := g.tensorShape()
	shape := func(b *binding) (int, int, int) {
		return attentionBlocks(b, s.queries(), s.values), s.threads(), s.bytes()
	}
	g.entry(g.title(g.v.Kind), s.threads(), shape, func() {
		queries, _, keys := g.attentionCounts()
		g.attentionBlock(s.queries(), s.values)
		if s.warps > 1 {
			g.resident = 2 // more would not leave the fragments their registers
		}
		g.line("const int lane = (int)threadIdx.x %% 32, warp = (int)threadIdx.x / 32;")
		g.line("extern __shared__ __align__(16) unsigned char shared[];  // queries, a block of keys, its values")
		g.line("const unsigned int base = (unsigned int)__cvta_generic_to_shared(shared);")
		g.line("// a lane has two rows of each fragment, lane / 4 and 8 more, and two columns, from lane %% 4 * 2 on")
		g.line("float most[2] = {%[1]s, %[1]s}, weights[2] = {};  // maximum and sum of each query", literal(ir.F32, minusInf(ir.F32)))
		g.line("float result[%d][4] = {};  // weighted values", s.values/8)
		if g.strange() {
			g.line("unsigned long long strange[2] = {};  // of results 2 * j + c of each half: 1 where +inf, 2 where -inf is among the values, 3 for NaN")
		}
		g.keysEnd(s.queries())
		g.lines(queryAccess, s.queries(), "q_base", queries, "q_at")
		g.lines(keyAccess, keyBlock, "0", keys, "k_at")
		g.copied()
		g.eachKeyBlock()
		g.arrived(0)
		g.line("__syncthreads();  // the keys are there, the values before them are done with")
		g.lines(valueAccess, keyBlock, "k_base", keys, "v_at")
		g.copied()
		g.tensorScores(s)
		g.line("__syncthreads();  // the keys are done with")
		g.open("if (k_base + %d < k_end)", keyBlock)
		g.lines(keyAccess, keyBlock, fmt.Sprintf("k_base + %d", keyBlock), keys, "k_at")
		g.close("")
		g.copied()
		g.tensorWeights(s)
		g.arrived(1)
		g.line("__syncthreads();  // the values are there")
		if g.strange() {
			g.strangeValues(s)
		}
		g.tensorWeighted(s)
		g.close("")
		g.tensorResults(s)
	})
}

// copied ends a group of copies, and arrived waits for all but the last groups.
func (g *generator) copied() {
	if g.v.Vector > 1 {
		g.need("copies_wait")
		g.line("copies_commit();")
	}
}

func (g *generator) arrived(but int) {
	if g.v.Vector > 1 {
		g.line("copies_wait<%d>();", but)
	}
}

// lines writes the copy of lines of an operand to shared memory, from line number
// base on, with zeros beyond its ends.
func (g *generator) lines(access, count int, base, end, at string) {
	s := g.tensorShape()
	lineLoop, loop, width, first := keyLoop, dimLoop, s.dims, "0"
	switch access {
	case queryAccess:
		lineLoop = queryLoop
	case valueAccess:
		loop, width, first = valueLoop, s.values, "v_base"
	}
	length := g.count([]string{dimLoop: "dims", valueLoop: "values"}[loop], func(b *binding) int { return b.loops[loop].n })
	pieces := width / s.vector
	unroll := 4
	if s.vector > 1 {
		unroll = 2 // nothing waits for copies
	}
	g.line("#pragma unroll %d", unroll)
	g.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", count*pieces, s.threads())
	switch {
	case s.vector > 1:
		g.line("const int line = e / %d, column = e %% %d * %d;", pieces, pieces, s.vector)
	case g.unit(access, lineLoop) && !g.unit(access, loop):
		g.line("const int line = e %% %d, column = e / %d;", count, count)
	default:
		g.line("const int line = e / %d, column = e %% %d;", pieces, pieces)
	}
	line, column := plus(base, "line"), plus(first, "column")
	place := at + " + " + g.within(access, map[int]string{lineLoop: group(line), loop: group(column)})
	from := fmt.Sprintf("%s + %s", g.buffer(g.k.Accesses[access].Buffer), place)
	inside := fmt.Sprintf("%s < %s && %s < %s", line, end, column, length)
	if s.vector > 1 {
		g.need("copy_16")
		g.line("copy_16(base + %s, %s, %s ? 16 : 0);", s.at(access, "line", "column"), from, inside)
	} else {
		g.line("*(unsigned short*)(shared + %s) = %s ? *(%s) : 0;", s.at(access, "line", "column"), inside, from)
	}
	g.close("")
}

// plus adds two terms, the first of which may be 0.
func plus(a, b string) string {
	if a == "0" {
		return b
	}
	return a + " + " + b
}

// group puts an expression of several terms in parentheses.
func group(expr string) string {
	if strings.Contains(expr, " ") {
		return "(" + expr + ")"
	}
	return expr
}
