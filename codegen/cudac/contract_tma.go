package cudac

import "fmt"

// Panels of groups of warps that the tensor memory accelerator copies: one thread
// asks for a box of a tensor map, whose bytes arrive at the barrier of their
// stage. See the PTX ISA manual, sections "cp.async.bulk.tensor", "mbarrier" and
// "Swizzling Modes".
//
// Boxes are what the blocks of a panel are: rows of 128 bytes, whose pieces change
// places as in piece<8>. So the descriptors of wgmma are those of panels that
// threads copy. What lies beyond the ends of a matrix is zero in its box.
var mapFuncs = []deviceFunc{
	{name: "tensor_map", text: `// where a matrix lies and what a box of it is, as the driver encodes it
struct alignas(64) tensor_map { unsigned long long words[16]; };
`},
	{name: "barrier_wait", text: `// barriers in shared memory, at which bytes arrive that one thread has announced
__device__ __forceinline__ void barrier_init(unsigned int barrier) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory"); }
// what copies boxes sees the barriers
__device__ __forceinline__ void barriers_ready()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void barrier_expect(unsigned int barrier, unsigned int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}
// waits for the end of a phase of a barrier; phases have the parities 0, 1, 0, ...
__device__ __forceinline__ void barrier_wait(unsigned int barrier, unsigned int parity)
{
    unsigned int done;
    do asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    while (!done);
}
`},
	boxFunc(2, "int x, int y", "{%3, %4}", `"r"(x), "r"(y)`),
	boxFunc(3, "int x, int y, int z", "{%3, %4, %5}", `"r"(x), "r"(y), "r"(z)`),
}

// boxFunc returns the device function that copies a box of a tensor map.
func boxFunc(rank int, coordinates, operands, inputs string) deviceFunc {
	name := fmt.Sprintf("copy_box_%dd", rank)
	return deviceFunc{name: name, text: fmt.Sprintf(`// the box of a map whose first element is at the coordinates, the innermost first; its bytes
// arrive at a barrier
__device__ __forceinline__ void %s(unsigned int to, const tensor_map& map, unsigned int barrier, %s)
{
    asm volatile("cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes [%%0], [%%1, %s], [%%2];"
        :: "r"(to), "l"(&map), "r"(barrier), %s : "memory");
}
`, name, coordinates, rank, operands, inputs)}
}

const (
	barrierSize = 8
	boxRow      = 64 // factors in the rows of 128 bytes of a box
)

// barrierBytes returns the shared memory of a kind's barriers, one for each stage.
func (c contractKind) barrierBytes(s tileShape) int {
	if c.base != mapKind {
		return 0
	}
	return s.stages * barrierSize
}

// barriersAt returns where barriers lie in shared memory: after all else.
func (c *contraction) barriersAt() int { return c.shape.bytes(c.class, &c.sides, c.split()) }

// mapModes returns along what tensor maps read the operands of a launch, and
// whether they can read both.
func mapModes(b *binding, c Class, sides *[2]side) (read [2]loadMode, ok bool) {
	if c.Instruction != TensorGroup {
		return read, false
	}
	for i := range sides {
		s := &sides[i]
		if !s.direct(c) {
			return read, false
		}
		read[i] = readK
		if _, rule := s.tensorMap(b, readK, boxRow); rule != "" {
			read[i] = readLine
			if _, rule = s.tensorMap(b, readLine, boxRow); rule != "" {
				return read, false
			}
		}
	}
	return read, true
}

