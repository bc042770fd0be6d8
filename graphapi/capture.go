package graphapi

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// Func is what a graph captures: it records operations on s from the inputs
// and returns the outputs. It is called several times while capturing, each
// time with the inputs' present values, and must record the same operations
// each time.
type Func func(s *sinter.Stream, in []*sinter.Tensor) (out []*sinter.Tensor, err error)

// Capture runs f three times to warm up, records it once, and returns the
// graph. Inputs are copied: they are only the first values of the graph's
// inputs. It executes what is queued on s first.
//
// An error of f or of an operation, and a difference between the runs that a
// replay would silently freeze, are returned, the latter as a *CaptureError
// naming operation and mend. Where recording is not possible (no support, or a
// read inside f), the graph falls back to running f at each replay; see
// [Graph.FallbackReason].
//
// Random numbers drawn in f are new in each replay: those, and the device's
// position in their sequence afterwards, are what running f would give.
//
// While f is captured, or runs again in a replay, it has a scope on s to itself:
// other goroutines must not record on s meanwhile. It may use other streams that
// wait for s; see [sinter.Stream.Wait].
func Capture(ctx context.Context, s *sinter.Stream, f Func, in []*sinter.Tensor, opts ...Option) (*Graph, error) {
	if s.Runtime() == nil || f == nil {
		return nil, &sinter.CaptureError{Reason: "the stream or the function is nil"}
	}
	g := &Graph{s: s, f: f, o: chosen(opts)}
	for i, t := range in {
		v, err := input(s, i, t)
		if err != nil {
			return nil, err
		}
		g.in = append(g.in, v)
	}
	if !s.Runtime().Runtime().Graphs() {
		return g.fallBack(errors.New("graphs are switched off, by WithGraphs or SINTER_GRAPHS"))
	}
	rec, refusal, err := g.record(ctx, f)
	switch {
	case refusal != nil:
		return g.fallBack(refusal)
	case err != nil:
		return nil, err
	}
	g.rec = rec
	runtime.AddCleanup(g, (*fusion.Recording).CloseLater, rec)
	return g, nil
}

// input makes the Var that input i is read from, with t as its first value.
func input(s *sinter.Stream, i int, t *sinter.Tensor) (*sinter.Var, error) {
	if t == nil {
		return nil, &sinter.CaptureError{Reason: fmt.Sprintf("input %d is nil", i)}
	}
	if err := sinter.ValueOf(t).Report(); err != nil {
		return nil, err
	}
	t, err := here(s, t)
	if err != nil {
		return nil, err
	}
	v := sinter.NewVar(t).Named(fmt.Sprintf("in%d", i))
	h := v.Value() // what failed only when computed
	defer h.Release()
	return v, sinter.ValueOf(h).Report()
}

// values returns the graph's inputs as they are now.
func (g *Graph) values() []*sinter.Tensor {
	in := make([]*sinter.Tensor, len(g.in))
	for i, v := range g.in {
		in[i] = v.Value().On(g.s)
	}
	return in
}

// record records f. A refusal says why it cannot be.
func (g *Graph) record(ctx context.Context, f Func) (rec *fusion.Recording, refusal, err error) {
	c, err := begin(ctx, g.s, g.o)
	if err != nil {
		return nil, nil, err
	}
	defer c.w.Abandon()
	for _, v := range g.in {
		c.w.Use(sinter.VarOf(v))
	}
	for c.Next() {
		out, err := f(g.s, g.values())
		if err != nil {
			c.fail(err)
			break
		}
		c.Return(out...)
	}
	return c.finish()
}

// fallBack returns a graph that runs the function at each replay.
func (g *Graph) fallBack(reason error) (*Graph, error) {
	if g.o.requireHardware {
		return nil, reason
	}
	g.reason = reason
	return g, nil
}
