package torchcases

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// coarse is the part of itself by which a result is off that no tolerance
// should let pass: four ulps of bf16, more where several steps round to it.
func coarse(dtype string, tol tolerance) float64 {
	switch {
	case dtype == "bf16" && tol.steps > 0:
		return 1.0 / 8
	case dtype == "bf16" || dtype == "f16":
		return 1.0 / 64
	}
	return 1.0 / 1024
}

// off returns a float tensor whose elements are all wrong by a part of
// themselves.
func off(h Host, by float64) Host {
	out := Host{DType: h.DType, Shape: h.Shape}
	for i := range h.Len() {
		x := h.At(i) * (1 + by)
		switch h.DType {
		case "f64":
			out.Data = binary.LittleEndian.AppendUint64(out.Data, math.Float64bits(x))
		case "f32":
			out.Data = binary.LittleEndian.AppendUint32(out.Data, math.Float32bits(float32(x)))
		case "bf16":
			out.Data = binary.LittleEndian.AppendUint16(out.Data, uint16(ir.BFloat16FromFloat32(float32(x))))
		case "f16":
			out.Data = binary.LittleEndian.AppendUint16(out.Data, uint16(ir.Float16FromFloat32(float32(x))))
		}
	}
	return out
}

// ordinary reports whether some element of a float tensor that is compared is
// neither 0 nor subnormal nor nearly infinite.
func ordinary(h Host, skip func(i int) bool) bool {
	f := format(h.DType)
	for i := range h.Len() {
		x := math.Abs(h.At(i))
		if !skip(i) && x >= math.Ldexp(64, f.minExp) && x < f.overflow()/2 {
			return true
		}
	}
	return false
}

// PyTorch's own results pass, and the same results a little off do not.
func TestTolerances(t *testing.T) {
	p := load(t)
	for _, c := range p.Cases {
		if p.Excluded(c) != "" {
			continue
		}
		a, _ := lookup(c)
		for i := range c.OutName {
			out, tol := c.Out(i), a.tolerance(c, i)
			if p.inaccurate(c) {
				continue
			}
			assert.NoError(t, p.compare(c, i, out, tol), "%s: PyTorch's own result", c.Name)
			skip, err := p.skipped(c, i)
			require.NoError(t, err)
			if by := coarse(out.DType, tol); out.IsFloat() && ordinary(out, skip) {
				assert.Error(t, p.compare(c, i, off(out, by), tol), "%s: a result off by 1/%g of itself", c.Name, 1/by)
			}
		}
	}
}
