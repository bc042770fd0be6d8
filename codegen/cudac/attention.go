package cudac

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// attentionTemplate runs the online softmax of M. Milakov and N. Gimelshein,
// "Online normalizer calculation for softmax", over blocks of keyBlock keys. A
// block of threads takes some queries and some columns of the values: of each
// block of keys it computes the scores, the maximum and the weights of each
// query, fades what it has and adds the weighted values.
//
// What the bits of a query depend on is its class (AttentionClassOf), never on
// other queries, the batch or the layout.
//
// A key that a mask of booleans or causality hides has no effect, whatever its
// elements are: it gets the weight -0, which no key that is seen has.
type attentionTemplate struct{}

// keyBlock is how many keys are taken at once, which fixes the order of sums.
const keyBlock = 64

// The loops of an attention.
const (
	batchLoop = iota
	queryLoop
	valueLoop
	keyLoop
	dimLoop
)

// The accesses of an attention that are always there.
const (
	queryAccess = iota
	keyAccess
	valueAccess
	maskAccess // if there is one
)

func (attentionTemplate) loops(b *binding) {
	outer := b.k.Outer
	b.lay("h", axes(0, outer-2))
	b.lay("q", []int{outer - 2})
	b.lay("v", []int{outer - 1})
	b.lay("k", []int{outer})
	b.lay("d", []int{outer + 1})
}

// AttentionClass is the numeric class of an attention: how scores and weighted
// values are added up.
type AttentionClass uint8

// The classes of attention.
const (
	// AttentionFMA multiplies and adds with one rounding, in the type of the
	// instruction: products of a score in order of the dims from zero inside
	// blocks of codegen.KBlock, whose sums are added in order; weighted values in
	// order of the keys. The weights of a block of keys are added in 16 lanes,
	// key j in lane j mod 16 in order, the lanes joined by a binary tree (8 apart,
	// then 4, 2 and 1).
	AttentionFMA AttentionClass = iota
	// AttentionTensor multiplies halves by mma.sync.m16n8k16 and adds in f32: 16
	// products of a score at once in order of the dims; 16 weighted values at once
	// in order of the keys. A weight multiplies a value as the sum of two halves,
	// the weight rounded and what that leaves: an f32 weight but for its last
	// bits. The weights of a block of keys are added in 4 lanes, key j in lane
	// j/2 mod 4 in order, the lanes joined 1 apart, then 2.
	AttentionTensor
	// AttentionTensorRounded is AttentionTensor with weights rounded to one half
	// before they multiply a value, as in FlashAttention-2 (T. Dao, 2023): a third
	// less work, and results off by a rounding of the operands' dtype. Only where
	// Target.Relaxed allows.
	AttentionTensorRounded
)

func (c AttentionClass) String() string {
	return [...]string{"fma", "mma.m16n8k16", "mma.m16n8k16 of rounded weights"}[c]
}

// attentionKinds are the kinds of the variants of each class.
var attentionKinds = [...]string{AttentionFMA: "attention-simt", AttentionTensor: "attention-mma", AttentionTensorRounded: "attention-mma-rounded"}

// tensorDims is the longest head dim of tensor cores.
const tensorDims = 256

// AttentionClassOf returns the numeric class of an attention with a head dim of
// so many elements. It follows from that, the dtypes of the operands and the
// target.
func AttentionClassOf(k *codegen.Kernel, dims int, t Target) AttentionClass {
	of := func(access int) ir.DType { return k.Buffers[k.Accesses[access].Buffer].DType }
	switch dt := of(queryAccess); {
	case !dt.IsHalf() || of(keyAccess) != dt || of(valueAccess) != dt || dims > tensorDims:
		return AttentionFMA
	case t.Relaxed:
		return AttentionTensorRounded
	}
	return AttentionTensor
}

func (attentionTemplate) variants(b *binding, t Target) []*Variant {
	if class := AttentionClassOf(b.k, b.loops[dimLoop].n, t); class != AttentionFMA {
		return tensorAttentions(b, attentionKinds[class])
	}
	return simtAttentions(b)
}

