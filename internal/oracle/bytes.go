package oracle

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/ir"
)

// FromBytes reads the little-endian elements of a tensor.
func FromBytes(dtype ir.DType, shape ir.Shape, b []byte) (Tensor, error) {
	size := dtype.Size()
	if n := shape.NumElements() * size; !dtype.Valid() || len(b) != n {
		return Tensor{}, fmt.Errorf("oracle: %d bytes for %v%v, want %d", len(b), dtype, shape, n)
	}
	t := New(dtype, shape)
	for i := range t.Len() {
		var word [8]byte
		copy(word[:], b[i*size:(i+1)*size])
		raw := binary.LittleEndian.Uint64(word[:])
		switch {
		case isFloat(dtype):
			t.F[i] = decode(dtype, raw)
		case dtype.IsInt():
			t.I[i] = dtype.Wrap(int64(raw))
		default:
			t.B[i] = raw != 0
		}
	}
	return t, nil
}

// Bytes is the inverse of FromBytes. All NaNs become one.
func (t Tensor) Bytes() []byte {
	b := make([]byte, 0, t.Len()*t.DType.Size())
	for i := range t.Len() {
		var raw uint64
		switch {
		case isFloat(t.DType):
			raw = encode(t.DType, t.F[i])
		case t.DType.IsInt():
			raw = uint64(t.I[i])
		default:
			raw = uint64(zeroOne(t.B[i]))
		}
		b = append(b, binary.LittleEndian.AppendUint64(nil, raw)[:t.DType.Size()]...)
	}
	return b
}

// fields returns the widths of a float dtype's exponent and mantissa.
func fields(d ir.DType) (exponent, mantissa int) {
	mantissa = formats[d].precision - 1
	return 8*d.Size() - 1 - mantissa, mantissa
}

// decode returns the value of an element's bits, from the definition of binary
// floating point.
func decode(d ir.DType, raw uint64) float64 {
	if d == ir.F64 {
		return math.Float64frombits(raw)
	}
	width, precision := fields(d)
	m := raw & (1<<precision - 1)
	e := int(raw >> precision & (1<<width - 1))
	bias := 1<<(width-1) - 1
	var x float64
	switch {
	case d == ir.F8E4M3 && raw&0x7f == 0x7f, d != ir.F8E4M3 && e == 1<<width-1 && m != 0:
		return math.NaN()
	case d != ir.F8E4M3 && e == 1<<width-1:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(float64(m), 1-bias-precision)
	default:
		x = math.Ldexp(float64(m+1<<precision), e-bias-precision)
	}
	if raw>>(width+precision) != 0 {
		return -x
	}
	return x
}

// encode returns the bits of a value of the dtype.
func encode(d ir.DType, x float64) uint64 {
	width, precision := fields(d)
	bias := 1<<(width-1) - 1
	special := uint64(1<<width-1) << precision
	var sign uint64
	if math.Signbit(x) {
		sign = 1 << (width + precision)
	}
	switch a := math.Abs(x); {
	case x != x && d == ir.F8E4M3:
		return 0x7f
	case x != x:
		return special | 1<<(precision-1)
	case math.IsInf(x, 0):
		return sign | special
	case a < math.Ldexp(1, 1-bias):
		return sign | uint64(math.Ldexp(a, bias-1+precision))
	default:
		e := math.Ilogb(a)
		return sign | uint64(e+bias)<<precision | uint64(math.Ldexp(a, precision-e))&(1<<precision-1)
	}
}

// Canonical makes all NaNs among the little-endian elements of a tensor the
// same one, so that equal results are equal bytes.
func Canonical(d ir.DType, b []byte) {
	if !isFloat(d) {
		return
	}
	size := d.Size()
	nan := binary.LittleEndian.AppendUint64(nil, encode(d, math.NaN()))[:size]
	for i := 0; i < len(b); i += size {
		var word [8]byte
		copy(word[:], b[i:i+size])
		if x := decode(d, binary.LittleEndian.Uint64(word[:])); x != x {
			copy(b[i:], nan)
		}
	}
}
