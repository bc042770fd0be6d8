package graphapi

import (
	"context"
	"fmt"
	"runtime"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// warmups is how many times a program runs before it is recorded: to learn
// what is asked for late, to plan again with that known, and to hit that plan.
const warmups = 3

// Section captures code that is no function: the body of a loop, which runs
// three times to warm up and once to be recorded.
//
//	c, err := graphapi.Begin(ctx, s)
//	for c.Next() {
//		c.Return(x.Value().MatMul(w.Value()))
//	}
//	g, err := c.End()
//
// What a replay is to see anew the code keeps in Vars. The same rules hold as
// for a captured function, but there is nothing to fall back to: what cannot be
// recorded is an error of End. A Section is for one goroutine.
type Section struct {
	ctx  context.Context
	s    *sinter.Stream
	o    options
	w    *fusion.Window
	pass int // passes begun
	open bool
	out  []*sinter.Tensor
	kept []*fusion.Value
	err  error
	done bool
}

// Begin executes what is queued on s and begins a capture. It ends with End,
// which must be called whatever happens; a section that is merely dropped is
// given up by the collector.
func Begin(ctx context.Context, s *sinter.Stream, opts ...Option) (*Section, error) {
	if s.Runtime() == nil {
		return nil, &sinter.CaptureError{Reason: "the stream is nil"}
	}
	o := chosen(opts)
	if o.verify > 0 {
		return nil, &sinter.CaptureError{Reason: "Verify needs a function that can be recorded again; use Capture"}
	}
	c, err := begin(ctx, s, o)
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(c, func(w *fusion.Window) { go w.Abandon() }, c.w)
	return c, nil
}

func begin(ctx context.Context, s *sinter.Stream, o options) (*Section, error) {
	if o.pool != nil && !o.pool.made() {
		return nil, errNoPool
	}
	if ctx == nil {
		ctx = context.Background()
	}
	w, err := s.Runtime().OpenWindow(ctx, o.window())
	if err != nil {
		return nil, err
	}
	return &Section{ctx: ctx, s: s, o: o, w: w}, nil
}

// Next ends the pass before and begins another. It returns false when the code
// has been recorded or something went wrong.
func (c *Section) Next() bool {
	if !c.made() {
		return false
	}
	c.endPass()
	if c.err == nil && c.pass <= warmups {
		c.err = c.ctx.Err()
	}
	if c.done || c.err != nil || c.pass > warmups {
		return false
	}
	if err := c.w.Begin(c.pass == warmups); err != nil {
		c.err = err
		return false
	}
	c.pass++
	c.open = true
	return true
}

// Return adds outputs of the pass. Each pass must return the same.
func (c *Section) Return(out ...*sinter.Tensor) {
	if c.made() {
		c.out = append(c.out, out...)
	}
}

// made reports whether c is a section that Begin returned.
func (c *Section) made() bool { return c != nil && c.w != nil }

// fail makes the capture fail.
func (c *Section) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *Section) endPass() {
	if !c.open || c.err != nil {
		return
	}
	c.open = false
	vals := make([]*fusion.Value, len(c.out))
	for i, t := range c.out {
		if t == nil {
			c.err = &sinter.CaptureError{Reason: fmt.Sprintf("output %d is nil", i)}
			return
		}
		vals[i] = sinter.ValueOf(t)
	}
	c.out = nil
	kept, err := c.w.End(c.ctx, vals)
	if err == nil && c.pass > warmups {
		c.kept = kept
		return
	}
	c.err = err
	for _, v := range kept {
		v.Release(0)
	}
}

// finish returns the recording, or why there is none.
func (c *Section) finish() (rec *fusion.Recording, refusal, err error) {
	c.endPass()
	defer c.w.Abandon() // which does nothing after a recording
	if r := c.w.Refused(); r != nil {
		return nil, r, nil
	}
	if c.err != nil {
		return nil, nil, c.err
	}
	if c.pass <= warmups {
		return nil, nil, &sinter.CaptureError{Reason: fmt.Sprintf("the code ran %d times; it must run until Next is false", c.pass)}
	}
	rec = c.w.Recording(c.kept)
	if c.o.log != nil {
		if err := watch(rec, c.o.log); err != nil {
			_ = rec.Close()
			return nil, nil, err
		}
	}
	return rec, nil, nil
}

// End ends the capture and returns the graph. The loop must have run until Next
// was false; if it did not, or something went wrong, the stream is as before and
// that is the error. It may be called again.
func (c *Section) End() (*Graph, error) {
	if !c.made() {
		return nil, &sinter.ArgumentError{Msg: "the section is nil"}
	}
	if c.done {
		return nil, &sinter.CaptureError{Reason: "the capture has ended"}
	}
	rec, refusal, err := c.finish()
	c.done = true
	if refusal != nil {
		err = refusal
	}
	if err != nil {
		return nil, err
	}
	g := &Graph{s: c.s, o: c.o, rec: rec}
	runtime.AddCleanup(g, (*fusion.Recording).CloseLater, rec)
	return g, nil
}
