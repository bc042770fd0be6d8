// Package nn holds the layers of neural networks, for inference.
//
// A model is a struct of layers with a Forward method. Its parameters are the
// *sinter.Var in its exported fields, each under a path such as
// "encoder.layer.0.query.weight"; see [Params]. [LoadInto] fills them from a
// safetensors file.
//
//	type MLP struct {
//		Hidden, Output *nn.Linear
//	}
//
//	func (m *MLP) Forward(x *sinter.Tensor) *sinter.Tensor {
//		return m.Output.Forward(m.Hidden.Forward(x).Relu())
//	}
//
// Layers record operations and nothing else: they open no scope, read nothing
// and run on the stream of their input. A layer that cannot work, because it is
// nil, lacks a parameter or is given a shape that does not fit, returns a tensor
// that carries a *sinter.OpError with the program's line; no layer panics. What
// only the data decides, such as an index out of range, is found when the
// operation runs and names the layer's own line. An activation of a nil tensor
// is nil.
//
// The package must not know programs: how batches are made, when results are
// read, or whether a graph is captured.
package nn
