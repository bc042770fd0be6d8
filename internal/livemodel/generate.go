package livemodel

import (
	"math/rand"
	"slices"
)

// Options says what Generate puts into programs besides operations, effects
// and reads.
type Options struct {
	Scopes   bool // scopes, inner scopes, Keep
	Releases bool
	Faults   bool // impossible operations, use after release or scope end
	Unsteady bool // steps that only some iterations execute
	Rare     bool // no read in some iterations, so that the queue grows
}

// side is the length of both axes of most generated tensors.
const side = 4

// place is a register a generated step may read.
type place struct {
	reg   int
	depth int  // of the scope it belongs to
	rows  int  // side, or fewer
	carry bool // assigned before the loop: not released
}

type generator struct {
	rg    *rand.Rand
	opts  Options
	p     *Program
	out   *[]Step // the part being written
	vars  int     // those that steps use; one more is for overwrite
	reg   int     // next free register
	site  int     // next free call site
	depth int
	pool  []place
	lost  []place // ended or released: only for faults
}

// Generate returns a random program that depends on seed and opts alone: 1–3
// Vars, 1–3 carried values, a body of 8–30 steps or so repeated 6–14 times.
func Generate(seed int64, opts Options) *Program {
	g := &generator{rg: rand.New(rand.NewSource(seed)), opts: opts, p: &Program{Seed: seed}}
	p := g.p
	g.vars = 1 + g.rg.Intn(3)
	n := g.vars
	if opts.Releases {
		n++
	}
	for range n {
		p.Vars = append(p.Vars, []int{side, side})
	}
	p.Times = 6 + g.rg.Intn(9)
	g.out = &p.Init
	var carried []place
	for range 1 + g.rg.Intn(3) {
		c := g.leaf()
		c.carry = true
		carried = append(carried, c)
	}
	g.pool = append([]place(nil), carried...)

	g.out = &p.Body
	if opts.Scopes && g.rg.Intn(2) == 0 {
		g.begin()
	}
	g.pool = append(g.pool, g.leaf())
	for range 8 + g.rg.Intn(23) {
		g.step()
	}
	// Carried values are squashed so that numbers stay finite and distinct.
	var last []int
	for range carried {
		last = append(last, g.squash(g.square()).reg)
	}
	for g.depth > 0 {
		for _, r := range last {
			g.emit(OpKeep, -1, r)
		}
		g.end(last)
	}
	for i, c := range carried {
		g.emit(OpMove, c.reg, last[i])
	}
	if !opts.Rare || g.rg.Intn(5) > 1 {
		g.emit(OpRead, -1, carried[0].reg)
	}

	g.out = &p.Final
	for _, c := range carried {
		g.emit(OpRead, -1, c.reg)
	}
	for v := range p.Vars {
		r := g.fresh()
		g.emit(OpValue, r).Var = v
		g.emit(OpRead, -1, r)
	}
	g.emit(OpReadHeld, -1)
	g.emit(OpFlush, -1)
	return p
}

func (g *generator) fresh() int { g.reg++; return g.reg - 1 }

// emit appends a step at a call site of its own.
func (g *generator) emit(op Op, out int, in ...int) *Step {
	g.site++
	*g.out = append(*g.out, Step{Call: Call{Op: op, Site: g.site, Seed: g.site}, Out: out, In: in})
	return &(*g.out)[len(*g.out)-1]
}

// add emits a step that makes a tensor and puts it into the pool.
func (g *generator) add(op Op, rows int, in ...int) *Step {
	r := g.fresh()
	g.pool = append(g.pool, place{reg: r, depth: g.depth, rows: rows})
	return g.emit(op, r, in...)
}

func (g *generator) leaf() place {
	r := g.fresh()
	g.emit(OpFrom, r).Shape = []int{side, side}
	return place{reg: r, depth: g.depth, rows: side}
}

func (g *generator) any() place { return g.pool[g.rg.Intn(len(g.pool))] }

