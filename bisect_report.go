package sinter

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// Cause is what [Bisect] found to be at fault.
type Cause string

// The causes.
const (
	CauseNone  Cause = ""                     // the program computes what it should
	CauseBlock Cause = "a fused block"        // Fuser, Ops and Kernels say which
	CausePass  Cause = "a rewrite by a pass"  // Pass and Ops say which
	CauseGraph Cause = "the replay of graphs" // without it the program computes what it should
	CausePlan  Cause = "the plan"             // neither one rewrite nor one block: the order, or what is stored
)

// Bisection is what [Bisect] found.
type Bisection struct {
	Cause   Cause
	Ops     []ProfiledOp // the operations of the block, or the one the pass rewrote, with file:line
	Fuser   string
	Kernels []string // the kernels of the block
	Pass    string
	// Difference is the first one: in what the block stored, if it can be seen
	// there, else in what the program returned.
	Difference Difference
	// Avoid is the option without the fault, found by trying; "" if there is
	// none.
	Avoid string
	Runs  int // how often the program was run
}

// Difference is the first element in which two tensors differ.
type Difference struct {
	Where     string // "output 2", or "the result of Mul at model.go:12"
	Index     []int  // of the element; nil if the tensors differ as a whole
	Got, Want string
}

// Found reports whether the program computes something wrong.
func (b *Bisection) Found() bool { return b.Cause != CauseNone }

func (d *Difference) String() string {
	at := ""
	if d.Index != nil {
		at = fmt.Sprintf(" at %v", d.Index)
	}
	return fmt.Sprintf("%s%s is %s, not %s", d.Where, at, d.Got, d.Want)
}

// String tells all of it, kernels last.
func (b *Bisection) String() string {
	var s strings.Builder
	if !b.Found() {
		fmt.Fprintf(&s, "no difference in %d runs\n", b.Runs)
		return s.String()
	}
	fmt.Fprintf(&s, "%s makes a difference (found in %d runs)\n", b.Cause, b.Runs)
	fmt.Fprintf(&s, "\t%s\n", b.Difference.String())
	if b.Fuser != "" {
		fmt.Fprintf(&s, "\tfuser %s\n", b.Fuser)
	}
	if b.Pass != "" {
		fmt.Fprintf(&s, "\tpass %s\n", b.Pass)
	}
	for _, o := range b.Ops {
		fmt.Fprintf(&s, "\t%s\n", o)
	}
	if b.Avoid != "" {
		fmt.Fprintf(&s, "\twithout it: %s\n", b.Avoid)
	}
	for _, k := range b.Kernels {
		s.WriteString(k)
		if !strings.HasSuffix(k, "\n") {
			s.WriteByte('\n')
		}
	}
	return s.String()
}

// outcome is a tensor a program returned, or the error in its place.
type outcome struct {
	dtype DType
	shape Shape
	data  []byte
	err   error
}

func outcomeOf(ctx context.Context, t *Tensor) outcome {
	data, err := ReadBytes(ctx, t)
	return outcome{t.DType(), t.Shape(), data, err}
}

// firstDifference compares what two runs returned.
func firstDifference(want, got []outcome) *Difference {
	if len(want) != len(got) {
		return &Difference{Where: "the number of outputs", Got: fmt.Sprint(len(got)), Want: fmt.Sprint(len(want))}
	}
	for i := range want {
		if d := want[i].differs(&got[i]); d != nil {
			d.Where = fmt.Sprintf("output %d", i)
			return d
		}
	}
	return nil
}

// firstBlockDifference compares what a block stored fused and apart.
func firstBlockDifference(apart, fused *blockSeen) *Difference {
	for i := range min(len(apart.outputs), len(fused.outputs)) {
		a, f := &apart.outputs[i], &fused.outputs[i]
		want, got := outcome{a.DType, a.Shape, a.Data, apart.err}, outcome{f.DType, f.Shape, f.Data, fused.err}
		if d := want.differs(&got); d != nil {
			d.Where = "the result of " + f.Op.String()
			return d
		}
	}
	return nil
}

// differs returns the first difference of two tensors. Errors are equal
// whatever they say: their text may name kernels.
func (want *outcome) differs(got *outcome) *Difference {
	if want.err != nil || got.err != nil {
		if (want.err == nil) == (got.err == nil) {
			return nil
		}
		return &Difference{Got: errorText(got.err), Want: errorText(want.err)}
	}
	if want.dtype != got.dtype || !want.shape.Equal(got.shape) {
		return &Difference{Got: fmt.Sprintf("%v%v", got.dtype, got.shape), Want: fmt.Sprintf("%v%v", want.dtype, want.shape)}
	}
	n := want.dtype.Size()
	for i := range want.shape.NumElements() {
		a, b := want.data[i*n:(i+1)*n], got.data[i*n:(i+1)*n]
		if bytes.Equal(a, b) || isNaN(want.dtype, a) && isNaN(want.dtype, b) {
			continue
		}
		return &Difference{Index: indexOf(i, want.shape), Got: element(want.dtype, b), Want: element(want.dtype, a)}
	}
	return nil
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return "the error " + err.Error()
}

// indexOf returns the coordinates of the i-th element in row-major order.
func indexOf(i int, shape Shape) []int {
	out := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		out[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return out
}

// bitsOf returns the bits of an element.
func bitsOf(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

// floatOf returns the value of an element of a float dtype, false for others.
func floatOf(dtype DType, b []byte) (float64, bool) {
	bits := bitsOf(b)
	switch dtype {
	case ir.F64:
		return math.Float64frombits(bits), true
	case ir.F32:
		return float64(math.Float32frombits(uint32(bits))), true
	case ir.F16:
		return float64(ir.Float16(bits).Float32()), true
	case ir.BF16:
		return float64(ir.BFloat16(bits).Float32()), true
	case ir.F8E4M3:
		return float64(ir.Float8E4M3(bits).Float32()), true
	case ir.F8E5M2:
		return float64(ir.Float8E5M2(bits).Float32()), true
	}
	return 0, false
}

func isNaN(dtype DType, b []byte) bool {
	v, ok := floatOf(dtype, b)
	return ok && math.IsNaN(v)
}

// element prints an element: a float with its bits, which may differ where the
// digits do not.
func element(dtype DType, b []byte) string {
	bits := bitsOf(b)
	if v, ok := floatOf(dtype, b); ok {
		return fmt.Sprintf("%v (%#x)", v, bits)
	}
	switch {
	case dtype == Bool:
		return fmt.Sprint(bits != 0)
	case dtype.IsSigned():
		shift := 64 - 8*dtype.Size()
		return fmt.Sprint(int64(bits<<shift) >> shift)
	}
	return fmt.Sprint(bits)
}
