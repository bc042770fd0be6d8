package cudac

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// The loops of a contraction: the outer axes by where the operands do not move,
// and the contracted axis.
const (
	loopBatch = iota
	loopM     // the right operand does not move
	loopN     // the left operand does not move
	loopK
)

// contractTemplate multiplies matrices, as many as the batch loop has points.
//
// Thread blocks take tiles of a product. Panels of both operands, a few elements
// of k long, flow through shared memory in several stages; an operand is copied
// there asynchronously where its layout allows, else element by element, which
// is also where a prologue is computed. What a tile's sums become, the rest of
// the body makes of them when they are complete; a tile whose k is split writes
// the sum of each block of k to scratch memory, and a second entry joins them.
type contractTemplate struct{}

func (contractTemplate) loops(b *binding) {
	_, sides := sidesOf(b.k)
	outer := b.k.Outer
	n := b.still(&sides[0], outer)
	m := b.still(&sides[1], n)
	b.lay("z", axes(0, m))
	b.lay("m", axes(m, n))
	b.lay("n", axes(n, outer))
	b.lay("k", axes(outer, outer+1))
}

// still returns the first of the axes before end along which an operand does not
// move.
func (b *binding) still(s *side, end int) int {
	for end > 0 && (b.l.Dims[end-1] == 1 || !s.moves(b, end-1)) {
		end--
	}
	return end
}

// contractKind is a variant's kind, taken apart. Its text is base-left-right, with
// what is done with blocks of k.
type contractKind struct {
	base   string // one of those below
	read   [2]loadMode
	blocks string // one of those below
}

func (c contractKind) String() string {
	if c.base == plainKind {
		return c.base
	}
	return strings.TrimSuffix(fmt.Sprintf("%s-%v-%v-%s", c.base, c.read[0], c.read[1], c.blocks), "-")
}

const (
	tensorKind = "mma"       // tensor cores
	groupKind  = "wgmma"     // tensor cores, driven by groups of warps
	mapKind    = "wgmma_tma" // the same, panels copied by tensor maps
	simtKind   = "simt"      // a register tile for each thread
	plainKind  = "plain"     // a result for each thread
)

// What a thread block does with blocks of k.
const (
	addBlocks   = ""      // it adds their sums
	shareBlocks = "split" // it has some of them, and their sums are added later
	oneBlock    = "one"   // there is but one, so that no second sum is kept
)

func parseContractKind(kind string) contractKind {
	words := strings.Split(kind, "-")
	c := contractKind{base: words[0]}
	for i := range c.read {
		if i+1 < len(words) {
			c.read[i] = loadMode(slices.Index(loadModes[:], words[i+1]))
		}
	}
	if len(words) > 3 {
		c.blocks = words[3]
	}
	return c
}

// blockLength returns Class.KBlock of the classes that a kind is of.
func (c contractKind) blockLength() int {
	switch c.base {
	case tensorKind, groupKind, mapKind:
		return tensorBlock
	}
	return codegen.KBlock
}

func (contractTemplate) variants(b *binding, t Target) []*Variant {
	_, sides := sidesOf(b.k)
	c := ClassOf(b.k, b.loops[loopK].n, t)
	var fast [2]loadMode
	for i := range sides {
		fast[i] = sides[i].best(b, c)
	}
	var list []tiledContraction
	if read, ok := mapModes(b, c, &sides); ok {
		list = tiledContractions(b, c, t, mapKind, read) // before those of the same cost
	}
	list = append(list, tiledContractions(b, c, t, shapeKind(c), fast)...)
	slices.SortStableFunc(list, func(x, y tiledContraction) int { return cmp.Compare(x.cost, y.cost) })
	var out []*Variant
	kept := map[string]int{} // of each kind
	for _, x := range list {
		base := parseContractKind(x.Kind).base
		if kept[base] < maxContractVariants && x.cost <= hopeless*list[0].cost {
			kept[base]++
			out = append(out, x.Variant)
		}
	}
	last := lastContract(c, &sides)
	out = slices.DeleteFunc(out, func(v *Variant) bool { return v.Key() == last.Key() })
	return append(out, last)
}

// tiledContraction is a variant in tiles, with the time it seems to take.
type tiledContraction struct {
	*Variant
	cost float64
}

// tiledContractions returns the variants of a kind, of every tile, that read the
// operands in the given modes.
func tiledContractions(b *binding, c Class, t Target, base string, read [2]loadMode) []tiledContraction {
	_, sides := sidesOf(b.k)
	width := epilogueWidth(b, c)
	var list []tiledContraction
	for _, s := range shapesOf(c, &sides) {
		for _, blocks := range []string{addBlocks, shareBlocks, oneBlock} {
			split := blocks == shareBlocks
			if !split && (c.Split == 1) != (blocks == oneBlock) {
				continue
			}
			w := s.share(b, c, t, split)
			kind := contractKind{base, read, blocks}
			if split && w.parts == 1 || w.blocks() > math.MaxInt32 || s.bytes(c, &sides, split)+kind.barrierBytes(s) > t.Shared {
				continue
			}
			v := &Variant{Kind: kind.String(), Vector: width, Tile: s.sizes()}
			if split {
				v.Vector = 1
			}
			list = append(list, tiledContraction{v, s.cost(b, c, &sides, t, w)})
		}
	}
	return list
}

