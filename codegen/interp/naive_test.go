package interp

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// The naive evaluator: every instruction at every point by its definition,
// with index arithmetic written out. It shares no code with the engine.

// value is a scalar of any register type.
type value struct {
	f float32
	i int64
	b bool
}

type naive struct {
	k   *codegen.Kernel
	l   *codegen.Launch
	mem [][]byte
	bad bool // an index was out of range
}

// naiveRun executes a launch, writing to mem, and reports whether all indices
// were in range.
func naiveRun(k *codegen.Kernel, l *codegen.Launch, mem [][]byte) bool {
	n := &naive{k: k, l: l, mem: mem}
	for _, outer := range points(l.Dims[:k.Outer]) {
		n.row(outer)
	}
	return !n.bad
}

// points returns all coordinates of a space in row-major order.
func points(dims []int) [][]int {
	out := [][]int{{}}
	for _, d := range dims {
		var next [][]int
		for _, p := range out {
			for i := range d {
				next = append(next, append(append([]int{}, p...), i))
			}
		}
		out = next
	}
	return out
}

// row evaluates the body at one outer point and all inner points.
func (n *naive) row(outer []int) {
	inner := points(n.l.Dims[n.k.Outer:])
	vals := make([][]value, len(n.k.Body))
	for v := range n.k.Body {
		in := &n.k.Body[v]
		switch {
		case in.Op == codegen.OpReduce:
			vals[v] = []value{naiveReduce(in.Reduce, n.k.Body[in.Args[0]].Type, vals[in.Args[0]])}
		case in.Op == codegen.OpScan:
			vals[v] = naiveScan(in, vals[in.Args[0]])
		case in.Level == codegen.Row || n.k.Template == codegen.Contraction:
			at := append([]int{}, outer...)
			for range n.l.Dims[n.k.Outer:] {
				at = append(at, 0)
			}
			vals[v] = []value{n.eval(in, at, func(a codegen.Value) value { return vals[a][0] })}
		default:
			for j, p := range inner {
				vals[v] = append(vals[v], n.eval(in, append(append([]int{}, outer...), p...), func(a codegen.Value) value {
					if len(vals[a]) == 1 && (n.k.Body[a].Level == codegen.Row) {
						return vals[a][0]
					}
					return vals[a][j]
				}))
			}
		}
	}
	for _, s := range n.k.Stores {
		vs := vals[s.Value]
		for j, p := range inner {
			at := append(append([]int{}, outer...), p...)
			if n.k.Body[s.Value].Level == codegen.Row || n.k.Template == codegen.Contraction {
				continue
			}
			n.store(s, at, vs[j], func(a codegen.Value) value { return vals[a][j] })
		}
		if n.k.Body[s.Value].Level == codegen.Row || n.k.Template == codegen.Contraction {
			at := append([]int{}, outer...)
			for range n.l.Dims[n.k.Outer:] {
				at = append(at, 0)
			}
			n.store(s, at, vs[0], nil)
		}
	}
}

func (n *naive) place(access int, at []int) int {
	a := &n.l.Access[access]
	off := a.Offset
	for k, c := range at {
		off += c * a.Strides[k]
	}
	return off
}

func (n *naive) store(s codegen.Store, at []int, v value, arg func(codegen.Value) value) {
	off := n.place(s.Access, at)
	for k, x := range s.Index {
		i, arg := arg(x).i, n.l.Access[s.Access].Index[k]
		if i < 0 || i >= int64(arg.Extent) {
			n.bad = true
			return
		}
		off += int(i) * arg.Stride
	}
	b := n.k.Accesses[s.Access].Buffer
	dt := n.k.Buffers[b].DType
	if s.Add {
		old := readElem(n.mem[b], dt, off)
		v.f += old.f
		v.i += old.i
	}
	writeElem(n.mem[b], dt, off, v)
}

