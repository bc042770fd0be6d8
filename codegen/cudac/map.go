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
	if s := mapSpan(b.k, 1); b.loops[0].n > 0 {
		for s.width = s.widest(b); s.width > 1 && !s.fits(b); {
			s.width /= 2
		}
		if s.width > 1 {
			list = append(list, &Variant{Kind: "map", Vector: s.width})
		}
	}
	return append(list, &Variant{Kind: "map", Vector: 1})
}

// vectorBytes is the widest load of a thread.
const vectorBytes = 16

// mapSpan is the span of a thread of a map.
func mapSpan(k *codegen.Kernel, width int) *span {
	s := &span{width: width, loops: []int{0}, uses: make([]bool, len(k.Accesses))}
	for i := range s.uses {
		s.uses[i] = true
	}
	return s
}

func (mapTemplate) check(b *binding, v *Variant) string {
	if v.Vector > 1 && b.loops[0].n > 0 && !mapSpan(b.k, v.Vector).fits(b) {
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
		g.vectorCoordinates(width, g.v.loops[0].rank-1)
		g.points(mapSpan(g.k, width), func(p *point) { g.program(g.needed(nil, g.stored()...), p) })
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
	g.program(g.needed(nil, g.stored()...), p)
	for i := range g.k.Stores {
		g.store(&g.k.Stores[i], p)
	}
}
