package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Threads of an attention lie in a square of 16 lanes: thread (ty, tx) has the
// queries ty, ty+16, … and the keys, and then the value columns, tx, tx+16, ….
const (
	simtLanes   = 16
	simtThreads = simtLanes * simtLanes
	simtKeys    = keyBlock / simtLanes // of a thread
	simtValues  = simtKeys * simtLanes // value columns of a block of threads
	simtDims    = 16                   // dims, and keys of values, that are staged at once
	stagePad    = 2                    // 16 lanes along dims and 2 along lines meet 32 banks
	weightPad   = 16                   // lanes of two queries meet 32 banks
)

// simtAttentions returns the variants of AttentionFMA: how many queries a thread
// has.
func simtAttentions(b *binding) []*Variant {
	few := &Variant{Kind: "attention-simt", Vector: 1, Tile: []int{1}}
	many := &Variant{Kind: "attention-simt", Vector: 1, Tile: []int{4}}
	if b.k.Body[0].Type == ir.F64 {
		many.Tile = []int{2}
	}
	if b.loops[queryLoop].n <= simtLanes {
		return []*Variant{few, many}
	}
	return []*Variant{many, few}
}

// simtAttention writes the entry of AttentionFMA.
func (g *generator) simtAttention() {
	rows := g.v.Tile[0]
	queries := rows * simtLanes
	shape := func(b *binding) (int, int, int) {
		return attentionBlocks(b, queries, simtValues), simtThreads, 0
	}
	t := ctype(g.k.Body[0].Type)
	g.entry(g.title(g.v.Kind), simtThreads, shape, func() {
		g.resident = 2
		g.attentionBlock(queries, simtValues)
		g.line("const int tx = (int)threadIdx.x %% %d, ty = (int)threadIdx.x / %d;", simtLanes, simtLanes)
		g.line("__shared__ %s stage_q[%d][%d], stage_k[%d][%d];  // some dims of the queries and of a block of keys", t,
			simtDims, queries+stagePad, simtDims, keyBlock+stagePad)
		g.line("__shared__ %s stage_v[%d][%d];  // values of some keys", t, simtDims, simtValues+stagePad)
		g.line("__shared__ %s weight[%d][%d];  // score, then weight, of each query and key of the block; at the end the results", t, queries, keyBlock+weightPad)
		g.line("__shared__ %s most[%d], weights[%d], fade[%d];  // of each query: maximum, sum of weights, what earlier ones fade by", t, queries, queries, queries)
		g.line("%s result[%d][%d] = {};  // weighted values", t, rows, simtKeys)
		g.open("if (threadIdx.x < %d)", queries)
		g.line("most[threadIdx.x] = %s;", literal(g.k.Body[0].Type, minusInf(g.k.Body[0].Type)))
		g.line("weights[threadIdx.x] = 0;")
		g.close("")
		g.line("__syncthreads();")
		g.keysEnd(queries)
		g.eachKeyBlock()
		g.simtScores(rows)
		g.simtWeights(rows)
		g.simtWeighted(rows)
		g.close("")
		g.simtResults(rows)
	})
}

// minusInf returns the bits of -inf.
func minusInf(t ir.DType) uint64 {
	if t == ir.F64 {
		return 0xfff0000000000000
	}
	return 0xff800000
}

// each opens an unrolled loop.
func (g *generator) each(i string, n int) {
	g.line("#pragma unroll")
	g.open("for (int %s = 0; %s < %d; %s++)", i, i, n, i)
}

// some opens a loop that is unrolled in part, since whole it would take long to
// compile.
func (g *generator) some(i string, n int) {
	g.line("#pragma unroll 4")
	g.open("for (int %s = 0; %s < %d; %s++)", i, i, n, i)
}

