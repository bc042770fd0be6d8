package cudac

import (
	"fmt"
	"strings"
)

// tiles writes the entry whose thread blocks compute tiles.
func (c *contraction) tiles() {
	shape := func(b *binding) (blocks, threads, shared int) {
		return c.share(b).blocks(), c.shape.threads(), c.barriersAt() + c.kind.barrierBytes(c.shape)
	}
	c.entry(c.title(c.v.Kind), c.shape.threads(), shape, func() {
		if c.shape.threads() < mapThreads || !c.class.Instruction.tensor() {
			c.resident = 1 // more blocks at once are not worth spilled registers
		}
		c.place()
		c.declareSums()
		c.pipeline()
		if !c.split() {
			c.finish(c.total(), c.complete)
		}
	})
}

// share returns how the tiles of a launch are shared out.
func (c *contraction) share(b *binding) work {
	return c.shape.share(b, ClassOf(b.k, b.loops[loopK].n, c.t), c.t, c.split())
}

// place finds the tile of a block: z_at of the batch, lines from m_tile and n_tile
// on.
func (c *contraction) place() {
	s := &c.shape
	c.need("quotient")
	for _, loop := range []int{loopM, loopN, loopK} {
		if loop != loopK || c.kind.base != mapKind { // whose maps know where k ends
			c.length(loop)
		}
	}
	tiles := func(name string, loop, size int) string {
		return c.count(name, func(b *binding) int { return (b.loops[loop].n + size - 1) / size })
	}
	tilesM, tilesN := tiles("m_tiles", loopM, s.m), tiles("n_tiles", loopN, s.n)
	c.line("extern __shared__ __align__(1024) unsigned char shared[];")
	c.line("const unsigned int panels = (unsigned int)__cvta_generic_to_shared(shared);")
	c.line("const int lane = (int)(threadIdx.x %% 32), warp = (int)(threadIdx.x / 32);")
	c.line("const int warp_m = warp / %d, warp_n = warp %% %d;", s.warpsN, s.warpsN)
	c.line("")
	c.line("// The tile of this block, %d by %d in panels of %d along k. Eight rows of tiles go together,", s.m, s.n, s.k)
	c.line("// so that their operands are met again in the cache.")
	number := "(idx)blockIdx.x"
	if c.split() {
		parts := c.count("parts", func(b *binding) int { return c.share(b).parts })
		c.line("const idx part = modulo(%s, %s);", number, parts)
		number = fmt.Sprintf("quotient(%s, %s)", number, parts)
	}
	c.line("const idx tile = %s;", number)
	c.line("const idx z_at = quotient(tile, %s * %s);", tilesM, tilesN)
	c.line("const idx in_batch = tile - z_at * %s * %s;", tilesM, tilesN)
	c.line("const idx group = quotient(in_batch, 8 * %s);", tilesN)
	c.line("const idx in_group = in_batch - group * 8 * %s;", tilesN)
	c.line("const idx high = %s - group * 8 < 8 ? %s - group * 8 : 8;", tilesM, tilesM)
	c.line("const idx m_tile = (group * 8 + modulo(in_group, high)) * %d;", s.m)
	c.line("const idx n_tile = quotient(in_group, high) * %d;", s.n)
	c.coordinates(loopBatch, "z_at")
	c.line("")
}

