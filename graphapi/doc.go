// Package graphapi captures the steady state of a program once and replays it.
//
// A captured [Graph] runs the same kernels on the same memory with one call:
// a replay records nothing, plans nothing and allocates nothing. Its inputs
// are Vars that may be written before a replay, or tensors given to it:
//
//	g, err := graphapi.Capture(ctx, dev.Stream(), model.Forward, []*sinter.Tensor{x})
//	err = g.Replay(x2)
//	y, err := sinter.Read[float32](ctx, g.Out(0))
//
// Replay is safe. What changes from run to run (inputs and Vars) is read anew;
// what would be frozen by mistake is refused when the graph is captured, with
// the operation and the mend; what is frozen on purpose is listed by
// [Graph.Frozen]. Tensors read before a replay keep their values.
//
// [CaptureOf] takes functions of structs of tensors, [Begin] code that is no
// function. A captured function may draw random numbers, which are new in each
// replay, use other streams that wait for the captured one, and hold conditional
// parts, [If] and [While], that a replay decides where the predicate is. Graphs
// may share memory ([Pool]), be checked against their function now and then
// ([Verify]), take over another function ([Graph.Update]) and be drawn
// ([Graph.WriteDOT]).
//
// The package builds on the root package's extender seams. It must not know
// models, and nothing below it knows of graphs as users see them.
package graphapi
