package nn

import (
	"math"

	"github.com/sinter-ml/sinter"
)

// MultiHeadAttention projects queries, keys and values, attends in each head,
// and projects the joined heads: Vaswani et al., Attention Is All You Need,
// 2017, section 3.2. It is composed of operations that fuse; the scores exist
// in memory.
type MultiHeadAttention struct {
	Query, Key, Value *Linear // [width, heads·d]
	Output            *Linear // [heads·d, width]
	Heads             int
	Scale             float64 // of the scores; 0: 1/√d
}

// NewMultiHeadAttention makes a layer for vectors of the given width, which
// must be a multiple of heads.
func NewMultiHeadAttention(at sinter.Placer, width, heads int, opts ...Option) *MultiHeadAttention {
	linear := func() *Linear { return NewLinear(at, width, width, opts...) }
	return &MultiHeadAttention{Query: linear(), Key: linear(), Value: linear(), Output: linear(), Heads: heads}
}

// Forward is self-attention without a mask: x [b, n, width] to the same shape.
func (a *MultiHeadAttention) Forward(x *sinter.Tensor) *sinter.Tensor { return a.Attend(x, x, nil) }

// Attend lets each of the m vectors of x [b, m, width] attend to the n vectors
// of to [b, n, width] and returns [b, m, width].
//
// The mask, if not nil, broadcasts to [b, heads, m, n]. A bool mask selects: a
// key where it is false has no effect at all, whatever its value, as its score
// is −∞. A float mask is added to the scores. A query that sees no key gives
// NaN.
func (a *MultiHeadAttention) Attend(x, to, mask *sinter.Tensor) *sinter.Tensor {
	const name = "nn.MultiHeadAttention"
	switch {
	case a == nil:
		return fail(x, name, argumentErrorf("layer is nil"))
	case x == nil || to == nil:
		return fail(x, name, argumentErrorf("operand is nil"))
	case x.Rank() != 3 || to.Rank() != 3 || x.Dim(0) != to.Dim(0):
		return fail(x, name, shapeErrorf("queries %v and keys %v are not [b, m, width] and [b, n, width]", x.Shape(), to.Shape()))
	}
	q, k, v := a.Query.Forward(x), a.Key.Forward(to), a.Value.Forward(to)
	for _, p := range []*sinter.Tensor{q, k, v} {
		switch {
		case p.Err() != nil:
			return p
		case a.Heads <= 0 || p.Dim(-1)%a.Heads != 0:
			return fail(x, name, argumentErrorf("width %d is not a multiple of %d heads", p.Dim(-1), a.Heads))
		}
	}
	scale := a.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(q.Dim(-1)/a.Heads))
	}
	// [b, h, m, d] · [b, h, d, n] = [b, h, m, n]
	scores := a.split(q).Permute(0, 2, 1, 3).MatMul(a.split(k).Permute(0, 2, 3, 1)).MulScalar(scale)
	scores = masked(scores, mask)
	context := scores.Softmax(-1).MatMul(a.split(v).Permute(0, 2, 1, 3)).Permute(0, 2, 1, 3)
	return a.Output.Forward(context.Flatten(2, 3))
}

// split makes the last axis of [b, n, h·d] two: [b, n, h, d].
func (a *MultiHeadAttention) split(x *sinter.Tensor) *sinter.Tensor {
	return x.Reshape(x.Dim(0), x.Dim(1), a.Heads, x.Dim(2)/a.Heads)
}

// masked applies a mask of either kind to scores.
func masked(scores, mask *sinter.Tensor) *sinter.Tensor {
	switch {
	case mask == nil:
		return scores
	case mask.DType() != sinter.Bool:
		return scores.Add(mask)
	}
	return sinter.WhereScalar(mask, scores, math.Inf(-1))
}
