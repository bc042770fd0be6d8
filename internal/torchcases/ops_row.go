package torchcases

import (
	"slices"

	"github.com/sinter-ml/sinter"
)

// rowOps are the operations on rows: softmax and its relatives, norms,
// attention.
var rowOps = map[string]adapter{
	"softmax":               one(soft((*tensor).Softmax), within(softUlps)),
	"log_softmax":           one(soft((*tensor).LogSoftmax), tolerance{ulps: 16, magnitude: greatest}),
	"nn.functional.softmin": one(soft(func(x *tensor, axes ...int) *tensor { return x.Neg().Softmax(axes...) }), within(softUlps)),
	"nn.functional.layer_norm": oneNormalised(func(c *Call) *tensor {
		axes := len(c.ints(1, "normalized_shape"))
		x, weight, bias := c.x(), c.tensor(2, "weight"), c.tensor(3, "bias")
		return lastAxes(x, axes).LayerNorm(flat(weight), flat(bias), c.number(4, "eps", 1e-5)).Reshape(x.Shape()...)
	}),
	"native_layer_norm": {make: func(c *Call) tensors {
		axes, eps := len(c.ints(1, "normalized_shape")), c.number(4, "eps", 1e-5)
		x, weight, bias := c.x(), c.tensor(2, "weight"), c.tensor(3, "bias")
		row := lastAxes(x, axes)
		if weight == nil && bias != nil {
			weight = c.filled(1, row.Dim(-1))
		}
		y := row.LayerNorm(flat(weight), flat(bias), eps).Reshape(x.Shape()...)
		return tensors{y, row.Mean(-1).Reshape(c.Out(1).Shape...), row.Variance(0, -1).AddScalar(eps).Rsqrt().Reshape(c.Out(2).Shape...)}
	}, tolFor: normalised},
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
	"nn.functional.normalize": one(func(c *Call) *tensor {
		x := c.x()
		return x.Div(x.Norm(c.number(-1, "p", 2), c.integer(-1, "dim", 1)).MaximumScalar(1e-12))
	}, rounds(8, nil)),
	"nn.functional.local_response_norm": one(func(c *Call) *tensor {
		// x/(k + α·mean of the squares of n neighbouring channels)^β
		x, n := c.x(), c.integer(1, "size", 1)
		pads := make([]int, 2*x.Rank())
		pads[2], pads[3] = n/2, (n-1)/2
		near := x.Square().Pad(0, pads...).Unfold(1, n, 1).Mean(-1).Squeeze(-1)
		return x.Div(near.MulScalar(c.number(2, "alpha", 1e-4)).AddScalar(c.number(4, "k", 1)).PowScalar(c.number(3, "beta", 0.75)))
	}, rounds(16, nil)),
	"nn.functional.group_norm": oneNormalised(func(c *Call) *tensor {
		weight, bias := c.tensor(-1, "weight"), c.tensor(-1, "bias")
		return c.x().GroupNorm(c.integer(1, "num_groups", 1), weight, bias, c.number(-1, "eps", 1e-5))
	}),
	"native_group_norm": {make: func(c *Call) tensors {
		x, weight, bias := c.x(), c.tensor(1, "weight"), c.tensor(2, "bias")
		groups, eps := c.integer(6, "group", 1), c.number(7, "eps", 1e-5)
		y := x.GroupNorm(groups, weight, bias, eps)
		stats := c.Out(1).Shape
		of := x.Reshape(append(slices.Clone(stats), x.Dim(1)/groups*c.integer(5, "HxW", 1))...)
		return tensors{y, of.Mean(-1).Reshape(stats...), of.Variance(0, -1).AddScalar(eps).Rsqrt().Reshape(stats...)}
	}, tolFor: normalised},
	"nn.functional.instance_norm": {make: func(c *Call) tensors {
		x, weight, bias := c.x(), c.tensor(-1, "weight"), c.tensor(-1, "bias")
		out := tensors{x.InstanceNorm(weight, bias, c.number(-1, "eps", 1e-5))}
		axes := others([]int{0, 1}, x.Rank())
		n := x.Dim(1)
		stats := tensors{x.Mean(axes...).Mean(0).Reshape(n), x.Variance(1, axes...).Mean(0).Reshape(n)}
		return append(out, running(c, stats, tensors{c.tensor(-1, "running_mean"), c.tensor(-1, "running_var")})...)
	}, tolFor: normalised},
	"nn.functional.batch_norm": {make: func(c *Call) tensors {
		return batchNorm(c, tensors{c.tensor(1, "running_mean"), c.tensor(2, "running_var")}, c.tensor(3, "weight"), c.tensor(4, "bias"),
			c.flag(-1, "training", false), c.number(-1, "eps", 1e-5))
	}, tolFor: normalised},
	"native_batch_norm": {make: func(c *Call) tensors {
		x, training, eps := c.x(), c.flag(5, "training", false), c.number(7, "eps", 1e-5)
		out := batchNorm(c, tensors{c.tensor(3, "running_mean"), c.tensor(4, "running_var")}, c.tensor(1, "weight"), c.tensor(2, "bias"), training, eps)
		stats := tensors{nil, nil}
		if training {
			axes := others([]int{1}, x.Rank())
			stats = tensors{x.Mean(axes...).Reshape(-1), x.Variance(0, axes...).AddScalar(eps).Rsqrt().Reshape(-1)}
		}
		return slices.Insert(out, 1, stats...)
	}, tolFor: normalised},
	"nn.functional.scaled_dot_product_attention": one(func(c *Call) *tensor {
		q, k, v, mask := c.x(), c.y(), c.tensor(2, "value"), c.tensor(3, "attn_mask")
		q, k, v = fourAxes(q), fourAxes(k), fourAxes(v)
		batch := max(q.Dim(0), k.Dim(0))
		q, k, v = q.Expand(batch, -1, -1, -1), k.Expand(batch, -1, -1, -1), v.Expand(batch, -1, -1, -1)
		o := sinter.AttentionOptions{Mask: mask, Causal: c.flag(-1, "is_causal", false)}
		return q.Attention(k, v, o).Reshape(c.outShape()...)
	}, tolerance{ulps: 16, magnitude: greatest}),
}