func readElem(mem []byte, dt ir.DType, i int) value {
	switch dt {
	case ir.F32:
		return value{f: math.Float32frombits(binary.NativeEndian.Uint32(mem[4*i:]))}
	case ir.BF16:
		return value{f: math.Float32frombits(uint32(binary.NativeEndian.Uint16(mem[2*i:])) << 16)}
	case ir.I64:
		return value{i: int64(binary.NativeEndian.Uint64(mem[8*i:]))}
	}
	return value{b: mem[i] != 0}
}

func writeElem(mem []byte, dt ir.DType, i int, v value) {
	switch dt {
	case ir.F32:
		binary.NativeEndian.PutUint32(mem[4*i:], math.Float32bits(v.f))
	case ir.BF16:
		binary.NativeEndian.PutUint16(mem[2*i:], uint16(math.Float32bits(roundBF16(v.f))>>16))
	case ir.I64:
		binary.NativeEndian.PutUint64(mem[8*i:], uint64(v.i))
	case ir.Bool:
		mem[i] = 0
		if v.b {
			mem[i] = 1
		}
	}
}

// roundBF16 picks the nearer of the two neighbouring bfloat16 values, the even
// one when both are as near.
func roundBF16(f float32) float32 {
	if f != f {
		return math.Float32frombits(math.Float32bits(f)&^0xffff | 0x400000)
	}
	lo := math.Float32bits(f) &^ 0xffff
	if math.Float32bits(f) == lo {
		return f
	}
	below, above := float64(math.Float32frombits(lo)), float64(math.Float32frombits(lo+0x10000))
	if lo+0x10000 == 0x7f800000 || lo+0x10000 == 0xff800000 {
		above = math.Copysign(0x1p128, below) // rounding acts as if the exponent went on
	}
	d, e := math.Abs(float64(f)-below), math.Abs(above-float64(f))
	if d < e || d == e && lo>>16&1 == 0 {
		return math.Float32frombits(lo)
	}
	return math.Float32frombits(lo + 0x10000)
}

func (n *naive) param(i int) uint64 { return n.l.Params[i] }

func bitsValue(t ir.DType, b uint64) value {
	return value{f: math.Float32frombits(uint32(b)), i: int64(b), b: b != 0}
}

func (n *naive) eval(in *codegen.Instr, at []int, arg func(codegen.Value) value) value {
	args := make([]value, len(in.Args))
	for i, a := range in.Args {
		args[i] = arg(a)
	}
	position := 0
	for k, c := range at {
		position = position*n.l.Dims[k] + c
	}
	switch in.Op {
	case codegen.OpConst:
		return bitsValue(in.Type, in.Bits)
	case codegen.OpParam:
		return bitsValue(in.Type, n.param(in.Index))
	case codegen.OpCoord:
		return value{i: int64(at[in.Index])}
	case codegen.OpCount:
		c := 1
		for _, d := range n.l.Dims[n.k.Outer:] {
			c *= d
		}
		return value{f: float32(c), i: int64(c)}
	case codegen.OpArange:
		i := at[in.Index]
		start, step := n.param(in.Index2), n.param(in.Index2+1)
		if in.Type == ir.I64 {
			return value{i: int64(start) + int64(i)*int64(step)}
		}
		prod := float64(i) * math.Float64frombits(step)
		return value{f: float32(math.Float64frombits(start) + prod)}
	case codegen.OpLoad:
		return n.load(in, at, args)
	case codegen.OpCast:
		return naiveCast(in.From, in.To, args[0])
	case codegen.OpApply:
		return naiveApply(in.Fn, n.k.Body[in.Args[len(in.Args)-1]].Type, args)
	case codegen.OpPhilox, codegen.OpNormal:
		w := naivePhilox(n.param(in.Index), n.param(in.Index+1), uint64(position/4))
		if in.Op == codegen.OpPhilox {
			return value{i: int64(w[position%4])}
		}
		first := position % 4 / 2 * 2
		u1 := (float64(w[first]>>8) + 1) / (1 << 24)
		u2 := float64(w[first+1]>>8) / (1 << 24)
		angle := math.Cos
		if position%2 == 1 {
			angle = math.Sin
		}
		return value{f: float32(math.Sqrt(-2*math.Log(u1)) * angle(2*math.Pi*u2))}
	case codegen.OpContract:
		return n.contract(in, at)
	}
	panic("no naive rule for " + in.Op.String())
}

