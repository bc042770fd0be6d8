package cudac

import "fmt"

// copyFuncs are device functions over asynchronous copies to shared memory.
var copyFuncs = []deviceFunc{
	{name: "copies_wait", text: `// asynchronous copies, in groups: all but the last n groups are complete
__device__ __forceinline__ void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> __device__ __forceinline__ void copies_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory"); }
`},
	{name: "copy_16", text: `// 16 bytes to shared memory, of which only the first so many are read, the rest are zero
__device__ __forceinline__ void copy_16(unsigned int to, const void* from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
}
`},
	{name: "copy_element", text: `// 4 or 8 bytes to shared memory, zero unless they are to be read
template <int size> __device__ __forceinline__ void copy_element(unsigned int to, const void* from, bool read)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" :: "r"(to), "l"(__cvta_generic_to_global(from)), "n"(size), "r"(read ? size : 0) : "memory");
}
`},
}

// How often the loops of a thread over a panel are written out: copies wait for
// nothing, so that their addresses are all there is to gain; a few programs are,
// so that their loads overlap.
const (
	copies   = 16
	programs = 4
)

// load writes the loads of a panel of operand i: the lines of the tile along k from
// k_panel on, zero where there are none.
func (c *contraction) load(i int) {
	s, mode := &c.sides[i], c.kind.read[i]
	size := s.panelType(c.class).Size()
	width := vectorBytes / size
	lines, k := c.shape.lines(i), c.shape.k
	switch mode {
	case readLine:
		c.line("// %s panel: 16 bytes of neighbouring lines at once", s.name)
		c.pieces(lines/width*k, copies, func() {
			c.line("const unsigned int row = e / %d, column = e %% %d * %d;", lines/width, lines/width, width)
			c.point(s, "column", "row")
			c.need("copy_16")
			c.line("copy_16(panels + %s, %s, %s ? 16 : 0);", c.panelPlace(i, "into", "column", "row"), c.source(s), c.inPanel(s))
		})
	case readK:
		c.line("// %s panel: 16 bytes along k at once", s.name)
		c.pieces(lines*k/width, copies, func() {
			c.line("const unsigned int line = e / %d, column = e %% %d * %d;", k/width, k/width, width)
			c.point(s, "line", "column")
			c.need("copy_16")
			c.line("const int there = !(%s) ? 0 : k_n - kk < %d ? (int)(k_n - kk) * %d : 16;", c.inPanel(s), width, size)
			c.line("copy_16(panels + %s, %s, there);", c.panelPlace(i, "into", "line", "column"), c.source(s))
		})
	case readCopy:
		c.line("// %s panel: element by element", s.name)
		c.elements(i, copies, func() {
			c.need("copy_element")
			c.line("copy_element<%d>(panels + %s, %s, %s);", size, c.panelPlace(i, "into", "line", "row"), c.source(s), c.inPanel(s))
		})
	default:
		c.line("// %s panel: element by element, through a register", s.name)
		c.elements(i, programs, func() {
			t := rawtype(s.panelType(c.class))
			c.line("%s factor = 0;", t)
			c.open("if (%s)", c.inPanel(s))
			c.line("factor = %s;", c.factor(s))
			c.close("")
			c.line("*(%s*)(shared + %s) = factor;", t, c.panelPlace(i, "into", "line", "row"))
		})
	}
}

// pieces writes the loop of a thread over its share of n pieces of a panel, e
// being the piece.
func (c *contraction) pieces(n, unroll int, body func()) {
	threads := c.shape.threads()
	c.line("#pragma unroll %d", min(unroll, (n+threads-1)/threads))
	c.open("for (int j = 0; j < %d; j++)", (n+threads-1)/threads)
	c.line("const unsigned int e = j * %d + threadIdx.x;", threads)
	if n%threads != 0 {
		c.line("if (e >= %d) break;", n)
	}
	body()
	c.close("")
}