// stage copies lines × dims elements of an access to shared memory, 0 beyond the
// ends: neighbouring threads read along the loop in which elements are
// neighbours.
func (g *generator) stage(to string, access, lines int, lineLoop int, lineBase, lineEnd string, dims, dimsLoop int, dimBase, dimEnd, at string, dimFirst bool) {
	g.line("#pragma unroll 1")
	g.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", lines*dims, simtThreads)
	if g.unit(access, lineLoop) && !g.unit(access, dimsLoop) {
		g.line("const int line = e %% %d, dim = e / %d;", lines, lines)
	} else {
		g.line("const int line = e / %d, dim = e %% %d;", dims, dims)
	}
	place := at + " + " + g.within(access, map[int]string{lineLoop: fmt.Sprintf("(%s + line)", lineBase), dimsLoop: fmt.Sprintf("(%s + dim)", dimBase)})
	index := "[dim][line]"
	if !dimFirst {
		index = "[line][dim]"
	}
	g.line("%s%s = %s + line < %s && %s + dim < %s ? %s : 0;", to, index, lineBase, lineEnd, dimBase, dimEnd, g.element(access, place))
	g.close("")
}

// unit reports whether the elements of an access are neighbours along a loop.
func (g *generator) unit(access, loop int) bool {
	s := g.v.loops[loop].strides[access]
	return len(s) == 1 && s[0] == strideOne
}

// simtScores writes the scores of a block of keys: score[i][j] of query i and key
// j of the thread.
func (g *generator) simtScores(rows int) {
	t := ctype(g.k.Body[0].Type)
	queries, _, keys := g.attentionCounts()
	dims := g.count("dims", func(b *binding) int { return b.loops[dimLoop].n })
	g.line("// scores: sums of %d products are added in order", codegen.KBlock)
	g.line("%s score[%d][%d] = {}, part[%d][%d] = {};", t, rows, simtKeys, rows, simtKeys)
	g.line("#pragma unroll 1")
	g.open("for (idx d_base = 0; d_base < %s; d_base += %d)", dims, simtDims)
	g.stage("stage_q", queryAccess, rows*simtLanes, queryLoop, "q_base", queries, simtDims, dimLoop, "d_base", dims, "q_at", true)
	g.stage("stage_k", keyAccess, keyBlock, keyLoop, "k_base", keys, simtDims, dimLoop, "d_base", dims, "k_at", true)
	g.line("__syncthreads();")
	g.some("d", simtDims)
	g.each("i", rows)
	g.each("j", simtKeys)
	g.line("part[i][j] = %s;", g.apply(ir.SMulAdd, fmt.Sprintf("stage_q[d][ty + %d * i]", simtLanes), fmt.Sprintf("stage_k[d][tx + %d * j]", simtLanes), "part[i][j]"))
	g.close("")
	g.close("")
	g.close("")
	g.line("__syncthreads();")
	g.open("if ((d_base + %d) %% %d == 0 || d_base + %d >= %s)", simtDims, codegen.KBlock, simtDims, dims)
	g.each("i", rows)
	g.each("j", simtKeys)
	g.line("score[i][j] += part[i][j];")
	g.line("part[i][j] = 0;")
	g.close("")
	g.close("")
	g.close("")
	g.close("")
}

