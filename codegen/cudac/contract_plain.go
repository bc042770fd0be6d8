package cudac

// plainThreads is how many threads a block has in which each computes results
// alone.
const plainThreads = 256

// plain writes the entry whose threads compute one result after another, whatever
// the layout of the operands.
func (c *contraction) plain() {
	t := c.t
	shape := func(b *binding) (blocks, threads, shared int) {
		return gridFor(b.results(), plainThreads, t), plainThreads, 0
	}
	c.entry(c.title(plainKind), plainThreads, shape, func() {
		c.need("quotient")
		m, n, k := c.length(loopM), c.length(loopN), c.length(loopK)
		points := c.count("results", func(b *binding) int { return b.results() })
		acc := c.accumulator()
		c.line("#pragma unroll 1")
		c.open("for (idx i = (idx)blockIdx.x * %d + (idx)threadIdx.x; i < %s; i += (idx)gridDim.x * %d)", plainThreads, points, plainThreads)
		c.outer("i", m, n)
		c.line("%s total = 0;", acc)
		c.line("#pragma unroll 1")
		c.open("for (idx k_block = 0; k_block < %s; k_block += %d)", k, c.class.KBlock)
		c.line("const idx k_end = %s - k_block < %d ? %s : k_block + %d;", k, c.class.KBlock, k, c.class.KBlock)
		c.line("%s sum = 0;", acc)
		c.line("#pragma unroll 1")
		c.open("for (idx kk = k_block; kk < k_end; kk++)")
		c.coordinates(loopK, "kk")
		for i := range c.sides {
			c.line("const %s %s = %s;", acc, c.sides[i].name, c.factor(&c.sides[i]))
		}
		c.line("sum = %s;", c.multiplyAdd("left", "right", "sum"))
		c.close("")
		c.line("total = total + sum;")
		c.close("")
		c.result("total")
		c.close("")
	})
}