// contract adds products in blocks of 256.
func (n *naive) contract(in *codegen.Instr, at []int) value {
	axis := len(at) - 1
	var total, block value
	for k := range n.l.Dims[axis] {
		p := append([]int{}, at...)
		p[axis] = k
		a := readElem(n.mem[n.k.Accesses[in.Access].Buffer], n.k.Buffers[n.k.Accesses[in.Access].Buffer].DType, n.place(in.Access, p))
		b := readElem(n.mem[n.k.Accesses[in.Access2].Buffer], n.k.Buffers[n.k.Accesses[in.Access2].Buffer].DType, n.place(in.Access2, p))
		block.i += a.i * b.i
		block.f += float32(a.f * b.f)
		if k%256 == 255 || k == n.l.Dims[axis]-1 {
			total.f += block.f
			total.i += block.i
			block = value{}
		}
	}
	return total
}

func (n *naive) load(in *codegen.Instr, at []int, args []value) value {
	acc := n.k.Accesses[in.Access]
	for _, w := range n.l.Access[in.Access].Window {
		if at[w.Axis] < w.Lo || at[w.Axis] >= w.Hi {
			return args[len(args)-1]
		}
	}
	off := n.place(in.Access, at)
	for k := range acc.Indices {
		x := n.l.Access[in.Access].Index[k]
		if args[k].i < 0 || args[k].i >= int64(x.Extent) {
			n.bad = true
			return value{}
		}
		off += int(args[k].i) * x.Stride
	}
	return readElem(n.mem[acc.Buffer], n.k.Buffers[acc.Buffer].DType, off)
}

func naiveCast(from, to ir.DType, v value) value {
	switch from {
	case ir.F32, ir.BF16:
		switch to {
		case ir.F32:
			return value{f: v.f}
		case ir.BF16:
			if from == ir.BF16 { // rounded already
				return value{f: v.f}
			}
			return value{f: roundBF16(v.f)}
		case ir.Bool:
			return value{b: !(v.f == 0)}
		}
		if v.f != v.f {
			return value{}
		}
		if math.IsInf(float64(v.f), 0) {
			if v.f > 0 {
				return value{i: math.MaxInt64}
			}
			return value{i: math.MinInt64}
		}
		x, _ := new(big.Float).SetFloat64(float64(v.f)).Int(nil)
		switch {
		case x.IsInt64():
			return value{i: x.Int64()}
		case x.Sign() > 0:
			return value{i: math.MaxInt64}
		}
		return value{i: math.MinInt64}
	case ir.I64:
		x := new(big.Float).SetPrec(200).SetInt64(v.i)
		switch to {
		case ir.F32:
			f, _ := x.Float32()
			return value{f: f}
		case ir.BF16:
			f, _ := new(big.Float).SetPrec(8).SetMode(big.ToNearestEven).Set(x).Float32()
			return value{f: f}
		case ir.Bool:
			return value{b: v.i != 0}
		}
		return v
	}
	if v.b {
		return value{f: 1, i: 1, b: true}
	}
	return value{}
}

