package fuser

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// generator records random programs on small shapes.
type generator struct {
	*program
	r    *rand.Rand
	pool []ir.TensorRef
	vars []ir.TensorRef // the last version of each Var
}

func generate(t testing.TB, seed uint64, n int) *program {
	g := &generator{program: newProgram(t), r: rand.New(rand.NewPCG(seed, 3))}
	for _, s := range []ir.Shape{{2, 3, 4}, {3, 4}, {4}, {6, 4}, {1, 4}, {2, 3, 1}} {
		g.pool = append(g.pool, g.in(random(ir.F32, s)))
	}
	g.pool = append(g.pool, g.in(random(ir.BF16, ir.Shape{2, 3, 4})), g.in(random(ir.I64, ir.Shape{3, 4})), g.in(random(ir.Bool, ir.Shape{2, 3, 4})))
	for _, s := range []ir.Shape{{2, 3, 4}, {3, 4}} {
		v := g.variable(random(ir.F32, s))
		g.vars = append(g.vars, v)
		g.pool = append(g.pool, v)
	}
	for len(g.g.Ops) < n {
		g.step()
	}
	for i := range g.g.Tensors {
		g.g.Tensors[i].Stored = g.g.Tensors[i].Producer >= 0 && g.r.IntN(6) == 0
	}
	return g.program
}

// pick returns a recent tensor that satisfies ok, if there is one.
func (g *generator) pick(ok func(ir.TensorRef) bool) (ir.TensorRef, bool) {
	for range 8 {
		n := len(g.pool)
		ref := g.pool[n-1-g.r.IntN(min(n, 3+g.r.IntN(n)))]
		if ok(ref) {
			return ref, true
		}
	}
	return ir.TensorRef{}, false
}

func isFloat(r ir.TensorRef) bool { return r.DType.IsFloat() }

func (g *generator) add(r ir.TensorRef) { g.pool = append(g.pool, r) }

