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

// warmups is how many times a function runs before it is recorded: to learn
// what is asked for late, to plan again with that known, and to hit that plan.
const warmups = 3

// Option changes how a function is captured.
type Option func(*options)

type options struct {
	keepWarmups     bool
	requireHardware bool
}

// KeepWarmups leaves Vars as the warm-ups made them. By default capturing has
// no visible effect: Vars and random numbers are put back.
func KeepWarmups() Option { return func(o *options) { o.keepWarmups = true } }

// RequireHardware makes a capture that would fall back to running the
// function again an error.
func RequireHardware() Option { return func(o *options) { o.requireHardware = true } }

// Capture runs f three times to warm up, records it once, and returns the
// graph. Inputs are copied: they are only the first values of the graph's
// inputs. It executes what is queued on s first.
//
// An error of f or of an operation, and a difference between the runs that a
// replay would silently freeze, are returned, the latter as a *CaptureError
// naming operation and mend. Where recording is not possible (no support, a
// read or a random number inside f), the graph falls back to running f at each
// replay; see [Graph.FallbackReason].
//
// While f is captured, or runs again in a replay, it has a scope on s to itself:
// other goroutines must not record on s meanwhile.
func Capture(ctx context.Context, s *sinter.Stream, f Func, in []*sinter.Tensor, opts ...Option) (*Graph, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if s == nil || f == nil {
		return nil, &sinter.CaptureError{Reason: "the stream or the function is nil"}
	}
	g := &Graph{s: s, f: f}
	for i, t := range in {
		v, err := input(s, i, t)
		if err != nil {
			return nil, err
		}
		g.in = append(g.in, v)
	}
	if !s.Runtime().Runtime().Graphs() {
		return g.fallBack(o, errors.New("graphs are switched off, by WithGraphs or SINTER_GRAPHS"))
	}
	w, err := s.Runtime().OpenWindow(ctx, fusion.WindowOptions{KeepVars: o.keepWarmups})
	if err != nil {
		return nil, err
	}
	captured := false
	defer func() {
		if !captured {
			w.Abandon()
		}
	}()
	for _, v := range g.in {
		w.Use(sinter.VarOf(v))
	}
	var outs []*fusion.Value
	for i := range warmups + 1 {
		outs, err = g.pass(ctx, w, i == warmups)
		if w.Refused() != nil {
			return g.fallBack(o, w.Refused())
		}
		if err != nil {
			return nil, err
		}
	}
	captured = true
	g.rec = w.Recording(outs)
	runtime.AddCleanup(g, (*fusion.Recording).CloseLater, g.rec)
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

// pass runs or records f once.
func (g *Graph) pass(ctx context.Context, w *fusion.Window, record bool) ([]*fusion.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := w.Begin(record); err != nil {
		return nil, err
	}
	in := make([]*sinter.Tensor, len(g.in))
	for i, v := range g.in {
		in[i] = v.Value().On(g.s)
	}
	out, ferr := g.f(g.s, in)
	vals := make([]*fusion.Value, len(out))
	for i, t := range out {
		if t == nil {
			ferr = errors.Join(ferr, &sinter.CaptureError{Reason: fmt.Sprintf("output %d is nil", i)})
			vals = nil
			break
		}
		vals[i] = sinter.ValueOf(t)
	}
	kept, err := w.End(ctx, vals)
	if ferr != nil {
		return nil, ferr
	}
	if err != nil {
		return nil, err
	}
	if !record {
		for _, v := range kept {
			v.Release(0)
		}
	}
	return kept, nil
}

// fallBack returns a graph that runs the function at each replay.
func (g *Graph) fallBack(o options, reason error) (*Graph, error) {
	if o.requireHardware {
		return nil, reason
	}
	g.reason = reason
	return g, nil
}
