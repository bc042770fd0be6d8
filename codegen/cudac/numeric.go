package cudac

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Numeric is the numeric class of one instruction: what its bits depend on beside
// its operands. Instructions that are correctly rounded have none: every engine
// gives the same bits.
type Numeric struct {
	Value codegen.Value // the instruction
	// Ulps is how far a function's result may be from the exact value, 0 for what
	// is no function.
	Ulps float64
	// Ordered says that elements are added, or multiplied, in the order of
	// codegen.Lanes and codegen.BlockElems (a reduction) or one after another (a
	// scan), so that engines give the same bits.
	Ordered     bool
	Contraction *Class          // of a contraction
	Attention   *AttentionClass // of an attention
}

func (n Numeric) String() string {
	switch {
	case n.Contraction != nil:
		return n.Contraction.String()
	case n.Attention != nil:
		return n.Attention.String()
	case n.Ordered:
		return "in the fixed order"
	}
	return fmt.Sprintf("within %g ulp", n.Ulps)
}

// NumericOf returns the numeric classes of a kernel's instructions on a target, for
// a launch: nothing but the lengths of contracted axes and head dims is looked
// at. Parts have theirs one after another, each numbered from 0.
func NumericOf(k *codegen.Kernel, l *codegen.Launch, t Target) []Numeric {
	var out []Numeric
	k.Spaces(l, func(k *codegen.Kernel, l *codegen.Launch) {
		for i := range k.Body {
			if n, ok := numericOf(k, l, t, i); ok {
				out = append(out, n)
			}
		}
	})
	return out
}

func numericOf(k *codegen.Kernel, l *codegen.Launch, t Target, i int) (Numeric, bool) {
	in, n := &k.Body[i], Numeric{Value: codegen.Value(i)}
	switch in.Op {
	case codegen.OpApply:
		n.Ulps = FuncBound(in.Fn, in.Type)
		return n, n.Ulps > 0
	case codegen.OpNormal:
		n.Ulps = normalUlps(in.Type)
		return n, true
	case codegen.OpReduce, codegen.OpScan:
		n.Ordered = in.Type.IsFloat() && (in.Reduce == codegen.RSum || in.Reduce == codegen.RProd)
		return n, n.Ordered
	case codegen.OpContract:
		c := ClassOf(k, l.Dims[k.Outer], t)
		n.Contraction = &c
		return n, in.Type.IsFloat()
	case codegen.OpAttention:
		c := AttentionClassOf(k, l.Dims[k.Outer+1], t)
		n.Attention = &c
		return n, true
	}
	return n, false
}

// normalUlps bounds a normal number. In F32 it is a logarithm, whose error the root
// halves, and a sine or cosine of an exact angle, each with its roundings, and their
// product. In F64 the angle is rounded: near a zero of the cosine, which random
// words come as near to as 2⁻²², that takes as many of the last bits.
func normalUlps(t ir.DType) float64 {
	if t == ir.F32 {
		return 4
	}
	return 1 << 24
}

// Exact reports whether every value of a kernel has the same bits on every engine,
// all NaNs counting as one value.
func Exact(k *codegen.Kernel) bool {
	exact := true
	check := func(k *codegen.Kernel) {
		for i := range k.Body {
			in := &k.Body[i]
			switch in.Op {
			case codegen.OpApply:
				exact = exact && FuncBound(in.Fn, in.Type) == 0
			case codegen.OpContract:
				exact = exact && !in.Type.IsFloat()
			case codegen.OpNormal, codegen.OpAttention:
				exact = false
			}
		}
	}
	check(k)
	for i := range k.Parts {
		check(k.Parts[i].Kernel)
	}
	return exact
}