func (attentionTemplate) check(b *binding, v *Variant) string {
	tensor := AttentionClassOf(b.k, b.loops[dimLoop].n, Target{}) != AttentionFMA
	if tensor != (v.Kind != attentionKinds[AttentionFMA]) {
		return fmt.Sprintf("a head dim of %d has another class", b.loops[dimLoop].n)
	}
	if tensor {
		return tensorFits(b, v)
	}
	return ""
}

func (attentionTemplate) write(g *generator) {
	if g.v.Kind == attentionKinds[AttentionFMA] {
		g.simtAttention()
		return
	}
	g.tensorAttention()
}

// attentionCounts asks for the numbers of queries, value columns and keys.
func (g *generator) attentionCounts() (queries, values, keys string) {
	length := func(name string, loop int) string {
		return g.count(name, func(b *binding) int { return b.loops[loop].n })
	}
	return length("queries", queryLoop), length("values", valueLoop), length("keys", keyLoop)
}

// attentionBlocks returns how many blocks of threads take so many queries and
// value columns each.
func attentionBlocks(b *binding, queries, values int) int {
	tiles := func(n, tile int) int { return (n + tile - 1) / tile }
	return b.loops[batchLoop].n * tiles(b.loops[queryLoop].n, queries) * tiles(b.loops[valueLoop].n, values)
}

// attentionBlock declares what a block of threads takes: batch, q_base and v_base,
// and where the operands begin there.
func (g *generator) attentionBlock(queries, values int) {
	q, v, _ := g.attentionCounts()
	g.need("quotient")
	g.line("const idx q_tiles = quotient(%s + %d, %d), v_tiles = quotient(%s + %d, %d);", q, queries-1, queries, v, values-1, values)
	g.line("const idx tile = (idx)blockIdx.x;")
	g.line("const idx v_base = modulo(tile, v_tiles) * %d;", values)
	g.line("const idx q_base = modulo(quotient(tile, v_tiles), q_tiles) * %d;", queries)
	g.line("const idx batch = quotient(quotient(tile, v_tiles), q_tiles);")
	g.coordinates(batchLoop, "batch")
	for i, name := range []string{"q", "k", "v", "mask"} {
		if i < maskAccess || g.k.Attention.HasMask {
			g.line("const idx %s_at = %s;", name, g.at(i, batchLoop))
		}
	}
	t := g.k.Body[0].Type
	scale := ""
	if g.k.Attention.ScaleRead {
		access := maskAccess
		if g.k.Attention.HasMask {
			access++
		}
		scale = g.element(access, g.at(access))
	} else {
		scale = g.param(0)
	}
	g.line("const %s scale = %s;", ctype(t), scale)
	if g.k.Attention.Causal {
		g.line("// key j is seen by query i where j <= i + reach; an offset beyond any sequence is cut")
		g.line("const long long reach = %[1]s < -%[2]d ? -%[2]d : %[1]s > %[2]d ? %[2]d : %[1]s;", g.param(1), int64(farOffset))
	}
}

// farOffset is a causal offset beyond any sequence.
const farOffset = 1 << 40

// element returns the value of the element of an access at a place.
func (g *generator) element(access int, place string) string {
	b := g.k.Accesses[access].Buffer
	return g.using(loadExpr(g.k.Buffers[b].DType, fmt.Sprintf("%s[%s]", g.buffer(b), place)))
}

// within returns what coordinates along loops, given by expressions, add to the
// place of an access.
func (g *generator) within(access int, at map[int]string) string {
	g.coord = map[[2]int]string{}
	defer func() { g.coord = nil }()
	for loop, expr := range at {
		g.coord[[2]int{loop, 0}] = expr
	}
	return sum(g.moves(access, slices.Sorted(maps.Keys(at))...))
}

// visible declares, for a query, how many keys of the block it may see.
func (g *generator) visible(query string) {
	queries, _, keys := g.attentionCounts()
	if g.k.Attention.HasMask || g.k.Attention.Causal {
		g.line("const idx query = %s;", query)
	}
	g.line("int visible = %s - k_base < %d ? (int)(%s - k_base) : %d;", keys, keyBlock, keys, keyBlock)
	if g.k.Attention.Causal {
		g.line("const long long reached = (long long)query + reach - k_base + 1;")
		g.line("if (reached < visible) visible = reached < 0 ? 0 : (int)reached;")
	}
	if g.k.Attention.HasMask {
		g.line("if (query >= %s) visible = 0;  // there is no mask", queries)
	}
}

