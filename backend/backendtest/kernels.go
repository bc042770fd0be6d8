package backendtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// example is a kernel, a launch of it and what it computes.
type example struct {
	name   string
	kernel *codegen.Kernel
	launch *codegen.Launch
	before [][]byte // one for each buffer; outputs hold what must not survive
	after  map[int][]byte
}

func load(access int, t ir.DType, args ...codegen.Value) codegen.Instr {
	return codegen.Instr{Op: codegen.OpLoad, Type: t, Access: access, Args: args}
}

func apply(f ir.ScalarOp, t ir.DType, args ...codegen.Value) codegen.Instr {
	return codegen.Instr{Op: codegen.OpApply, Type: t, Fn: f, Args: args}
}

// buffers makes one plain access for each buffer.
func buffers(k *codegen.Kernel, bufs ...codegen.Buffer) *codegen.Kernel {
	k.Buffers = bufs
	for i := range bufs {
		k.Accesses = append(k.Accesses, codegen.Access{Buffer: i})
	}
	return k
}

func strides(s ...int) codegen.AccessArgs { return codegen.AccessArgs{Strides: s} }

// incrementKernel adds a parameter to each element of a vector.
func incrementKernel(d ir.DType) *codegen.Kernel {
	t := d.Compute()
	k := buffers(&codegen.Kernel{Name: "increment", Template: codegen.Map, Outer: 1, Params: []ir.DType{t}},
		codegen.Buffer{DType: d, Mode: codegen.In}, codegen.Buffer{DType: d, Mode: codegen.Out})
	k.Body = []codegen.Instr{load(0, t), {Op: codegen.OpParam, Type: t}, apply(ir.SAdd, t, 0, 1)}
	k.Stores = []codegen.Store{{Access: 1, Value: 2}}
	return k
}

func incrementLaunch(n int, by uint64) *codegen.Launch {
	return &codegen.Launch{Dims: []int{n}, Access: []codegen.AccessArgs{strides(1), strides(1)}, Params: []uint64{by}}
}

// gatherKernel reads rows of a table.
func gatherKernel() *codegen.Kernel {
	k := buffers(&codegen.Kernel{Name: "gather", Template: codegen.Map, Outer: 2},
		codegen.Buffer{DType: ir.F32, Mode: codegen.In}, codegen.Buffer{DType: ir.I64, Mode: codegen.In}, codegen.Buffer{DType: ir.F32, Mode: codegen.Out})
	k.Accesses[0].Indices = 1
	k.Body = []codegen.Instr{load(1, ir.I64), load(0, ir.F32, 0)}
	k.Stores = []codegen.Store{{Access: 2, Value: 1}}
	return k
}

func gatherLaunch(rows, n, width int) *codegen.Launch {
	return &codegen.Launch{Dims: []int{n, width}, Access: []codegen.AccessArgs{
		{Strides: []int{0, 1}, Index: []codegen.IndexArg{{Extent: rows, Stride: width}}}, strides(1, 0), strides(width, 1),
	}}
}

