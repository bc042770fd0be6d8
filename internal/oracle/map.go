package oracle

import "github.com/sinter-ml/sinter/ir"

// evalUnary evaluates the kinds of one operand that keep shape and dtype, and
// IsNaN.
func evalUnary(c *call) (Tensor, error) {
	x, kind := c.x[0], c.op.Kind
	if kind == ir.IsNaN {
		out := New(ir.Bool, x.Shape)
		for i, v := range x.F {
			out.B[i] = v != v
		}
		return out, nil
	}
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		if f, ok := exactUnary[kind]; ok {
			out.F[i] = round32(x.DType, f(v))
		} else {
			out.F[i] = round32(x.DType, float32(functions[kind](float64(v))))
		}
	}
	for i, v := range x.I {
		out.I[i] = unaryInt(kind, v)
	}
	for i, v := range x.B {
		out.B[i] = !v
	}
	return out, nil
}

func unaryInt(kind ir.Kind, v int64) int64 {
	switch kind {
	case ir.Abs:
		if v < 0 {
			return -v
		}
		return v
	case ir.Neg:
		return -v
	case ir.Square:
		return v * v
	}
	switch { // Sign
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func evalCast(c *call) (Tensor, error) { return cast(c.x[0], c.op.Attrs.DType), nil }

// evalLeakyRelu is x where x ≥ 0, else slope·x.
func evalLeakyRelu(c *call) (Tensor, error) {
	x, slope := c.x[0], c.f32(0)
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		if !(v >= 0) {
			v = slope * v
		}
		out.F[i] = round32(x.DType, v)
	}
	return out, nil
}

// binaryFloat are the kinds of two floats; what is not exact is computed in
// float64 and rounded to float32.
var binaryFloat = map[ir.Kind]func(a, b float32) float32{
	ir.Add:     func(a, b float32) float32 { return a + b },
	ir.Sub:     func(a, b float32) float32 { return a - b },
	ir.Mul:     func(a, b float32) float32 { return a * b },
	ir.Div:     func(a, b float32) float32 { return a / b },
	ir.Pow:     func(a, b float32) float32 { return float32(pow(a, b)) },
	ir.Maximum: maximum,
	ir.Minimum: minimum,
}

// binaryInt are the kinds of two integers; they wrap.
var binaryInt = map[ir.Kind]func(a, b int64) int64{
	ir.Add:     func(a, b int64) int64 { return a + b },
	ir.Sub:     func(a, b int64) int64 { return a - b },
	ir.Mul:     func(a, b int64) int64 { return a * b },
	ir.Div:     divInt,
	ir.Pow:     powInt,
	ir.Maximum: func(a, b int64) int64 { return max(a, b) },
	ir.Minimum: func(a, b int64) int64 { return min(a, b) },
}

var binaryBool = map[ir.Kind]func(a, b bool) bool{
	ir.And:      func(a, b bool) bool { return a && b },
	ir.Or:       func(a, b bool) bool { return a || b },
	ir.Xor:      func(a, b bool) bool { return a != b },
	ir.Equal:    func(a, b bool) bool { return a == b },
	ir.NotEqual: func(a, b bool) bool { return a != b },
}

// compare answers a comparison of two numbers. Only NotEqual holds with a NaN.
func compare[T float32 | int64](kind ir.Kind, a, b T) bool {
	switch kind {
	case ir.Equal:
		return a == b
	case ir.NotEqual:
		return a != b
	case ir.Less:
		return a < b
	case ir.LessEqual:
		return a <= b
	case ir.Greater:
		return a > b
	}
	return a >= b
}

// evalBinary evaluates the kinds of two operands, the second being a tensor or
// a scalar.
func evalBinary(c *call) (Tensor, error) {
	kind, a := c.op.Kind, c.x[0]
	var b Tensor
	if len(c.op.Scalars) > 0 {
		b = c.scalar(0, a.DType)
		if s := c.op.Scalars[0]; kind == ir.Pow && a.DType.IsInt() && s.Input == 0 && s.Int64() < 0 {
			return Tensor{}, &ir.ArgumentError{Msg: "negative integer exponent"}
		}
	} else {
		b = c.x[1]
	}
	a, b, err := broadcast2(a, b)
	if err != nil {
		return Tensor{}, err
	}
	dtype := a.DType
	_, arithmetic := binaryFloat[kind]
	if !arithmetic {
		dtype = ir.Bool
	}
	out := New(dtype, a.Shape)
	for i := range out.Len() {
		switch {
		case a.DType.IsFloat() && arithmetic:
			out.F[i] = round32(dtype, binaryFloat[kind](a.F[i], b.F[i]))
		case a.DType.IsFloat():
			out.B[i] = compare(kind, a.F[i], b.F[i])
		case a.DType.IsInt() && arithmetic:
			out.I[i] = binaryInt[kind](a.I[i], b.I[i])
		case a.DType.IsInt():
			out.B[i] = compare(kind, a.I[i], b.I[i])
		default:
			out.B[i] = binaryBool[kind](a.B[i], b.B[i])
		}
	}
	return out, nil
}

// evalWhere picks a where the mask is true, else b.
func evalWhere(c *call) (Tensor, error) {
	t, err := broadcast(c.x)
	if err != nil {
		return Tensor{}, err
	}
	out := New(t[1].DType, t[1].Shape)
	for i := range out.Len() {
		if t[0].B[i] {
			out.setFrom(i, t[1], i)
		} else {
			out.setFrom(i, t[2], i)
		}
	}
	return out, nil
}

// evalClamp is min(max(x, lo), hi): hi where lo > hi.
func evalClamp(c *call) (Tensor, error) {
	x := c.x[0]
	out := New(x.DType, x.Shape)
	for i, v := range x.F {
		out.F[i] = round32(x.DType, minimum(maximum(v, c.f32(0)), c.f32(1)))
	}
	for i, v := range x.I {
		out.I[i] = min(max(v, c.i64(0)), c.i64(1))
	}
	return out, nil
}

// evalMulAdd is a·b + c, rounded once; BF16 rounds to float32, then to BF16.
func evalMulAdd(c *call) (Tensor, error) {
	t, err := broadcast(c.x)
	if err != nil {
		return Tensor{}, err
	}
	out := New(t[0].DType, t[0].Shape)
	for i := range out.F {
		out.F[i] = round32(out.DType, fma32(t[0].F[i], t[1].F[i], t[2].F[i]))
	}
	for i := range out.I {
		out.I[i] = t[0].I[i]*t[1].I[i] + t[2].I[i]
	}
	return out, nil
}

// broadcast expands tensors to their common shape: lengths aligned at the last
// axis, where 1 stretches.
func broadcast(ts []Tensor) ([]Tensor, error) {
	rank := 0
	for _, t := range ts {
		rank = max(rank, len(t.Shape))
	}
	shape := make(ir.Shape, rank)
	for k := range shape {
		shape[k] = 1
		for _, t := range ts {
			a := k - rank + len(t.Shape)
			if a < 0 || t.Shape[a] == 1 {
				continue
			}
			if shape[k] != 1 && shape[k] != t.Shape[a] {
				return nil, &ir.ShapeError{Msg: "shapes do not broadcast"}
			}
			shape[k] = t.Shape[a]
		}
	}
	out := make([]Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.expand(shape)
	}
	return out, nil
}

func broadcast2(a, b Tensor) (Tensor, Tensor, error) {
	t, err := broadcast([]Tensor{a, b})
	if err != nil {
		return Tensor{}, Tensor{}, err
	}
	return t[0], t[1], nil
}

// evalFull fills a shape with one value.
func evalFull(c *call) (Tensor, error) {
	dtype := c.op.Attrs.DType
	return cast(c.scalar(0, dtype), dtype).expand(c.op.Attrs.Shape), nil
}

// evalArange is start + i·step: in float64 and rounded once for floats,
// wrapping for integers.
func evalArange(c *call) (Tensor, error) {
	out := New(c.op.Attrs.DType, c.op.Attrs.Shape)
	for i := range out.F {
		step := float64(float64(i) * c.f64(1))
		out.F[i] = round64(out.DType, c.f64(0)+step)
	}
	for i := range out.I {
		out.I[i] = c.i64(0) + int64(i)*c.i64(1)
	}
	return out, nil
}
