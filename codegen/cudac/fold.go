package cudac

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// fold is a reduction of a kernel. Its elements are joined in the order of
// codegen.Lanes: lane j of a block of codegen.BlockElems adds elements j, j+32, …
// one after another, the lanes of a block are joined by a tree, blocks pairwise.
// Operations whose order does not matter take the same way.
type fold struct {
	v  codegen.Value // the OpReduce
	in *codegen.Instr
	t  ir.DType // the register type of its elements
}

func newFold(k *codegen.Kernel, v codegen.Value) fold {
	in := &k.Body[v]
	return fold{v, in, k.Body[in.Args[0]].Type}
}

// record is where what was joined so far lies, as C++: a value and, for the
// position of the greatest or least, the position. A row without elements has
// position n, its length.
type record struct{ value, at string }

func (f fold) positions() bool {
	return f.in.Reduce == codegen.RArgMax || f.in.Reduce == codegen.RArgMin
}

// identity is the value that stands for no elements.
func (f fold) identity() string { return literal(f.t, identity(f.in.Reduce, f.t)) }

// identity returns what leaves elements of register type t as they are when it is
// joined to them, in the form of ir.Scalar.
func identity(op codegen.ReduceOp, t ir.DType) uint64 {
	least, greatest := t.Limits()
	low, high, one := uint64(least), greatest, uint64(1)
	switch t {
	case ir.F64:
		low, high, one = math.Float64bits(math.Inf(-1)), math.Float64bits(math.Inf(1)), math.Float64bits(1)
	case ir.F32:
		low, high, one = uint64(math.Float32bits(float32(math.Inf(-1)))), uint64(math.Float32bits(float32(math.Inf(1)))), uint64(math.Float32bits(1))
	case ir.Bool:
		low, high = 0, 1
	}
	switch op {
	case codegen.RProd, codegen.RAll:
		return one
	case codegen.RMax, codegen.RArgMax:
		return low
	case codegen.RMin, codegen.RArgMin:
		return high
	}
	return 0
}

// joins are the functions that reductions to a value apply.
var joins = map[codegen.ReduceOp]ir.ScalarOp{
	codegen.RSum: ir.SAdd, codegen.RProd: ir.SMul, codegen.RMax: ir.SMaximum, codegen.RMin: ir.SMinimum,
	codegen.RAny: ir.SOr, codegen.RAll: ir.SAnd,
}

// foldFuncs are the device functions of reductions.
var foldFuncs = []deviceFunc{
	{name: "shuffle", text: `// the value of the lane whose number differs in the bits of a mask, or is so much greater, or,
// among width neighbouring lanes, is so much less or is the given one
template <class T> __device__ __forceinline__ T shuffle_xor(T x, int mask) { return (T)__shfl_xor_sync(0xffffffffu, x, mask); }
template <class T> __device__ __forceinline__ T shuffle_down(T x, int by) { return (T)__shfl_down_sync(0xffffffffu, x, by); }
template <class T> __device__ __forceinline__ T shuffle_up(T x, int by, int width) { return (T)__shfl_up_sync(0xffffffffu, x, by, width); }
template <class T> __device__ __forceinline__ T shuffle_from(T x, int lane, int width) { return (T)__shfl_sync(0xffffffffu, x, lane, width); }
`},
	{name: "take_greater", text: takeText("greater", "greatest", ">")},
	{name: "take_less", text: takeText("less", "least", "<")},
}

func takeText(name, most, relation string) string {
	return fmt.Sprintf(`// joins an element and its position to the %s so far: the first NaN wins, else the first among equals
template <class T> __device__ __forceinline__ void take_%s(T& best, idx& at, T x, idx i)
{
    const bool nan = x != x, best_nan = best != best, before = i < at;
    if (nan ? !best_nan || before : !best_nan && (x %s best || (x == best && before))) {
        best = x;
        at = i;
    }
}
`, most, name, relation)
}

// local is the record of a fold in variables of a thread.
func (g *generator) local(f fold) record {
	r := record{value: g.name(f.v) + "_acc"}
	if f.positions() {
		r.at = r.value + "_at"
	}
	return r
}

// foldBegin declares the variables of a fold, empty.
func (g *generator) foldBegin(f fold) {
	r := g.local(f)
	g.line("%s %s = %s;", ctype(f.t), r.value, f.identity())
	if f.positions() {
		g.line("idx %s = %s;", r.at, g.length())
	}
}

