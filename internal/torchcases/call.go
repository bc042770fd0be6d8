package torchcases

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter"
)

// callError is how a call says that its arguments are not what it knows. It is
// thrown as a panic and caught by [Run].
type callError string

func (e callError) Error() string { return string(e) }

// Call is a case made with this library on a device.
type Call struct {
	*Case
	at     sinter.Placer
	detour bool // operands pass through operations that change nothing
}

// arg returns an argument by position or by name, and whether it was given and
// is not None.
func (c *Call) arg(pos int, name string) (any, bool) {
	if pos >= 0 && pos < len(c.Args) {
		return c.Args[pos], c.Args[pos] != nil
	}
	v, ok := c.Kwargs[name]
	return v, ok && v != nil
}

// wrong throws that an argument is of another kind than wanted.
func (c *Call) wrong(name string, v any) {
	panic(callError(fmt.Sprintf("%s: argument %q is %v", c.Name, name, v)))
}

// tensor returns an argument as a tensor, nil if it is not given.
func (c *Call) tensor(pos int, name string) *sinter.Tensor {
	v, ok := c.arg(pos, name)
	if !ok {
		return nil
	}
	return c.put(name, v)
}

// put makes the tensor of an argument.
func (c *Call) put(name string, v any) *sinter.Tensor {
	a, ok := v.(TensorArg)
	if !ok {
		c.wrong(name, v)
	}
	t := operand(c.at, c.file.tensor(a.Name), a.Strides)
	if !c.detour {
		return t
	}
	switch d := t.DType(); {
	case d == sinter.Bool:
		return t.Not().Not()
	case d.IsFloat():
		return t.Neg().Neg()
	}
	return t.AddScalar(1).SubScalar(1)
}

// x is the first argument.
func (c *Call) x() *sinter.Tensor { return c.tensor(0, "input") }

// y is the second argument.
func (c *Call) y() *sinter.Tensor { return c.tensor(1, "other") }

// index is an argument that holds indices, which PyTorch takes in any integer
// dtype.
func (c *Call) index(pos int) *sinter.Tensor { return c.tensor(pos, "index").Cast(sinter.I64) }

// tensors returns the argument at pos, a list, as tensors.
func (c *Call) tensors(pos int) []*sinter.Tensor {
	list, ok := c.Args[pos].([]any)
	if !ok {
		c.wrong("tensors", c.Args[pos])
	}
	out := make([]*sinter.Tensor, len(list))
	for i, v := range list {
		out[i] = c.put("tensors", v)
	}
	return out
}

// has reports whether an argument is given and not None.
func (c *Call) has(pos int, name string) bool {
	_, ok := c.arg(pos, name)
	return ok
}

// integer returns an argument as an int.
func (c *Call) integer(pos int, name string, otherwise int) int {
	v, ok := c.arg(pos, name)
	if !ok {
		return otherwise
	}
	switch v := v.(type) {
	case int:
		return v
	case float64:
		if v == math.Trunc(v) {
			return int(v)
		}
	case TensorArg:
		if h := c.file.tensor(v.Name); h.Len() == 1 && !h.IsFloat() {
			return int(h.Int(0))
		}
	}
	c.wrong(name, v)
	return 0
}

// number returns an argument as a float64.
func (c *Call) number(pos int, name string, otherwise float64) float64 {
	v, ok := c.arg(pos, name)
	if !ok {
		return otherwise
	}
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	c.wrong(name, v)
	return 0
}

// flag returns an argument as a bool.
func (c *Call) flag(pos int, name string, otherwise bool) bool {
	v, ok := c.arg(pos, name)
	if !ok {
		return otherwise
	}
	b, ok := v.(bool)
	if !ok {
		c.wrong(name, v)
	}
	return b
}

// text returns an argument as a string.
func (c *Call) text(pos int, name, otherwise string) string {
	v, ok := c.arg(pos, name)
	if !ok {
		return otherwise
	}
	s, ok := v.(string)
	if !ok {
		c.wrong(name, v)
	}
	return s
}

// ints returns an argument as ints, a single one as a list of one; nil if it is
// not given.
func (c *Call) ints(pos int, name string) []int {
	v, ok := c.arg(pos, name)
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case int:
		return []int{v}
	case []any:
		out := make([]int, len(v))
		for i, x := range v {
			n, ok := x.(int)
			if !ok {
				c.wrong(name, v)
			}
			out[i] = n
		}
		return out
	}
	c.wrong(name, v)
	return nil
}

// dtype returns an argument that names a dtype.
func (c *Call) dtype(name string, otherwise sinter.DType) sinter.DType {
	v, ok := c.arg(-1, name)
	if !ok {
		return otherwise
	}
	d, ok := v.(DTypeArg)
	if !ok {
		c.wrong(name, v)
	}
	return dtypeOf(string(d))
}

// filled makes a tensor of the case's dtype that is value everywhere.
func (c *Call) filled(value float64, shape ...int) *sinter.Tensor {
	dtype := dtypeOf(c.DType)
	if dtype == sinter.Bool && value != 0 {
		value = 1
	}
	return sinter.Full(c.at, dtype, value, shape...)
}

// outDType returns the dtype PyTorch's first output has.
func (c *Call) outDType() sinter.DType { return dtypeOf(c.Out(0).DType) }
