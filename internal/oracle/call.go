package oracle

import (
	"fmt"

	"github.com/sinter-ml/sinter/ir"
)

// A call is one operation with the values of its operands.
type call struct {
	op *ir.Operation
	in []Tensor // all operands, as Operation.Inputs
	x  []Tensor // the operands that are no scalar's and no start's value

	// abs is set by the kinds whose result engines may miss by an amount that
	// depends on the operands: a bound for each element.
	abs []float64
	// any is set where the rules leave a result open: for each element.
	any []bool
}

// compute is the dtype the operation computes in.
func (c *call) compute() ir.DType { return c.op.Outputs[0].DType.Compute() }

func newCall(op *ir.Operation, in []Tensor) (*call, error) {
	if len(in) != len(op.Inputs) {
		return nil, fmt.Errorf("oracle: %v: %d operands, want %d", op.Kind, len(in), len(op.Inputs))
	}
	held := make(map[uint8]bool)
	for _, s := range op.Scalars {
		held[s.Input] = true
	}
	for _, r := range op.Ranges {
		held[r.Input] = true
	}
	c := &call{op: op, in: in}
	for i, t := range in {
		if ref := op.Inputs[i]; !t.Shape.Equal(ref.Shape) || t.DType != ref.DType {
			return nil, fmt.Errorf("oracle: %v: operand %d is %v%v, want %v%v", op.Kind, i, t.DType, t.Shape, ref.DType, ref.Shape)
		}
		// Input 0 in a scalar or range says that there is no operand.
		if i == 0 || !held[uint8(i)] {
			c.x = append(c.x, t)
		}
	}
	return c, nil
}

// float returns scalar i of a float type; an operand widens exactly.
func (c *call) float(i int) float64 {
	s := c.op.Scalars[i]
	if s.Input != 0 {
		return c.in[s.Input].F[0]
	}
	return s.Float64()
}

// int returns scalar i of an integer type, extended to 64 bits.
func (c *call) int(i int) int64 {
	s := c.op.Scalars[i]
	if s.Input != 0 {
		return c.in[s.Input].I[0]
	}
	return s.Int64()
}

// scalar returns scalar i as a rank-0 tensor of a dtype. Next to 16-bit floats
// it stays what it is, a float32: the operation computes in float32 and rounds
// its result.
func (c *call) scalar(i int, dtype ir.DType) Tensor {
	switch {
	case isFloat(dtype):
		return Tensor{Shape: ir.Shape{}, DType: dtype, F: []float64{c.float(i)}}
	case dtype.IsInt():
		return IntsOf(dtype, ir.Shape{}, c.int(i))
	}
	s := c.op.Scalars[i]
	if s.Input != 0 {
		return c.in[s.Input]
	}
	return Bools(ir.Shape{}, s.Bits != 0)
}

// starts returns the first index of each range. One that comes from an operand
// is checked against the length of its axis, unless nothing is read or written.
func (c *call) starts() ([]int, error) {
	out := make([]int, len(c.op.Ranges))
	empty := rangeShape(c.op.Ranges).NumElements() == 0
	for k, r := range c.op.Ranges {
		out[k] = r.Start
		if r.Input == 0 || empty {
			continue
		}
		first, length := c.in[r.Input].I[0], c.x[0].Shape[k]
		_, err := index(first, length)
		if err == nil {
			// The first lies within the axis and the span is no longer than it.
			_, err = index(first+int64(r.Len-1)*int64(r.Step), length)
		}
		if err != nil {
			return nil, indexErrorf("start %d of axis %d: %v", first, k, err)
		}
		out[k] = int(first)
	}
	return out, nil
}

// axis returns the one axis of the operation.
func (c *call) axis() int { return c.op.Attrs.Axes[0] }

// index checks an index against an axis of the given length.
func index(i int64, length int) (int, error) {
	if i < 0 || i >= int64(length) {
		return 0, indexErrorf("index %d out of range [0, %d)", i, length)
	}
	return int(i), nil
}

func indexErrorf(format string, args ...any) error {
	return &ir.IndexError{Msg: fmt.Sprintf(format, args...)}
}
