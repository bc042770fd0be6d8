package graphapi

import (
	"context"
	"reflect"
	"sync"

	"github.com/sinter-ml/sinter"
)

// GraphOf is a graph of a function whose inputs and outputs are Go values that
// hold tensors. Its methods may be called from several goroutines; replays run
// one after another.
type GraphOf[In, Out any] struct {
	g    *Graph
	in   *tree
	form *outForm[Out]

	mu sync.Mutex // held by a replay until it has its outputs
}

// outForm is what a function returned last: the form of the outputs.
type outForm[Out any] struct {
	value Out
	tree  *tree
}

// CaptureOf is [Capture] of a function of structured inputs and outputs: structs,
// slices, arrays, maps with string keys and pointers, nested at will, of
// *sinter.Tensor.
//
//	type batch struct{ Tokens, Mask *sinter.Tensor }
//	g, err := graphapi.CaptureOf(ctx, s, model.forward, batch{tokens, mask})
//	logits, err := g.Replay(batch{tokens2, mask2})
//
// Tensors are taken in the order of fields, elements and keys, as JAX flattens
// its trees. A nil tensor or pointer is absent, in every call. Scalars (bools,
// numbers, strings) are part of the structure: the function sees those of the
// capture, so a replay with others is refused. Anything else, and fields that
// are not exported, is a *TreeError with the path of the field.
func CaptureOf[In, Out any](ctx context.Context, s *sinter.Stream, f func(*sinter.Stream, In) (Out, error), in In, opts ...Option) (*GraphOf[In, Out], error) {
	if f == nil {
		return nil, &sinter.CaptureError{Reason: "the function is nil"}
	}
	given := reflect.ValueOf(&in).Elem()
	t, err := flatten("In", given)
	if err != nil {
		return nil, err
	}
	form := &outForm[Out]{}
	g, err := Capture(ctx, s, untyped(f, t, given, form), t.leaves, opts...)
	if err != nil {
		return nil, err
	}
	return &GraphOf[In, Out]{g: g, in: t, form: form}, nil
}

// untyped makes a function of tensors of f, whose inputs have the form of given.
func untyped[In, Out any](f func(*sinter.Stream, In) (Out, error), t *tree, given reflect.Value, o *outForm[Out]) Func {
	return func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		out, err := f(s, t.rebuild(given, in).Interface().(In))
		if err != nil {
			return nil, err
		}
		return o.take(out)
	}
}

// take keeps the form of a returned value, which must be that of the one before.
func (o *outForm[Out]) take(out Out) ([]*sinter.Tensor, error) {
	t, err := flatten("Out", reflect.ValueOf(&out).Elem())
	if err != nil {
		return nil, err
	}
	if o.tree != nil {
		if err := t.unlike(o.tree); err != nil {
			return nil, err
		}
	}
	leaves := t.leaves
	o.value, o.tree = out, &tree{paths: t.paths, form: t.form}
	return leaves, nil
}

// Graph returns the graph of the tensors alone, in the order of the tree.
func (g *GraphOf[In, Out]) Graph() *Graph {
	if g == nil {
		return nil
	}
	return g.g
}

// Replay runs the graph on the tensors of in, which has the structure and the
// scalars of the capture's inputs, and returns what the function would. The
// tensors of the result end with the next replay; see [Graph.Out].
func (g *GraphOf[In, Out]) Replay(in In) (Out, error) {
	var none Out
	if !g.Graph().made() {
		return none, errNoGraph
	}
	t, err := flatten("In", reflect.ValueOf(&in).Elem())
	if err == nil {
		err = t.unlike(g.in)
	}
	if err != nil {
		return none, g.g.s.Runtime().OpError("Replay", nil, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.g.Replay(t.leaves...); err != nil {
		return none, err
	}
	outs := make([]*sinter.Tensor, len(g.form.tree.paths))
	for i := range outs {
		outs[i] = g.g.Out(i)
	}
	return g.form.tree.rebuild(reflect.ValueOf(&g.form.value).Elem(), outs).Interface().(Out), nil
}

// Close gives back what the graph keeps; see [Graph.Close].
func (g *GraphOf[In, Out]) Close() error { return g.Graph().Close() }
