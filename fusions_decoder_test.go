package sinter_test

import (
	"math"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// softmaxOf is softmax over the last axis from primitives.
func softmaxOf(x *tensor) *tensor {
	e := x.Sub(x.Max(-1)).Exp()
	return e.Div(e.Sum(-1))
}

// normOf is a layer norm over the last axis from primitives.
func normOf(x, weight, bias *tensor) *tensor {
	d := x.Sub(x.Mean(-1))
	return d.Mul(d.Square().Mean(-1).AddScalar(1e-5).Rsqrt()).Mul(weight).Add(bias)
}

// causal is the mask that shows each query itself and what comes before.
func causal(n int) oracle.Tensor {
	out := oracle.New(ir.Bool, shape{n, n})
	for i := range n {
		for j := range i + 1 {
			out.B[i*n+j] = true
		}
	}
	return out
}

// small8 makes small integers of a byte.
func small8(d maker, dims ...int) *tensor {
	out := oracle.New(ir.I8, dims)
	for i := range out.I {
		out.I[i] = int64(d.r.IntN(41)) - 20
	}
	return put(d.at, out)
}

const decoderHeads = 12

// decoderInput makes the input, the mask and the weights of a decoder block.
func decoderInput(d maker, small bool) tensors {
	width, tokens := 768, 128
	if small {
		width, tokens = 48, 8
	}
	matrix := func(in, out int) *tensor {
		w := d.make(ir.F32, false, in, out)
		for i := range w.F {
			w.F[i] = float64(float32(w.F[i] / math.Sqrt(float64(4*in))))
		}
		return put(d.at, w)
	}
	return tensors{
		d.f32(1, tokens, width), put(d.at, causal(tokens)),
		d.f32(width), d.f32(width), matrix(width, 3*width), d.f32(3 * width), matrix(width, width), d.f32(width),
		d.f32(width), d.f32(width), matrix(width, 4*width), d.f32(4 * width), matrix(4*width, width), d.f32(width),
	}
}

// decoderBlock is a block of GPT-2 (Radford and others, "Language Models are
// Unsupervised Multitask Learners", 2019), its norms, softmax and linear layers
// written from primitives.
func decoderBlock(at sinter.Placer, in tensors) tensors {
	x, mask := in[0], in[1]
	batch, tokens, width := x.Dim(0), x.Dim(1), x.Dim(2)
	qkv := normOf(x, in[2], in[3]).MatMul(in[4]).Add(in[5])
	head := func(i int) *tensor {
		part := qkv.Narrow(2, i*width, width)
		return part.Reshape(batch, tokens, decoderHeads, width/decoderHeads).Permute(0, 2, 1, 3)
	}
	scores := head(0).MatMul(head(1).T()).MulScalar(1 / math.Sqrt(float64(width/decoderHeads)))
	scores = sinter.Where(mask, scores, sinter.Full(at, ir.F32, math.Inf(-1)))
	context := softmaxOf(scores).MatMul(head(2)).Permute(0, 2, 1, 3).Reshape(batch, tokens, width)
	x = context.MatMul(in[6]).Add(in[7]).Add(x)
	h := normOf(x, in[8], in[9]).MatMul(in[10]).Add(in[11]).GeluTanh()
	return tensors{h.MatMul(in[12]).Add(in[13]).Add(x)}
}
