package soak

import (
	"math"

	"github.com/sinter-ml/sinter"
)

// wavy are numbers without pattern in ±1.
func wavy(at sinter.Placer, shape ...int) *tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(math.Sin(1 + float64(i)*1.7))
	}
	return sinter.From(at, data, shape...)
}

// model is a perceptron with one hidden layer and the momentum of its
// parameters.
type model struct {
	w1, b1, w2, b2 *sinter.Var
	momentum       []*sinter.Var
}

const (
	batch, features, hidden = 4, 3, 5
	rate, friction          = 0.02, 0.9
)

func newModel(at sinter.Placer) *model {
	m := &model{
		w1: sinter.NewVar(wavy(at, features, hidden)), b1: sinter.NewVar(sinter.Zeros(at, sinter.F32, hidden)),
		w2: sinter.NewVar(wavy(at, hidden, 1)), b2: sinter.NewVar(sinter.Zeros(at, sinter.F32, 1)),
	}
	for _, p := range m.params() {
		m.momentum = append(m.momentum, sinter.NewVar(sinter.Zeros(at, sinter.F32, p.Shape()...)))
	}
	return m
}

func (m *model) params() []*sinter.Var { return []*sinter.Var{m.w1, m.b1, m.w2, m.b2} }

func (m *model) forward(x *tensor) (h, y *tensor) {
	h = x.Linear(m.w1.Value(), m.b1.Value()).Tanh()
	return h, h.Linear(m.w2.Value(), m.b2.Value())
}

// train does one step of gradient descent with momentum on the mean square
// error and returns the loss.
func (m *model) train(x, target *tensor) *tensor {
	h, y := m.forward(x)
	d := y.Sub(target)
	dy := d.MulScalar(2. / batch)
	dh := dy.MatMul(m.w2.Value().T()).Mul(h.Square().RSubScalar(1))
	gradients := tensors{x.T().MatMul(dh), dh.Sum(0).Squeeze(0), h.T().MatMul(dy), dy.Sum(0).Squeeze(0)}
	for i, p := range m.params() {
		v := m.momentum[i]
		v.Set(v.Value().MulScalar(friction).Add(gradients[i]))
		p.Set(p.Value().Sub(v.Value().MulScalar(rate)))
	}
	return d.Square().Mean()
}

// decoder is one layer of attention over a cache of what it saw, which starts
// over when the cache is full. Tokens are drawn from what it predicts.
type decoder struct {
	embedding, wq, wk, wv  *sinter.Var
	keys, values           *sinter.Var // [1, heads, context, width]
	token, position, trail *sinter.Var // trail is a checksum of the tokens drawn
}

const (
	vocabulary, heads, window, width = 11, 2, 7, 4
	size                             = heads * width
)

func newDecoder(at sinter.Placer) *decoder {
	weight := func(i, n int) *sinter.Var {
		return sinter.NewVar(wavy(at, n, size).MulScalar(1 + float64(i)/3))
	}
	cache := func() *sinter.Var { return sinter.NewVar(sinter.Zeros(at, sinter.F32, 1, heads, window, width)) }
	integer := func() *sinter.Var { return sinter.NewVar(sinter.Scalar(at, int64(0))) }
	return &decoder{
		embedding: weight(0, vocabulary), wq: weight(1, size), wk: weight(2, size), wv: weight(3, size),
		keys: cache(), values: cache(), token: integer(), position: integer(), trail: integer(),
	}
}

// step reads the last token, draws the next and returns it.
func (d *decoder) step(s *sinter.Stream) *tensor {
	position := d.position.Value().On(s) // and so what it is set to is on s
	x := d.embedding.Value().On(s).Select(0, d.token.Value().Reshape(1))
	project := func(w *sinter.Var) *tensor { return x.MatMul(w.Value()).Reshape(1, heads, 1, width) }
	place := []sinter.Range{sinter.All(), sinter.All(), sinter.SpanAt(position, 1)}
	d.keys.SetSlice(project(d.wk), place...)
	d.values.SetSlice(project(d.wv), place...)
	seen := sinter.Arange(s, sinter.I64, 0, 1, window).LessEqual(position)
	y := project(d.wq).Attention(d.keys.Value(), d.values.Value(), sinter.AttentionOptions{Mask: seen.Reshape(1, 1, 1, window)})
	logits := y.Reshape(1, size).Tanh().MatMul(d.embedding.Value().T())
	noise := sinter.Uniform(s, sinter.F32, 1e-6, 1, 1, vocabulary).Log().Neg().Log().Neg() // of Gumbel: the argmax is a draw from softmax
	token := logits.Add(noise).ArgMax(1).Reshape()
	d.token.Set(token)
	d.trail.Set(d.trail.Value().MulScalar(31).Add(token))
	d.position.Set(position.AddScalar(1).RemainderScalar(window))
	return token
}
