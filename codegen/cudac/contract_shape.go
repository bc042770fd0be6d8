package cudac

// tileShape is how the work on a tile of a product is laid out. Nothing in it
// changes a bit of a result.
type tileShape struct {
	m, n   int // the tile: lines of the left and of the right operand
	k      int // how much of k a panel holds
	stages int // panels in flight

	warpsM, warpsN int // how the tile is shared out among warps
	lanesM         int // simt: how a warp's part is shared out among its 32 lanes
}

// Shapes of register tiles of 4-byte and of 8-byte factors: a square one for
// large, middling and small products, and those of products with few rows or few
// columns, which are bound by memory.
var (
	simtShapes4 = []tileShape{
		{m: 128, n: 128, k: 8, stages: 4, warpsM: 4, warpsN: 2, lanesM: 4},
		{m: 64, n: 64, k: 8, stages: 4, warpsM: 2, warpsN: 2, lanesM: 4},
		{m: 32, n: 32, k: 8, stages: 4, warpsM: 2, warpsN: 1, lanesM: 4},
		{m: 8, n: 128, k: 16, stages: 4, warpsM: 1, warpsN: 4, lanesM: 1},
		{m: 128, n: 8, k: 16, stages: 4, warpsM: 4, warpsN: 1, lanesM: 32},
	}
	simtShapes8 = []tileShape{
		{m: 64, n: 64, k: 8, stages: 4, warpsM: 4, warpsN: 2, lanesM: 4},
		{m: 32, n: 32, k: 8, stages: 4, warpsM: 2, warpsN: 1, lanesM: 4},
		{m: 8, n: 128, k: 8, stages: 4, warpsM: 1, warpsN: 4, lanesM: 1},
		{m: 128, n: 8, k: 8, stages: 4, warpsM: 4, warpsN: 1, lanesM: 32},
	}
	// Panels of tensor cores hold Class.panelRow bytes of k, whatever an element has.
	tensorShapes = []tileShape{
		{m: 128, n: 128, stages: 4, warpsM: 2, warpsN: 4},
		{m: 64, n: 64, stages: 4, warpsM: 2, warpsN: 2},
		{m: 16, n: 64, stages: 4, warpsM: 1, warpsN: 4},
		{m: 64, n: 16, stages: 4, warpsM: 4, warpsN: 1},
	}
	// Groups of four warps take 64 lines of the left operand and all of the right.
	groupShapes = []tileShape{
		{m: 128, n: 128, stages: 4, warpsM: 8, warpsN: 1},
		{m: 64, n: 64, stages: 4, warpsM: 4, warpsN: 1},
	}
)

// panelRow returns how many bytes along k a panel of tensor cores holds: two
// instructions' worth, or four for a group of warps, whose rows have all pieces
// that change places.
func (c Class) panelRow() int {
	if c.Instruction == TensorGroup {
		return 128
	}
	return 64
}

// shapesOf returns the tiles of a numeric class.
func shapesOf(c Class, sides *[2]side) []tileShape {
	if !c.Instruction.tensor() {
		if c.Accumulator.Size() == 8 {
			return simtShapes8
		}
		return simtShapes4
	}
	list := tensorShapes
	if c.Instruction == TensorGroup {
		list = groupShapes
	}
	var out []tileShape
	for _, s := range list {
		s.k = c.panelRow() / sides[0].panelType(c).Size()
		out = append(out, s)
	}
	return out
}

// shapeOf returns the tile of the sizes that a variant holds.
func shapeOf(c Class, sides *[2]side, sizes []int) tileShape {
	for _, s := range shapesOf(c, sides) {
		if s.m == sizes[0] && s.n == sizes[1] {
			return s
		}
	}
	panic("cudac: a variant has a tile of another class")
}

func lastTensorShape(c Class, sides *[2]side) tileShape {
	return shapeOf(c, sides, []int{64, 64})
}

// sizes is Variant.Tile: the tile, the length of a panel, the panels in flight.
func (s tileShape) sizes() []int { return []int{s.m, s.n, s.k, s.stages} }

func (s tileShape) threads() int { return 32 * s.warpsM * s.warpsN }

// warpM and warpN are the part of the tile that a warp computes.
func (s tileShape) warpM() int { return s.m / s.warpsM }
func (s tileShape) warpN() int { return s.n / s.warpsN }