// square returns a value of side×side.
func (g *generator) square() place {
	for {
		if p := g.any(); p.rows == side {
			return p
		}
	}
}

// squash emits x/(1+|x|).
func (g *generator) squash(x place) place {
	g.add(OpAbs, x.rows, x.reg)
	g.add(OpAddScalar, x.rows, g.reg-1).Scalar = 1
	g.add(OpDiv, x.rows, x.reg, g.reg-1)
	return g.pool[len(g.pool)-1]
}

func (g *generator) scale(x place, by float32) place {
	s := g.add(OpMulScalar, x.rows, x.reg)
	s.Scalar = by
	s.Grow = g.rg.Intn(6) == 0
	return g.pool[len(g.pool)-1]
}

// step emits one thing a program may do, of several steps for some.
func (g *generator) step() {
	x, y := g.square(), g.square()
	v := g.rg.Intn(g.vars)
	switch k := g.rg.Intn(34); k {
	case 0, 1:
		g.add(OpAdd, side, x.reg, y.reg)
	case 2, 3:
		g.add(OpMul, side, x.reg, y.reg)
	case 4:
		g.add(OpSub, side, x.reg, g.scale(y, 0.5).reg)
	case 5:
		g.add([]Op{OpMaximum, OpRelu, OpNeg, OpSquare}[g.rg.Intn(4)], side, x.reg)
		if s := &(*g.out)[len(*g.out)-1]; s.Op == OpMaximum {
			s.In = append(s.In, y.reg)
		}
	case 6, 7:
		g.squash(x)
	case 8, 9:
		g.add(OpMatMul, side, x.reg, y.reg)
		g.scale(g.pool[len(g.pool)-1], 0.125)
	case 10, 11:
		g.sum(x)
	case 12:
		g.add(OpTranspose, side, x.reg)
	case 13:
		g.rows(x)
	case 14, 15:
		g.add(OpUniform, side).Shape = []int{side, side}
		g.add(OpMul, side, x.reg, g.reg-1)
	case 16, 17, 18, 19:
		r := g.fresh()
		g.emit(OpValue, r).Var = v
		g.pool = append(g.pool, place{reg: r, depth: g.depth, rows: side})
	case 20, 21, 22:
		g.emit(OpSet, -1, g.squash(y).reg).Var = v
	case 23, 24:
		s := g.emit(OpSetSlice, -1, g.rows(g.squash(x)).reg)
		s.Var, s.Start = v, g.rg.Intn(2)
		if g.rg.Intn(2) == 0 {
			s.Mod = side / 2
		}
	case 25, 26:
		s := g.emit(OpRead, -1, g.any().reg)
		if g.opts.Unsteady && g.rg.Intn(2) == 0 {
			s.Every = 2 + g.rg.Intn(4)
			s.Phase = g.rg.Intn(s.Every)
		}
		return
	case 27, 28:
		g.scoping()
		return
	case 29, 30, 31:
		g.deaths()
		return
	case 32, 33:
		g.faults(x)
		return
	}
	if s := &(*g.out)[len(*g.out)-1]; g.opts.Unsteady && s.Out < 0 && g.rg.Intn(4) == 0 {
		s.Every = 3
	}
}

func (g *generator) rows(x place) place {
	s := g.add(OpRows, side/2, x.reg)
	s.Start, s.Len = g.rg.Intn(side/2), side/2
	return g.pool[len(g.pool)-1]
}

// sum emits x minus a tenth of its sums along an axis.
func (g *generator) sum(x place) {
	r := g.fresh()
	g.emit(OpSum, r, x.reg).Axis = g.rg.Intn(2)
	g.add(OpSub, side, x.reg, r)
}

func (g *generator) begin() {
	g.emit(OpScopeBegin, -1)
	g.depth++
}

