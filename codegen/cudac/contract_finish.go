package cudac

import "fmt"

// finish writes what becomes of the sums of a tile. One row of warps after another
// puts its sums into shared memory, and all threads take them from there in the
// order of the result, so that what the result reads and writes is coalesced,
// and its program stands in the source once.
func (c *contraction) finish(sums string, result func(sums string)) {
	s := &c.shape
	at := 0 // where sums lie
	if c.split() {
		at = s.bytes(c.class, &c.sides, true) - s.warpM()*s.sumPitch(c.class)*c.class.Accumulator.Size()
	}
	c.line("%s* const sums = (%s*)(shared + %d);", c.accumulator(), c.accumulator(), at)
	c.line("#pragma unroll 1")
	c.open("for (int w = 0; w < %d && m_tile + w * %d < m_n; w++)", s.warpsM, s.warpM())
	c.line("__syncthreads();")
	c.open("if (warp_m == w)")
	if c.class.Instruction.tensor() {
		c.keepTensor(sums)
	} else {
		c.keepSimt(sums)
	}
	c.close("")
	c.line("__syncthreads();")
	width := c.v.Vector
	c.line("#pragma unroll 1")
	c.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", s.warpM()*s.n/width, s.threads())
	c.line("const int row = e / %d, column = e %% %d * %d;", s.n/width, s.n/width, width)
	c.line("const idx m_at = m_tile + w * %d + row, n_at = n_tile + column;", s.warpM())
	c.line("if (m_at >= m_n || n_at >= n_n) continue;")
	result(fmt.Sprintf("sums + row * %d + column", s.sumPitch(c.class)))
	c.close("")
	c.close("")
}

// complete writes what becomes of the results whose sums lie at an address.
func (c *contraction) complete(sums string) {
	c.coordinates(loopM, "m_at")
	c.coordinates(loopN, "n_at")
	if c.v.Vector == 1 {
		c.result("*(" + sums + ")")
		return
	}
	t := c.vectorType(c.class.Accumulator, c.v.Vector)
	c.line("const %s total_v = *(const %s*)(%s);", t, t, sums)
	c.points(epilogue(c.k, c.v.Vector), func(p *point) { c.values("total_v.e[j]", p) })
}

// results returns how many results a launch has.
func (b *binding) results() int {
	return times(b.loops[loopBatch].n, times(b.loops[loopM].n, b.loops[loopN].n))
}

// sumsOfBlocks asks for the sums of the blocks of k in scratch memory: for each
// block one array of all results.
func (c *contraction) sumsOfBlocks(mode string) string {
	t, size := c.t, c.class.Accumulator.Size()
	return c.scratch(mode+c.accumulator(), "partial", func(b *binding) int {
		return times(ClassOf(b.k, b.loops[loopK].n, t).Split, times(b.results(), size))
	})
}

// partial writes the sum of a block of k to scratch memory.
func (c *contraction) partial(sums, block string) {
	z, m, n := c.length(loopBatch), c.length(loopM), c.length(loopN)
	c.line("%s[(((long long)(%s) * %s + z_at) * %s + m_at) * %s + n_at] = *(%s);", c.sumsOfBlocks(""), block, z, m, n, sums)
}

// join writes the entry that adds the sums of the blocks of k, in order, and makes
// results of them.
func (c *contraction) join() {
	c.entry(c.title("join"), mapThreads, c.resultGrid(), func() {
		blocks := c.count("k_blocks", func(b *binding) int { return ClassOf(b.k, b.loops[loopK].n, c.t).Split })
		results := c.eachResult()
		c.line("%s total = 0;", c.accumulator())
		c.line("#pragma unroll 4")
		c.line("for (idx block = 0; block < %s; block++) total = total + %s[(long long)block * %s + i];", blocks, c.sumsOfBlocks("const "), results)
		c.result("total")
		c.close("")
	})
}

// resultGrid returns the shape of an entry with a thread for each result.
func (c *contraction) resultGrid() func(b *binding) (blocks, threads, shared int) {
	t := c.t
	return func(b *binding) (blocks, threads, shared int) {
		return gridFor(b.results(), mapThreads, t), mapThreads, 0
	}
}

// eachResult opens the loop of a thread over its results, at the coordinates of
// result i, and returns how many there are.
func (c *contraction) eachResult() string {
	c.need("quotient")
	m, n := c.length(loopM), c.length(loopN)
	results := c.count("results", func(b *binding) int { return b.results() })
	c.walk("i", results, "blockIdx.x", "gridDim.x")
	c.line("const idx n_at = modulo(i, %s), row = quotient(i, %s);", n, n)
	c.line("const idx m_at = modulo(row, %s), z_at = quotient(row, %s);", m, m)
	c.coordinates(loopBatch, "z_at")
	c.coordinates(loopM, "m_at")
	c.coordinates(loopN, "n_at")
	return results
}
