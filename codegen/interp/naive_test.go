package interp

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// The naive evaluator: every instruction at every point by its definition,
// with index arithmetic written out. It shares no code with the engine.

// value is a scalar of any register type. An F32 lies exactly in f; integers
// lie in i as in registers, those of U64 as their bits.
type value struct {
	f float64
	i int64
	b bool
}

type naive struct {
	k   *codegen.Kernel
	l   *codegen.Launch
	mem [][]byte
	bad bool // an index was out of range
	// wide holds the values of half buffers that are joined to: rounded at the
	// end.
	wide map[int][]value
}

// naiveRun executes a launch, writing to mem, and reports whether all indices
// were in range.
func naiveRun(k *codegen.Kernel, l *codegen.Launch, mem [][]byte) bool {
	n := &naive{k: k, l: l, mem: mem, wide: map[int][]value{}}
	old := map[int][]value{}
	for _, s := range k.Stores {
		b := k.Accesses[s.Access].Buffer
		if dt := k.Buffers[b].DType; s.Mode != ir.Assign && dt.IsHalf() {
			all := make([]value, len(mem[b])/dt.Size())
			for i := range all {
				all[i] = readElem(mem[b], dt, i)
			}
			n.wide[b], old[b] = all, slices.Clone(all)
		}
	}
	for _, outer := range points(l.Dims[:k.Outer]) {
		n.row(outer)
	}
	for b, all := range n.wide {
		for i, v := range all {
			if math.Float64bits(v.f) != math.Float64bits(old[b][i].f) {
				writeElem(mem[b], k.Buffers[b].DType, i, v)
			}
		}
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
		case in.Op == codegen.OpSort:
			vals[v] = naiveSort(in, n.k.Body[in.Args[0]].Type, vals[in.Args[0]])
		case in.Level >= codegen.Left: // evaluated where the contraction reads it
		case in.Op == codegen.OpContract:
			vals[v] = []value{n.contract(in, append(slices.Clone(outer), 0), n.side)}
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

// side evaluates a value of a prologue at a point.
func (n *naive) side(a codegen.Value, at []int) value {
	return n.eval(&n.k.Body[a], at, func(b codegen.Value) value { return n.side(b, at) })
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
	for _, w := range n.l.Access[s.Access].Window {
		if at[w.Axis] < w.Lo || at[w.Axis] >= w.Hi {
			return
		}
	}
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
	if wide := n.wide[b]; wide != nil {
		wide[off] = n.join(s.Mode, dt, wide[off], v)
		return
	}
	writeElem(n.mem[b], dt, off, n.join(s.Mode, dt, readElem(n.mem[b], dt, off), v))
}

// join puts a value where old is; what is assigned is rounded.
func (n *naive) join(mode ir.ScatterMode, dt ir.DType, old, v value) value {
	if mode == ir.Assign {
		if dt.Compute() == ir.F32 && dt != ir.F32 {
			return naiveCast(ir.F32, dt, true, v)
		}
		return v
	}
	return naiveApply(joinFns[mode], dt.Compute(), []value{old, v})
}

var joinFns = [...]ir.ScalarOp{ir.ScatterSum: ir.SAdd, ir.ScatterMul: ir.SMul, ir.ScatterMin: ir.SMinimum, ir.ScatterMax: ir.SMaximum}

func readElem(mem []byte, dt ir.DType, i int) value {
	bits := uint64(0)
	switch dt.Size() {
	case 1:
		bits = uint64(mem[i])
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(mem[2*i:]))
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(mem[4*i:]))
	case 8:
		bits = binary.NativeEndian.Uint64(mem[8*i:])
	}
	return storedValue(dt, bits)
}