// normalised is the tolerance of a row less its mean; of the mean and one over
// the deviation, which are composed; and of statistics carried on.
func normalised(c *Case, out int) tolerance {
	switch own := len(c.OutName) - len(c.Mutated); {
	case out == 0:
		return tolerance{ulps: 8, magnitude: greatest, anyZero: true}
	case out == 1 && own > 1:
		return sums(greatest)
	case out == 2 && own > 2:
		return tolerance{ulps: 32, steps: 8}
	}
	return rounds(6, greatest)
}

// oneNormalised is an adapter of one that only returns the row.
func oneNormalised(make func(c *Call) *tensor) adapter {
	a := one(make, tolerance{})
	a.tolFor = normalised
	return a
}

// batchNorm normalises each channel by the running statistics, or in training
// by those of the batch; then it also returns the statistics carried on.
func batchNorm(c *Call, stats tensors, weight, bias *tensor, training bool, eps float64) tensors {
	x := c.x()
	if !training {
		return tensors{x.BatchNorm(stats[0], stats[1], weight, bias, eps)}
	}
	// One instance whose positions are those of all.
	channels := x.Transpose(0, 1)
	y := channels.Reshape(1, x.Dim(1), -1).InstanceNorm(weight, bias, eps).Reshape(channels.Shape()...).Transpose(0, 1)
	axes := others([]int{1}, x.Rank())
	return append(tensors{y}, running(c, tensors{x.Mean(axes...).Reshape(-1), x.Variance(1, axes...).Reshape(-1)}, stats)...)
}

// running carries statistics on, those that PyTorch has changed.
func running(c *Call, now, before tensors) tensors {
	momentum := c.number(6, "momentum", c.number(-1, "momentum", 0.1))
	var out tensors
	for i := range len(c.Mutated) {
		out = append(out, before[i].MulScalar(1-momentum).Add(now[i].MulScalar(momentum)))
	}
	return out
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
