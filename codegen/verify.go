package codegen

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// VerifyError says which rule a kernel breaks, and where.
type VerifyError struct {
	Kernel string // the kernel's name
	Where  string // "kernel", "access 2", "%3", "store 0", …
	Rule   string
}

func (e *VerifyError) Error() string {
	return fmt.Sprintf("kernel %q: %s: %s", e.Kernel, e.Where, e.Rule)
}

// MaxAxes is the most axes the space of a kernel may have.
const MaxAxes = 64

// Verify checks that the kernel is well formed: operands exist before their
// use, types, arities and levels fit, accesses, buffers and parameters are in
// range, the template's rules hold, and every value is used. What depends on
// lengths and strides is checked with each launch (CheckLaunch). It returns a
// *VerifyError for the first rule broken.
func (k *Kernel) Verify() error {
	v := verifier{k: k, used: make([]bool, len(k.Body))}
	v.tables()
	v.parts()
	v.custom()
	if (k.Template == Parts || k.Template == Custom) && v.err == nil {
		return nil
	}
	v.template()
	for i := range k.Body {
		if v.err != nil {
			return v.err
		}
		v.instr(i)
	}
	for i := range k.Stores {
		if v.err != nil {
			return v.err
		}
		v.store(i)
	}
	v.usage()
	if v.err != nil {
		return v.err
	}
	return nil
}

type verifier struct {
	k     *Kernel
	where string
	used  []bool // by value
	err   *VerifyError
}

// check records the first failure.
func (v *verifier) check(ok bool, rule string, args ...any) bool {
	if !ok && v.err == nil {
		v.err = &VerifyError{Kernel: v.k.Name, Where: v.where, Rule: fmt.Sprintf(rule, args...)}
	}
	return ok
}

func (v *verifier) tables() {
	k := v.k
	v.where = "kernel"
	v.check(int(k.Template) < len(templateNames), "unknown template %d", uint8(k.Template))
	v.check(k.Outer >= 0 && k.Inner >= 0 && (k.Axes() <= MaxAxes || k.Template == Custom), "%d outer and %d inner axes", k.Outer, k.Inner)
	for i, b := range k.Buffers {
		v.where = fmt.Sprintf("buffer %d", i)
		v.check(b.DType.Valid(), "dtype %v", b.DType)
		v.check(b.Mode <= InOut, "unknown mode %d", uint8(b.Mode))
	}
	for i, a := range k.Accesses {
		v.where = fmt.Sprintf("access %d", i)
		v.check(a.Buffer >= 0 && a.Buffer < len(k.Buffers), "no buffer %d", a.Buffer)
		v.check(a.Indices >= 0, "%d indexed axes", a.Indices)
	}
	for i, p := range k.Params {
		v.where = fmt.Sprintf("param %d", i)
		v.check(isRegister(p), "type %v is not a register type", p)
	}
}

// template checks what the template says of the space and of the first
// instruction.
func (v *verifier) template() {
	k := v.k
	v.where = "kernel"
	first := OpInvalid
	if len(k.Body) > 0 {
		first = k.Body[0].Op
	}
	switch k.Template {
	case Map, Scatter:
		v.check(k.Inner == 0, "a %v kernel has no inner axes, not %d", k.Template, k.Inner)
	case Contraction:
		v.check(k.Inner == 1, "a contraction has one inner axis, not %d", k.Inner)
		v.check(k.Outer >= 2, "a contraction has at least two outer axes, not %d", k.Outer)
		n := 0
		for i := range k.Body {
			switch in := &k.Body[i]; {
			case in.Op == OpContract:
				n++
			case n == 0:
				v.check(in.Level >= Left, "value %%%d before the contraction is no prologue", i)
			}
		}
		v.check(n == 1, "a contraction contracts once, not %d times", n)
	case Scan, Sort:
		v.check(k.Inner == 1, "a %v has one inner axis, not %d", k.Template, k.Inner)
	case Attention:
		v.check(k.Outer >= 2 && k.Inner == 2, "attention has at least 2 outer and just 2 inner axes, not %d and %d", k.Outer, k.Inner)
		v.check(first == OpAttention, "attention starts with attention, not %v", first)
	}
	v.check(k.Template == Attention || k.Attention == AttentionSpec{}, "an attention spec in a %v kernel", k.Template)
	v.check(len(k.Stores) > 0, "nothing is stored")
}

func (v *verifier) store(i int) {
	k := v.k
	s := &k.Stores[i]
	v.where = fmt.Sprintf("store %d", i)
	if !v.check(s.Access >= 0 && s.Access < len(k.Accesses), "no access %d", s.Access) ||
		!v.check(s.Value >= 0 && int(s.Value) < len(k.Body), "no value %%%d", s.Value) {
		return
	}
	v.used[s.Value] = true
	val, a := &k.Body[s.Value], k.Accesses[s.Access]
	b := k.Buffers[a.Buffer]
	v.check(b.Mode != In, "writes an input buffer")
	v.check(val.Type == b.DType.Compute(), "stores %v as %v", val.Type, b.DType)
	v.check(!a.Masked || k.Template == Sort, "masked store in a %v kernel", k.Template)
	v.check(val.Level < Left, "stores a %v value", val.Level)
	if k.Template != Scatter {
		v.check(a.Indices == 0 && len(s.Index) == 0 && s.Mode == ir.Assign, "indexed or joining store in a %v kernel", k.Template)
		return
	}
	v.check(a.Indices > 0 && len(s.Index) == a.Indices, "%d index values for %d indexed axes", len(s.Index), a.Indices)
	for _, x := range s.Index {
		if !v.check(x >= 0 && int(x) < len(k.Body), "no value %%%d", x) {
			return
		}
		v.used[x] = true
		v.check(k.Body[x].Type == ir.I64, "index %%%d is %v, not i64", x, k.Body[x].Type)
	}
	if s.Mode != ir.Assign {
		v.check(b.Mode == InOut, "%v with a buffer that is not inout", s.Mode)
		v.check(ir.Numbers.Has(b.DType), "%v of %v", s.Mode, b.DType)
	}
}

// usage refuses values nobody reads and output buffers nobody writes, and
// checks that a scan scans and a sort sorts.
func (v *verifier) usage() {
	scans, sorts := false, false
	for i := range v.k.Body {
		v.where = fmt.Sprintf("%%%d", i)
		v.check(v.used[i], "value is not used")
		scans = scans || v.k.Body[i].Op == OpScan
		sorts = sorts || v.k.Body[i].Op == OpSort
	}
	written := make([]bool, len(v.k.Buffers))
	if v.err == nil {
		for _, s := range v.k.Stores {
			written[v.k.Accesses[s.Access].Buffer] = true
		}
	}
	for i, b := range v.k.Buffers {
		v.where = fmt.Sprintf("buffer %d", i)
		v.check(b.Mode == In || written[i], "%v buffer is never written", b.Mode)
	}
	v.where = "kernel"
	v.check(v.k.Template != Scan || scans, "a scan kernel without scan")
	v.check(v.k.Template != Sort || sorts, "a sort kernel without sort")
}