func (g *generator) step() {
	x, ok := g.pick(func(r ir.TensorRef) bool { return r.Shape.NumElements() > 0 && r.Shape.NumElements() <= 200 })
	if !ok {
		return
	}
	rank := len(x.Shape)
	some := func() []int {
		var a []int
		for i := range rank {
			if g.r.IntN(2) == 0 {
				a = append(a, i)
			}
		}
		if len(a) == 0 && rank > 0 {
			a = append(a, rank-1)
		}
		return a
	}
	switch g.r.IntN(22) {
	case 0, 1: // unary
		if isFloat(x) {
			kinds := []ir.Kind{ir.Exp, ir.Neg, ir.Abs, ir.Relu, ir.Gelu, ir.Square, ir.Sigmoid}
			g.add(g.op(kinds[g.r.IntN(len(kinds))], x))
		}
	case 2, 3, 4: // binary, broadcast
		y, ok := g.pick(func(r ir.TensorRef) bool {
			s, fits := ir.Broadcast(x.Shape, r.Shape)
			return fits && r.DType == x.DType && s.NumElements() <= 200
		})
		kinds := []ir.Kind{ir.Add, ir.Sub, ir.Mul, ir.Maximum}
		if x.DType == ir.Bool {
			kinds = []ir.Kind{ir.And, ir.Xor}
		}
		if ok {
			g.add(g.op(kinds[g.r.IntN(len(kinds))], x, y))
		}
	case 5:
		if isFloat(x) {
			g.add(g.op(ir.Mul, x, f(0.75)))
		} else {
			g.add(g.op(ir.Cast, x, to([]ir.DType{ir.F32, ir.BF16}[g.r.IntN(2)])))
		}
	case 6: // compare and select
		mask, ok := g.pick(func(r ir.TensorRef) bool {
			s, fits := ir.Broadcast(x.Shape, r.Shape)
			return fits && r.DType == ir.Bool && s.NumElements() <= 200
		})
		if ok {
			g.add(g.op(ir.Where, mask, x, x))
		} else if isFloat(x) {
			g.add(g.op(ir.Less, x, f(0.1)))
		}
	case 7: // views
		g.add(g.op(ir.Permute, x, axes(g.r.Perm(rank)...)))
	case 8:
		g.add(g.op(ir.Reshape, x, shape(g.factors(x.Shape.NumElements())...)))
	case 9:
		if g.r.IntN(2) == 0 && rank > 0 {
			g.add(g.op(ir.Flip, x, axes(some()...)))
			return
		}
		r := make([]ir.Range, rank)
		for i, n := range x.Shape {
			r[i] = ir.Range{Start: g.r.IntN(n), Len: 1, Step: 1}
			if g.r.IntN(3) > 0 {
				r[i] = ir.Range{Start: 0, Len: n, Step: 1}
			}
		}
		g.add(g.op(ir.Slice, x, ranges(r...)))
	case 10, 11: // reductions
		if isFloat(x) {
			kinds := []ir.Kind{ir.Sum, ir.Mean, ir.Max, ir.Var}
			g.add(g.op(kinds[g.r.IntN(len(kinds))], x, axes(some()...)))
		}
	case 12: // composites
		if isFloat(x) && rank > 0 {
			if g.r.IntN(2) == 0 {
				g.add(g.op(ir.Softmax, x, axes(some()...)))
			} else {
				g.add(g.op(ir.RMSNorm, x, f(1e-3)))
			}
		}
	case 13: // contractions
		y, ok := g.pick(func(r ir.TensorRef) bool {
			return r.DType == x.DType && rank >= 1 && len(r.Shape) == 2 && r.Shape[0] == x.Shape[rank-1]
		})
		if ok && isFloat(x) {
			g.add(g.op(ir.MatMul, x, y))
		}
	case 14: // moves and gathers
		if rank == 0 {
			g.add(g.op(ir.Uniform, shape(2, 3, 4), to(ir.F32), scalar(ir.I64Scalar(1), ir.I64Scalar(int64(len(g.g.Ops))), ir.F32Scalar(0), ir.F32Scalar(1))))
			return
		}
		axis := g.r.IntN(rank)
		switch g.r.IntN(3) {
		case 0:
			g.add(g.op(ir.Cat, x, x, axes(axis)))
		case 1:
			fill := ir.F32Scalar(2)
			if !isFloat(x) {
				fill = ir.Scalar{DType: x.DType, Bits: 1}
			}
			w := make([]int, 2*rank)
			w[2*axis], w[2*axis+1] = 1, g.r.IntN(2)
			g.add(g.op(ir.Pad, x, ints(w...), scalar(fill)))
		default:
			list := make([]int64, 3)
			for i := range list {
				list[i] = g.r.Int64N(int64(x.Shape[axis]))
			}
			g.add(g.op(ir.Select, x, g.in(oracle.Ints(ir.Shape{3}, list...)), axes(axis)))
		}
	case 15:
		g.effect()
	case 17, 18, 19, 20, 21:
		g.rarer(x, some)
	case 16: // created tensors
		switch s := []ir.Shape{{}, {4}, {1, 4}, x.Shape}[g.r.IntN(4)]; g.r.IntN(3) {
		case 0:
			g.add(g.op(ir.Arange, shape(3+g.r.IntN(2)), to(ir.F32), scalar(ir.F64Scalar(-1), ir.F64Scalar(0.3))))
		case 1:
			g.add(g.op(ir.Full, shape(s...), to(ir.Bool), scalar(ir.BoolScalar(true))))
		default:
			g.add(g.op(ir.Full, shape(s...), to(ir.F32), f(0.7)))
		}
	}
}

// factors returns a random shape with n elements.
func (g *generator) factors(n int) []int {
	out := []int{}
	for n > 1 {
		d := 1 + g.r.IntN(n)
		for n%d != 0 {
			d--
		}
		out = append(out, d)
		n /= d
	}
	return out
}

// effect writes a Var. What shares memory with an overwritten version is not
// used any more: keeping it is the runtime's part.
func (g *generator) effect() {
	i := g.r.IntN(len(g.vars))
	old := g.vars[i]
	n := old.Shape[0]
	whole := func(r ir.TensorRef) bool { return r.DType == ir.F32 && r.Shape.Equal(old.Shape) }
	part := func(r ir.TensorRef) bool {
		s := old.Shape.Clone()
		s[0] = 1
		return r.DType == ir.F32 && r.Shape.Equal(s)
	}
	var out ir.TensorRef
	if v, ok := g.pick(part); ok {
		r := []ir.Range{{Start: g.r.IntN(n), Len: 1, Step: 1}}
		for _, length := range old.Shape[1:] {
			r = append(r, ir.Range{Len: length, Step: 1})
		}
		out = g.op(ir.SetSlice, old, v, ranges(r...))
	} else if v, ok := g.pick(whole); ok {
		out = g.op(ir.Set, old, v)
		g.g.InPlace[len(g.g.Ops)-1] = g.r.IntN(2) == 0
	} else {
		return
	}
	last := len(g.g.Ops) - 1
	if g.g.overwrites(last) {
		g.pool = slices.DeleteFunc(g.pool, func(r ir.TensorRef) bool { return g.g.mayAlias(r.ID, old.ID) })
	}
	g.vars[i] = out
	g.add(out)
}

