package exec

import (
	"math/bits"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// comparison is an entry of the generated table: a comparison of two operands,
// or a test of one, for all lanes whether they run or not.
type comparison struct {
	sig string // register files of the operands
	is  func(w *warp, in *inst) uint32
}

// question is what setp and set ask: a comparison, of both halves of a pair if
// the type is one, and how the answer is joined with a predicate.
type question struct {
	comparison
	upper func(w *warp, in *inst) uint32 // of the upper half; nil if the type is no pair
	join  func(answer, c uint32) uint32  // nil if there is no predicate
}

// ask decodes the modifiers of setp and set: a comparison, after it .and, .or or
// .xor, and .ftz.
func ask(o *ptx.Opcode, operand ptx.Type) (q question, ok bool) {
	if len(o.Mods) == 0 {
		return q, false
	}
	ftz := ""
	for _, m := range o.Mods[1:] {
		switch {
		case m == ptx.ModAnd && q.join == nil:
			q.join = func(answer, c uint32) uint32 { return answer & c }
		case m == ptx.ModOr && q.join == nil:
			q.join = func(answer, c uint32) uint32 { return answer | c }
		case m == ptx.ModXor && q.join == nil:
			q.join = func(answer, c uint32) uint32 { return answer ^ c }
		case m == ptx.ModFtz && ftz == "":
			ftz = "ftz."
		default:
			return q, false
		}
	}
	prefix := o.Mods[0].String() + "."
	single, pair := half[operand]
	name := operand.String()
	if pair {
		name = single.String()
		q.upper = compares[prefix+"hi."+ftz+name].is
	}
	q.comparison, ok = compares[prefix+ftz+name]
	return q, ok && len(q.sig) == 2
}

// half is what a pair of 16-bit floats is a pair of.
var half = map[ptx.Type]ptx.Type{ptx.F16x2: ptx.F16, ptx.BF16x2: ptx.BF16}

// with joins an answer with predicate c of the instruction.
func (q *question) with(answer uint32, w *warp, in *inst) uint32 {
	if q.join == nil {
		return answer
	}
	return q.join(answer, w.p[in.c])
}

// setp is the form of a comparison into predicates: the answer and its
// complement, of a pair the answers for its halves, each joined with c.
func setp(o *ptx.Opcode) (form, bool) {
	if len(o.Types) != 1 {
		return form{}, false
	}
	q, ok := ask(o, o.Types[0])
	if !ok {
		return form{}, false
	}
	sig := "pp=" + q.sig
	if q.join != nil {
		sig += "p"
	}
	if q.join == nil && q.upper == nil {
		is := q.is
		return form{sig, func(w *warp, in *inst, m uint32) {
			t := is(w, in)
			put(&w.p[in.dst], t, m)
			put(&w.p[in.dst2], ^t, m)
		}}, true
	}
	return form{sig, func(w *warp, in *inst, m uint32) {
		t := q.is(w, in)
		second := ^t
		if q.upper != nil {
			second = q.upper(w, in)
		}
		t, second = q.with(t, w, in), q.with(second, w, in)
		put(&w.p[in.dst], t, m)
		put(&w.p[in.dst2], second, m)
	}}, true
}

// put writes the bits of mask m.
func put(p *uint32, v, m uint32) { *p = *p&^m | v&m }

// set is the form of a comparison into a value: 1.0 of a float type, all ones of
// an integer type, else zero.
func set(o *ptx.Opcode) (form, bool) {
	if len(o.Types) != 2 {
		return form{}, false
	}
	q, ok := ask(o, o.Types[1])
	if !ok {
		return form{}, false
	}
	var yes uint32
	switch o.Types[0] {
	case ptx.U32, ptx.S32:
		yes = 0xffffffff
	case ptx.U16, ptx.S16, ptx.U16x2, ptx.S16x2:
		yes = 0xffff
	case ptx.F32:
		yes = 0x3f800000
	case ptx.F16, ptx.F16x2:
		yes = 0x3c00
	case ptx.BF16, ptx.BF16x2:
		yes = 0x3f80
	default:
		return form{}, false
	}
	if (q.upper != nil) != (o.Types[0].Bits() == 32 && yes < 1<<16) {
		return form{}, false
	}
	sig := "r=" + q.sig
	if q.join != nil {
		sig += "p"
	}
	return form{sig, func(w *warp, in *inst, m uint32) {
		t := q.with(q.is(w, in), w, in)
		var upper uint32
		if q.upper != nil {
			upper = q.with(q.upper(w, in), w, in)
		}
		d := &w.r[in.dst]
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = -(t>>i&1)&yes | (-(upper >> i & 1) & yes << 16)
		}
	}}, true
}

// testp is the form of a test of one float.
func testp(o *ptx.Opcode) (form, bool) {
	if len(o.Mods) != 1 || len(o.Types) != 1 {
		return form{}, false
	}
	c, ok := compares[o.Mods[0].String()+"."+o.Types[0].String()]
	if !ok || len(c.sig) != 1 {
		return form{}, false
	}
	return form{"p=" + c.sig, func(w *warp, in *inst, m uint32) { put(&w.p[in.dst], c.is(w, in), m) }}, true
}
