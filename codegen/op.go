package codegen

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

var opNames = [numOps]string{
	OpInvalid:   "invalid",
	OpConst:     "const",
	OpParam:     "param",
	OpLoad:      "load",
	OpCoord:     "coord",
	OpApply:     "apply",
	OpCast:      "cast",
	OpBitcast:   "bitcast",
	OpReduce:    "reduce",
	OpCount:     "count",
	OpContract:  "contract",
	OpScan:      "scan",
	OpSort:      "sort",
	OpArange:    "arange",
	OpPhilox:    "philox",
	OpNormal:    "normal",
	OpAttention: "attention",
}

// String returns the name of o as printed in kernels.
func (o Op) String() string {
	if o >= numOps {
		return fmt.Sprintf("op(%d)", uint8(o))
	}
	return opNames[o]
}

var modeNames = [...]string{"in", "out", "inout"}

// String returns "in", "out" or "inout".
func (m Mode) String() string { return modeNames[m] }

var levelNames = [...]string{"element", "row", "left", "right"}

// String returns "element", "row", "left" or "right".
func (l Level) String() string { return levelNames[l] }

// Names returns the names of templates, modes, levels, reductions and
// instructions, each with its number: what kernels that are kept as data are
// written in.
func Names() []string {
	var out []string
	for _, table := range [...][]string{templateNames[:], modeNames[:], levelNames[:], reduceNames[:], opNames[:]} {
		for i, name := range table {
			out = append(out, fmt.Sprintf("%d %s", i, name))
		}
	}
	return out
}

// attentionAccesses is how many accesses, from access 0 on, an attention
// kernel reads itself: Q, K, V, and the mask and the scale if they are read.
func (k *Kernel) attentionAccesses() int {
	n := 3
	if k.Attention.HasMask {
		n++
	}
	if k.Attention.ScaleRead {
		n++
	}
	return n
}

// reads calls f for each access an instruction reads.
func (k *Kernel) reads(in *Instr, f func(access int)) {
	switch in.Op {
	case OpLoad:
		f(in.Access)
	case OpContract:
		if len(in.Args) == 0 {
			f(in.Access)
			f(in.Access2)
		}
	case OpAttention:
		for a := range k.attentionAccesses() {
			f(a)
		}
	}
}

// Factors returns the dtypes of the operands of a contraction: of what lies in
// memory, or what the values of its prologues are rounded to. How products are
// added may depend on them, so that an operand computed as it is read gives the
// bits of one that was stored.
func (k *Kernel) Factors(in *Instr) (left, right ir.DType) {
	if len(in.Args) > 0 {
		return in.From, in.To
	}
	return k.Buffers[k.Accesses[in.Access].Buffer].DType, k.Buffers[k.Accesses[in.Access2].Buffer].DType
}

// isRegister reports whether values of type d exist in scalar programs.
func isRegister(d ir.DType) bool { return d.Valid() && d == d.Compute() }

// Axes returns the number of axes of the kernel's space.
func (k *Kernel) Axes() int { return k.Outer + k.Inner }