// tensorMap returns the map of an operand whose elements are neighbours along k or
// along lines, for panels of so many lines; or what keeps it from having one.
//
// Its dimensions are k and lines, the neighbours first, and the batch where the
// operand moves along it. A panel is one box of its lines with a row each, or, where
// lines are neighbours, a box with a row for each k for every 64 lines.
func (s *side) tensorMap(b *binding, mode loadMode, lines int) (*TensorMap, string) {
	inner, outer, rows := b.loops[loopK], b.loops[s.loop], lines
	if mode == readLine {
		inner, outer, rows = outer, inner, boxRow
	}
	batch := b.loops[loopBatch]
	dims := []*loop{inner, outer}
	if len(batch.dims) > 1 || len(batch.dims) == 1 && batch.strides[s.access][0] != 0 {
		dims = append(dims, batch)
	}
	size := s.dtype.Size()
	m := &TensorMap{
		Buffer: b.k.Accesses[s.access].Buffer, Offset: b.slots.list[s.access].offset * size,
		DType: s.dtype, Box: []uint32{boxRow, uint32(rows), 1}[:len(dims)], Swizzle: boxRow * size,
	}
	for d, x := range dims {
		if len(x.dims) != 1 {
			return nil, fmt.Sprintf("%d dimensions along %s are not one", len(x.dims), x.name)
		}
		if x.n > narrow {
			return nil, fmt.Sprintf("length %d along %s is more than coordinates reach", x.n, x.name)
		}
		m.Dims = append(m.Dims, uint64(x.n))
		switch stride := x.strides[s.access][0]; {
		case d == 0 && stride != 1:
			return nil, fmt.Sprintf("elements along %s are no neighbours", x.name)
		case d > 0 && stride < 1:
			return nil, fmt.Sprintf("stride %d along %s does not ascend", stride, x.name)
		case d > 0:
			m.Strides = append(m.Strides, uint64(stride*size))
		}
	}
	return m, m.rule()
}

// mapArg asks for the tensor map of operand i.
func (c *contraction) mapArg(i int) string {
	c.need("tensor_map")
	s, mode, lines := &c.sides[i], c.kind.read[i], c.shape.lines(i)
	return c.arg("const __grid_constant__ tensor_map", s.name+"_map", mapBytes, func(b *binding) Arg {
		m, _ := s.tensorMap(b, mode, lines)
		return Arg{Kind: ArgTensorMap, Map: m}
	})
}

// initBarriers writes the first lines of a pipeline of boxes.
func (c *contraction) initBarriers() {
	c.need("barrier_wait")
	c.line("const unsigned int barriers = panels + %d;    // one for each stage", c.barriersAt())
	c.open("if (threadIdx.x == 0)")
	c.line("for (int stage = 0; stage < %d; stage++) barrier_init(barriers + stage * %d);", c.shape.stages, barrierSize)
	c.line("barriers_ready();")
	c.close("")
	c.line("__syncthreads();")
}

// awaitBoxes writes the wait for the boxes of panel t.
func (c *contraction) awaitBoxes(first string) {
	n := c.shape.stages
	c.line("barrier_wait(barriers + ((int)(t%s) & %d) * %d, (unsigned int)((t%s) / %d) & 1);    // panel t is here", first, n-1, barrierSize, first, n)
}

// fetchBoxes writes how a thread asks for the boxes of a panel. All threads are done
// with the panel that was in their place: the last one that was multiplied.
func (c *contraction) fetchBoxes(first, last string) {
	c.open("if (threadIdx.x == 0 && t + %d < %s)", c.shape.stages-1, last)
	c.placeAhead(first)
	c.line("const unsigned int arrival = barriers + into * %d;", barrierSize)
	bytes := 0
	for i := range c.sides {
		bytes += c.shape.panelBytes(c.class, &c.sides, i)
	}
	c.line("barrier_expect(arrival, %d);    // what lies beyond the ends counts", bytes)
	for i := range c.sides {
		c.boxes(i)
	}
	c.close("")
	c.line("__syncwarp();")
}

// boxes writes the copies of a panel of operand i.
func (c *contraction) boxes(i int) {
	s, to, tile := &c.sides[i], c.panelStart(i, "into"), fmt.Sprintf("(int)%s_tile", c.l.loops[c.sides[i].loop].name)
	batch := ""
	rank := 2
	if form := c.v.loops[loopBatch]; form.rank == 1 && form.strides[s.access][0] != strideZero {
		batch, rank = fmt.Sprintf(", (int)%s0", c.l.loops[loopBatch].name), 3
	}
	name := fmt.Sprintf("copy_box_%dd", rank)
	c.need(name)
	if c.kind.read[i] == readK {
		c.line("// %s panel: a row along k for each line", s.name)
		c.line("%s(panels + %s, %s, arrival, (int)k_panel, %s%s);", name, to, c.mapArg(i), tile, batch)
		return
	}
	c.line("// %s panel: a row for each k of every %d neighbouring lines", s.name, boxRow)
	for line := 0; line < c.shape.lines(i); line += boxRow {
		c.line("%s(panels + %s + %d, %s, arrival, %s + %d, (int)k_panel%s);", name, to, line/boxRow*blockOfLines, c.mapArg(i), tile, line, batch)
	}
}
