package livemodel

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// script writes programs for the scenarios: each method is one step at a call
// site of its own.
type script struct {
	p    Program
	part *[]Step
	reg  int
	site int
}

func newScript(vars ...[]int) *script {
	s := &script{p: Program{Vars: vars, Times: 12}}
	s.part = &s.p.Init
	return s
}

func (s *script) body()    { s.part = &s.p.Body }
func (s *script) finally() { s.part = &s.p.Final }

func (s *script) step(op Op, out int, in ...int) *Step {
	s.site++
	*s.part = append(*s.part, Step{Call: Call{Op: op, Site: s.site, Seed: s.site}, Out: out, In: in})
	return &(*s.part)[len(*s.part)-1]
}

// make emits a step with a new register.
func (s *script) make(op Op, in ...int) (int, *Step) {
	s.reg++
	return s.reg, s.step(op, s.reg, in...)
}

func (s *script) op(op Op, in ...int) int { r, _ := s.make(op, in...); return r }

func (s *script) from(shape ...int) int {
	r, st := s.make(OpFrom)
	st.Shape = shape
	return r
}

func (s *script) val(v int) int {
	r, st := s.make(OpValue)
	st.Var = v
	return r
}

func (s *script) times(x int, by float32) int {
	r, st := s.make(OpMulScalar, x)
	st.Scalar = by
	return r
}

func (s *script) plus(x int, by float32) int {
	r, st := s.make(OpAddScalar, x)
	st.Scalar = by
	return r
}

func (s *script) sum(x, axis int) int {
	r, st := s.make(OpSum, x)
	st.Axis = axis
	return r
}

func (s *script) total(x int) int { return s.sum(s.sum(x, 1), 0) }

func (s *script) dropout(x int, shape ...int) int {
	r, st := s.make(OpUniform)
	st.Shape = shape
	return s.op(OpMul, x, r)
}

func (s *script) set(v, x int) { s.step(OpSet, -1, x).Var = v }

func (s *script) setSlice(v, x, start, mod int) {
	st := s.step(OpSetSlice, -1, x)
	st.Var, st.Start, st.Mod = v, start, mod
}

func (s *script) read(x int) *Step { return s.step(OpRead, -1, x) }

// squash emits x/(1+|x|), which stands for tanh.
func (s *script) squash(x int) int { return s.op(OpDiv, x, s.plus(s.op(OpAbs, x), 1)) }

// normal emits e/Σe for e = x², which stands for softmax.
func (s *script) normal(x int) int {
	e := s.plus(s.op(OpSquare, x), 1)
	return s.op(OpDiv, e, s.sum(e, 1))
}

// scope emits f's steps as a scope's, if on, with the results kept.
func (s *script) scope(on bool, f func() []int) []int {
	if on {
		s.step(OpScopeBegin, -1)
	}
	out := f()
	if on {
		for _, r := range out {
			s.step(OpKeep, -1, r)
		}
		s.step(OpScopeEnd, -1)
	}
	return out
}

// when makes f's steps run only in some iterations.
func (s *script) when(every, phase int, f func()) {
	at := len(*s.part)
	f()
	for i := at; i < len(*s.part); i++ {
		(*s.part)[i].Every, (*s.part)[i].Phase = every, phase
	}
}

// lates counts late demands.
func lates(t Trace) int {
	n := 0
	for _, e := range t {
		if e.Kind == EventLate {
			n++
		}
	}
	return n
}

func drains(t Trace) (out []*Drain) {
	for _, e := range t {
		if e.Kind == EventDrain {
			out = append(out, e.Drain)
		}
	}
	return out
}

// kept counts effects that kept the version before.
func kept(t Trace) (n int) {
	for _, d := range drains(t) {
		for _, k := range d.Keeps {
			if k {
				n++
			}
		}
	}
	return n
}

// lengths returns the lengths of the drained segments.
func lengths(t Trace) (out []int) {
	for _, d := range drains(t) {
		out = append(out, len(d.Ops))
	}
	return out
}

// run runs p by the rules, which must give the values of eager evaluation.
func run(t *testing.T, p *Program, cfg Config) (Trace, *Model) {
	t.Helper()
	m := New(cfg)
	tr := Run(m, p)
	require.NoError(t, m.Fault(), "%v", p)
	return tr, m
}

// forgetful returns p with every register that the next iteration does not
// need dropped where the body ends. The steps are numbered as before.
func forgetful(p *Program) *Program {
	q := *p
	written, needed := map[int]bool{}, map[int]bool{}
	for _, s := range p.Body {
		for _, r := range s.In {
			if !written[r] {
				needed[r] = true
			}
		}
		written[s.Out] = true
	}
	for _, s := range p.Final {
		for _, r := range s.In {
			needed[r] = true
		}
	}
	q.Body = slices.Clone(p.Body)
	for r := range written {
		if r >= 0 && !needed[r] {
			q.Body = append(q.Body, Step{Call: Call{Op: OpDrop}, Out: -1, In: []int{r}})
		}
	}
	return &q
}
