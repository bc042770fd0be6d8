package kerneltest

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// eval returns the value of an instruction that depends on one point alone.
func (n *evaluator) eval(in *codegen.Instr, at []int, arg func(codegen.Value) Value) Value {
	args := make([]Value, len(in.Args))
	for i, a := range in.Args {
		args[i] = arg(a)
	}
	switch in.Op {
	case codegen.OpConst:
		return FromScalar(in.Type, in.Bits)
	case codegen.OpParam:
		return FromScalar(in.Type, n.l.Params[in.Index])
	case codegen.OpCoord:
		return Value{I: int64(at[in.Index])}
	case codegen.OpCount:
		c := int64(1)
		for _, d := range n.l.Dims[n.k.Outer:] {
			c *= int64(d)
		}
		return Cast(ir.I64, in.Type, false, Value{I: c})
	case codegen.OpArange:
		return n.arange(in, at[in.Index])
	case codegen.OpLoad:
		return n.load(in, at, args)
	case codegen.OpCast:
		r := Cast(in.From, in.To, in.Overflow, args[0])
		r.Err = castError(in.From, in.To, in.Overflow, args[0], r)
		return r
	case codegen.OpBitcast:
		r := FromBits(in.To, ToBits(in.From, args[0]))
		if args[0].Err > 0 {
			r.Err = open
		}
		return r
	case codegen.OpApply:
		return apply(in.Fn, n.k.Body[in.Args[len(in.Args)-1]].Type, args...)
	case codegen.OpPhilox, codegen.OpNormal:
		return n.random(in, at)
	}
	panic("no rule for " + in.Op.String())
}

func (n *evaluator) arange(in *codegen.Instr, i int) Value {
	start, step := n.l.Params[in.Index2], n.l.Params[in.Index2+1]
	if in.Type.IsInt() {
		return Cast(ir.I64, in.Type, false, Value{I: int64(start) + int64(i)*int64(step)})
	}
	to := in.To
	if to == ir.Invalid {
		to = in.Type
	}
	return Cast(ir.F64, to, false, Value{F: math.Float64frombits(start) + float64(float64(i)*math.Float64frombits(step))})
}

func (n *evaluator) load(in *codegen.Instr, at []int, args []Value) Value {
	if n.outside(in.Access, at) {
		return args[len(args)-1]
	}
	indices := n.k.Accesses[in.Access].Indices
	off, ok := n.indexed(in.Access, n.place(in.Access, at), args[:indices])
	if !ok {
		return Value{}
	}
	v := n.read(n.k.Accesses[in.Access].Buffer, off)
	for _, x := range args[:indices] {
		if x.Err > 0 {
			v.Err = open
		}
	}
	return v
}

// random draws by the row-major position of the point, an outer one where the
// template has no elements; a normal number is that of Box and Muller.
func (n *evaluator) random(in *codegen.Instr, at []int) Value {
	position := 0
	if n.outerOnly(in) {
		at = at[:n.k.Outer]
	}
	for k, c := range at {
		position = position*n.l.Dims[k] + c
	}
	w := Philox(n.l.Params[in.Index], n.l.Params[in.Index+1], uint64(position/4))
	if in.Op == codegen.OpPhilox {
		return Value{I: int64(w[position%4])}
	}
	first := position % 4 / 2 * 2
	u1 := (float64(w[first]>>8) + 1) / (1 << 24)
	u2 := float64(w[first+1]>>8) / (1 << 24)
	angle := math.Cos
	if position%2 == 1 {
		angle = math.Sin
	}
	radius := math.Sqrt(-2 * math.Log(u1))
	r := Cast(ir.F64, in.Type, false, Value{F: radius * angle(2*math.Pi*u2)})
	// A few units each of the radius, of the function and of its operand, which
	// is below 2π.
	r.Err = 12 * unit(in.Type, radius)
	return r
}

// Philox returns the four words of one block of Philox 4x32-10 (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", 2011): the key is the seed, the
// counter the offset of the stream and the number of the block in it.
func Philox(seed, offset, block uint64) [4]uint32 {
	c := [4]uint64{offset & 0xffffffff, offset >> 32, block & 0xffffffff, block >> 32}
	k0, k1 := seed&0xffffffff, seed>>32
	for range 10 {
		p0, p1 := 0xD2511F53*c[0], 0xCD9E8D57*c[2]
		c = [4]uint64{p1>>32 ^ c[1] ^ k0, p1 & 0xffffffff, p0>>32 ^ c[3] ^ k1, p0 & 0xffffffff}
		k0, k1 = (k0+0x9E3779B9)&0xffffffff, (k1+0xBB67AE85)&0xffffffff
	}
	return [4]uint32{uint32(c[0]), uint32(c[1]), uint32(c[2]), uint32(c[3])}
}