// naiveApply computes basic functions exactly; those in float64 are rounded
// once and compared with a tolerance by the tests of the functions.
func naiveApply(fn ir.ScalarOp, t ir.DType, a []value) value {
	nan := float32(math.NaN())
	cmp := func() (less, equal bool) {
		switch t {
		case ir.F32:
			return a[0].f < a[1].f, a[0].f == a[1].f
		case ir.I64:
			return a[0].i < a[1].i, a[0].i == a[1].i
		}
		return false, a[0].b == a[1].b
	}
	ordered := t != ir.F32 || len(a) > 1 && a[0].f == a[0].f && a[1].f == a[1].f
	switch fn {
	case ir.SAbs:
		return value{f: float32(math.Abs(float64(a[0].f))), i: max(a[0].i, -a[0].i)}
	case ir.SNeg:
		return value{f: math.Float32frombits(math.Float32bits(a[0].f) ^ 1<<31), i: -a[0].i}
	case ir.SSign:
		v := value{f: a[0].f}
		if a[0].f == a[0].f && a[0].f != 0 {
			v.f = float32(math.Copysign(1, float64(a[0].f)))
		}
		if a[0].i != 0 {
			v.i = a[0].i>>63 | 1
		}
		return v
	case ir.SIsNaN:
		return value{b: math.IsNaN(float64(a[0].f))}
	case ir.SNot:
		return value{b: !a[0].b}
	case ir.SSqrt:
		return value{f: float32(math.Sqrt(float64(a[0].f)))}
	case ir.SRecip:
		return value{f: 1 / a[0].f}
	case ir.SRound:
		return value{f: float32(math.RoundToEven(float64(a[0].f)))}
	case ir.SFloor:
		return value{f: float32(math.Floor(float64(a[0].f)))}
	case ir.SCeil:
		return value{f: float32(math.Ceil(float64(a[0].f)))}
	case ir.STrunc:
		return value{f: float32(math.Trunc(float64(a[0].f)))}
	case ir.SAdd:
		return value{f: a[0].f + a[1].f, i: a[0].i + a[1].i}
	case ir.SSub:
		return value{f: a[0].f - a[1].f, i: a[0].i - a[1].i}
	case ir.SMul:
		return value{f: a[0].f * a[1].f, i: a[0].i * a[1].i}
	case ir.SDiv:
		v := value{f: a[0].f / a[1].f}
		if a[1].i != 0 {
			v.i = new(big.Int).Quo(big.NewInt(a[0].i), big.NewInt(a[1].i)).Int64()
			if a[0].i == math.MinInt64 && a[1].i == -1 {
				v.i = math.MinInt64
			}
		}
		return v
	case ir.SPow:
		if t == ir.F32 {
			return value{f: float32(math.Pow(float64(a[0].f), float64(a[1].f)))}
		}
		return value{i: naivePow(a[0].i, a[1].i)}
	case ir.SMaximum, ir.SMinimum:
		if t == ir.I64 {
			if fn == ir.SMaximum {
				return value{i: max(a[0].i, a[1].i)}
			}
			return value{i: min(a[0].i, a[1].i)}
		}
		x, y := a[0].f, a[1].f
		if !ordered {
			return value{f: nan}
		}
		neg := math.Signbit(float64(x))
		if fn == ir.SMaximum {
			if x > y || x == y && !neg {
				return value{f: x}
			}
			return value{f: y}
		}
		if x < y || x == y && neg {
			return value{f: x}
		}
		return value{f: y}
	case ir.SEqual:
		_, eq := cmp()
		return value{b: eq}
	case ir.SNotEqual:
		_, eq := cmp()
		return value{b: !eq}
	case ir.SLess:
		l, _ := cmp()
		return value{b: l}
	case ir.SLessEqual:
		l, eq := cmp()
		return value{b: l || eq}
	case ir.SGreater:
		l, eq := cmp()
		return value{b: ordered && !l && !eq}
	case ir.SGreaterEqual:
		l, _ := cmp()
		return value{b: ordered && !l}
	case ir.SAnd:
		return value{b: a[0].b && a[1].b}
	case ir.SOr:
		return value{b: a[0].b || a[1].b}
	case ir.SXor:
		return value{b: a[0].b != a[1].b}
	case ir.SWhere:
		if a[0].b {
			return a[1]
		}
		return a[2]
	case ir.SMulAdd:
		return value{f: naiveFMA(a[0].f, a[1].f, a[2].f), i: a[0].i*a[1].i + a[2].i}
	}
	panic("no naive rule for " + fn.String())
}

