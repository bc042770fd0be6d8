package cudac

import "fmt"

// threadTile returns how many lines of each operand a thread multiplies.
func (c *contraction) threadTile() (m, n int) {
	s := &c.shape
	return s.warpM() / s.lanesM, s.warpN() / (32 / s.lanesM)
}

// A thread's lines come in vectors, which are read at once; vectors of one thread
// lie as far apart as the lanes' vectors together are long, so that lanes read
// neighbours.

// vector returns how many neighbouring lines of operand i a thread reads at once.
func (c *contraction) vector(i int) int {
	m, n := c.threadTile()
	return min([2]int{m, n}[i], vectorBytes/c.class.Accumulator.Size())
}

// lanes returns how many lanes of a warp lie along operand i's lines.
func (c *contraction) lanes(i int) int {
	if i == 0 {
		return c.shape.lanesM
	}
	return 32 / c.shape.lanesM
}

// firstLine returns the first line of operand i, in the tile, that a thread
// multiplies.
func (c *contraction) firstLine(i int) string {
	lane := fmt.Sprintf("lane / %d", c.lanes(1))
	warp := fmt.Sprintf("warp_m * %d", c.shape.warpM())
	if i == 1 {
		lane = fmt.Sprintf("lane %% %d", c.lanes(1))
		warp = fmt.Sprintf("warp_n * %d", c.shape.warpN())
	}
	return fmt.Sprintf("%s + %s * %d", warp, lane, c.vector(i))
}

// unrolled is how many products of a thread are written out at least. More take
// longer to compile and gain nothing.
const unrolled = 128

// multiplySimt writes the products of a panel: for each k a thread reads its lines
// of both operands from shared memory and multiplies each with each.
func (c *contraction) multiplySimt() {
	s := &c.shape
	m, n := c.threadTile()
	t := c.class.Accumulator
	for i, name := range []string{"left", "right"} {
		c.line("const unsigned char* const %s_lines = shared + %s;", name, c.panelPlace(i, "from", "("+c.firstLine(i)+")", "0"))
	}
	c.line("#pragma unroll %d", min(s.k, max(1, unrolled/(m*n))))
	c.open("for (int row = 0; row < %d; row++)", s.k)
	for i, name := range []string{"left", "right"} {
		v := c.vector(i)
		vectors := [2]int{m, n}[i] / v
		vt := c.vectorType(t, v)
		c.line("%s %s[%d];", vt, name, vectors)
		c.line("#pragma unroll")
		c.line("for (int v = 0; v < %d; v++) %s[v] = *(const %s*)(%s_lines + (row * %d + v * %d) * %d);",
			vectors, name, vt, name, s.pitch(i, t.Size()), c.lanes(i)*v, t.Size())
	}
	element := func(name, index string, i int) string {
		v := c.vector(i)
		return fmt.Sprintf("%s[%s / %d].e[%s %% %d]", name, index, v, index, v)
	}
	c.line("#pragma unroll")
	c.line("for (int i = 0; i < %d; i++)", m)
	c.indent++
	c.line("#pragma unroll")
	c.line("for (int j = 0; j < %d; j++) sum[i][j] = %s;", n, c.multiplyAdd(element("left", "i", 0), element("right", "j", 1), "sum[i][j]"))
	c.indent--
	c.close("")
}

// keepSimt writes the sums of a thread to shared memory, where row 0 is the first
// of its warp.
func (c *contraction) keepSimt(sums string) {
	m, n := c.threadTile()
	v := c.vector(1)
	vt := c.vectorType(c.class.Accumulator, v)
	c.line("#pragma unroll")
	c.open("for (int i = 0; i < %d; i++)", m)
	c.line("const int row = lane / %d * %d + i / %d * %d + i %% %d;", c.lanes(1), c.vector(0), c.vector(0), c.lanes(0)*c.vector(0), c.vector(0))
	c.line("#pragma unroll")
	c.open("for (int j = 0; j < %d; j += %d)", n, v)
	c.line("%s piece;", vt)
	c.line("#pragma unroll")
	c.line("for (int l = 0; l < %d; l++) piece.e[l] = %s[i][j + l];", v, sums)
	c.line("*(%s*)(sums + row * %d + %s + j / %d * %d) = piece;", vt, c.shape.sumPitch(c.class), c.firstLine(1), v, c.lanes(1)*v)
	c.close("")
	c.close("")
}