// maxContractVariants is how many tiles of a kind are offered beside the last
// candidate.
const maxContractVariants = 4

// hopeless is how many times slower than the best a tile may seem to be tried.
const hopeless = 3

// shapeKind returns the kind of tiles of a numeric class.
func shapeKind(c Class) string {
	switch {
	case c.Instruction == TensorGroup:
		return groupKind
	case c.Instruction.tensor():
		return tensorKind
	}
	return simtKind
}

// lastContract returns the candidate that is always valid: on tensor cores the
// smallest square tile whose operands are read element by element, else a
// thread for each result.
func lastContract(c Class, sides *[2]side) *Variant {
	if !c.Instruction.tensor() {
		return &Variant{Kind: plainKind, Vector: 1}
	}
	return &Variant{Kind: contractKind{base: shapeKind(c)}.String(), Vector: 1, Tile: lastTensorShape(c, sides).sizes()}
}

func (contractTemplate) check(b *binding, v *Variant) string {
	kind := parseContractKind(v.Kind)
	if kind.base == plainKind {
		return ""
	}
	_, sides := sidesOf(b.k)
	for i, mode := range kind.read {
		rule := ""
		if kind.base == mapKind {
			_, rule = sides[i].tensorMap(b, mode, v.Tile[i])
		} else {
			rule = sides[i].rule(b, mode)
		}
		if rule != "" {
			return fmt.Sprintf("%s operand: %s", sides[i].name, rule)
		}
	}
	if v.Vector > 1 && b.results() > 0 && !epilogue(b.k, v.Vector).fits(b) {
		return fmt.Sprintf("lengths or places of results do not divide by %d", v.Vector)
	}
	if k, block := b.loops[loopK].n, kind.blockLength(); kind.blocks == oneBlock && k > block {
		return fmt.Sprintf("%d of k are more than a block of %d", k, block)
	}
	if tiles := tilesOf(b, v.Tile[0], v.Tile[1]); tiles > math.MaxInt32 {
		return fmt.Sprintf("%d tiles are more than a grid has blocks", tiles)
	}
	return ""
}

func (contractTemplate) write(g *generator) {
	at, sides := sidesOf(g.k)
	c := &contraction{generator: g, op: at, sides: sides, kind: parseContractKind(g.v.Kind)}
	c.class = ClassOf(g.k, 1, g.t)
	if c.kind.base == plainKind {
		c.plain()
		return
	}
	c.shape = shapeOf(c.class, &c.sides, g.v.Tile)
	c.tiles()
	if c.split() {
		c.join()
	}
}

// contraction writes a contraction.
type contraction struct {
	*generator
	op    int // the OpContract
	class Class
	sides [2]side
	kind  contractKind
	shape tileShape
}

// split reports whether blocks of k are shared out.
func (c *contraction) split() bool { return c.kind.blocks == shareBlocks }

// epilogue is the span of results that a thread completes together.
func epilogue(k *codegen.Kernel, width int) *span {
	s := &span{width: width, loops: []int{loopBatch, loopM, loopN}, along: loopN, uses: make([]bool, len(k.Accesses))}
	for i := range k.Body {
		if in := &k.Body[i]; in.Op == codegen.OpLoad && in.Level < codegen.Left {
			s.uses[in.Access] = true
		}
	}
	for i := range k.Stores {
		s.uses[k.Stores[i].Access] = true
	}
	return s
}

// epilogueWidth returns how many results a thread completes together.
func epilogueWidth(b *binding, c Class) int {
	s := epilogue(b.k, 1)
	for s.width = min(s.widest(b), vectorBytes/c.Accumulator.Size()); s.width > 1 && !s.fits(b); {
		s.width /= 2
	}
	return s.width
}

// values writes what the stores of a result need, whose sum is the expression
// given: the rest of the body.
func (c *contraction) values(sum string, p *point) {
	if in := &c.k.Body[c.op]; in.Type.IsInt() {
		sum = fmt.Sprintf("(%s)%s", ctype(in.Type), sum)
	}
	c.define(c.op, sum)
	c.program(c.needed(func(v int) bool { return v == c.op }, c.stored()...), p)
}

// result writes what becomes of a result, at the point of the outer loops in
// scope.
func (c *contraction) result(sum string) {
	p := &point{loops: []int{loopBatch, loopM, loopN}}
	c.values(sum, p)
	for i := range c.k.Stores {
		c.store(&c.k.Stores[i], p)
	}
}

// accumulator returns the C++ type of sums.
func (c *contraction) accumulator() string { return ctype(c.class.Accumulator) }

// multiplyAdd returns sum + a·b.
func (c *contraction) multiplyAdd(a, b, sum string) string {
	switch c.class.Accumulator {
	case ir.F32:
		return fmt.Sprintf("__fmaf_rn(%s, %s, %s)", a, b, sum)
	case ir.F64:
		return fmt.Sprintf("__fma_rn(%s, %s, %s)", a, b, sum)
	}
	return fmt.Sprintf("%s + %s * %s", sum, a, b)
}

// length asks for the length of a loop.
func (c *contraction) length(loop int) string {
	return c.count(c.l.loops[loop].name+"_n", func(b *binding) int { return b.loops[loop].n })
}