func naivePow(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1:
			return 1
		case x == -1 && y%2 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	m := new(big.Int).Lsh(big.NewInt(1), 64)
	p := new(big.Int).Exp(new(big.Int).Mod(big.NewInt(x), m), big.NewInt(y), m)
	return int64(p.Uint64())
}

// naiveFMA uses exact arithmetic for finite operands.
func naiveFMA(x, y, z float32) float32 {
	for _, v := range []float32{x, y, z} {
		if v != v || math.IsInf(float64(v), 0) {
			return float32(float64(x)*float64(y) + float64(z))
		}
	}
	bx := new(big.Float).SetPrec(1000).SetFloat64(float64(x))
	bx.Mul(bx, new(big.Float).SetFloat64(float64(y)))
	bx.Add(bx, new(big.Float).SetFloat64(float64(z)))
	if bx.Sign() == 0 {
		p := math.Signbit(float64(x)) != math.Signbit(float64(y))
		if p && math.Signbit(float64(z)) && (x == 0 || y == 0) {
			return float32(math.Copysign(0, -1))
		}
		return 0
	}
	f, _ := bx.Float32()
	return f
}

// naiveReduce follows the documented order: lanes, their tree, block pairs.
func naiveReduce(op codegen.ReduceOp, t ir.DType, v []value) value {
	switch op {
	case codegen.RAny, codegen.RAll:
		r := op == codegen.RAll
		for _, x := range v {
			if op == codegen.RAll {
				r = r && x.b
			} else {
				r = r || x.b
			}
		}
		return value{b: r}
	case codegen.RArgMax, codegen.RArgMin:
		best := 0
		key := func(x value) float64 {
			switch t {
			case ir.F32:
				return float64(x.f)
			case ir.Bool:
				if x.b {
					return 1
				}
				return 0
			}
			return float64(x.i)
		}
		for i, x := range v {
			a, b := key(x), key(v[best])
			if b == b && (a != a || op == codegen.RArgMax && a > b || op == codegen.RArgMin && a < b) {
				best = i
			}
		}
		return value{i: int64(best)}
	}
	fn := map[codegen.ReduceOp]ir.ScalarOp{codegen.RSum: ir.SAdd, codegen.RProd: ir.SMul, codegen.RMax: ir.SMaximum, codegen.RMin: ir.SMinimum}[op]
	inf := float32(math.Inf(1))
	id := map[codegen.ReduceOp]value{codegen.RSum: {}, codegen.RProd: {f: 1, i: 1}, codegen.RMax: {f: -inf, i: math.MinInt64}, codegen.RMin: {f: inf, i: math.MaxInt64}}[op]
	join := func(a, b value) value { return naiveApply(fn, t, []value{a, b}) }
	var blocks []value
	for at := 0; at < len(v); at += 1024 {
		lanes := make([]value, 32)
		for j := range lanes {
			lanes[j] = id
		}
		for i := at; i < min(at+1024, len(v)); i++ {
			lanes[i%32] = join(lanes[i%32], v[i])
		}
		for len(lanes) > 1 {
			half := len(lanes) / 2
			for j := range half {
				lanes[j] = join(lanes[j], lanes[j+half])
			}
			lanes = lanes[:half]
		}
		blocks = append(blocks, lanes[0])
	}
	if len(blocks) == 0 {
		return id
	}
	for len(blocks) > 1 {
		var next []value
		for i := 0; i+1 < len(blocks); i += 2 {
			next = append(next, join(blocks[i], blocks[i+1]))
		}
		if len(blocks)%2 == 1 {
			next = append(next, blocks[len(blocks)-1])
		}
		blocks = next
	}
	return blocks[0]
}

