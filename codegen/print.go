package codegen

import (
	"fmt"
	"math"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// String prints the kernel, one line for each buffer, access, parameter,
// instruction and store, in a form that stays the same from run to run:
//
//	kernel rows outer=1 inner=1 "sum"
//	  b0: in f32
//	  b1: out f32
//	  a0: b0
//	  a1: b1
//	  %0: f32 = load a0
//	  %1: f32 row = reduce sum %0
//	  store a1 %1
//
// Kernels that are not well formed print as well.
func (k *Kernel) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s outer=%d inner=%d %q\n", name(templateNames[:], int(k.Template)), k.Outer, k.Inner, k.Name)
	for i, buf := range k.Buffers {
		fmt.Fprintf(&b, "  b%d: %s %v\n", i, name(modeNames[:], int(buf.Mode)), buf.DType)
	}
	for i, a := range k.Accesses {
		fmt.Fprintf(&b, "  a%d: b%d", i, a.Buffer)
		if a.Indices != 0 {
			fmt.Fprintf(&b, " indices=%d", a.Indices)
		}
		if a.Masked {
			b.WriteString(" masked")
		}
		b.WriteByte('\n')
	}
	for i, p := range k.Params {
		fmt.Fprintf(&b, "  p%d: %v\n", i, p)
	}
	for i := range k.Body {
		fmt.Fprintf(&b, "  %%%d: %s\n", i, k.instrString(&k.Body[i]))
	}
	for _, s := range k.Stores {
		fmt.Fprintf(&b, "  store a%d", s.Access)
		if len(s.Index) > 0 {
			b.WriteString("[" + values(s.Index) + "]")
		}
		if s.Mode != ir.Assign {
			fmt.Fprintf(&b, " %v", s.Mode)
		}
		fmt.Fprintf(&b, " %%%d\n", s.Value)
	}
	printParts(&b, k.Parts)
	if k.Template == Custom {
		fmt.Fprintf(&b, "  %v\n", &k.Custom)
	}
	return b.String()
}

func (k *Kernel) instrString(in *Instr) string {
	var b strings.Builder
	b.WriteString(in.Type.String())
	if in.Level != Element {
		b.WriteString(" " + name(levelNames[:], int(in.Level)))
	}
	b.WriteString(" = ")
	switch in.Op {
	case OpConst:
		b.WriteString("const " + constString(in.Type, in.Bits))
	case OpParam:
		fmt.Fprintf(&b, "param p%d", in.Index)
	case OpLoad:
		fmt.Fprintf(&b, "load a%d", in.Access)
		n := len(in.Args)
		if in.Access >= 0 && in.Access < len(k.Accesses) {
			n = min(n, max(k.Accesses[in.Access].Indices, 0))
		}
		if n > 0 {
			b.WriteString("[" + values(in.Args[:n]) + "]")
		}
		if n < len(in.Args) {
			b.WriteString(" else " + values(in.Args[n:]))
		}
	case OpCoord:
		fmt.Fprintf(&b, "coord %d", in.Index)
	case OpApply:
		fmt.Fprintf(&b, "%v %s", in.Fn, values(in.Args))
	case OpCast:
		fmt.Fprintf(&b, "cast %v to %v %s", in.From, in.To, values(in.Args))
		if in.Overflow {
			b.WriteString(" overflow")
		}
	case OpBitcast:
		fmt.Fprintf(&b, "bitcast %v to %v %s", in.From, in.To, values(in.Args))
	case OpReduce:
		fmt.Fprintf(&b, "reduce %s %s", name(reduceNames[:], int(in.Reduce)), values(in.Args))
	case OpContract:
		if len(in.Args) > 0 {
			b.WriteString("contract " + values(in.Args))
			if in.From != in.From.Compute() || in.To != in.To.Compute() {
				fmt.Fprintf(&b, " of %v, %v", in.From, in.To)
			}
		} else {
			fmt.Fprintf(&b, "contract a%d a%d", in.Access, in.Access2)
		}
	case OpSort:
		b.WriteString("sort")
		if in.Positions {
			b.WriteString(" positions")
		}
		if in.Reverse {
			b.WriteString(" descending")
		}
		b.WriteString(" " + values(in.Args))
	case OpScan:
		fmt.Fprintf(&b, "scan %s", name(reduceNames[:], int(in.Reduce)))
		if in.Exclusive {
			b.WriteString(" exclusive")
		}
		if in.Reverse {
			b.WriteString(" reverse")
		}
		b.WriteString(" " + values(in.Args))
	case OpArange:
		fmt.Fprintf(&b, "arange %d from p%d step p%d", in.Index, in.Index2, in.Index2+1)
		if in.To != ir.Invalid {
			fmt.Fprintf(&b, " to %v", in.To)
		}
	case OpPhilox, OpNormal:
		fmt.Fprintf(&b, "%v seed p%d offset p%d", in.Op, in.Index, in.Index+1)
	case OpAttention:
		b.WriteString("attention")
		if k.Attention.Causal {
			b.WriteString(" causal")
		}
		if k.Attention.HasMask {
			mask := " mask"
			if k.Attention.BoolMask {
				mask = " boolmask"
			}
			b.WriteString(mask)
		}
		if k.Attention.ScaleRead {
			b.WriteString(" scale read")
		}
	default:
		b.WriteString(in.Op.String())
		if len(in.Args) > 0 {
			b.WriteString(" " + values(in.Args))
		}
	}
	return b.String()
}

// constString prints a float as the shortest decimal that reads back the same
// and as its bits when it is not finite.
func constString(t ir.DType, bits uint64) string {
	switch {
	case t == ir.F32:
		f := math.Float32frombits(uint32(bits))
		if f != f {
			return fmt.Sprintf("nan(%#08x)", uint32(bits))
		}
		return fmt.Sprint(f)
	case t == ir.F64:
		f := math.Float64frombits(bits)
		if f != f {
			return fmt.Sprintf("nan(%#016x)", bits)
		}
		return fmt.Sprint(f)
	case t.IsSigned():
		return fmt.Sprint(int64(bits))
	case t.IsUnsigned():
		return fmt.Sprint(bits)
	case t == ir.Bool:
		return fmt.Sprint(bits != 0)
	}
	return fmt.Sprintf("%#x", bits)
}

func values(vs []Value) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = fmt.Sprintf("%%%d", v)
	}
	return strings.Join(parts, ", ")
}

// name looks up a name, also for numbers that have none.
func name(table []string, i int) string {
	if i < len(table) {
		return table[i]
	}
	return fmt.Sprintf("?%d", i)
}