// elements writes the loop over the elements of a panel of operand i, at line and
// row of it.
func (c *contraction) elements(i, unroll int, body func()) {
	s := &c.sides[i]
	lines, k := c.shape.lines(i), c.shape.k
	run := c.run(i) // how many neighbours along k neighbouring threads take
	c.pieces(lines*k, unroll, func() {
		switch run {
		case 1:
			c.line("const unsigned int line = e %% %d, row = e / %d;", lines, lines)
		case k:
			c.line("const unsigned int line = e / %d, row = e %% %d;", k, k)
		default:
			c.line("const unsigned int line = e / %d %% %d, row = e %% %d + e / %d * %d;", run, lines, run, run*lines, run)
		}
		c.point(s, "line", "row")
		body()
	})
}

// run returns how many neighbours along k neighbouring threads take when a panel of
// operand i is read element by element: so that they read neighbours in memory
// and write to different banks.
func (c *contraction) run(i int) int {
	s := &c.sides[i]
	switch {
	case !c.class.Instruction.tensor():
		if c.walkOf(s) == walkLine {
			return 1
		}
		return 8
	case c.transposed(i):
		return 1
	case c.walkOf(s) == walkLine:
		return 4
	}
	return min(c.shape.k, 32)
}

// transposed reports whether a panel of tensor cores has a row for each k, not for
// each line: the halves of an operand whose lines are neighbours.
func (c *contraction) transposed(i int) bool {
	s := &c.sides[i]
	return c.kind.read[i] == readLine || c.kind.read[i] == readEach && s.dtype.Size() == 2 && c.walkOf(s) == walkLine
}

// point declares the coordinates of a place in a panel.
func (c *contraction) point(s *side, line, row string) {
	name := c.l.loops[s.loop].name
	c.line("const idx %s_at = %s_tile + %s, kk = k_panel + %s;", name, name, line, row)
	c.coordinates(s.loop, name+"_at")
	c.coordinates(loopK, "kk")
}

// inPanel is the condition that the place exists.
func (c *contraction) inPanel(s *side) string {
	name := c.l.loops[s.loop].name
	return fmt.Sprintf("%s_at < %s_n && kk < k_n", name, name)
}

// source returns the address of an element of an operand in memory.
func (c *contraction) source(s *side) string {
	return fmt.Sprintf("%s + (%s)", c.buffer(c.k.Accesses[s.access].Buffer), c.at(s.access, loopBatch, s.loop, loopK))
}

// panelStart returns where a panel of operand i begins in shared memory.
func (c *contraction) panelStart(i int, stage string) string {
	start := fmt.Sprintf("%s * %d", stage, c.shape.panelBytes(c.class, &c.sides, i))
	if i == 0 {
		return start
	}
	return fmt.Sprintf("%d + %s", c.shape.stages*c.shape.panelBytes(c.class, &c.sides, 0), start)
}

// panelPlace returns where an element lies in a panel of operand i, in bytes from
// the start of shared memory.
func (c *contraction) panelPlace(i int, stage, line, row string) string {
	s := &c.sides[i]
	size := s.panelType(c.class).Size()
	start := c.panelStart(i, stage)
	if c.class.Instruction.tensor() {
		return start + " + " + c.tensorPlace(i, line, row)
	}
	return fmt.Sprintf("%s + (%s * %d + %s) * %d", start, row, c.shape.pitch(i, size), line, size)
}

// factor writes the program of an operand at the point in scope and returns the
// factor as it lies in a panel.
func (c *contraction) factor(s *side) string {
	var value string
	t := s.dtype.Compute()
	if s.access >= 0 {
		raw := fmt.Sprintf("%s[%s]", c.buffer(c.k.Accesses[s.access].Buffer), c.at(s.access, loopBatch, s.loop, loopK))
		if c.class.Instruction.tensor() && s.stored == s.dtype {
			return raw
		}
		value = c.using(loadExpr(s.stored, raw))
	} else {
		c.program(c.needed(nil, s.value), &point{loops: []int{loopBatch, s.loop, loopK}})
		value = c.name(s.value)
	}
	switch {
	case c.class.Instruction.tensor():
		return c.using(storeExpr(s.dtype, value))
	case t.IsInt():
		return fmt.Sprintf("(%s)%s", ctype(c.class.Accumulator), value)
	}
	return value
}
