package fuser

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testProfile is a device on which fusing pays.
var testProfile = Profile{Name: "test", Bandwidth: 10, LaunchCost: 1000, OpCost: 0.1, RowBytes: 1 << 16, MaxBuffers: 16, MaxOps: 64}

// fuser returns one of the default fusers for a program.
func (p *program) fuser(name string, disabled ...Rule) Fuser {
	p.g.Off = map[Rule]bool{}
	for _, r := range disabled {
		p.g.Off[r] = true
	}
	for _, f := range Default() {
		if f.Name == name {
			return f.New(&p.g, &testProfile)
		}
	}
	p.t.Fatalf("no fuser %q", name)
	return nil
}

// fuse offers all operations to a fuser that must accept them, finishes the
// block, runs it, and compares what it stored with the operations run one by
// one, bit for bit. What nothing reads is stored.
func (p *program) fuse(name string, disabled ...Rule) *Optimization {
	p.t.Helper()
	for i := range p.g.Tensors {
		info := &p.g.Tensors[i]
		info.Stored = info.Stored || info.Producer >= 0 && len(info.Consumers) == 0
	}
	f := p.fuser(name, disabled...)
	for i := range p.g.Ops {
		v := f.Fuse(i)
		require.True(p.t, v.Accepted, "operation %d, %v: %s: %s", i, p.g.Ops[i].Kind, v.Rule, v.Detail)
	}
	require.Equal(p.t, len(p.g.Ops), f.Len())
	require.True(p.t, f.Properties().Ready)
	o, err := f.Finish()
	require.NoError(p.t, err)
	require.Len(p.t, o.Calls, 1)

	alone := p.alone()
	for _, take := range []bool{false, true} {
		fused := newMachine(p)
		fused.take = take
		require.NoError(p.t, fused.run(o), "%v", o.Calls[0].Kernel)
		require.Equal(p.t, 1, fused.launches)
		for _, t := range o.Stored {
			sameBits(p.t, alone.read(t), fused.read(t), "%s: tensor %d, inputs taken: %v\n%v", name, t, take, o.Calls[0].Kernel)
		}
		for _, a := range o.Aliases {
			if !take {
				sameBits(p.t, alone.read(a.Tensor), fused.read(a.Tensor), "%s: view %d", name, a.Tensor)
			}
		}
	}
	for i := range p.g.Tensors {
		if info := p.g.Tensors[i]; info.Producer >= 0 && info.Stored {
			require.True(p.t, slices.Contains(o.Stored, ir.TensorID(i)) ||
				slices.ContainsFunc(o.Aliases, func(a Alias) bool { return a.Tensor == ir.TensorID(i) }), "tensor %d is missing", i)
		}
	}
	return o
}

// refused offers all operations but the last, which must be accepted, and
// requires that the last is refused by a rule.
func (p *program) refused(name string, want Rule, disabled ...Rule) {
	p.t.Helper()
	f := p.fuser(name, disabled...)
	last := len(p.g.Ops) - 1
	for i := range last {
		v := f.Fuse(i)
		require.True(p.t, v.Accepted, "operation %d, %v: %s: %s", i, p.g.Ops[i].Kind, v.Rule, v.Detail)
	}
	before := f.Properties()
	v := f.Fuse(last)
	require.False(p.t, v.Accepted)
	require.Equal(p.t, want, v.Rule, v.Detail)
	require.NotEmpty(p.t, v.Detail)
	require.Equal(p.t, before, f.Properties(), "a refusal changed the block")
	require.Equal(p.t, last, f.Len())
}

// golden compares a kernel's text with a file.
func golden(t *testing.T, name string, o *Optimization) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	got := o.Calls[0].String()
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// softmaxOf records softmax from primitives over the last axis.
func softmaxOf(p *program, x ir.TensorRef) ir.TensorRef {
	last := axes(len(x.Shape) - 1)
	e := p.op(ir.Exp, p.op(ir.Sub, x, p.op(ir.Max, x, last)))
	return p.op(ir.Div, e, p.op(ir.Sum, e, last))
}

// layerNormOf records a layer norm from primitives over the last axis.
func layerNormOf(p *program, x, w, b ir.TensorRef) ir.TensorRef {
	last := axes(len(x.Shape) - 1)
	d := p.op(ir.Sub, x, p.op(ir.Mean, x, last))
	v := p.op(ir.Mean, p.op(ir.Square, d), last)
	n := p.op(ir.Mul, d, p.op(ir.Rsqrt, p.op(ir.Add, v, f(1e-5))))
	return p.op(ir.Add, p.op(ir.Mul, n, w), b)
}