// foldJoin joins what lies at src to dst.
func (g *generator) foldJoin(f fold, dst, src record) {
	if !f.positions() {
		g.line("%s = %s;", dst.value, g.using(applyExpr(joins[f.in.Reduce], f.t, []string{dst.value, src.value})))
		return
	}
	take := "take_greater"
	if f.in.Reduce == codegen.RArgMin {
		take = "take_less"
	}
	g.need(take)
	g.line("%s(%s, %s, %s, %s);", take, dst.value, dst.at, src.value, src.at)
}

// foldTree joins the lanes' variables of width neighbouring threads; afterwards
// each of them has the result. Joining is commutative, so that the two lanes of a
// pair get the same.
func (g *generator) foldTree(folds []fold, width int) {
	if width == 1 || len(folds) == 0 {
		return
	}
	g.need("shuffle")
	g.line("#pragma unroll")
	g.open("for (int apart = %d; apart > 0; apart /= 2)", width/2)
	for _, f := range folds {
		g.foldFrom(f, "shuffle_xor(%s, apart)")
	}
	g.close("")
}

// foldFrom joins another lane's variables, which the shuffle gives. They have
// names of their own: joining may look at them twice, or not in every lane, and
// all lanes shuffle once.
func (g *generator) foldFrom(f fold, shuffle string) {
	r := g.local(f)
	other := record{value: r.value + "_other"}
	g.line("const %s %s = %s;", ctype(f.t), other.value, fmt.Sprintf(shuffle, r.value))
	if f.positions() {
		other.at = r.at + "_other"
		g.line("const idx %s = %s;", other.at, fmt.Sprintf(shuffle, r.at))
	}
	g.foldJoin(f, r, other)
}

// foldResult declares the result of a fold, which lies at r.
func (g *generator) foldResult(f fold, r record) {
	from := r.value
	if f.positions() {
		from = "(long long)" + r.at
	}
	g.define(int(f.v), from)
}

// length asks for the number of elements of a row.
func (g *generator) length() string {
	return g.count("n", func(b *binding) int { return b.loops[innerLoop].n })
}

// blocksOf returns how many blocks of a sum n elements are.
func blocksOf(n int) int { return (n + codegen.BlockElems - 1) / codegen.BlockElems }

// recordsOf returns how many records the tree over blocks has: one for each block,
// then one for each 32 of the level before, down to one.
func recordsOf(n int) int {
	width := blocksOf(n)
	total := width
	for width > 1 {
		width = (width + codegen.Lanes - 1) / codegen.Lanes
		total += width
	}
	return total
}

// joinBlocks joins the records of a row's blocks, pairwise, neighbours first, an
// odd last one moving up: warps, of which this is the one numbered warp, take 32 at
// a time and write what they join behind them. records returns where record i of a
// fold lies. sync makes records that a warp wrote visible to the others.
func (g *generator) joinBlocks(folds []fold, records func(f fold, i string) record, warp string, warps int, sync string) {
	g.need("shuffle")
	blocks := g.count("blocks", func(b *binding) int { return blocksOf(b.loops[innerLoop].n) })
	g.line("// the blocks' results are joined pairwise, neighbours first, 32 by a warp, level by level")
	g.open("for (idx width = %s, level = 0; width > 1;)", blocks)
	g.open("for (idx group = %s; group * 32 < width; group += %d)", warp, warps)
	g.line("const idx j = group * 32 + lane;")
	for _, f := range folds {
		g.foldBegin(f)
	}
	g.open("if (j < width)")
	for _, f := range folds {
		g.move(f, g.local(f), records(f, "level + j"))
	}
	g.close("")
	g.line("#pragma unroll 1")
	g.open("for (int apart = 1; apart < 32; apart *= 2)")
	for _, f := range folds {
		r := g.local(f)
		other := record{value: r.value + "_next"}
		g.line("const %s %s = shuffle_down(%s, apart);", ctype(f.t), other.value, r.value)
		if f.positions() {
			other.at = r.at + "_next"
			g.line("const idx %s = shuffle_down(%s, apart);", other.at, r.at)
		}
		g.open("if (j + apart < width)")
		g.foldJoin(f, r, other)
		g.close("")
	}
	g.close("")
	g.open("if (lane == 0)")
	for _, f := range folds {
		g.move(f, records(f, "level + width + group"), g.local(f))
	}
	g.close("")
	g.close("")
	g.line("%s", sync)
	g.line("level += width;")
	g.line("width = (width + 31) / 32;")
	g.close("")
}

// move copies a record.
func (g *generator) move(f fold, dst, src record) {
	g.line("%s = %s;", dst.value, src.value)
	if f.positions() {
		g.line("%s = %s;", dst.at, src.at)
	}
}