// lines returns how many lines of operand i a panel holds.
func (s tileShape) lines(i int) int { return [2]int{s.m, s.n}[i] }

// pitch returns how many elements apart consecutive k lie in a panel of
// registers' tiles: a vector more than there are lines, so that copies along k
// spread over the banks.
func (s tileShape) pitch(i, size int) int { return s.lines(i) + vectorBytes/size }

// panelBytes returns the bytes of one panel of operand i.
func (s tileShape) panelBytes(c Class, sides *[2]side, i int) int {
	size := sides[i].panelType(c).Size()
	if c.Instruction.tensor() {
		return s.lines(i) * c.panelRow()
	}
	return s.k * s.pitch(i, size) * size
}

// sumPitch returns how many elements apart the rows of sums lie in shared memory.
func (s tileShape) sumPitch(c Class) int {
	if c.Instruction.tensor() {
		return s.n + 8 // pairs of eight rows fall on all banks
	}
	return s.n + vectorBytes/c.Accumulator.Size()
}

// bytes returns the shared memory of a block: its panels, and the sums of one row
// of warps, which take the panels' place unless blocks of k are written out
// while panels flow.
func (s tileShape) bytes(c Class, sides *[2]side, split bool) int {
	panels := s.stages * (s.panelBytes(c, sides, 0) + s.panelBytes(c, sides, 1))
	sums := s.warpM() * s.sumPitch(c) * c.Accumulator.Size()
	if split {
		return panels + sums
	}
	return max(panels, sums)
}

// work is how the tiles of a launch are shared out.
type work struct {
	tiles int
	parts int // thread blocks for each tile, with blocks of k of their own
	per   int // blocks of k of each part
}

func (w work) blocks() int { return times(w.tiles, w.parts) }

// tilesOf returns how many tiles of m×n a launch has.
func tilesOf(b *binding, m, n int) int {
	return times(b.loops[loopBatch].n, times((b.loops[loopM].n+m-1)/m, (b.loops[loopN].n+n-1)/n))
}

// share shares out a launch. Parts are as many as give each multiprocessor two
// thread blocks.
func (s tileShape) share(b *binding, c Class, t Target, split bool) work {
	w := work{tiles: tilesOf(b, s.m, s.n), parts: 1, per: c.Split}
	if split && w.tiles > 0 {
		parts := min(c.Split, max(1, (2*max(t.SMs, 1)+w.tiles-1)/w.tiles))
		w.per = (c.Split + parts - 1) / parts
		w.parts = (c.Split + w.per - 1) / w.per
	}
	return w
}

// Rough figures of a multiprocessor in one clock cycle, which order candidates.
const (
	bytesPerClock  = 16.0 // from memory and the second cache together
	simtPerClock   = 128.0
	doublePerClock = 32.0
	tensorPerClock = 1024.0 // of factors of two bytes
	groupPerClock  = 2048.0
)

// cost estimates the time of a launch in clock cycles.
func (s tileShape) cost(b *binding, c Class, sides *[2]side, t Target, w work) float64 {
	size := sides[0].panelType(c).Size()
	rate := simtPerClock * min(1, float64(s.m*s.n)/(128*64)+0.25)
	switch {
	case c.Instruction == TensorGroup:
		rate = groupPerClock * min(1, float64(s.m*s.n)/(128*128)+0.1)
	case c.Instruction.tensor():
		rate = tensorPerClock * 2 / float64(size) * min(1, float64(s.m*s.n)/(128*128)+0.1)
	case c.Accumulator.Size() == 8:
		rate = doublePerClock
	}
	k := float64(min(b.loops[loopK].n, w.per*c.KBlock))
	// Of what it reads a tile waits, not of what it multiplies, if that is longer.
	tile := k * max(float64(s.m*s.n)/rate, float64((s.m+s.n)*size)/bytesPerClock)
	sms := max(t.SMs, 1)
	waves := float64((w.blocks() + sms - 1) / sms)
	cost := (tile + 1000) * waves
	if w.parts > 1 {
		results := float64(b.loops[loopBatch].n) * float64(b.loops[loopM].n) * float64(b.loops[loopN].n)
		cost += 2*results*float64(c.Split*c.Accumulator.Size())/(bytesPerClock*float64(sms)) + 2000
	}
	return cost
}