// The typical blocks, in both float dtypes: fused and alone give the same
// bits, and the f32 kernels are those of the golden files.
func TestTypicalBlocks(t *testing.T) {
	for _, c := range []struct {
		name, fuser string
		record      func(p *program, in func(...int) ir.TensorRef)
	}{
		{"residual-add", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Relu, p.op(ir.Add, p.op(ir.Add, in(2, 3, 8), in(8)), in(2, 3, 8)))
		}},
		{"broadcast-grow", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			scale := p.op(ir.Exp, in(8))
			p.op(ir.Mul, in(2, 3, 8), scale)
		}},
		{"views", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Tanh, in(2, 3, 4))
			y := p.op(ir.Reshape, x, shape(6, 4))
			z := p.op(ir.Add, y, in(4))
			p.op(ir.Permute, z, axes(1, 0))
		}},
		{"embedding", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			e := p.op(ir.Embedding, in(7, 4), p.in(random(ir.I64, ir.Shape{0, 5})))
			p.op(ir.Add, e, in(5, 4))
		}},
		{"cat-pad", "elementwise", func(p *program, in func(...int) ir.TensorRef) {
			c := p.op(ir.Cat, in(3, 2), p.op(ir.Permute, in(4, 3), axes(1, 0)), axes(1))
			padded := p.op(ir.Pad, in(1, 6), ints(1, 1, 0, 0), f(0.5))
			p.op(ir.Mul, c, padded)
		}},
		{"reduce", "reduce", func(p *program, in func(...int) ir.TensorRef) {
			s := p.op(ir.Sum, p.op(ir.Mul, in(3, 4, 5), in(5)), axes(0, 2))
			p.op(ir.Sqrt, p.op(ir.Add, s, f(9)))
		}},
		{"softmax", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			softmaxOf(p, p.op(ir.Add, p.op(ir.Mul, in(2, 3, 5), f(0.3)), in(3, 5)))
		}},
		{"layernorm", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			layerNormOf(p, p.op(ir.Add, in(2, 3, 8), in(2, 3, 8)), in(8), in(8))
		}},
		{"layernorm-composite", "reduce-broadcast", func(p *program, in func(...int) ir.TensorRef) {
			x := p.op(ir.Add, in(2, 3, 8), in(2, 3, 8))
			p.store(x)
			p.op(ir.LayerNorm, x, in(8), in(8), f(1e-5))
		}},
		{"gelu-mlp", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			p.op(ir.Gelu, p.op(ir.Linear, in(2, 3, 4), in(4, 8), in(8)))
		}},
		{"attention-scores", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			heads := func(x ir.TensorRef, order ...int) ir.TensorRef {
				return p.op(ir.Permute, p.op(ir.Reshape, x, shape(2, 5, 3, 4)), axes(order...))
			}
			q, k := heads(in(2, 5, 12), 0, 2, 1, 3), heads(in(2, 5, 12), 0, 2, 3, 1)
			s := p.op(ir.Mul, p.op(ir.MatMul, q, k), f(0.5))
			p.op(ir.Where, p.in(random(ir.Bool, ir.Shape{5, 5})), s, p.in(random(s.DType, ir.Shape{})))
		}},
		{"context", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			c := p.op(ir.MatMul, in(2, 3, 5, 5), in(2, 3, 5, 4))
			p.op(ir.Reshape, p.op(ir.Permute, c, axes(0, 2, 1, 3)), shape(2, 5, 12))
		}},
		{"residual-matmul", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			y := p.op(ir.MatMul, in(3, 4), in(4, 5))
			p.op(ir.Cast, p.op(ir.Add, y, in(3, 5)), to(ir.F32))
		}},
		{"attention", "matmul", func(p *program, in func(...int) ir.TensorRef) {
			a := p.op(ir.Attention, in(1, 4, 3, 2), in(1, 2, 5, 2), in(1, 2, 5, 3), f(0.7), causal())
			p.op(ir.Reshape, p.op(ir.Permute, p.op(ir.Add, a, in(4, 1, 3)), axes(0, 2, 1, 3)), shape(1, 3, 12))
		}},
	} {
		for _, d := range []ir.DType{ir.F32, ir.BF16} {
			t.Run(c.name+"/"+d.String(), func(t *testing.T) {
				p := newProgram(t)
				c.record(p, func(s ...int) ir.TensorRef { return p.in(random(d, s)) })
				o := p.fuse(c.fuser)
				require.Greater(t, o.Score, 0.0)
				if d == ir.F32 {
					golden(t, c.name, o)
				}
			})
		}
	}
}
