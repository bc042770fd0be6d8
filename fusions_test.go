package sinter_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

var updateFusions = flag.Bool("update-fusions", false, "write docs/FUSION.md")

// fusionCase is a program with what it costs as one or few kernels.
type fusionCase struct {
	name, what string
	launches   int64 // fused
	// in makes the operands, of small for the comparison of values and else of
	// the size of the table.
	in   func(d maker, small bool) tensors
	step func(at sinter.Placer, in tensors) tensors
}

// maker makes operands on a device.
type maker struct {
	data
	at sinter.Placer
}

func (m maker) of(d ir.DType, dims ...int) *tensor { return put(m.at, m.make(d, false, dims...)) }

func (m maker) f32(dims ...int) *tensor { return m.of(ir.F32, dims...) }

// sized is n, or a few where operands are to be small.
func sized(small bool, n int) int {
	if small {
		return max(n/32, 6)
	}
	return n
}

// on makes an input function of one that says the shapes.
func on(f func(d maker, n func(int) int) tensors) func(maker, bool) tensors {
	return func(d maker, small bool) tensors { return f(d, func(n int) int { return sized(small, n) }) }
}

var fusionCases = []fusionCase{
	{"map", "`relu(x·w + b) + r`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), n(512)), d.f32(n(512)), d.f32(n(512)), d.f32(n(256), n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].Mul(in[1]).Add(in[2]).Relu().Add(in[3])}
		}},
	{"gather, map", "`w[i] + p`, the rows of a table of 8,192", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(8192), n(512)), put(d.at, d.indices(n(8192), n(128))), d.f32(n(128), n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].Embedding(in[1]).Add(in[2])} }},
	{"cat, pad, slice, map", "`(cat(a, b) + pad(c))·d[1:]`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), n(256)), d.f32(n(256), n(256)), d.f32(n(256), 2*n(256)-2), d.f32(n(256)+1, 2*n(256))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			x := sinter.Cat(1, in[0], in[1]).Add(in[2].Pad(0, 0, 0, 1, 1))
			return tensors{x.Mul(in[3].Slice(sinter.SpanFrom(1), sinter.All()))}
		}},
	{"slice assignment, map", "`gelu(x with x[:, 8:72] = v)`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), 128), d.f32(n(256), 64)}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].SliceAssign(in[1], sinter.All(), sinter.Span(8, 72)).Gelu()}
		}},
	{"repeat, map", "`repeat(e^x, 4)·y`", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(64), n(512)), d.f32(4*n(64), n(512))} }),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].Exp().Repeat(4, 1).Mul(in[1])} }},
	{"map, reduction, map", "`√(Σx² + ε)` over axes 0 and 2", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(64), n(64), n(128))} }),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].Square().Sum(0, 2).AddScalar(1e-6).Sqrt()}
		}},
	{"reductions of one operand", "maximum with position, and minimum", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(256), n(512))} }),
		func(at sinter.Placer, in tensors) tensors {
			v, position := in[0].MaxWith(1)
			return tensors{v, position, in[0].Min(1)}
		}},
	{"mean and variance", "both of one operand, over the last axis", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(256), n(512))} }),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].Mean(1), in[0].Variance(1, 1)} }},
	{"softmax", "`softmax(x·s + mask)` from primitives", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(8, n(128), n(128)), d.f32(n(128), n(128))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{softmaxOf(in[0].MulScalar(0.125).Add(in[1]))}
		}},
	{"layer norm", "`norm(x + r)·w + b` from primitives, x + r kept", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), n(512)), d.f32(n(256), n(512)), d.f32(n(512)), d.f32(n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			x := in[0].Add(in[1])
			return tensors{x, normOf(x, in[2], in[3])}
		}},
	{"RMS norm", "`x/√(mean(x²)+ε)·w` from primitives", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(256), n(512)), d.f32(n(512))} }),
		func(at sinter.Placer, in tensors) tensors {
			x := in[0]
			return tensors{x.Mul(x.Square().Mean(-1).AddScalar(1e-6).Rsqrt()).Mul(in[1])}
		}},
	{"cross-entropy", "`log Σe^x − x[target]` for each row", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), n(512)), put(d.at, d.indices(n(512), n(256), 1))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].LogSumExp(1).Sub(in[0].Gather(1, in[1]))}
		}},
	{"embedding, norm", "`norm(w[i] + p)·g + b`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(8192), n(512)), put(d.at, d.indices(n(8192), n(128))), d.f32(n(128), n(512)), d.f32(n(512)), d.f32(n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].Embedding(in[1]).Add(in[2]).LayerNorm(in[3], in[4], 1e-5)}
		}},
	{"dropout", "`dropout(softmax(x))`", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(256), n(256))} }),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].Softmax(1).Dropout(0.1)} }},
	{"scan", "`log(cumsum(e^x))`", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(256), n(512))} }),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].Exp().CumSum(1).Log()} }},
	{"sort", "`sort(abs(x − y))·w`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(256), n(512)), d.f32(n(512)), d.f32(n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].Sub(in[1]).Abs().Sort(1, sinter.Ascending).Mul(in[2])}
		}},
	{"first elements", "the 8 greatest of `x·s` in each row", 1,
		on(func(d maker, n func(int) int) tensors { return tensors{d.f32(n(256), n(512)), d.f32(n(512))} }),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].Mul(in[1]).TopK(1, 8, sinter.Descending)}
		}},
	{"optimiser step", "`p − rate·g` of 12 parameters of different shapes", 3,
		func(d maker, small bool) tensors {
			var out tensors
			for i := range 12 {
				out = append(out, d.f32(8+i, 64), d.f32(8+i, 64))
			}
			return out
		},
		func(at sinter.Placer, in tensors) tensors {
			var out tensors
			for i := 0; i < len(in); i += 2 {
				out = append(out, in[i].Sub(in[i+1].MulScalar(0.01)))
			}
			return out
		}},
	{"product, epilogue", "`gelu(x·w + b) + r`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(128), n(512)), d.f32(n(512), n(512)), d.f32(n(512)), d.f32(n(128), n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].MatMul(in[1]).Add(in[2]).Gelu().Add(in[3])}
		}},
	{"product, dropout", "`dropout(x·w + b) + r`", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(128), n(512)), d.f32(n(512), n(512)), d.f32(n(512)), d.f32(n(128), n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].MatMul(in[1]).Add(in[2]).Dropout(0.1).Add(in[3])}
		}},
	{"cast, product", "`x·f32(w)`, w in bf16", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(4, n(512)), d.of(ir.BF16, n(512), n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].MatMul(in[1].Cast(ir.F32))} }},
	{"dequantised channels, product", "`x·((q − z)·s)`, q in i8, z and s for each column", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(4, n(512)), small8(d, n(512), n(512)), small8(d, n(512)), d.f32(n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			w := in[1].Cast(ir.F32).Sub(in[2].Cast(ir.F32)).Mul(in[3])
			return tensors{in[0].MatMul(w)}
		}},
	{"dequantised blocks, product", "`x·(q·s)`, a scale for each 2 rows of a column", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(4, n(512)), small8(d, n(512), n(512)), d.f32(n(512)/2, 1, n(512))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			k, n := in[1].Dim(0), in[1].Dim(1)
			w := in[1].Cast(ir.F32).Reshape(k/2, 2, n).Mul(in[2]).Reshape(k, n)
			return tensors{in[0].MatMul(w)}
		}},
	{"integer product, scales", "`f32(q·p)·s·t`, exact in i32", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{small8(d, n(64), n(512)), small8(d, n(512), n(256)), d.f32(n(64), 1), d.f32(n(256))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			return tensors{in[0].IntMatMul(in[1]).Cast(ir.F32).Mul(in[2]).Mul(in[3])}
		}},
	{"gather, product", "`w[i]·v`, the rows picked as the product reads them", 1,
		on(func(d maker, n func(int) int) tensors {
			return tensors{d.f32(n(8192), n(256)), put(d.at, d.indices(n(8192), n(64))), d.f32(n(256), 64)}
		}),
		func(at sinter.Placer, in tensors) tensors { return tensors{in[0].Embedding(in[1]).MatMul(in[2])} }},
	{"scores", "`where(mask, q·kᵀ·s, −∞)`, the mask [S,S] for all heads", 1,
		on(func(d maker, n func(int) int) tensors {
			s := n(128)
			return tensors{d.f32(1, 12, s, 64), d.f32(1, 12, s, 64), put(d.at, causal(s))}
		}),
		func(at sinter.Placer, in tensors) tensors {
			scores := in[0].MatMul(in[1].T()).MulScalar(0.125)
			return tensors{sinter.Where(in[2], scores, sinter.Full(at, ir.F32, math.Inf(-1)))}
		}},
	{"decoder block", "GPT-2's: 12 heads, 768 wide, 128 tokens, all from primitives", 9, decoderInput, decoderBlock},
}