// simtWeights writes the softmax of a block of keys: the new maximum of each
// query, which fades its sum and result, and the weights of the keys.
func (g *generator) simtWeights(rows int) {
	t := g.k.Body[0].Type
	least := literal(t, minusInf(t))
	g.line("// weights: exp(score - maximum), -0 for a key that is not seen")
	g.each("i", rows)
	g.each("j", simtKeys)
	g.line("weight[ty + %d * i][tx + %d * j] = score[i][j] * scale;", simtLanes, simtLanes)
	g.close("")
	g.close("")
	g.line("#pragma unroll 1")
	g.open("for (int line = ty; line < %d; line += %d)", rows*simtLanes, simtLanes)
	g.visible("q_base + line")
	if g.k.Attention.HasMask {
		g.maskRow()
	}
	g.line("const %s before = most[line];", ctype(t))
	g.line("%s now = %s;", ctype(t), least)
	g.line("bool seen[%d];", simtKeys)
	g.each("j", simtKeys)
	g.line("const int key = tx + %d * j;", simtLanes)
	g.line("seen[j] = %s;", g.seen("key"))
	if g.additive() {
		g.line("if (seen[j]) weight[line][key] = weight[line][key] + %s;", g.mask("key"))
	}
	g.line("if (seen[j]) now = %s;", g.apply(ir.SMaximum, "now", "weight[line][key]"))
	g.close("")
	g.acrossLanes("now", func(other string) string { return g.apply(ir.SMaximum, "now", other) })
	g.line("now = %s;", g.apply(ir.SMaximum, "before", "now"))
	g.line("%s total = 0;", ctype(t))
	g.each("j", simtKeys)
	g.line("%s& w = weight[line][tx + %d * j];", ctype(t), simtLanes)
	g.line("w = seen[j] && now != %s ? %s : -0.0f;", least, g.apply(ir.SExp, "w - now"))
	g.line("total = total + w;")
	g.close("")
	g.acrossLanes("total", func(other string) string { return "total + " + other })
	g.open("if (tx == 0)")
	g.line("const %s faded = now == before ? 1 : %s;", ctype(t), g.apply(ir.SExp, "before - now"))
	g.line("weights[line] = weights[line] * faded + total;")
	g.line("fade[line] = faded;")
	g.line("most[line] = now;")
	g.close("")
	g.close("")
	g.line("__syncthreads();")
	g.each("i", rows)
	g.each("j", simtKeys)
	g.line("result[i][j] = result[i][j] * fade[ty + %d * i];", simtLanes)
	g.close("")
	g.close("")
}

// acrossLanes joins a value of the 16 lanes of a query by a binary tree.
func (g *generator) acrossLanes(name string, join func(other string) string) {
	g.line("#pragma unroll")
	g.open("for (int lane = %d; lane > 0; lane /= 2)", simtLanes/2)
	g.line("%s = %s;", name, join(fmt.Sprintf("__shfl_xor_sync(0xffffffffu, %s, lane)", name)))
	g.close("")
}

// simtWeighted adds the values of a block of keys, weighted, to the results.
func (g *generator) simtWeighted(rows int) {
	t := ctype(g.k.Body[0].Type)
	_, values, keys := g.attentionCounts()
	g.line("// values, weighted, in the order of the keys")
	g.line("#pragma unroll 1")
	g.open("for (int first = 0; first < %d && k_base + first < %s; first += %d)", keyBlock, keys, simtDims)
	g.stage("stage_v", valueAccess, simtDims, keyLoop, "k_base + first", keys, simtValues, valueLoop, "v_base", values, "v_at", false)
	g.line("__syncthreads();")
	g.some("k", simtDims)
	g.each("i", rows)
	g.line("const %s w = weight[ty + %d * i][first + k];", t, simtLanes)
	if g.hides() {
		g.line("if (%s) continue;  // not seen: its value does not matter", g.hidden("w"))
	}
	g.each("j", simtKeys)
	g.line("result[i][j] = %s;", g.apply(ir.SMulAdd, "w", fmt.Sprintf("stage_v[k][tx + %d * j]", simtLanes), "result[i][j]"))
	g.close("")
	g.close("")
	g.close("")
	g.line("__syncthreads();")
	g.close("")
}

// hidden returns the condition that a weight is that of a key not seen.
func (g *generator) hidden(w string) string {
	if g.k.Body[0].Type == ir.F64 {
		return fmt.Sprintf("__double_as_longlong(%s) == __double_as_longlong(-0.0)", w)
	}
	return fmt.Sprintf("__float_as_int(%s) == __float_as_int(-0.0f)", w)
}

// simtResults writes the sums to shared memory, and what is made of them.
func (g *generator) simtResults(rows int) {
	g.each("i", rows)
	g.each("j", simtKeys)
	g.line("weight[ty + %d * i][tx + %d * j] = result[i][j];", simtLanes, simtLanes)
	g.close("")
	g.close("")
	g.eachResult(rows*simtLanes, simtValues, simtThreads,
		func(line, column string) string { return fmt.Sprintf("weight[%s][%s]", line, column) },
		func(line string) string { return fmt.Sprintf("weights[%s]", line) })
}