// pipeline writes the loop over panels: those of panel t are multiplied while the
// next ones are on their way.
func (c *contraction) pipeline() {
	s := &c.shape
	ahead := s.stages - 1
	perBlock := c.class.KBlock / s.k
	panels := c.count("k_panels", func(b *binding) int { return (b.loops[loopK].n + s.k - 1) / s.k })
	first, last := "", panels
	if c.split() {
		per := c.count("part_panels", func(b *binding) int { return c.share(b).per * perBlock })
		c.line("const idx first = part * %s;", per)
		c.line("const idx last = %s - first < %s ? %s : first + %s;", panels, per, panels, per)
		first, last = " - first", "last"
	}
	if c.kind.base == mapKind {
		c.initBarriers()
	}
	c.line("#pragma unroll 1")
	start, before := strings.TrimPrefix(first, " - "), "first - "
	if start == "" {
		start, before = "0", "-"
	}
	c.line("// Panel t is multiplied while the next %d are on their way.", ahead)
	c.line("#pragma unroll 1")
	c.open("for (idx t = %s%d; t < %s; t++)", before, ahead, last)
	c.open("if (t >= %s)", start)
	c.await(first)
	c.line("__syncthreads();")
	c.close("")
	if c.kind.base == mapKind {
		c.fetchBoxes(first, last)
	} else {
		c.open("if (t + %d < %s)", ahead, last)
		c.placeAhead(first)
		c.load(0)
		c.load(1)
		c.close("")
		c.line("copies_commit();")
	}
	c.line("if (t < %s) continue;", start)
	c.line("const int from = (int)(t%s) & %d;", first, s.stages-1)
	c.multiply()
	switch {
	case c.split():
		c.open("if (((t + 1) & %d) == 0 || t + 1 == %s)", perBlock-1, last)
		c.line("// A block of k is complete: its sums are what the second entry joins.")
		c.finish("sum", func(sums string) { c.partial(sums, fmt.Sprintf("t / %d", perBlock)) })
		c.clearSums()
		c.close("")
	case c.total() != "sum":
		c.open("if (((t + 1) & %d) == 0 || t + 1 == %s)", perBlock-1, last)
		c.line("// A block of k is complete.")
		c.addSums()
		c.close("")
	}
	c.close("")
	if c.kind.blocks == oneBlock && c.class.Accumulator.IsFloat() {
		c.line("// Sums of blocks are added from +0, so that none is -0.")
		c.eachSum("sum%[1]s = 0 + sum%[1]s;")
	}
}

// await writes the wait for the copies of panel t. Stages are numbered from the
// first panel on, which is subtracted.
func (c *contraction) await(first string) {
	if c.kind.base == mapKind {
		c.awaitBoxes(first)
		return
	}
	c.need("copies_wait")
	c.line("copies_wait<%d>();    // panel t is here", c.shape.stages-2)
	if c.class.Instruction == TensorGroup {
		c.need("group_wait")
		c.line("group_sees();")
	}
}

// placeAhead declares where the panel that is fetched in the round of panel t
// begins along k, and the stage it goes into.
func (c *contraction) placeAhead(first string) {
	ahead := c.shape.stages - 1
	c.line("const idx k_panel = (t + %d) * %d;", ahead, c.shape.k)
	c.line("const int into = (int)(t + %d%s) & %d;", ahead, first, c.shape.stages-1)
}

// total returns the name of complete sums: those of integers, and of one block of
// k, need no second ones.
func (c *contraction) total() string {
	if c.split() || c.kind.blocks == oneBlock || c.class.Accumulator.IsInt() {
		return "sum"
	}
	return "total"
}

// sumDims returns the dimensions of the array of sums a thread holds.
func (c *contraction) sumDims() []int {
	if c.class.Instruction.tensor() {
		return c.fragments()
	}
	m, n := c.threadTile()
	return []int{m, n}
}

// eachSum writes a statement for each sum of a thread; %s in it is the index.
func (c *contraction) eachSum(statement string) {
	index := ""
	for d, n := range c.sumDims() {
		v := string(rune('i' + d))
		c.line("#pragma unroll")
		c.line("for (int %s = 0; %s < %d; %s++)", v, v, n, v)
		c.indent++
		index += "[" + v + "]"
	}
	c.line("%s", fmt.Sprintf(statement, index))
	c.indent -= len(c.sumDims())
}

func (c *contraction) declareSums() {
	dims := ""
	for _, n := range c.sumDims() {
		dims += fmt.Sprintf("[%d]", n)
	}
	c.line("%s sum%s = {};    // of the current block of k", c.accumulator(), dims)
	if c.total() != "sum" {
		c.line("%s total%s = {};    // of the blocks before", c.accumulator(), dims)
	}
}

func (c *contraction) clearSums() { c.eachSum("sum%s = 0;") }

func (c *contraction) addSums() { c.eachSum("total%[1]s = total%[1]s + sum%[1]s, sum%[1]s = 0;") }

// multiply writes the products of one panel.
func (c *contraction) multiply() {
	switch {
	case c.class.Instruction == TensorGroup:
		c.multiplyGroup()
	case c.class.Instruction.tensor():
		c.multiplyTensor()
	default:
		c.multiplySimt()
	}
}