// run makes the operands on a device and runs the program until its plan is
// settled. It returns what the last run cost and its results.
func (c *fusionCase) run(t *testing.T, device string, small bool, opts ...sinter.Option) (sinter.Stats, []oracle.Tensor) {
	t.Helper()
	dev, err := sinter.Open(device, append(opts, sinter.WithSeed(5))...)
	require.NoError(t, err)
	defer dev.Close()
	in := c.in(maker{newData(3), dev}, small)
	require.NoError(t, dev.Flush(ctx))
	var cost sinter.Stats
	var out []oracle.Tensor
	for range 4 {
		dev.Seed(5)
		before := dev.Stats()
		var results tensors
		require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
			for _, r := range c.step(sc, in) {
				results = append(results, sc.Keep(r))
			}
			return nil
		}), c.name)
		cost = dev.Stats().Sub(before)
		out = out[:0]
		for _, r := range results {
			require.NoError(t, r.Err(), c.name)
			if device == "cpu" {
				out = append(out, get(t, r))
			}
			r.Release()
		}
	}
	require.Zero(t, cost.Fallbacks, c.name)
	require.Zero(t, cost.Explorations, c.name)
	return cost, out
}

// Each named fusion happens, and the page says what it saves. Counters are those
// of the public runtime on the null device, which runs nothing.
func TestFusionTable(t *testing.T) {
	var b strings.Builder
	b.WriteString(fusionPage)
	for i := range fusionCases {
		c := &fusionCases[i]
		fused, _ := c.run(t, "null", false)
		apart, _ := c.run(t, "null", false, sinter.WithFusion(false))
		if !*updateFusions {
			require.Equal(t, c.launches, fused.Device.Launches, c.name)
		}
		moved := func(s sinter.Stats) int64 { return s.BytesRead + s.BytesWritten }
		require.Less(t, moved(fused), moved(apart), c.name)
		kb := func(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e3) }
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s | %.2f |\n", c.name, c.what, apart.Device.Launches, fused.Device.Launches,
			kb(moved(apart)), kb(moved(fused)), float64(moved(apart))/float64(moved(fused)))
	}
	const page = "docs/FUSION.md"
	if *updateFusions {
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(got), "run go test . -run FusionTable -update-fusions")
}

