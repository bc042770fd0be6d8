package optimize

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestGoldenPlans(t *testing.T) {
	cases := map[string]func(b *builder){
		"softmax": func(b *builder) {
			x := b.in(4, 16)
			y := b.op(ir.Exp, b.op(ir.Sub, x, b.axes(ir.Max, x, 1)))
			b.asked(b.op(ir.Div, y, b.axes(ir.Sum, y, 1)))
		},
		"attention": func(b *builder) {
			q, k, v := b.in(8, 4), b.in(8, 4), b.in(8, 4)
			s := b.scalar(ir.Mul, 0.5, b.op(ir.MatMul, q, b.axes(ir.Permute, k, 1, 0)))
			s = b.op(ir.Exp, s)
			s = b.op(ir.Div, s, b.axes(ir.Sum, s, 1))
			b.asked(b.shape(ir.Reshape, b.axes(ir.Permute, b.op(ir.MatMul, s, v), 1, 0), 32))
		},
		"step": func(b *builder) { // momentum, in a scope
			p, m, g := b.variable(4, 4), b.variable(4, 4), b.in(4, 4)
			m1 := b.op(ir.Add, b.scalar(ir.Mul, 0.9, m), g)
			n := b.set(m, m1, true)
			b.set(p, b.op(ir.Sub, p, b.scalar(ir.Mul, 0.1, n)), true)
			for t := range b.seg.Tensors {
				b.seg.Tensors[t].Dead = b.seg.Tensors[t].Dead || !b.seg.Tensors[t].Input && b.seg.Ops[maker(&b.seg, ir.TensorID(t))].Kind != ir.Set
			}
		},
		"cache": func(b *builder) { // a step of decoding: keys are appended, then read
			keys, x, w := b.variable(8, 4), b.in(1, 4), b.in(4, 4)
			k := b.op(ir.MatMul, x, w)
			n := b.setRows(keys, k, 3, 4)
			b.asked(b.op(ir.MatMul, x, b.axes(ir.Permute, b.rows(n, 0, 4), 1, 0)))
			b.dead(k)
		},
	}
	for name, build := range cases {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			build(b)
			seg := b.done()
			p, err := fakePlanner(fakes(), Options{Check: true}).Plan(seg)
			require.NoError(t, err)
			golden(t, name, p.Format(seg))
		})
	}
}
