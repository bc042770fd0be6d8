package cudac

import "fmt"

// finish writes what becomes of the sums of a tile. One row of warps after another
// puts its sums into shared memory, and all threads take them from there in the
// order of the result, so that what the result reads and writes is coalesced,
// and its program stands in the source once.
func (c *contraction) finish(sums string, result func(sum string)) {
	s := &c.shape
	at := 0 // where sums lie
	if c.kind.split {
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
	c.line("#pragma unroll 1")
	c.open("for (int e = (int)threadIdx.x; e < %d; e += %d)", s.warpM()*s.n, s.threads())
	c.line("const int row = e / %d, column = e %% %d;", s.n, s.n)
	c.line("const idx m_at = m_tile + w * %d + row, n_at = n_tile + column;", s.warpM())
	c.line("if (m_at >= m_n || n_at >= n_n) continue;")
	result(fmt.Sprintf("sums[row * %d + column]", s.sumPitch(c.class)))
	c.close("")
	c.close("")
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
func (c *contraction) partial(sum, block string) {
	z, m, n := c.length(loopBatch), c.length(loopM), c.length(loopN)
	c.line("%s[(((long long)(%s) * %s + z_at) * %s + m_at) * %s + n_at] = %s;", c.sumsOfBlocks(""), block, z, m, n, sum)
}

// joinThreads is how many threads a block has that joins sums.
const joinThreads = 256

// join writes the entry that adds the sums of the blocks of k, in order, and makes
// results of them.
func (c *contraction) join() {
	t := c.t
	shape := func(b *binding) (blocks, threads, shared int) {
		return gridFor(b.results(), joinThreads, t), joinThreads, 0
	}
	c.entry(c.title("join"), joinThreads, shape, func() {
		c.need("quotient")
		m, n := c.length(loopM), c.length(loopN)
		points := c.count("results", func(b *binding) int { return b.results() })
		blocks := c.count("k_blocks", func(b *binding) int { return ClassOf(b.k, b.loops[loopK].n, t).Split })
		c.line("#pragma unroll 1")
		c.open("for (idx i = (idx)blockIdx.x * %d + (idx)threadIdx.x; i < %s; i += (idx)gridDim.x * %d)", joinThreads, points, joinThreads)
		c.line("%s total = 0;", c.accumulator())
		c.line("#pragma unroll 4")
		c.line("for (idx block = 0; block < %s; block++) total = total + %s[(long long)block * %s + i];", blocks, c.sumsOfBlocks("const "), points)
		c.outer("i", m, n)
		c.result("total")
		c.close("")
	})
}

// outer declares the coordinates of the outer loops at result i.
func (c *contraction) outer(i, m, n string) {
	c.line("const idx n_at = modulo(%s, %s), row = quotient(%s, %s);", i, n, i, n)
	c.line("const idx m_at = modulo(row, %s), z_at = quotient(row, %s);", m, m)
	c.coordinates(loopBatch, "z_at")
	c.coordinates(loopM, "m_at")
	c.coordinates(loopN, "n_at")
}
