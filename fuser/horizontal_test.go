package fuser

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// blockOf finishes the operations from first to end, which a fuser must accept.
func (p *program) blockOf(name string, first, end int) *Optimization {
	p.t.Helper()
	f := p.fuser(name)
	for i := first; i < end; i++ {
		v := f.Fuse(i)
		require.True(p.t, v.Accepted, "operation %d: %s %s", i, v.Rule, v.Detail)
	}
	o, err := f.Finish()
	require.NoError(p.t, err)
	return o
}

// update records a step of a parameter by a gradient with momentum, both
// written in place.
func (p *program) update(g ir.TensorRef, rate float32) {
	w, m := p.variable(random(g.DType, g.Shape)), p.variable(random(g.DType, g.Shape))
	next := p.op(ir.Add, p.op(ir.Mul, m, f(0.9)), g)
	for _, x := range [][2]ir.TensorRef{{m, next}, {w, p.op(ir.Sub, w, p.op(ir.Mul, next, f(rate)))}} {
		out := p.op(ir.Set, x[0], x[1])
		p.g.InPlace[len(p.g.Ops)-1] = true
		p.store(out)
	}
}

// Blocks of any shapes, dtypes and layouts in one launch give the bits each
// gives alone, and move the bytes each moves.
func TestHorizontal(t *testing.T) {
	p := newProgram(t)
	shapes := [][]int{{3, 5}, {7}, {}, {0, 4}, {3, 5}, {2, 1, 3}, {40, 40}}
	var ends []int
	for i, s := range shapes {
		g := p.in(random([]ir.DType{ir.F32, ir.BF16}[i%2], s))
		p.update(g, 0.1*float32(i+1))
		ends = append(ends, len(p.g.Ops))
	}
	x := p.f32(4, 6)
	p.strideInput(x, 1, 4)
	for _, k := range []ir.Kind{ir.Exp, ir.Neg} { // of one operand
		p.store(p.op(k, x))
		ends = append(ends, len(p.g.Ops))
	}
	var blocks []*Optimization
	first := 0
	for _, end := range ends {
		blocks = append(blocks, p.blockOf("elementwise", first, end))
		first = end
	}
	o := Horizontal(blocks, &testProfile)
	require.NoError(t, o.Validate(&p.g))
	require.Equal(t, HorizontalName, o.Fuser)
	require.Len(t, o.Calls, 1)
	require.Equal(t, codegen.Parts, o.Calls[0].Kernel.Template)
	require.Equal(t, 5*len(shapes)+3, len(o.Calls[0].Tensors), "what two read is one buffer")
	require.Equal(t, Arguments(blocks), len(o.Calls[0].Tensors))

	var score, launches float64
	var read, written, tookRead, tookWritten int64
	apart := newMachine(p)
	for _, b := range blocks {
		require.True(t, Joinable(b).Accepted)
		require.NoError(t, apart.run(b))
		score, launches, read, written = score+b.Score, launches+b.Saving.Launches, read+b.Read, written+b.Written
		r, w := traffic(t, p, &b.Calls[0])
		tookRead, tookWritten = tookRead+r, tookWritten+w
	}
	saved := float64(len(blocks) - 1)
	require.InDelta(t, score+saved*testProfile.LaunchCost, o.Score, 1e-6)
	require.InDelta(t, o.Saving.Score(&testProfile), o.Score, 1e-6)
	require.InDelta(t, launches+saved, o.Saving.Launches, 1e-9)
	require.Equal(t, []int64{read, written}, []int64{o.Read, o.Written})
	r, w := traffic(t, p, &o.Calls[0])
	require.Equal(t, []int64{tookRead, tookWritten}, []int64{r, w})

	for _, take := range []bool{false, true} {
		joined := newMachine(p)
		joined.take = take
		require.NoError(t, joined.run(o), "%v", o.Calls[0].Kernel)
		require.Equal(t, 1, joined.launches)
		for _, s := range o.Stored {
			sameBits(t, apart.read(s), joined.read(s), "tensor %d", s)
		}
	}
	for _, x := range o.InPlace {
		require.False(t, x.In == p.g.Ops[len(p.g.Ops)-1].Inputs[0].ID, "two parts read it, in any order")
	}
}

func traffic(t *testing.T, p *program, c *Call) (read, written int64) {
	t.Helper()
	var l codegen.Launch
	m := newMachine(p)
	layout := func(id ir.TensorID) codegen.Layout {
		if s, ok := m.tensors[id]; ok {
			return s.layout
		}
		return codegen.Contiguous(p.g.Tensors[id].Shape)
	}
	require.NoError(t, Bind(c, p.g.Dims, p.g.Ops, layout, &l))
	return codegen.Traffic(c.Kernel, &l)
}

// unjoinable are programs whose last operation cannot share a launch.
var unjoinable = []struct {
	rule   Rule
	fuser  string
	record func(p *program)
}{
	{RuleNotAMap, "reduce", func(p *program) { p.store(p.op(ir.Sum, p.f32(3, 4), axes(1))) }},
	{RuleMayFail, "elementwise", func(p *program) {
		p.store(p.op(ir.Gather, p.f32(3, 4), p.in(random(ir.I64, ir.Shape{2, 4})), axes(0)))
	}},
	{RuleDraws, "elementwise", func(p *program) {
		p.store(p.op(ir.Uniform, shape(3, 4), to(ir.F32), scalar(ir.I64Scalar(1), ir.I64Scalar(0), ir.F32Scalar(0), ir.F32Scalar(1))))
	}},
}

func TestUnjoinable(t *testing.T) {
	for _, c := range unjoinable {
		t.Run(string(c.rule), func(t *testing.T) {
			p := newProgram(t)
			c.record(p)
			v := Joinable(p.blockOf(c.fuser, 0, len(p.g.Ops)))
			require.False(t, v.Accepted)
			require.Equal(t, c.rule, v.Rule)
			require.NotEmpty(t, v.Detail)
		})
	}
	require.Equal(t, RuleNotAMap, Joinable(&Optimization{Aliases: []Alias{{}}}).Rule, "an alias is no launch")
}

// What is read back of a launch of parts must fit its kernel.
func TestValidateParts(t *testing.T) {
	join := func() (*program, *Optimization) {
		p := newProgram(t)
		p.update(p.f32(3), 0.1)
		first := len(p.g.Ops)
		p.update(p.f32(2, 2), 0.2)
		return p, Horizontal([]*Optimization{p.blockOf("elementwise", 0, first), p.blockOf("elementwise", first, len(p.g.Ops))}, &testProfile)
	}
	for name, spoil := range map[string]func(o *Optimization){
		"missing part": func(o *Optimization) { o.Calls[0].Parts = o.Calls[0].Parts[:1] },
		"no kernel":    func(o *Optimization) { o.Calls[0].Parts[0].Kernel = nil },
		"another kernel": func(o *Optimization) {
			o.Calls[0].Parts[0].Kernel = o.Calls[0].Parts[1].Kernel.Clone()
			o.Calls[0].Parts[0].Kernel.Params = nil
		},
		"other tensors":   func(o *Optimization) { o.Calls[0].Tensors[0], o.Calls[0].Tensors[1] = 1, 0 },
		"part of a part":  func(o *Optimization) { o.Calls[0].Parts[0].Parts = []Call{o.Calls[0].Parts[1]} },
		"space of a part": func(o *Optimization) { o.Calls[0].Parts[1].Dims = nil },
	} {
		p, o := join()
		require.NoError(t, o.Validate(&p.g))
		spoil(o)
		require.Error(t, o.Validate(&p.g), name)
	}
}