// end emits the end of a scope, which the kept registers survive.
func (g *generator) end(kept []int) {
	var pool []place
	for _, p := range g.pool {
		switch {
		case p.depth < g.depth:
			pool = append(pool, p)
		case slices.Contains(kept, p.reg):
			p.depth--
			pool = append(pool, p)
		default:
			g.lost = append(g.lost, p)
		}
	}
	g.pool = pool
	g.emit(OpScopeEnd, -1)
	g.depth--
}

func (g *generator) scoping() {
	if !g.opts.Scopes {
		return
	}
	if g.depth < 2 && g.rg.Intn(3) > 0 || g.depth == 0 {
		g.begin()
		return
	}
	var mine []int
	for _, p := range g.pool {
		if p.depth == g.depth && g.rg.Intn(3) == 0 {
			mine = append(mine, p.reg)
			g.emit(OpKeep, -1, p.reg)
		}
	}
	if g.rg.Intn(3) > 0 || g.depth > 1 { // else only marked, so far
		g.end(mine)
	}
}

// deaths emits a Release, a forgotten handle or one held to the end, or reads a
// Var through a handle that dies at once.
func (g *generator) deaths() {
	if g.opts.Releases && g.rg.Intn(3) == 0 {
		g.overwrite()
		return
	}
	i := g.rg.Intn(len(g.pool))
	p := g.pool[i]
	if p.carry || len(g.pool) < 6 || !g.opts.Releases {
		return
	}
	switch g.rg.Intn(3) {
	case 0:
		if p.depth == 0 {
			g.emit(OpHold, -1, p.reg)
		}
		return
	case 1:
		g.emit(OpDrop, -1, p.reg)
	case 2:
		g.emit(OpRelease, -1, p.reg)
		g.lost = append(g.lost, p)
	}
	g.pool = append(g.pool[:i], g.pool[i+1:]...)
}

// overwrite makes values from the last Var, which no other step reads, through
// a handle that dies at once; perhaps the Var then changes, in this segment or the next, and one of them is read.
func (g *generator) overwrite() {
	old, v, next := g.fresh(), len(g.p.Vars)-1, g.squash(g.square())
	g.emit(OpValue, old).Var = v
	x := place{reg: old, rows: side}
	if g.rg.Intn(2) == 0 {
		g.add(OpTranspose, side, old)
		x.reg = g.reg - 1
	}
	y := g.scale(x, 0.5)
	z := g.scale(y, 0.5)
	g.emit(OpRelease, -1, old)
	if g.rg.Intn(2) == 0 {
		g.emit(OpRead, -1, z.reg)
	}
	if g.rg.Intn(2) == 0 {
		g.emit(OpSet, -1, next.reg).Var = v
		now := g.fresh()
		g.emit(OpValue, now).Var = v
		g.emit(OpRead, -1, now)
		g.emit(OpRelease, -1, now)
		g.emit(OpRead, -1, y.reg)
	}
}

// faults emits an impossible operation and uses of what it gives, or the use
// of something dead.
func (g *generator) faults(x place) {
	if !g.opts.Faults {
		return
	}
	if g.rg.Intn(2) == 0 {
		if len(g.lost) == 0 {
			r := g.fresh()
			g.emit(OpNeg, r, x.reg)
			g.emit(OpRelease, -1, r)
			g.lost = append(g.lost, place{reg: r})
		}
		dead := g.lost[g.rg.Intn(len(g.lost))]
		if g.rg.Intn(2) == 0 {
			g.emit(OpRead, -1, dead.reg)
		} else {
			g.emit(OpAdd, g.fresh(), x.reg, dead.reg)
		}
		return
	}
	r, bad, next := g.fresh(), g.fresh(), g.fresh()
	s := g.emit(OpRows, r, x.reg)
	s.Start, s.Len = 0, side-1
	g.emit(OpMatMul, bad, x.reg, r)
	g.emit(OpMul, next, bad, x.reg)
	switch g.rg.Intn(4) {
	case 0:
		g.emit(OpSet, -1, next)
	case 1:
		g.emit(OpRead, -1, next)
	case 2:
		g.emit(OpFlush, -1)
	}
}
