// Package sinter builds tensor models whose operations are recorded, fused and
// compiled, and whose steady state can be captured once and replayed (package
// graphapi).
//
// A program opens a [Device], makes tensors on it, combines them with methods
// and reads results:
//
//	dev, err := sinter.Open("auto")
//	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
//	y := x.MatMul(x).AddScalar(1).Relu()
//	out, err := sinter.Read[float32](ctx, y)
//
// Operations are recorded, not run: the queue of a stream runs when something
// is read, at [Stream.Flush] and [Stream.Sync], and at the end of an outermost
// [Scope]. What was recorded together is fused into few kernels. Fusing never
// changes a bit of any result.
//
// Tensors are values and never change. State is a [Var], changed by ordered
// effects.
//
// A bad operation gives a tensor that carries an [*OpError]; so does everything
// computed from it, with the first cause. Reads, Flush, Sync, scopes and Close
// return it. No operation panics.
//
// The package is a thin typed face on the runtime. It must not know graphs or
// gradients.
package sinter

//go:generate go run ./internal/gen/tensorops
