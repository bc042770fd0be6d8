package nn

import "github.com/sinter-ml/sinter"

// Embedding is a table of vectors looked up by number.
type Embedding struct {
	Weight *sinter.Var // [n, d]
}

// NewEmbedding makes a table of n vectors of d numbers, which start as
// [NormalInit] unless an option says otherwise.
func NewEmbedding(at sinter.Placer, n, d int, opts ...Option) *Embedding {
	c := configure(opts, NormalInit)
	return &Embedding{Weight: newVar(c.init(at, c.dtype, 1, n, d))}
}

// Forward maps ids [...], of dtype i64 and in 0..n-1, to [..., d]. An id outside
// the table is a *sinter.IndexError at the read.
func (e *Embedding) Forward(ids *sinter.Tensor) *sinter.Tensor {
	const name = "nn.Embedding"
	if e == nil || e.Weight == nil {
		return fail(ids, name, argumentErrorf("layer has no weight"))
	}
	if ids != nil && ids.DType() != sinter.I64 {
		return fail(ids, name, &sinter.DTypeError{Msg: "ids are " + ids.DType().String() + ", not i64"})
	}
	return e.Weight.Value().Embedding(ids)
}