// maskRow declares where the mask of the query begins for the keys of the block.
func (g *generator) maskRow() {
	b := g.k.Accesses[maskAccess].Buffer
	g.line("const %s* const mask_row = %s + mask_at + (%s);", rawtype(g.k.Buffers[b].DType), g.buffer(b),
		g.within(maskAccess, map[int]string{queryLoop: "query", keyLoop: "k_base"}))
}

// seen returns the condition that the query sees a key of the block.
func (g *generator) seen(key string) string {
	if g.k.Attention.BoolMask {
		return key + " < visible && " + g.mask(key)
	}
	return key + " < visible"
}

// mask returns the element of the mask of the query for a key of the block.
func (g *generator) mask(key string) string {
	dt := g.k.Buffers[g.k.Accesses[maskAccess].Buffer].DType
	return g.using(loadExpr(dt, fmt.Sprintf("mask_row[%s]", g.within(maskAccess, map[int]string{keyLoop: key}))))
}

// keysEnd declares where the keys end that some of so many queries see.
func (g *generator) keysEnd(queries int) {
	q, _, keys := g.attentionCounts()
	g.line("idx k_end = %s;", keys)
	if g.k.Attention.Causal {
		g.line("const long long seen_end = (q_base + %d < %s ? q_base + %d : %s) + reach;", queries, q, queries, q)
		g.line("if (seen_end < k_end) k_end = seen_end < 0 ? 0 : (idx)seen_end;  // no query sees later keys")
	}
}

// eachKeyBlock opens the loop over the blocks of keys.
func (g *generator) eachKeyBlock() {
	g.line("#pragma unroll 1")
	g.open("for (idx k_base = 0; k_base < k_end; k_base += %d)", keyBlock)
}

// eachResult writes the loop of a thread over its share of the results of a block
// of threads, neighbours along the values: the sum of weighted values divided by
// that of the weights, both in shared memory, the rest of the body and the stores.
func (g *generator) eachResult(lines, columns, threads int, sum func(line, column string) string, weights func(line string) string) {
	queries, values, _ := g.attentionCounts()
	g.line("__syncthreads();")
	g.line("#pragma unroll 1")
	g.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", lines*columns, threads)
	g.line("const int line = e / %d;", columns)
	g.line("const idx query = q_base + line, column = v_base + e %% %d;", columns)
	g.line("if (query >= %s || column >= %s) continue;", queries, values)
	t := ctype(g.k.Body[0].Type)
	g.line("const %s sum = %s, divisor = %s;", t, sum("line", fmt.Sprintf("e %% %d", columns)), weights("line"))
	g.coord = map[[2]int]string{{queryLoop, 0}: "query", {valueLoop, 0}: "column"}
	g.define(0, "divisor != 0 ? sum / divisor : 0") // of scores that are all -inf, whatever the values are
	var stored []codegen.Value
	for i := range g.k.Stores {
		stored = append(stored, g.k.Stores[i].Value)
	}
	p := &point{loops: []int{batchLoop, queryLoop, valueLoop}}
	g.program(g.needed(func(v int) bool { return v == 0 }, stored...), p)
	for i := range g.k.Stores {
		g.store(&g.k.Stores[i], p)
	}
	g.coord = nil
	g.close("")
}

// additive reports whether a mask is added to the scores.
func (g *generator) additive() bool { return g.k.Attention.HasMask && !g.k.Attention.BoolMask }

// hides reports whether keys may be hidden one by one.
func (g *generator) hides() bool { return g.k.Attention.BoolMask || g.k.Attention.Causal }

// apply returns a scalar function of the type of the attention.
func (g *generator) apply(fn ir.ScalarOp, args ...string) string {
	return g.using(applyExpr(fn, g.k.Body[0].Type, args))
}
