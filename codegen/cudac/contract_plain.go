package cudac

// plain writes the entry whose threads compute one result after another, whatever
// the layout of the operands.
func (c *contraction) plain() {
	c.entry(c.title(plainKind), mapThreads, c.resultGrid(), func() {
		c.eachResult()
		k, acc := c.length(loopK), c.accumulator()
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
