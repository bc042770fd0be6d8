package graphapi

import (
	"context"
	"fmt"

	"github.com/sinter-ml/sinter"
)

// verify records the function again and says how it differs from the graph.
func (g *Graph) verify(ctx context.Context) error {
	w, err := g.rec.OpenCheck(ctx)
	if err != nil {
		return err
	}
	defer w.Abandon()
	if err := w.Begin(true); err != nil {
		return err
	}
	out, err := g.f(g.s, g.values())
	if err != nil {
		return err
	}
	for i, t := range out {
		if t == nil {
			return &sinter.CaptureError{Reason: fmt.Sprintf("output %d is nil", i)}
		}
	}
	made, err := w.End(ctx, values(out))
	for _, v := range made {
		v.Release(0)
	}
	return err
}

// Update captures f on the graph's stream, with the graph's inputs as they are
// now, and makes the graph do that from the next replay on. It reports whether
// the device changed its graph in place, as it can if f records work of the same
// structure: then nothing is instantiated. Outputs are unwritten until then, and
// tensors of [Graph.Out] end. After an error, also one of a function that cannot
// be recorded, the graph is as before. Without a recording it is a *CaptureError.
func (g *Graph) Update(ctx context.Context, f Func) (inPlace bool, err error) {
	if !g.made() {
		return false, errNoGraph
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return false, &sinter.ClosedError{What: "graph"}
	case f == nil:
		return false, &sinter.CaptureError{Reason: "the function is nil"}
	case g.rec == nil:
		return false, &sinter.CaptureError{Reason: "the graph runs the function again; capture anew", Err: g.reason}
	}
	rec, refusal, err := g.record(ctx, f)
	if refusal != nil {
		err = refusal
	}
	if err != nil {
		return false, err
	}
	inPlace, err = g.rec.Update(rec)
	if err != nil {
		_ = rec.Close()
		return false, err
	}
	g.f, g.count = f, 0
	return inPlace, nil
}
