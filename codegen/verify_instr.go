package codegen

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// outerOnly reports whether the value of instruction i exists at outer points
// only, so that it cannot depend on inner axes.
func (k *Kernel) outerOnly(in *Instr) bool {
	switch k.Template {
	case Contraction, Attention:
		return in.Level < Left
	}
	return in.Level == Row
}

// arg checks operand n of an instruction and returns its type.
func (v *verifier) arg(i, n int) ir.DType {
	in := &v.k.Body[i]
	a := in.Args[n]
	if !v.check(a >= 0 && int(a) < i, "operand %%%d is not defined before", a) {
		return ir.Invalid
	}
	v.used[a] = true
	src := &v.k.Body[a]
	switch {
	case in.Level == Row && in.Op != OpReduce:
		v.check(src.Level == Row, "row value from element value %%%d", a)
	case in.Level != src.Level && in.Op != OpContract:
		v.check(in.Level < Left && src.Level < Left, "%v value from %v value %%%d", in.Level, src.Level, a)
	}
	return src.Type
}

func (v *verifier) arity(in *Instr, want int) bool {
	return v.check(len(in.Args) == want, "%v takes %d operands, not %d", in.Op, want, len(in.Args))
}

func (v *verifier) typeIn(in *Instr, types ...ir.DType) {
	for _, t := range types {
		if in.Type == t {
			return
		}
	}
	v.check(false, "%v has no result of type %v", in.Op, in.Type)
}

func (v *verifier) param(index int, want ir.DType) {
	if v.check(index >= 0 && index < len(v.k.Params), "no param %d", index) {
		p := v.k.Params[index]
		v.check(p == want, "param %d is %v, not %v", index, p, want)
	}
}

// axis checks that an instruction may depend on an axis of the space.
func (v *verifier) axis(in *Instr, axis int) {
	limit := v.k.Axes()
	if v.k.outerOnly(in) {
		limit = v.k.Outer
	}
	v.check(axis >= 0 && axis < limit, "no axis %d among the %d it may depend on", axis, limit)
	v.check(!v.k.apart(in.Level, axis), "a %v value along axis %d", in.Level, axis)
}

// source checks an access that is read and returns its register type.
func (v *verifier) source(access int) ir.DType {
	if !v.check(access >= 0 && access < len(v.k.Accesses), "no access %d", access) {
		return ir.Invalid
	}
	b := v.k.Buffers[v.k.Accesses[access].Buffer]
	v.check(b.Mode != Out, "access %d reads an output buffer", access)
	return b.DType.Compute()
}

// plainSource is source for an access a template walks itself.
func (v *verifier) plainSource(access int) ir.DType {
	t := v.source(access)
	if v.err == nil {
		a := v.k.Accesses[access]
		v.check(a.Indices == 0 && !a.Masked, "access %d is indexed or masked", access)
	}
	return t
}

