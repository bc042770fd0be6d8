package kerneltest

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Tolerance says how far a float element may be from the one wanted: no more
// than the sum of what follows. The zero Tolerance wants the same bits, but that
// all NaNs are one value; so do elements of other types, unless they are open.
type Tolerance struct {
	Ulps float64 // units in the last place of the buffer's dtype at the wanted value
	Abs  float64
	// Each has a further distance by buffer and element, from EvaluateWithin. The
	// list of a buffer may be nil. An infinite distance leaves an element open:
	// anything is right.
	Each [][]float64
}

// Open returns how many elements of a buffer are open, whose comparison says
// nothing.
func (t Tolerance) Open(buffer int) int {
	n := 0
	if buffer < len(t.Each) {
		for _, e := range t.Each[buffer] {
			if e == open {
				n++
			}
		}
	}
	return n
}

// within returns the distance allowed at one element.
func (t *Tolerance) within(buffer, i int, dt ir.DType, want float64) float64 {
	d := t.Abs
	if t.Ulps > 0 && !math.IsInf(want, 0) {
		d += t.Ulps * unit(dt, want)
	}
	if buffer < len(t.Each) && t.Each[buffer] != nil {
		d += t.Each[buffer][i]
	}
	return d
}

// MismatchError is the first element that differs.
type MismatchError struct {
	Buffer, Elem int
	DType        ir.DType
	Want, Got    Value
	Within       float64 // the distance that was allowed
	Count        int     // how many elements of the buffer differ
}

func (e *MismatchError) Error() string {
	s := fmt.Sprintf("buffer %d (%v) element %d: want %s, got %s", e.Buffer, e.DType, e.Elem, show(e.DType, e.Want), show(e.DType, e.Got))
	if e.Within > 0 {
		s += fmt.Sprintf(", which is %.3g away and not within %.3g", math.Abs(e.Got.F-e.Want.F), e.Within)
	}
	return fmt.Sprintf("%s; %d elements differ", s, e.Count)
}

// show prints a stored element with its bits.
func show(dt ir.DType, v Value) string {
	bits := fmt.Sprintf("(0x%0*x)", 2*dt.Size(), ToBits(dt, v))
	switch {
	case dt == ir.Bool:
		return fmt.Sprint(v.B)
	case dt == ir.U64:
		return fmt.Sprint(uint64(v.I))
	case dt.IsInt():
		return fmt.Sprint(v.I)
	case dt == ir.F64:
		return fmt.Sprint(v.F, " ", bits)
	}
	return fmt.Sprint(float32(v.F), " ", bits)
}

// Compare compares the buffers of a kernel after a launch, all of them whole:
// what a kernel does not write must stay. It returns a *MismatchError.
func Compare(k *codegen.Kernel, want, got [][]byte, tol Tolerance) error {
	for b, buffer := range k.Buffers {
		var first *MismatchError
		for i := range len(want[b]) / buffer.DType.Size() {
			w, g := ReadElem(want[b], buffer.DType, i), ReadElem(got[b], buffer.DType, i)
			if same(w, g) && (buffer.DType != ir.Bool || want[b][i] == got[b][i]) {
				continue
			}
			d := tol.within(b, i, buffer.DType, w.F)
			floats := buffer.DType.IsFloat() || buffer.DType.IsFloat8()
			if d == open || floats && d > 0 && math.Abs(w.F-g.F) <= d {
				continue
			}
			if first == nil {
				first = &MismatchError{Buffer: b, Elem: i, DType: buffer.DType, Want: w, Got: g, Within: d}
			}
			first.Count++
		}
		if first != nil {
			return first
		}
	}
	return nil
}
