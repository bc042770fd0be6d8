package torchcases

import "github.com/sinter-ml/sinter"

// rowOps are the operations on rows: softmax and its relatives, norms,
// attention.
var rowOps = map[string]adapter{
	"softmax":               one(soft((*tensor).Softmax), within(softUlps)),
	"log_softmax":           one(soft((*tensor).LogSoftmax), tolerance{ulps: 16, magnitude: greatest}),
	"nn.functional.softmin": one(soft(func(x *tensor, axes ...int) *tensor { return x.Neg().Softmax(axes...) }), within(softUlps)),
	"nn.functional.layer_norm": one(func(c *Call) *tensor {
		axes := len(c.ints(1, "normalized_shape"))
		x, weight, bias := c.x(), c.tensor(2, "weight"), c.tensor(3, "bias")
		return lastAxes(x, axes).LayerNorm(flat(weight), flat(bias), c.number(4, "eps", 1e-5)).Reshape(x.Shape()...)
	}, tolerance{ulps: 32, magnitude: greatest}),
	"native_layer_norm": {make: func(c *Call) tensors {
		axes, eps := len(c.ints(1, "normalized_shape")), c.number(4, "eps", 1e-5)
		x, weight, bias := c.x(), c.tensor(2, "weight"), c.tensor(3, "bias")
		row := lastAxes(x, axes)
		if weight == nil && bias != nil {
			weight = c.filled(1, row.Dim(-1))
		}
		y := row.LayerNorm(flat(weight), flat(bias), eps).Reshape(x.Shape()...)
		return tensors{y, row.Mean(-1).Reshape(c.Out(1).Shape...), row.Variance(0, -1).AddScalar(eps).Rsqrt().Reshape(c.Out(2).Shape...)}
	}, tol: tolerance{ulps: 32, steps: 2, magnitude: greatest}},
	"nn.functional.rms_norm": one(func(c *Call) *tensor {
		x := c.x()
		// Without one, PyTorch takes the epsilon of the dtype computed in.
		eps := format("f32").epsilon()
		if c.DType == "f64" {
			eps = format("f64").epsilon()
		}
		y := lastAxes(x, len(c.ints(1, "normalized_shape")))
		return y.RMSNorm(flat(c.tensor(2, "weight")), c.number(-1, "eps", eps)).Reshape(x.Shape()...)
	}, within(32)),
	"nn.functional.scaled_dot_product_attention": one(func(c *Call) *tensor {
		q, k, v, mask := c.x(), c.y(), c.tensor(2, "value"), c.tensor(3, "attn_mask")
		q, k, v = fourAxes(q), fourAxes(k), fourAxes(v)
		batch := max(q.Dim(0), k.Dim(0))
		q, k, v = q.Expand(batch, -1, -1, -1), k.Expand(batch, -1, -1, -1), v.Expand(batch, -1, -1, -1)
		o := sinter.AttentionOptions{Mask: mask, Causal: c.flag(-1, "is_causal", false)}
		return q.Attention(k, v, o).Reshape(c.outShape()...)
	}, tolerance{ulps: 16, magnitude: greatest}),
}

// softUlps is what the subtraction of the maximum costs: for samples within
// ±9 half an ulp of 18, which is 16 ulps of e^x, and the sum's and divisions's
// own.
const softUlps = 24

// soft makes calls over one axis, in the dtype asked for.
func soft(f func(x *tensor, axes ...int) *tensor) func(c *Call) *tensor {
	return func(c *Call) *tensor {
		x := c.x()
		x = x.Cast(c.dtype("dtype", x.DType()))
		if x.Rank() == 0 {
			return f(x.Unsqueeze(0), 0).Reshape()
		}
		return f(x, c.integer(1, "dim", -1))
	}
}

// fourAxes is x with axes of length 1 in front to make four.
func fourAxes(x *tensor) *tensor {
	for x.Rank() < 4 {
		x = x.Unsqueeze(0)
	}
	return x
}

// lastAxes is x with its last n axes made one.
func lastAxes(x *tensor, n int) *tensor {
	if n == 1 {
		return x
	}
	return x.Flatten(x.Rank()-n, -1)
}

// flat is x with one axis, nil if x is.
func flat(x *tensor) *tensor {
	if x == nil {
		return nil
	}
	return x.Reshape(-1)
}
