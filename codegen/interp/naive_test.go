package interp

import (
	"encoding/binary"
	"math"

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
	if s.Mode == ir.ScatterSum {
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
	read := func(access, k int) value {
		b := n.k.Accesses[access].Buffer
		return readElem(n.mem[b], n.k.Buffers[b].DType, n.place(access, at)+k*n.l.Access[access].Strides[axis])
	}
	for k := range n.l.Dims[axis] {
		a, b := read(in.Access, k), read(in.Access2, k)
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