// In the decoder block, the softmax and both norms are each one kernel with
// nothing of them elsewhere; the other six are the products with what is around
// them.
func TestDecoderBlockKernels(t *testing.T) {
	dev, err := sinter.Open("null")
	require.NoError(t, err)
	defer dev.Close()
	in := decoderInput(maker{newData(3), dev}, false)
	require.NoError(t, dev.Flush(ctx))
	var rows, products [][]ir.Kind
	dev.Runtime().Observe(func(r *fusion.Run) {
		for _, b := range r.Plan.Blocks {
			var kinds []ir.Kind
			reduces := false
			for _, i := range b.Ops {
				k := r.Segment.Ops[i].Kind
				kinds, reduces = append(kinds, k), reduces || ir.Lookup(k).Class == ir.ClassReduce
			}
			switch {
			case reduces:
				require.Len(t, b.Calls, 1)
				rows = append(rows, kinds)
			case len(b.Calls) > 0:
				require.Contains(t, kinds, ir.MatMul)
				products = append(products, kinds)
			}
		}
	})
	require.NoError(t, dev.Stream().Scope(func(sc *sinter.Scope) error {
		sc.Keep(decoderBlock(sc, in)[0])
		return nil
	}))
	norm := []ir.Kind{ir.Mean, ir.Sub, ir.Square, ir.Mean, ir.Add, ir.Rsqrt, ir.Mul, ir.Mul, ir.Add}
	require.Equal(t, [][]ir.Kind{norm, {ir.Max, ir.Sub, ir.Exp, ir.Sum, ir.Div}, norm}, rows)
	require.Len(t, products, 6)
}

// Fused and unfused programs of the table give the same bits.
func TestFusionTableBits(t *testing.T) {
	for i := range fusionCases {
		c := &fusionCases[i]
		cost, fused := c.run(t, "cpu", true)
		require.LessOrEqual(t, cost.Device.Launches, c.launches, "%s: launches on the CPU", c.name)
		_, apart := c.run(t, "cpu", true, sinter.WithFusion(false))
		for k := range fused {
			require.NoError(t, oracle.Compare(fused[k], apart[k], oracle.Tol{}), "%s: result %d", c.name, k)
		}
	}
}

const fusionPage = `# Fusions

What is fused, and what it saves: launches, and kilobytes read and written by kernels, of each program run operation by operation and fused. The numbers are
counters of the runtime on the null device (profile: 10 bytes a nanosecond, 5 µs a launch), kept true by a test that writes this page
(` + "`go test . -run FusionTable -update-fusions`" + `); another test compares the values of both ways bit by bit on the CPU, which takes no more launches.

| fusion | program | launches unfused | fused | kB unfused | fused | ratio |
|---|---|---|---|---|---|---|
`