func (v *verifier) instr(i int) {
	k := v.k
	in := &k.Body[i]
	v.where = fmt.Sprintf("%%%d", i)
	v.check(isRegister(in.Type), "%v is not a register type", in.Type)
	v.check(in.Level <= Right, "unknown level %d", uint8(in.Level))
	v.check(in.Level != Row || k.Template == Rows, "row value in a %v kernel", k.Template)
	v.check(in.Level < Left || k.Template == Contraction, "%v value in a %v kernel", in.Level, k.Template)
	if v.err != nil {
		return
	}
	switch in.Op {
	case OpConst:
		v.arity(in, 0)
		v.check(ir.Scalar{DType: in.Type, Bits: in.Bits}.Canonical(), "%v constant %#x", in.Type, in.Bits)
	case OpParam:
		v.arity(in, 0)
		v.param(in.Index, in.Type)
	case OpLoad:
		v.load(i, in)
	case OpCoord:
		v.arity(in, 0)
		v.typeIn(in, ir.I64)
		v.axis(in, in.Index)
	case OpApply:
		v.apply(i, in)
	case OpCast:
		if v.arity(in, 1) && v.check(in.From.Valid() && in.To.Valid(), "cast from %v to %v", in.From, in.To) {
			t := v.arg(i, 0)
			v.check(t == in.From.Compute(), "operand is %v, not %v", t, in.From)
			v.check(in.Type == in.To.Compute(), "result is %v, not %v", in.Type, in.To)
			v.check(!in.Overflow || in.To.IsFloat8(), "a cast to %v has no choice of overflow", in.To)
		}
	case OpBitcast:
		if v.arity(in, 1) && v.check(in.From.Valid() && in.To.Valid() && in.From.Size() == in.To.Size() && in.From != ir.Bool && in.To != ir.Bool, "bits of %v as %v", in.From, in.To) {
			t := v.arg(i, 0)
			v.check(t == in.From.Compute(), "operand is %v, not %v", t, in.From)
			v.check(in.Type == in.To.Compute(), "result is %v, not %v", in.Type, in.To)
		}
	case OpReduce:
		v.reduce(i, in)
	case OpCount:
		v.arity(in, 0)
		v.number(in)
		v.check(k.Template == Rows || k.Template == Scan, "count in a %v kernel", k.Template)
	case OpContract:
		v.contract(i, in)
	case OpScan:
		v.check(k.Template == Scan, "scan in a %v kernel", k.Template)
		v.check(in.Reduce <= RMin, "no scan by %v", in.Reduce)
		v.number(in)
		if v.arity(in, 1) {
			t := v.arg(i, 0)
			v.check(t == in.Type, "operand is %v, not %v", t, in.Type)
		}
	case OpSort:
		v.check(k.Template == Sort, "sort in a %v kernel", k.Template)
		if v.arity(in, 1) {
			t := v.arg(i, 0)
			if in.Positions {
				t = ir.I64
			}
			v.check(in.Type == t, "result is %v, not %v", in.Type, t)
		}
	case OpArange:
		v.arity(in, 0)
		v.number(in)
		v.axis(in, in.Index)
		v.check(in.To == ir.Invalid || in.To.Valid() && in.To.Compute() == in.Type, "rounds %v to %v", in.Type, in.To)
		raw := ir.F64
		if in.Type.IsInt() {
			raw = ir.I64
		}
		v.param(in.Index2, raw)
		v.param(in.Index2+1, raw)
	case OpPhilox, OpNormal:
		v.arity(in, 0)
		if in.Op == OpNormal {
			v.typeIn(in, ir.F32, ir.F64)
		} else {
			v.typeIn(in, ir.I64)
		}
		v.check(in.Level == Element, "a random word belongs to an element")
		v.param(in.Index, ir.I64)
		v.param(in.Index+1, ir.I64)
	case OpAttention:
		v.attention(i, in)
	default:
		v.check(false, "unknown instruction %v", in.Op)
	}
}

func (v *verifier) load(i int, in *Instr) {
	t := v.source(in.Access)
	if v.err != nil {
		return
	}
	v.check(t == in.Type, "loads %v as %v", t, in.Type)
	a := v.k.Accesses[in.Access]
	want := a.Indices
	if a.Masked {
		want++
	}
	if !v.arity(in, want) {
		return
	}
	for n := range in.Args {
		t := v.arg(i, n)
		if n < a.Indices {
			v.check(t == ir.I64, "index %d is %v, not i64", n, t)
		} else {
			v.check(t == in.Type, "fill is %v, not %v", t, in.Type)
		}
	}
}

