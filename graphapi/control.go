package graphapi

import (
	"context"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
)

// Branch is one way of an [If]. It returns the results.
type Branch func() ([]*sinter.Tensor, error)

// If runs then if the predicate is true, els, which may be nil, if it is not,
// and returns what it returns. The predicate is a rank-0 bool, or an i64 that is
// not zero; work is recorded on s.
//
// In a captured function it becomes a conditional part of the graph: each replay
// evaluates the predicate where it is computed and runs one of the bodies.
// Outside a capture the predicate is read. Either way it is the same program,
// with these rules: what a branch makes ends with it but for its results; both
// ways return tensors of the same shapes and dtypes; Vars may be set in either.
// In a capture both are recorded, so an error of either fails it. A random
// number drawn in a branch makes the graph run the function again, as its place
// in the sequence would depend on which way replays go.
func If(s *sinter.Stream, pred *sinter.Tensor, then, els Branch) ([]*sinter.Tensor, error) {
	if s.Runtime() == nil || then == nil {
		return nil, &sinter.ArgumentError{Msg: "If needs a stream and a branch"}
	}
	if err := fusion.Predicate(sinter.ValueOf(pred)); err != nil {
		return nil, s.Runtime().OpError("If", nil, err)
	}
	if pass, _ := s.Runtime().Capturing(); pass {
		out, err := s.Runtime().If(sinter.ValueOf(pred), body(then), body(els))
		return tensors(s, out), named(s, "If", err)
	}
	yes, err := truth(pred)
	if err != nil {
		return nil, err
	}
	if !yes {
		then = els
	}
	if then == nil {
		return nil, nil
	}
	return kept(s, then)
}

// LoopOption changes a [While].
type LoopOption func(*loop)

type loop struct{ limit int }

// MaxIterations ends a loop after n rounds even if its condition holds. n < 1
// sets no bound.
func MaxIterations(n int) LoopOption { return func(l *loop) { l.limit = max(n, 0) } }

// While makes the next state by body as long as cond says so of the state, from
// init on, and returns the last. The state keeps its shapes and dtypes. The
// condition is a predicate as that of [If]; the same rules hold, and in a captured
// function the loop runs within each replay.
func While(s *sinter.Stream, cond func(state []*sinter.Tensor) (*sinter.Tensor, error), body func(state []*sinter.Tensor) ([]*sinter.Tensor, error), init []*sinter.Tensor, opts ...LoopOption) ([]*sinter.Tensor, error) {
	if s.Runtime() == nil || cond == nil || body == nil {
		return nil, &sinter.ArgumentError{Msg: "While needs a stream, a condition and a body"}
	}
	var l loop
	for _, o := range opts {
		if o != nil {
			o(&l)
		}
	}
	if pass, _ := s.Runtime().Capturing(); pass {
		out, err := s.Runtime().While(l.limit, values(init),
			func(state []*fusion.Value) (*fusion.Value, error) {
				p, err := cond(tensors(s, state))
				return sinter.ValueOf(p), err
			},
			func(state []*fusion.Value) ([]*fusion.Value, error) {
				out, err := body(tensors(s, state))
				return values(out), err
			})
		return tensors(s, out), named(s, "While", err)
	}
	return l.run(s, cond, body, init)
}

// run runs a loop on the host.
func (l loop) run(s *sinter.Stream, cond func([]*sinter.Tensor) (*sinter.Tensor, error), body func([]*sinter.Tensor) ([]*sinter.Tensor, error), init []*sinter.Tensor) ([]*sinter.Tensor, error) {
	state := make([]*sinter.Tensor, len(init))
	for i, t := range init {
		if t == nil {
			return nil, s.Runtime().OpError("While", nil, &sinter.ArgumentError{Msg: "the state is nil"})
		}
		state[i] = t.On(s)
	}
	var own []*sinter.Tensor // those of the state that a round made
	for n := 0; l.limit == 0 || n < l.limit; n++ {
		var goes bool
		err := s.Scope(func(*sinter.Scope) error {
			p, err := cond(state)
			if err == nil {
				err = named(s, "While", fusion.Predicate(sinter.ValueOf(p)))
			}
			if err == nil {
				goes, err = truth(p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if !goes {
			break
		}
		before := fusion.LastID()
		next, err := kept(s, func() ([]*sinter.Tensor, error) {
			next, err := body(state)
			if err == nil {
				err = named(s, "While", fusion.SameResults(values(next), values(state)))
			}
			return next, err
		})
		if err != nil {
			return nil, err
		}
		made := own[:0:0]
		for _, t := range next {
			if sinter.ValueOf(t).ID() > before {
				made = append(made, t)
			}
		}
		for _, t := range own {
			if !holds(next, t) {
				t.Release()
			}
		}
		state, own = next, made
	}
	return state, nil
}

func holds(ts []*sinter.Tensor, t *sinter.Tensor) bool {
	for _, x := range ts {
		if sinter.ValueOf(x) == sinter.ValueOf(t) {
			return true
		}
	}
	return false
}

// kept runs a branch in a scope that its results survive.
func kept(s *sinter.Stream, f Branch) (out []*sinter.Tensor, err error) {
	err = s.Scope(func(sc *sinter.Scope) error {
		made, err := f()
		for _, t := range made {
			if t == nil {
				return s.Runtime().OpError("If", nil, &sinter.ArgumentError{Msg: "a body returned nil"})
			}
			out = append(out, sc.Keep(t).On(s))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// truth reads a predicate.
func truth(p *sinter.Tensor) (bool, error) {
	data, err := sinter.ReadBytes(context.Background(), p)
	for _, b := range data {
		if b != 0 {
			return true, err
		}
	}
	return false, err
}

func body(f Branch) fusion.Body {
	if f == nil {
		return nil
	}
	return func() ([]*fusion.Value, error) {
		out, err := f()
		return values(out), err
	}
}

func values(ts []*sinter.Tensor) []*fusion.Value {
	out := make([]*fusion.Value, len(ts))
	for i, t := range ts {
		out[i] = sinter.ValueOf(t)
	}
	return out
}

func tensors(s *sinter.Stream, vs []*fusion.Value) []*sinter.Tensor {
	out := make([]*sinter.Tensor, len(vs))
	for i, v := range vs {
		out[i] = sinter.Wrap(v).On(s)
	}
	return out
}

// named says in which call an error was met, unless it names an operation.
func named(s *sinter.Stream, op string, err error) error {
	if err == nil {
		return nil
	}
	return s.Runtime().OpError(op, nil, err)
}
