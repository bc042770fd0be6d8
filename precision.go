package sinter

import "github.com/sinter-ml/sinter/ir"

// FullPrecision runs a section of a model in f32: f gets the inputs with those
// of half types cast to f32, and its results of any float dtype are cast back
// to the dtype of the first float input. Other inputs, and integer and bool
// results, pass unchanged; without a float input so do all results.
//
// It is for sequences whose intermediate values a half type cannot hold, such
// as a sum of squares: each operation in a half type rounds its result, while
// here only the end of the section does. A single operation gains nothing, as
// composite ones (Linear, Softmax, LayerNorm, …) are f32 inside anyway and
// reductions sum in f32. Captured weights of half types are inputs too if f is
// to see them as f32. The casts are fused like anything else.
//
//	y := sinter.FullPrecision(func(in []*sinter.Tensor) []*sinter.Tensor {
//		x, scale := in[0], in[1]
//		return []*sinter.Tensor{x.Mul(x.Mul(x).Mean(-1).AddScalar(1e-6).Rsqrt()).Mul(scale)}
//	}, x, scale)[0]
func FullPrecision(f func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	if f == nil {
		return []*Tensor{orphan("FullPrecision", errNoFunction)}
	}
	pc := caller(2)
	dtype := ir.Invalid
	wide := make([]*Tensor, len(in))
	for i, t := range in {
		d := t.DType()
		if dtype == ir.Invalid && d.IsFloat() {
			dtype = d
		}
		wide[i] = t
		if d.IsHalf() {
			wide[i] = cast(t, F32, pc)
		}
	}
	out := append([]*Tensor(nil), f(wide)...)
	for i, t := range out {
		if d := t.DType(); dtype != ir.Invalid && d.IsFloat() && d != dtype {
			out[i] = cast(t, dtype, pc)
		}
	}
	return out
}

// cast is Cast recorded as called at pc.
func cast(t *Tensor, dtype DType, pc uintptr) *Tensor {
	return record(ir.Operation{Kind: ir.Cast, PC: pc, Attrs: ir.Attrs{DType: dtype}}, []*Tensor{t})
}
