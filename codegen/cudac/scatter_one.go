package cudac

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scatterOnce writes the entry of a launch in which every place has one update at
// most.
func (g *generator) scatterOnce() {
	s := &g.k.Stores[0]
	g.scatterEntry(g.title("scatter-once"), (*binding).points, func() {
		g.eachPoint()
		p := &point{loops: []int{rowLoop, columnLoop}}
		g.program(g.needed(nil, append(slices.Clone(s.Index), s.Value)...), p)
		g.open("if (%s)", g.guarded(s))
		dt, mem := g.target(s)
		g.line("const idx place = %s;", g.indexed(s.Access, s.Index, p))
		value := g.name(s.Value)
		if s.Mode != ir.Assign {
			value = g.joined(s, g.using(loadExpr(dt, mem+"[place]")))
		}
		g.line("%s[place] = %s;", mem, g.using(storeExpr(dt, value)))
		g.close("")
		g.close("")
	})
}

// atomicNames are the integer functions whose order does not matter.
var atomicNames = map[ir.ScatterMode]string{ir.ScatterSum: "atomicAdd", ir.ScatterMin: "atomicMin", ir.ScatterMax: "atomicMax"}

// scatterAtomic writes the entry that joins integers in any order.
func (g *generator) scatterAtomic() {
	s := &g.k.Stores[0]
	g.scatterEntry(g.title("scatter-atomic"), (*binding).points, func() {
		g.eachPoint()
		p := &point{loops: []int{rowLoop, columnLoop}}
		g.program(g.needed(nil, append(slices.Clone(s.Index), s.Value)...), p)
		dt, mem := g.target(s)
		value := g.name(s.Value)
		if s.Mode == ir.ScatterSum && dt == ir.I64 { // there is none of a signed one; the bits are the same
			t := rawtype(ir.U64)
			mem, value = fmt.Sprintf("(%s*)%s", t, mem), fmt.Sprintf("(%s)%s", t, value)
		}
		g.line("if (%s) %s(%s + (%s), %s);", g.guarded(s), atomicNames[s.Mode], mem, g.indexed(s.Access, s.Index, p), value)
		g.close("")
	})
}

// scatterOne writes the entry in which a thread walks all points for each place
// that it owns: no other thread writes there, and it meets the updates in their
// order. What half types are joined to stays in f32 until the end.
func (g *generator) scatterOne() {
	t := g.t
	shape := func(b *binding) (int, int, int) {
		if b.points() == 0 {
			return 0, mapThreads, 0
		}
		most := 0
		for i := range b.k.Stores {
			most = max(most, owned(b, b.k.Accesses[b.k.Stores[i].Access].Buffer).n)
		}
		return gridFor(most, mapThreads, t), mapThreads, 0
	}
	g.entry(g.title("scatter-one"), mapThreads, shape, func() {
		var done []int
		for i := range g.k.Stores {
			if b := g.k.Accesses[g.k.Stores[i].Access].Buffer; !slices.Contains(done, b) {
				done = append(done, b)
				g.ownPlaces(b)
			}
		}
	})
}

// owned returns the places of all stores to a buffer. A launch whose indices are
// all out of range has one as well, so that this is found out.
func owned(b *binding, buffer int) places {
	all := places{step: 1}
	for i := range b.k.Stores {
		if b.k.Accesses[b.k.Stores[i].Access].Buffer == buffer {
			all = all.with(placesOf(b, i, axes(0, len(b.l.Dims))))
		}
	}
	all.n = max(all.n, 1)
	return all
}

// ownPlaces writes the loop of a thread over the places of a buffer that it owns.
func (g *generator) ownPlaces(buffer int) {
	var stores []*codegen.Store
	var index []codegen.Value
	joins := false
	for i := range g.k.Stores {
		if s := &g.k.Stores[i]; g.k.Accesses[s.Access].Buffer == buffer {
			stores, index = append(stores, s), append(index, s.Index...)
			joins = joins || s.Mode != ir.Assign
		}
	}
	dt, mem := g.k.Buffers[buffer].DType, g.buffer(buffer)
	arg := func(name string, value func(p places) int) string {
		return g.count(fmt.Sprintf("b%d_%s", buffer, name), func(b *binding) int { return value(owned(b, buffer)) })
	}
	n := arg("places", func(p places) int { return p.n })
	g.walk("own", n, "blockIdx.x", "gridDim.x")
	g.line("const idx mine = %s + own * %s;", arg("lo", func(p places) int { return p.lo }), arg("step", func(p places) int { return p.step }))
	g.line("%s now = %s;", ctype(dt.Compute()), literal(dt.Compute(), 0))
	g.line("bool written = false;")
	g.line("#pragma unroll 1")
	g.open("for (idx i = 0; i < %s; i++)", g.count("n", (*binding).points))
	g.rowAndColumn()
	g.coordinates(rowLoop, "row")
	g.coordinates(columnLoop, "column")
	p := &point{loops: []int{rowLoop, columnLoop}}
	indexed := g.needed(nil, index...)
	g.program(indexed, p)
	for _, s := range stores {
		g.open("if (%s && %s == mine)", g.guarded(s), g.indexed(s.Access, s.Index, p))
		g.program(g.needed(func(v int) bool { return indexed[v] }, s.Value), p)
		if s.Mode == ir.Assign {
			value := g.name(s.Value)
			if joins && dt.IsHalf() {
				value = g.using(loadExpr(dt, g.using(storeExpr(dt, value))))
			}
			g.line("now = %s;", value)
		} else {
			g.line("if (!written) now = %s;", g.using(loadExpr(dt, mem+"[mine]")))
			g.line("now = %s;", g.joined(s, "now"))
		}
		g.line("written = true;")
		g.close("")
	}
	g.close("")
	g.line("if (written) %s[mine] = %s;", mem, g.using(storeExpr(dt, "now")))
	g.close("")
}