// storedValue returns what the bits of a stored element stand for.
func storedValue(dt ir.DType, bits uint64) value {
	switch {
	case dt == ir.Bool:
		return value{b: bits != 0}
	case dt.IsInt():
		return value{i: dt.Wrap(int64(bits))}
	case dt == ir.F64:
		return value{f: math.Float64frombits(bits)}
	case dt == ir.F32:
		return value{f: float64(math.Float32frombits(uint32(bits)))}
	}
	// sign, exponent and mantissa as the formats define them
	mantissa := floatFormats[dt].prec - 1
	exponent := 8*dt.Size() - 1 - mantissa
	m := int(bits & (1<<mantissa - 1))
	e := int(bits >> mantissa & (1<<exponent - 1))
	f := 0.0
	switch bias := 1<<(exponent-1) - 1; {
	case dt == ir.F8E4M3 && e == 15 && m == 7, dt != ir.F8E4M3 && e == 1<<exponent-1 && m != 0:
		f = math.NaN()
	case dt != ir.F8E4M3 && e == 1<<exponent-1:
		f = math.Inf(1)
	case e == 0:
		f = math.Ldexp(float64(m), 1-bias-mantissa)
	default:
		f = math.Ldexp(float64(m+1<<mantissa), e-bias-mantissa)
	}
	if bits>>(8*dt.Size()-1) == 1 {
		f = math.Copysign(f, -1)
	}
	return value{f: f}
}

// writeElem stores a value, a float rounded once.
func writeElem(mem []byte, dt ir.DType, i int, v value) {
	bits := elemBits(dt, v)
	switch dt.Size() {
	case 1:
		mem[i] = uint8(bits)
	case 2:
		binary.NativeEndian.PutUint16(mem[2*i:], uint16(bits))
	case 4:
		binary.NativeEndian.PutUint32(mem[4*i:], uint32(bits))
	case 8:
		binary.NativeEndian.PutUint64(mem[8*i:], bits)
	}
}

// elemBits looks for the stored form of a value.
func elemBits(dt ir.DType, v value) uint64 {
	switch {
	case dt == ir.Bool:
		if v.b {
			return 1
		}
		return 0
	case dt.IsInt():
		return uint64(v.i) << (64 - 8*dt.Size()) >> (64 - 8*dt.Size())
	case dt == ir.F64:
		return math.Float64bits(v.f)
	case dt == ir.F32:
		return uint64(math.Float32bits(float32(v.f)))
	}
	v = naiveCast(ir.F32, dt, true, v)
	if v.f != v.f {
		return map[ir.DType]uint64{ir.F16: 0x7e00, ir.BF16: 0x7fc0, ir.F8E4M3: 0x7f, ir.F8E5M2: 0x7e}[dt]
	}
	sign := uint64(0)
	if math.Signbit(v.f) {
		sign = 1 << (8*dt.Size() - 1)
	}
	return sign | uint64(smallCode(dt, v.f))
}

func (n *naive) param(i int) uint64 { return n.l.Params[i] }

func bitsValue(t ir.DType, b uint64) value {
	if t == ir.F64 {
		return value{f: math.Float64frombits(b)}
	}
	return value{f: float64(math.Float32frombits(uint32(b))), i: int64(b), b: b != 0}
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
		c := int64(1)
		for _, d := range n.l.Dims[n.k.Outer:] {
			c *= int64(d)
		}
		return naiveCast(ir.I64, in.Type, false, value{i: c})
	case codegen.OpArange:
		i := at[in.Index]
		start, step := n.param(in.Index2), n.param(in.Index2+1)
		if in.Type.IsInt() {
			return naiveCast(ir.I64, in.Type, false, value{i: int64(start) + int64(i)*int64(step)})
		}
		to := in.To
		if to == ir.Invalid {
			to = in.Type
		}
		return naiveCast(ir.F64, to, false, value{f: math.Float64frombits(start) + float64(float64(i)*math.Float64frombits(step))})
	case codegen.OpLoad:
		return n.load(in, at, args)
	case codegen.OpCast:
		return naiveCast(in.From, in.To, in.Overflow, args[0])
	case codegen.OpBitcast:
		return storedValue(in.To, elemBits(in.From, args[0]))
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
		return naiveCast(ir.F64, in.Type, false, value{f: math.Sqrt(-2*math.Log(u1)) * angle(2*math.Pi*u2)})
	}
	panic("no naive rule for " + in.Op.String())
}