func examples() []example {
	in, out := codegen.In, codegen.Out
	junk := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = 0xA5
		}
		return b
	}
	f32, bf16, i64, boolean := ir.F32, ir.BF16, ir.I64, ir.Bool

	pad := buffers(&codegen.Kernel{Name: "pad", Template: codegen.Map, Outer: 1},
		codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: out})
	pad.Accesses[0].Masked = true
	pad.Body = []codegen.Instr{{Op: codegen.OpConst, Type: f32, Bits: uint64(math.Float32bits(-7))}, load(0, f32, 0)}
	pad.Stores = []codegen.Store{{Access: 1, Value: 1}}

	subtract := buffers(&codegen.Kernel{Name: "subtract", Template: codegen.Map, Outer: 2},
		codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: out})
	subtract.Body = []codegen.Instr{load(0, f32), load(1, f32), apply(ir.SSub, f32, 0, 1)}
	subtract.Stores = []codegen.Store{{Access: 2, Value: 2}}

	less := buffers(&codegen.Kernel{Name: "less", Template: codegen.Map, Outer: 1},
		codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: boolean, Mode: out})
	less.Body = []codegen.Instr{load(0, f32), load(1, f32), apply(ir.SLess, boolean, 0, 1)}
	less.Stores = []codegen.Store{{Access: 2, Value: 2}}

	center := buffers(&codegen.Kernel{Name: "center", Template: codegen.Rows, Outer: 1, Inner: 1},
		codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: out}, codegen.Buffer{DType: i64, Mode: out})
	center.Body = []codegen.Instr{
		load(0, f32),
		{Op: codegen.OpReduce, Type: f32, Level: codegen.Row, Reduce: codegen.RSum, Args: []codegen.Value{0}},
		{Op: codegen.OpCount, Type: f32, Level: codegen.Row},
		{Op: codegen.OpApply, Type: f32, Level: codegen.Row, Fn: ir.SDiv, Args: []codegen.Value{1, 2}},
		apply(ir.SSub, f32, 0, 3),
		{Op: codegen.OpReduce, Type: i64, Level: codegen.Row, Reduce: codegen.RArgMax, Args: []codegen.Value{4}},
	}
	center.Stores = []codegen.Store{{Access: 1, Value: 4}, {Access: 2, Value: 5}}

	linear := buffers(&codegen.Kernel{Name: "linear", Template: codegen.Contraction, Outer: 2, Inner: 1},
		codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: f32, Mode: out})
	linear.Body = []codegen.Instr{{Op: codegen.OpContract, Type: f32, Access: 0, Access2: 1}, load(2, f32), apply(ir.SAdd, f32, 0, 1)}
	linear.Stores = []codegen.Store{{Access: 3, Value: 2}}
	linearLaunch := func(m, n, k int) *codegen.Launch {
		return &codegen.Launch{Dims: []int{m, n, k}, Access: []codegen.AccessArgs{
			strides(k, 0, 1), strides(0, 1, n), strides(0, 1, 0), strides(n, 1, 0)}}
	}

	cumsum := buffers(&codegen.Kernel{Name: "cumsum", Template: codegen.Scan, Outer: 1, Inner: 1},
		codegen.Buffer{DType: i64, Mode: in}, codegen.Buffer{DType: i64, Mode: out})
	cumsum.Body = []codegen.Instr{load(0, i64), {Op: codegen.OpScan, Type: i64, Reduce: codegen.RSum, Args: []codegen.Value{0}}}
	cumsum.Stores = []codegen.Store{{Access: 1, Value: 1}}

	scatter := buffers(&codegen.Kernel{Name: "scatter-add", Template: codegen.Scatter, Outer: 1},
		codegen.Buffer{DType: f32, Mode: in}, codegen.Buffer{DType: i64, Mode: in}, codegen.Buffer{DType: f32, Mode: codegen.InOut})
	scatter.Accesses[2].Indices = 1
	scatter.Body = []codegen.Instr{load(0, f32), load(1, i64)}
	scatter.Stores = []codegen.Store{{Access: 2, Value: 0, Index: []codegen.Value{1}, Mode: ir.ScatterSum}}

	const many = 100_003
	var iota, plus3 []int64
	for i := range int64(many) {
		iota, plus3 = append(iota, i), append(plus3, i+3)
	}
	return []example{
		partsExample(),
		{"long vector", incrementKernel(i64), incrementLaunch(many, 3), [][]byte{i64s(iota...), junk(8 * many)}, map[int][]byte{1: i64s(plus3...)}},
		{"f32", incrementKernel(f32), incrementLaunch(3, uint64(math.Float32bits(0.5))), [][]byte{f32s(1, -2, 1e30), junk(12)},
			map[int][]byte{0: f32s(1, -2, 1e30), 1: f32s(1.5, -1.5, 1e30)}},
		// 256 and 1 lie half-way between two bfloat16 numbers: ties to even.
		{"bf16 rounds", incrementKernel(bf16), incrementLaunch(3, uint64(math.Float32bits(1))), [][]byte{bf16s(256, 258, 2), junk(6)},
			map[int][]byte{1: bf16s(256, 260, 3)}},
		{"empty", incrementKernel(f32), incrementLaunch(0, 0), [][]byte{{}, {}}, map[int][]byte{1: {}}},
		{"broadcast and flip", subtract, &codegen.Launch{Dims: []int{2, 3}, Access: []codegen.AccessArgs{
			{Strides: []int{3, -1}, Offset: 2}, strides(1, 0), strides(3, 1)}},
			[][]byte{f32s(1, 2, 3, 4, 5, 6), f32s(10, 20), junk(24)}, map[int][]byte{2: f32s(-7, -8, -9, -14, -15, -16)}},
		{"pitched output", incrementKernel(f32), &codegen.Launch{Dims: []int{2}, Params: []uint64{0}, Access: []codegen.AccessArgs{
			strides(1), {Strides: []int{2}, Offset: 1}}}, [][]byte{f32s(1, 2), f32s(9, 9, 9, 9)}, map[int][]byte{1: f32s(9, 1, 9, 2)}},
		{"window", pad, &codegen.Launch{Dims: []int{5}, Access: []codegen.AccessArgs{
			{Strides: []int{1}, Offset: -2, Window: []codegen.WindowArg{{Axis: 0, Lo: 2, Hi: 4}}}, strides(1)}},
			[][]byte{f32s(1, 2), junk(20)}, map[int][]byte{1: f32s(-7, -7, 1, 2, -7)}},
		{"compare", less, &codegen.Launch{Dims: []int{4}, Access: []codegen.AccessArgs{strides(1), strides(1), strides(1)}},
			[][]byte{f32s(1, 2, float32(math.NaN()), 0), f32s(2, 1, 0, float32(math.Copysign(0, -1))), junk(4)}, map[int][]byte{2: {1, 0, 0, 0}}},
		{"rows", center, &codegen.Launch{Dims: []int{2, 4}, Access: []codegen.AccessArgs{strides(4, 1), strides(4, 1), strides(1, 0)}},
			[][]byte{f32s(1, 2, 3, 6, 5, 5, 5, 5), junk(32), junk(16)},
			map[int][]byte{1: f32s(-2, -1, 0, 3, 0, 0, 0, 0), 2: i64s(3, 0)}},
		{"contraction", linear, linearLaunch(2, 2, 3), [][]byte{f32s(1, 2, 3, 4, 5, 6), f32s(1, 0, 0, 1, 1, 1), f32s(0.5, -1), junk(16)},
			map[int][]byte{3: f32s(4.5, 4, 10.5, 10)}},
		{"contraction of nothing", linear, linearLaunch(1, 2, 0), [][]byte{{}, {}, f32s(0.5, -1), junk(8)}, map[int][]byte{3: f32s(0.5, -1)}},
		{"scan", cumsum, &codegen.Launch{Dims: []int{2, 3}, Access: []codegen.AccessArgs{strides(3, 1), strides(3, 1)}},
			[][]byte{i64s(1, 2, 3, -1, -1, -1), junk(48)}, map[int][]byte{1: i64s(1, 3, 6, -1, -2, -3)}},
		{"gather", gatherKernel(), gatherLaunch(3, 4, 2), [][]byte{f32s(1, 2, 3, 4, 5, 6), i64s(2, 0, 0, 1), junk(32)},
			map[int][]byte{2: f32s(5, 6, 1, 2, 1, 2, 3, 4)}},
		{"scatter with duplicates", scatter, &codegen.Launch{Dims: []int{4}, Access: []codegen.AccessArgs{
			strides(1), strides(1), {Strides: []int{0}, Index: []codegen.IndexArg{{Extent: 3, Stride: 1}}}}},
			[][]byte{f32s(1, 2, 4, 8), i64s(2, 0, 2, 0), f32s(100, 200, 300)}, map[int][]byte{2: f32s(110, 200, 305)}},
	}
}

// kernels runs hand-written kernels and compares with values computed by hand.
func (s suite) kernels(t *testing.T) {
	b := s.bench(t, backend.Options{})
	for _, x := range examples() {
		t.Run(x.name, func(t *testing.T) {
			b := &bench{suite: s, T: t, dev: b.dev, stream: b.stream}
			e := b.compileKernel(x.kernel)
			require.NotEmpty(t, e.Listing())
			require.True(t, e.Kernel().Equal(x.kernel))
			mem := make([]*backend.Buffer, len(x.before))
			for i, data := range x.before {
				mem[i] = b.upload(data)
			}
			defer b.free(mem...)
			require.NoError(t, b.dev.Launch(b.stream, e, x.launch, mem))
			for i, data := range x.before {
				if want, ok := x.after[i]; ok {
					data = want
				} else if x.kernel.Buffers[i].Mode != codegen.In {
					continue
				}
				b.holds(data, mem[i], "buffer %d", i)
			}
		})
	}
}