func naiveScan(in *codegen.Instr, v []value) []value {
	out := make([]value, len(v))
	var run value
	for n := range v {
		i := n
		if in.Reverse {
			i = len(v) - 1 - n
		}
		before := run
		run.f += v[i].f
		run.i += v[i].i
		out[i] = run
		if in.Exclusive {
			out[i] = before
		}
	}
	return out
}

func naivePhilox(seed, offset, group uint64) [4]uint32 {
	c := [4]uint64{offset & 0xffffffff, offset >> 32, group & 0xffffffff, group >> 32}
	k0, k1 := seed&0xffffffff, seed>>32
	for range 10 {
		p0, p1 := 0xD2511F53*c[0], 0xCD9E8D57*c[2]
		c = [4]uint64{p1>>32 ^ c[1] ^ k0, p1 & 0xffffffff, p0>>32 ^ c[3] ^ k1, p0 & 0xffffffff}
		k0, k1 = (k0+0x9E3779B9)&0xffffffff, (k1+0xBB67AE85)&0xffffffff
	}
	return [4]uint32{uint32(c[0]), uint32(c[1]), uint32(c[2]), uint32(c[3])}
}

// workers is a Parallel that really runs parts on several goroutines, as small
// as grain allows.
type workers int

func (p workers) Workers() int { return int(p) }

func (p workers) For(n, grain int, t codegen.Task) error {
	type part struct{ lo, hi int }
	parts := make(chan part, n/max(grain, 1)+1)
	for lo := 0; lo < n; lo += grain {
		parts <- part{lo, min(lo+grain, n)}
	}
	close(parts)
	done := make(chan struct{})
	for id := range int(p) {
		go func() {
			for q := range parts {
				t.Run(id, q.lo, q.hi)
			}
			done <- struct{}{}
		}()
	}
	for range int(p) {
		<-done
	}
	return nil
}

// compile returns the executable of a kernel.
func compile(t testing.TB, k *codegen.Kernel) codegen.HostExecutable {
	t.Helper()
	x, err := New().Compile(k)
	require.NoError(t, err)
	return x.(codegen.HostExecutable)
}

func cloneMem(mem [][]byte) [][]byte {
	out := make([][]byte, len(mem))
	for i, m := range mem {
		out[i] = alloc(len(m))
		copy(out[i], m)
	}
	return out
}

// requireSame compares all buffers; NaNs count as one value.
func requireSame(t testing.TB, k *codegen.Kernel, want, got [][]byte, what string) {
	t.Helper()
	for b := range k.Buffers {
		dt := k.Buffers[b].DType
		for i := range len(want[b]) / dt.Size() {
			w, g := readElem(want[b], dt, i), readElem(got[b], dt, i)
			if w.f != w.f && g.f != g.f {
				continue
			}
			if math.Float32bits(w.f) != math.Float32bits(g.f) || w.i != g.i || w.b != g.b {
				t.Fatalf("%s: buffer %d (%v) element %d: want %v, got %v", what, b, dt, i, w, g)
			}
		}
	}
}

// check runs a launch on the engine, serially and on four workers, and
// compares all memory with the naive evaluator.
func check(t testing.TB, k *codegen.Kernel, l *codegen.Launch, mem [][]byte) {
	t.Helper()
	x := compile(t, k)
	want := cloneMem(mem)
	ok := naiveRun(k, l, want)
	for _, par := range []codegen.Parallel{codegen.Serial{}, workers(4)} {
		got := cloneMem(mem)
		err := x.Run(l, got, par)
		if !ok {
			var ie *ir.IndexError
			require.ErrorAs(t, err, &ie)
			continue
		}
		require.NoError(t, err)
		requireSame(t, k, want, got, x.Listing())
	}
}
