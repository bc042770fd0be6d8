package exec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// opcodes lists every form that computes in registers alone: those of the tables
// and, of the families put together when decoding, the combinations that PTX has.
func opcodes() []string {
	var out []string
	for _, t := range []map[string]form{intForms, bitForms, f32Forms, f64Forms, halfForms, convertForms, carryForms} {
		out = slices.AppendSeq(out, maps.Keys(t))
	}
	out = append(out, compareOpcodes()...)
	out = append(out, convertOpcodes()...)
	slices.Sort(out)
	return slices.Compact(out)
}

func compareOpcodes() (out []string) {
	joins := []string{"", ".and", ".or", ".xor"}
	equal := []string{"eq", "ne"}
	order := []string{"eq", "ne", "lt", "le", "gt", "ge"}
	unsigned := append(order, "lo", "ls", "hi", "hs")
	floats := append(order, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
	for types, names := range map[string][]string{
		"b16 b32 b64": equal, "s16 s32 s64": order, "u16 u32 u64": unsigned,
		"f32 f64 ftz.f32 f16 ftz.f16 f16x2 ftz.f16x2 bf16 bf16x2": floats,
	} {
		for _, t := range strings.Fields(types) {
			for _, n := range names {
				for _, j := range joins {
					out = append(out, "setp."+n+j+"."+t)
				}
				ftz, src, ok := strings.Cut(t, ".")
				if ok {
					ftz = "." + ftz
				} else {
					ftz, src = "", t
				}
				dsts := []string{"u32", "s32", "f32"}
				switch src {
				case "f16", "bf16":
					dsts = []string{src, "u16", "s16", "u32", "s32"}
				case "f16x2", "bf16x2":
					dsts = []string{src}
				}
				for _, d := range dsts {
					out = append(out, "set."+n+ftz+"."+d+"."+src, "set."+n+".and"+ftz+"."+d+"."+src)
				}
			}
		}
	}
	for _, c := range []string{"finite", "infinite", "number", "notanumber", "normal", "subnormal"} {
		out = append(out, "testp."+c+".f32", "testp."+c+".f64")
	}
	return out
}

func convertOpcodes() (out []string) {
	ints := []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"}
	rounds := []string{"rn", "rz", "rm", "rp"}
	for n, i := range ints {
		for k, j := range ints {
			// .sat is allowed only where the source has other values.
			if signed, wider := n%2 == 1, n/2 > k/2; n != k && !wider || !signed && k%2 == 1 {
				out = append(out, "cvt.sat."+i+"."+j)
			}
		}
		for _, f := range []string{"f16", "bf16", "f32", "f64"} {
			if f == "bf16" && n < 2 {
				continue // of 8 bits there are none
			}
			for _, r := range rounds {
				out = append(out, "cvt."+r+"i."+i+"."+f, "cvt."+r+"."+f+"."+i)
				if f == "f32" {
					out = append(out, "cvt."+r+"i.ftz."+i+".f32", "cvt."+r+"i.sat."+i+".f32", "cvt."+r+".sat.f32."+i)
				}
			}
		}
	}
	for _, r := range rounds {
		out = append(out, "cvt."+r+".f32.f64", "cvt."+r+".ftz.f32.f64", "cvt."+r+".sat.f32.f64", "cvt."+r+".f16.f64",
			"cvt."+r+"i.f32.f32", "cvt."+r+"i.ftz.f32.f32", "cvt."+r+"i.sat.f32.f32", "cvt."+r+"i.f64.f64", "cvt."+r+"i.f16.f16")
		if r == "rn" || r == "rz" {
			for _, h := range []string{"f16", "bf16"} {
				out = append(out, "cvt."+r+"."+h+".f32", "cvt."+r+".relu."+h+".f32", "cvt."+r+".satfinite."+h+".f32",
					"cvt."+r+"."+h+"x2.f32", "cvt."+r+".relu."+h+"x2.f32", "cvt."+r+".satfinite."+h+"x2.f32", "cvt."+r+".relu.satfinite."+h+"x2.f32")
			}
			out = append(out, "cvt."+r+".tf32.f32", "cvt."+r+".relu.tf32.f32", "cvt."+r+".satfinite.tf32.f32", "cvt."+r+".bf16.f16", "cvt."+r+".f16.bf16")
		}
	}
	for _, e := range []string{"e4m3x2", "e5m2x2"} {
		out = append(out, "cvt.rn.satfinite."+e+".f32", "cvt.rn.satfinite.relu."+e+".f32", "cvt.rn.satfinite."+e+".f16x2",
			"cvt.rn.satfinite.relu."+e+".f16x2", "cvt.rn.f16x2."+e, "cvt.rn.relu.f16x2."+e)
	}
	return append(out, "cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32", "cvt.f32.f32", "cvt.ftz.f32.f32", "cvt.sat.f32.f32", "cvt.ftz.sat.f32.f32",
		"cvt.f64.f32", "cvt.ftz.f64.f32", "cvt.sat.f64.f32", "cvt.f64.f16", "cvt.f64.bf16", "cvt.f32.f16", "cvt.ftz.f32.f16", "cvt.sat.f32.f16",
		"cvt.f32.bf16", "cvt.rn.f16.f32", "cvt.rn.bf16.f64")
}

// trial is an opcode with its operands' types, and kernel text that applies it
// to what lies in memory.
type trial struct {
	op       *ptx.Opcode
	dst      []ptx.Type // destinations, by the width of their registers
	src      []ptx.Type
	constant int // the last source is an immediate, as lop3's table
}

// operandTypes derives the registers of an opcode from its modifiers and types.
func operandTypes(o *ptx.Opcode) trial {
	register := func(bits int) ptx.Type {
		return map[int]ptx.Type{8: ptx.B16, 16: ptx.B16, 32: ptx.B32, 64: ptx.B64, 1: ptx.Pred}[bits]
	}
	t := register(o.Type().Bits())
	n := map[ptx.Op]int{
		ptx.OpAbs: 1, ptx.OpNeg: 1, ptx.OpNot: 1, ptx.OpMov: 1, ptx.OpRcp: 1, ptx.OpSqrt: 1, ptx.OpRsqrt: 1, ptx.OpEx2: 1, ptx.OpLg2: 1,
		ptx.OpSin: 1, ptx.OpCos: 1, ptx.OpTanh: 1, ptx.OpBrev: 1, ptx.OpPopc: 1, ptx.OpClz: 1, ptx.OpBfind: 1, ptx.OpTestp: 1, ptx.OpCvt: 1,
		ptx.OpMad: 3, ptx.OpMadc: 3, ptx.OpFma: 3, ptx.OpMad24: 3, ptx.OpSad: 3, ptx.OpShf: 3, ptx.OpPrmt: 3, ptx.OpDp4a: 3, ptx.OpDp2a: 3,
		ptx.OpBfe: 3, ptx.OpBfi: 4, ptx.OpLop3: 4, ptx.OpSelp: 3, ptx.OpSlct: 3,
	}[o.Op]
	if n == 0 {
		n = 2
	}
	x := trial{op: o, dst: []ptx.Type{t}, src: slices.Repeat([]ptx.Type{t}, n), constant: -1}
	switch o.Op {
	case ptx.OpMul, ptx.OpMad:
		if o.Has(ptx.ModWide) {
			x.dst[0] = register(2 * o.Type().Bits())
			if o.Op == ptx.OpMad {
				x.src[2] = x.dst[0]
			}
		}
	case ptx.OpShl, ptx.OpShr:
		x.src[1] = ptx.B32
	case ptx.OpBfe:
		x.src[1], x.src[2] = ptx.B32, ptx.B32
	case ptx.OpBfi:
		x.src[2], x.src[3] = ptx.B32, ptx.B32
	case ptx.OpPopc, ptx.OpClz, ptx.OpBfind:
		x.dst[0] = ptx.B32
	case ptx.OpSelp:
		x.src[2] = ptx.Pred
	case ptx.OpSlct:
		x.dst[0] = register(o.Types[0].Bits())
		x.src = []ptx.Type{x.dst[0], x.dst[0], ptx.B32}
	case ptx.OpLop3:
		x.src, x.constant = x.src[:3], 0x1e
	case ptx.OpSetp:
		x.dst = []ptx.Type{ptx.Pred, ptx.Pred}
		if t == ptx.B16 && formats[o.Type()] != nil {
			x.dst = x.dst[:1]
		}
	case ptx.OpTestp:
		x.dst[0] = ptx.Pred
	case ptx.OpSet:
		x.dst[0] = register(o.Types[0].Bits())
	case ptx.OpCvt:
		x.dst[0] = register(o.Types[0].Bits())
		if formats[o.Types[0]] != nil && o.Types[1] == ptx.F32 && o.Types[0].Bits() == 2*formats[o.Types[0]].Bits() {
			x.src = append(x.src, t)
		}
	}
	if (o.Op == ptx.OpSetp || o.Op == ptx.OpSet) && (o.Has(ptx.ModAnd) || o.Has(ptx.ModOr) || o.Has(ptx.ModXor)) {
		x.src = append(x.src, ptx.Pred)
	}
	return x
}

// registers declares what the kernels of trials use.
const registers = `	.reg .pred %q, %g, %w, %pd, %pe, %pa, %pb;
	.reg .b16 %hd, %ha<4>;
	.reg .b32 %t, %r, %rd, %ra<4>, %cin;
	.reg .b64 %i, %o, %off, %dd, %da<4>;
`

var letters = map[ptx.Type]string{ptx.B16: "h", ptx.B32: "r", ptx.B64: "d"}

// operands returns the text of the destinations and of the sources.
func (x trial) operands() (dst string, src []string) {
	dst = "%pd"
	if t := x.dst[0]; t != ptx.Pred {
		dst = "%" + letters[t] + "d"
	}
	if len(x.dst) == 2 {
		dst += "|%pe"
	}
	preds := []string{"%pa", "%pb"}
	for i, t := range x.src {
		if t == ptx.Pred {
			src, preds = append(src, preds[0]), preds[1:]
			continue
		}
		src = append(src, fmt.Sprintf("%%%sa%d", letters[t], i))
	}
	if x.constant >= 0 {
		src = append(src, fmt.Sprint(x.constant))
	}
	return dst, src
}

// slots of a thread in memory: 8 bytes each.
const (
	slotX     = 0 // operands
	slotGuard = 4
	slotPreds = 5 // bits: the predicates that the opcode reads
	slotCarry = 6
	slotsIn   = 8
	slotsOut  = 16 // of each of three ways: value, predicate, second predicate, carry
)

// text is a kernel named as the opcode that executes it in three ways: by all
// threads, guarded by a predicate, and behind a branch that only some take. What
// does not execute it leaves 77 and false.
func (x trial) text() (name, body string) {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	name = strings.ReplaceAll(x.op.Name, ".", "_")
	fmt.Fprintf(&b, ".visible .entry %s(\n\t.param .u64 in,\n\t.param .u64 out\n)\n{\n", name)
	b.WriteString(registers)
	put("mov.u32 %%t, %%tid.x;\n\tld.param.u64 %%i, [in];\n\tld.param.u64 %%o, [out];")
	put("mul.wide.u32 %%off, %%t, %d;\n\tadd.s64 %%i, %%i, %%off;\n\tmul.wide.u32 %%off, %%t, %d;\n\tadd.s64 %%o, %%o, %%off;", 8*slotsIn, 8*slotsOut)
	dst, args := x.operands()
	preds := 0
	for i, t := range x.src {
		if t == ptx.Pred {
			put("ld.global.b32 %%r, [%%i+%d];\n\tand.b32 %%r, %%r, %d;\n\tsetp.ne.u32 %s, %%r, 0;", 8*slotPreds, 1<<preds, args[i])
			preds++
			continue
		}
		put("ld.global.%s %s, [%%i+%d];", t, args[i], 8*(slotX+i))
		if t == ptx.B16 { // memory holds the complement: what stands above is not zero
			put("not.b16 %[1]s, %[1]s;", args[i])
		}
	}
	put("ld.global.b32 %%r, [%%i+%d];\n\tsetp.ne.u32 %%g, %%r, 0;\n\tld.global.b32 %%cin, [%%i+%d];", 8*slotGuard, 8*slotCarry)
	carry := x.op.Has(ptx.ModCC) || x.op.Op == ptx.OpAddc || x.op.Op == ptx.OpSubc || x.op.Op == ptx.OpMadc
	for way, guard := range []string{"", "@%g ", ""} {
		if x.dst[0] == ptx.Pred {
			put("setp.ne.u32 %%pd, 0, 0;\n\tsetp.ne.u32 %%pe, 0, 0;")
		} else {
			put("mov.%s %s, 77;", x.dst[0], dst)
		}
		if carry {
			put("add.cc.u32 %%r, %%cin, -1;")
		}
		if way == 2 {
			put("@!%%g bra $L_end;")
		}
		put("%s%s %s, %s;", guard, x.op.Name, dst, strings.Join(args, ", "))
		if way == 2 {
			b.WriteString("$L_end:\n")
		}
		at := 8 * 4 * way
		if carry {
			put("addc.u32 %%r, 0, 0;\n\tst.global.b32 [%%o+%d], %%r;", at+24)
		}
		switch x.dst[0] {
		case ptx.Pred:
			put("selp.b32 %%r, 1, 0, %%pd;\n\tst.global.b32 [%%o+%d], %%r;\n\tselp.b32 %%r, 1, 0, %%pe;\n\tst.global.b32 [%%o+%d], %%r;", at+8, at+16)
		default:
			put("st.global.%s [%%o+%d], %s;", x.dst[0], at, dst)
		}
	}
	b.WriteString("\tret;\n}\n")
	return name, b.String()
}

const head = ".version 8.8\n.target sm_100a\n.address_size 64\n"