// Random programs, cut into runs of operations that one fuser takes: what the
// blocks store has the bits the operations give one by one.
func TestRandomProgramsFuse(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 60
	}
	fusedOps, blocks := 0, 0
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := generate(t, seed, 24)
			want := p.stepwise()
			r := rand.New(rand.NewPCG(seed, 9))
			m := newMachine(p)
			for i := range p.g.Ops { // in memory for those who do not make them anew
				if p.made(i) {
					o, err := Single(&p.g, i)
					require.NoError(t, err)
					require.NoError(t, m.run(o))
				}
			}
			for i := 0; i < len(p.g.Ops); {
				o, n := p.block(r, i)
				taking := m.copy()
				require.NoError(t, taking.run(o))
				require.NoError(t, m.run(o), "operations %d to %d: %v", i, i+n-1, o.Calls)
				for _, s := range o.Stored {
					sameBits(t, want[s], m.read(s), "%s of operations %v, tensor %d: %v", o.Fuser, o.Ops, s, o.Calls)
					sameBits(t, want[s], taking.read(s), "%s of operations %v, inputs taken, tensor %d: %v", o.Fuser, o.Ops, s, o.Calls)
				}
				for _, a := range o.Aliases {
					sameBits(t, want[a.Tensor], m.read(a.Tensor), "%s of operations %v, alias %d of %d", o.Fuser, o.Ops, a.Tensor, a.Of)
				}
				if n > 1 {
					fusedOps, blocks = fusedOps+n, blocks+1
				}
				i += n
			}
		})
	}
	require.Greater(t, blocks, int(seeds), "the programs hardly fuse")
	t.Logf("%d operations in %d blocks", fusedOps, blocks)
}

// copy returns a machine with memory of its own that writes outputs over
// inputs. Tensors that shared memory share it in the copy.
func (m *machine) copy() *machine {
	c := &machine{p: m.p, tensors: map[ir.TensorID]stored{}, take: true}
	mem := map[*byte][]byte{}
	for id, s := range m.tensors {
		if len(s.mem) > 0 {
			if mem[&s.mem[0]] == nil {
				mem[&s.mem[0]] = slices.Clone(s.mem)
			}
			s.mem = mem[&s.mem[0]]
		}
		c.tensors[id] = s
	}
	return c
}

// made reports whether an operation creates a tensor that blocks make anew, or
// is a view of one.
func (p *program) made(pos int) bool {
	if op := &p.g.Ops[pos]; ir.Lookup(op.Kind).Class == ir.ClassView {
		below := p.g.Tensors[op.Inputs[0].ID].Producer
		return below >= 0 && p.made(below)
	}
	return p.g.Remade(pos)
}

// stepwise runs every operation by itself and returns each output as it was
// just then.
func (p *program) stepwise() map[ir.TensorID]oracle.Tensor {
	p.t.Helper()
	m := newMachine(p)
	out := map[ir.TensorID]oracle.Tensor{}
	for i := range p.g.Ops {
		o, err := Single(&p.g, i)
		require.NoError(p.t, err)
		require.NoError(p.t, m.run(o), "%v", p.g.Ops[i].Kind)
		out[p.g.output(i)] = m.read(p.g.output(i))
	}
	return out
}

// block returns the optimization of the longest ready run of operations from
// first on that a random fuser takes, and how many they are.
func (p *program) block(r *rand.Rand, first int) (*Optimization, int) {
	p.t.Helper()
	p.g.Off = map[Rule]bool{RuleRecompute: r.IntN(2) == 0, RuleRowOnChip: true}
	factories := Default()
	f := factories[r.IntN(len(factories))].New(&p.g, &testProfile)
	var ready Fuser
	for i := first; i < len(p.g.Ops) && f.Fuse(i).Accepted; i++ {
		if f.Properties().Ready {
			ready = f.Clone()
		}
	}
	if ready == nil {
		o, err := Single(&p.g, first)
		require.NoError(p.t, err)
		return o, 1
	}
	n := ready.Len()
	var decided []ir.TensorID
	for i := first; i < first+n; i++ {
		t := p.g.output(i)
		info := &p.g.Tensors[t]
		outside := slices.ContainsFunc(info.Consumers, func(c int) bool { return c >= first+n })
		if !info.Stored && !p.made(i) && (outside || len(info.Consumers) == 0) {
			info.Stored = true
			decided = append(decided, t)
		}
	}
	o, err := ready.Finish()
	require.NoError(p.t, err, "%s of operations %d to %d", ready.Name(), first, first+n-1)
	for _, t := range decided {
		p.g.Tensors[t].Stored = false
	}
	return o, n
}
