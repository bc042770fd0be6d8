package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
)

// mapThreads is how many threads a block of a map has.
const mapThreads = 256

// mapTemplate evaluates the body at each point, threads stepping over the space
// by the size of the grid.
//
// With vectors a thread takes neighbouring points along the last dimension:
// accesses whose elements are neighbours there are read and written at once,
// those that do not move are read once, the rest element by element.
type mapTemplate struct{}

func (mapTemplate) loops(b *binding) { b.lay("x", axes(0, len(b.l.Dims))) }

func (mapTemplate) variants(b *binding, t Target) []*Variant {
	var list []*Variant
	if width := vectorWidth(b); width > 1 {
		list = append(list, &Variant{Kind: "map", Vector: width})
	}
	return append(list, &Variant{Kind: "map", Vector: 1})
}

// vectorBytes is the widest load of a thread.
const vectorBytes = 16

// vectorWidth returns how many neighbouring points a thread may take at once:
// the length of the last dimension and the place of every vector divide by it.
func vectorWidth(b *binding) int {
	x := b.loops[0]
	if x.n == 0 || len(x.dims) == 0 {
		return 1
	}
	widest := 0
	for i, a := range b.k.Accesses {
		if vectorAccess(b, i) {
			widest = max(widest, b.k.Buffers[a.Buffer].DType.Size())
		}
	}
	if widest == 0 {
		return 1
	}
	width := vectorBytes / widest
	for width > 1 && !vectorFits(b, width) {
		width /= 2
	}
	return width
}

func vectorFits(b *binding, width int) bool {
	x := b.loops[0]
	last := len(x.dims) - 1
	if x.dims[last]%width != 0 {
		return false
	}
	for i := range b.k.Accesses {
		if !vectorAccess(b, i) {
			continue
		}
		if b.slots.list[i].offset%width != 0 {
			return false
		}
		for _, s := range x.strides[i][:last] {
			if s%width != 0 {
				return false
			}
		}
	}
	return true
}

// vectorAccess reports whether the elements of an access along the last
// dimension are neighbours in memory and nothing else decides where they are.
func vectorAccess(b *binding, access int) bool {
	a, x := &b.k.Accesses[access], b.loops[0]
	return a.Indices == 0 && len(b.l.Access[access].Window) == 0 && x.strides[access][len(x.dims)-1] == 1
}

func (mapTemplate) check(b *binding, v *Variant) string {
	if v.Vector > 1 && b.loops[0].n > 0 && !vectorFits(b, v.Vector) {
		return fmt.Sprintf("lengths or places do not divide by %d", v.Vector)
	}
	return ""
}

func (mapTemplate) write(g *generator) {
	width, t := g.v.Vector, g.t
	shape := func(b *binding) (int, int, int) { return gridFor(mapGroups(b, width), mapThreads, t), mapThreads, 0 }
	g.entry(g.title(g.v.Kind), mapThreads, shape, func() {
		g.mapLoop("blockIdx.x", "gridDim.x")
	})
}

// mapLoop writes the loop of a thread over the space, of which its block is one of
// so many.
func (g *generator) mapLoop(block, blocks string) {
	width := g.v.Vector
	n := g.count("n", func(b *binding) int { return mapGroups(b, width) })
	g.walk("i", n, block, blocks)
	if width > 1 {
		g.mapVectors(width)
	} else {
		g.coordinates(0, "i")
		g.mapPoint(&point{loops: []int{0}})
	}
	g.close("")
}

// walk opens the loop of a thread over the numbers 0 … n-1, which the threads
// of so many blocks share.
func (g *generator) walk(i, n, block, blocks string) {
	g.line("#pragma unroll 1")
	g.open("for (idx %s = (idx)%s * %d + (idx)threadIdx.x; %s < %s; %s += (idx)%s * %d)", i, block, mapThreads, i, n, i, blocks, mapThreads)
}

// mapGroups returns how many groups of width points a launch has.
func mapGroups(b *binding, width int) int { return b.loops[0].n / width }

// gridFor returns how many blocks share n threads' work: enough to fill the
// device, so that each thread steps over the rest.
func gridFor(n, threads int, t Target) int {
	const blocksPerSM = 8
	return min((n+threads-1)/threads, max(t.SMs, 1)*blocksPerSM)
}

// mapPoint writes the body and stores of one point.
func (g *generator) mapPoint(p *point) {
	var stored []codegen.Value
	for i := range g.k.Stores {
		stored = append(stored, g.k.Stores[i].Value)
	}
	g.program(g.needed(nil, stored...), p)
	for i := range g.k.Stores {
		g.store(&g.k.Stores[i], p)
	}
}