func (v *verifier) apply(i int, in *Instr) {
	sig := in.Fn.Sig()
	if !v.check(sig.Arity > 0, "unknown function %v", in.Fn) {
		return
	}
	if !v.check(len(in.Args) == sig.Arity, "%s takes %d operands, not %d", sig.Name, sig.Arity, len(in.Args)) {
		return
	}
	operand := ir.Invalid
	for n := range in.Args {
		t := v.arg(i, n)
		switch {
		case n == 0 && sig.Mask:
			v.check(t == ir.Bool, "mask of %s is %v", sig.Name, t)
		case operand == ir.Invalid:
			operand = t
		default:
			v.check(t == operand, "operands of %s are %v and %v", sig.Name, operand, t)
		}
	}
	v.check(sig.DefinedFor(operand), "%s is not defined for %v", sig.Name, operand)
	if sig.ResultBool {
		operand = ir.Bool
	}
	v.check(in.Type == operand, "%s gives %v, not %v", sig.Name, operand, in.Type)
}

// number checks that the result of an instruction is a number.
func (v *verifier) number(in *Instr) {
	v.check(in.Type != ir.Bool, "%v has no result of type %v", in.Op, in.Type)
}

// contract checks the operands of a contraction: two accesses, or the values
// of two prologues.
func (v *verifier) contract(i int, in *Instr) {
	v.check(v.k.Template == Contraction, "contract in a %v kernel", v.k.Template)
	v.check(in.Level == Element, "contract gives an element value")
	v.number(in)
	var a, b ir.DType
	if len(in.Args) == 0 {
		a, b = v.plainSource(in.Access), v.plainSource(in.Access2)
	} else if v.arity(in, 2) {
		a, b = v.arg(i, 0), v.arg(i, 1)
		if v.err == nil {
			l, r := v.k.Body[in.Args[0]].Level, v.k.Body[in.Args[1]].Level
			v.check(l == Left && r == Right, "contracts %v and %v values", l, r)
			v.check(in.From.Valid() && in.From.Compute() == a, "left operand is %v, not %v", a, in.From)
			v.check(in.To.Valid() && in.To.Compute() == b, "right operand is %v, not %v", b, in.To)
		}
	}
	widens := ir.Bytes.Has(a) && ir.Bytes.Has(b) && in.Type == ir.I32
	v.check(widens || a == in.Type && b == in.Type, "contracts %v and %v to %v", a, b, in.Type)
}

// apart reports whether values of a level do not vary along an axis, though
// the template has it: an operand of a contraction along the other's own axis.
func (k *Kernel) apart(l Level, axis int) bool {
	return l == Left && axis == k.Outer-1 || l == Right && axis == k.Outer-2
}

func (v *verifier) reduce(i int, in *Instr) {
	v.check(v.k.Template == Rows, "reduce in a %v kernel", v.k.Template)
	v.check(in.Level == Row, "reduce gives a row value")
	if !v.check(int(in.Reduce) < len(reduceNames), "unknown reduction %d", uint8(in.Reduce)) || !v.arity(in, 1) {
		return
	}
	t := v.arg(i, 0)
	if v.err != nil {
		return
	}
	v.check(v.k.Body[in.Args[0]].Level == Element, "reduces a row value")
	switch in.Reduce {
	case RArgMax, RArgMin:
		v.typeIn(in, ir.I64)
	case RAny, RAll:
		v.check(t == ir.Bool, "%v of %v", in.Reduce, t)
		v.typeIn(in, ir.Bool)
	default:
		v.check(t != ir.Bool, "%v of bool", in.Reduce)
		v.check(in.Type == t, "%v of %v gives %v", in.Reduce, t, in.Type)
	}
}

func (v *verifier) attention(i int, in *Instr) {
	k := v.k
	v.arity(in, 0)
	v.check(k.Template == Attention && i == 0, "attention is the first instruction of an attention kernel")
	v.typeIn(in, ir.F32, ir.F64)
	v.param(0, in.Type)
	if k.Attention.Causal {
		v.param(1, ir.I64)
	}
	v.check(!k.Attention.BoolMask || k.Attention.HasMask, "a bool mask without a mask")
	for a := range k.attentionAccesses() {
		want := in.Type
		if a == 3 && k.Attention.BoolMask {
			want = ir.Bool
		}
		t := v.plainSource(a)
		v.check(t == want, "access %d is %v, not %v", a, t, want)
	}
}