// contract adds products in blocks of 256; side gives an operand of a
// prologue at a point.
func (n *naive) contract(in *codegen.Instr, at []int, side func(a codegen.Value, at []int) value) value {
	axis := len(at) - 1
	var total, block value
	read := func(i, k int) value {
		at := slices.Clone(at)
		at[axis] = k
		if len(in.Args) > 0 {
			at[axis-1-i] = 0
			return side(in.Args[i], at)
		}
		access := []int{in.Access, in.Access2}[i]
		b := n.k.Accesses[access].Buffer
		return readElem(n.mem[b], n.k.Buffers[b].DType, n.place(access, at))
	}
	for k := range n.l.Dims[axis] {
		a, b := read(0, k), read(1, k)
		block.i += a.i * b.i
		if in.Type == ir.F64 {
			block.f = math.FMA(a.f, b.f, block.f)
		} else {
			block.f = float64(float32(block.f) + float32(float32(a.f)*float32(b.f)))
		}
		if k%256 == 255 || k == n.l.Dims[axis]-1 {
			total = naiveApply(ir.SAdd, in.Type, []value{total, {f: block.f, i: in.Type.Wrap(block.i)}})
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
		for i, x := range v {
			if b := v[best]; b.f == b.f && (x.f != x.f || naiveLess(t, b, x) && op == codegen.RArgMax || naiveLess(t, x, b) && op == codegen.RArgMin) {
				best = i
			}
		}
		return value{i: int64(best)}
	}
	id := naiveIdentity(op, t)
	join := func(a, b value) value { return naiveApply(reduceFns[op], t, []value{a, b}) }
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

var reduceFns = [...]ir.ScalarOp{codegen.RSum: ir.SAdd, codegen.RProd: ir.SMul, codegen.RMax: ir.SMaximum, codegen.RMin: ir.SMinimum}

// naiveIdentity is the value that stands for no elements.
func naiveIdentity(op codegen.ReduceOp, t ir.DType) value {
	least, greatest := t.Limits()
	switch op {
	case codegen.RProd:
		return value{f: 1, i: 1}
	case codegen.RMax:
		return value{f: math.Inf(-1), i: least}
	case codegen.RMin:
		return value{f: math.Inf(1), i: int64(greatest)}
	}
	return value{}
}

// naiveLess compares two values that are no NaN.
func naiveLess(t ir.DType, a, b value) bool {
	switch {
	case t == ir.Bool:
		return !a.b && b.b
	case t.IsInt():
		return bigInt(t, a).Cmp(bigInt(t, b)) < 0
	}
	return a.f < b.f
}

func naiveScan(in *codegen.Instr, v []value) []value {
	out := make([]value, len(v))
	run := naiveIdentity(in.Reduce, in.Type)
	for n := range v {
		i := n
		if in.Reverse {
			i = len(v) - 1 - n
		}
		before := run
		run = naiveApply(reduceFns[in.Reduce], in.Type, []value{run, v[i]})
		out[i] = run
		if in.Exclusive {
			out[i] = before
		}
	}
	return out
}

// naiveSort moves each value behind all that come before it.
func naiveSort(in *codegen.Instr, t ir.DType, v []value) []value {
	before := func(a, b value) bool { // a comes before b, whatever their positions
		nanA, nanB := a.f != a.f, b.f != b.f
		if nanA || nanB {
			return nanA != nanB && nanA == in.Reverse
		}
		if in.Reverse {
			a, b = b, a
		}
		return naiveLess(t, a, b)
	}
	out := make([]value, len(v))
	for i, x := range v {
		at := 0
		for j, y := range v {
			if before(y, x) || !before(x, y) && j < i {
				at++
			}
		}
		out[at] = x
		if in.Positions {
			out[at] = value{i: int64(i)}
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
