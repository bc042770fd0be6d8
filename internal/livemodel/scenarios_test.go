package livemodel

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// infer is a residual network with a row normalisation.
func infer(scope bool) *Program {
	s := newScript([]int{8, 16}, []int{16, 16}, []int{16, 4}, []int{1, 16}, []int{1, 16}, []int{1, 4})
	s.body()
	p := s.scope(scope, func() []int {
		x := s.from(8, 8)
		h := s.op(OpRelu, s.op(OpAdd, s.op(OpMatMul, x, s.val(0)), s.val(3)))
		h2 := s.op(OpAdd, s.op(OpRelu, s.op(OpAdd, s.op(OpMatMul, h, s.val(1)), s.val(4))), h)
		return []int{s.normal(s.op(OpAdd, s.op(OpMatMul, h2, s.val(2)), s.val(5)))}
	})
	s.read(p[0])
	return &s.p
}

// training says how train differs.
type training struct {
	scope, dropout, between, hold bool
	every, peek                   int // read the loss, a hidden value, every so many iterations
}

// train is two layers with an optimiser that holds two Vars a parameter.
func train(o training) *Program {
	params := [][]int{{8, 16}, {1, 16}, {16, 4}, {1, 4}}
	s := newScript(slices.Concat(params, params, params)...)
	s.p.Times = 14
	s.body()
	var square int
	kept := s.scope(o.scope, func() []int {
		x, t := s.from(8, 8), s.from(8, 4)
		z := s.op(OpAdd, s.op(OpMatMul, x, s.val(0)), s.val(1))
		a := s.op(OpRelu, z)
		if o.dropout {
			a = s.dropout(a, 8, 16)
		}
		d := s.op(OpSub, s.op(OpAdd, s.op(OpMatMul, a, s.val(2)), s.val(3)), t)
		loss := s.times(s.total(s.op(OpMul, d, d)), 1.0/32)
		if o.between {
			s.read(loss)
		}
		dy := s.times(d, 2.0/32)
		da := s.op(OpMatMul, dy, s.op(OpTranspose, s.val(2)))
		dz := s.op(OpMul, da, s.op(OpRelu, z))
		grads := []int{
			s.op(OpMatMul, s.op(OpTranspose, x), dz), s.sum(dz, 0),
			s.op(OpMatMul, s.op(OpTranspose, a), dy), s.sum(dy, 0),
		}
		for k, g := range grads {
			square = s.op(OpMul, g, g)
			m, v := 4+k, 8+k
			s.set(m, s.op(OpAdd, s.times(s.val(m), 0.9), s.times(g, 0.1)))
			s.set(v, s.op(OpAdd, s.times(s.val(v), 0.99), s.times(square, 0.01)))
			rate, st := s.make(OpMulScalar, s.val(m))
			st.Scalar, st.Grow = 0.001, true
			s.set(k, s.op(OpSub, s.val(k), s.op(OpDiv, rate, s.plus(s.op(OpSqrt, s.val(v)), 1e-6))))
		}
		return []int{loss}
	})
	if o.every > 0 {
		s.when(o.every, o.every-1, func() { s.read(kept[0]) })
	}
	if o.peek > 0 {
		s.when(o.peek, o.peek-1, func() { s.read(square) })
	}
	if o.hold {
		s.step(OpHold, -1, kept[0])
	}
	s.finally()
	s.step(OpReadHeld, -1)
	for k := range params {
		s.read(s.val(k))
	}
	return &s.p
}

// decode attends to a cache: Vars written in place, or tensors that grow.
func decode(scope, grow bool) *Program {
	const d, most = 8, 16
	s := newScript([]int{d, d}, []int{d, d}, []int{d, d}, []int{d, d}, []int{most, d}, []int{most, d})
	h := s.from(1, d)
	keys, values := 0, 0
	if grow {
		keys, values = s.from(1, d), s.from(1, d)
	}
	s.body()
	out := s.scope(scope, func() []int {
		q := s.op(OpMatMul, h, s.val(0))
		k := s.times(s.op(OpMatMul, h, s.val(1)), 1)
		v := s.times(s.op(OpMatMul, h, s.val(2)), 1)
		var kk, vv int
		if grow {
			kk, vv = s.op(OpCat, keys, k), s.op(OpCat, values, v)
		} else {
			s.setSlice(4, k, 0, most)
			s.setSlice(5, v, 0, most)
			kk, vv = s.val(4), s.val(5)
		}
		p := s.normal(s.times(s.op(OpMatMul, q, s.op(OpTranspose, kk)), 0.25))
		o := s.op(OpMatMul, s.op(OpMatMul, p, vv), s.val(3))
		next := s.squash(s.op(OpAdd, o, h))
		if grow {
			return []int{next, kk, vv}
		}
		return []int{next}
	})
	s.step(OpMove, h, out[0])
	if grow {
		s.step(OpMove, keys, out[1])
		s.step(OpMove, values, out[2])
	}
	s.read(h)
	return &s.p
}

// rnn carries a hidden value, read every so many iterations (0: never).
func rnn(scope bool, every int) *Program {
	s := newScript([]int{4, 4}, []int{1, 4})
	s.p.Times = 60
	h := s.squash(s.plus(s.from(2, 4), 1))
	s.body()
	out := s.scope(scope, func() []int {
		g := s.squash(s.op(OpAdd, s.op(OpMatMul, h, s.val(0)), s.val(1)))
		return []int{s.op(OpAdd, s.times(g, 0.5), s.times(h, 0.5))}
	})
	s.step(OpMove, h, out[0])
	if every > 0 {
		s.when(every, every-1, func() { s.read(h) })
	}
	s.finally()
	s.read(h)
	return &s.p
}

// lstm carries two values, one of them never read inside the loop.
func lstm() *Program {
	s := newScript([]int{4, 4})
	h, c := s.from(2, 4), s.from(2, 4)
	s.body()
	z := s.op(OpMatMul, h, s.val(0))
	f := s.squash(z)
	c2 := s.op(OpAdd, s.op(OpMul, f, c), s.times(z, 0.5))
	h2 := s.op(OpMul, s.squash(c2), f)
	s.step(OpMove, c, c2)
	s.step(OpMove, h, h2)
	s.read(h)
	s.finally()
	s.read(c)
	return &s.p
}

// held keeps handles to versions that are overwritten, and reads them at the
// end.
func held() *Program {
	s := newScript([]int{4, 4})
	s.body()
	old := s.val(0)
	u := s.plus(s.times(old, 2), 1)
	s.step(OpHold, -1, old)
	r, st := s.make(OpRows, s.times(old, 0.5))
	st.Start, st.Len = 1, 2
	s.setSlice(0, r, 0, 3)
	s.set(0, s.times(s.val(0), 0.9))
	s.read(u)
	s.finally()
	s.step(OpReadHeld, -1)
	return &s.p
}

// misc reads old versions, dropped-out values and what was made of them after
// the Var changed, twice.
func misc(scope bool) *Program {
	s := newScript([]int{4, 4})
	s.body()
	out := s.scope(scope, func() []int {
		x := s.from(4, 4)
		old := s.val(0)
		v := s.times(old, 2)
		u := s.plus(v, 1)
		dr := s.dropout(x, 4, 4)
		e := s.times(dr, 3)
		s.set(0, s.squash(s.op(OpAdd, s.val(0), x)))
		y := s.op(OpMul, s.op(OpAdd, v, x), s.val(0))
		return []int{y, u, v, e, dr, old}
	})
	s.read(out[0])
	s.read(out[0])
	s.set(0, s.times(s.val(0), 0.5))
	for _, r := range out[1:] {
		s.read(r)
	}
	s.read(out[4])
	return &s.p
}

// alternate records one of two things, and sometimes asks for more.
func alternate() *Program {
	s := newScript([]int{4, 4}, []int{2, 4})
	s.p.Times = 40
	s.body()
	var z int
	s.when(2, 0, func() {
		z = s.op(OpAdd, s.op(OpMatMul, s.from(2, 4), s.val(0)), s.val(1))
		s.read(s.total(s.op(OpSquare, s.op(OpRelu, z))))
	})
	s.when(2, 1, func() {
		x := s.from(2, 4)
		r := s.op(OpSquare, s.op(OpMul, x, s.val(1)))
		s.step(OpMove, z, r)
		a := s.op(OpAdd, z, x)
		s.set(1, s.op(OpAdd, s.times(a, 0.1), s.times(s.val(1), 0.9)))
		s.read(s.total(a))
	})
	s.when(3, 2, func() { s.read(s.times(z, 2)) })
	return &s.p
}

// scenario is a program and what the simulator these rules come from found, or
// what follows from them with Greedy's blocks.
type scenario struct {
	name  string
	p     *Program
	cut   int
	late  int   // late demands in all
	made  int   // plans made in all
	kept  int   // effects that kept the version before, in all
	drain []int // lengths of the first segments
}

func scenarios() []scenario {
	return []scenario{
		{"infer", infer(false), 0, 0, 1, 0, []int{13, 13, 13}},
		{"infer in scopes", infer(true), 0, 0, 1, 0, []int{13, 13, 13}},
		{"train", train(training{every: 1}), 0, 0, 1, 168, []int{81, 81, 81}},
		{"train in scopes", train(training{every: 1, scope: true}), 0, 0, 1, 0, []int{81, 81, 81}},
		{"train with dropout", train(training{every: 1, dropout: true}), 0, 0, 1, 168, []int{83, 83, 83}},
		{"train, read between", train(training{every: 1, between: true}), 0, 2, 4, 168, []int{10, 81, 81}},
		{"train, rarely read", train(training{every: 7}), 0, 0, 1, 168, []int{567, 567}},
		{"train, never read", train(training{}), 128, 0, 1, 168, []int{81, 81, 81}},
		{"train, hidden value read", train(training{every: 1, peek: 5}), 0, 1, 2, 168, []int{81, 81, 81}},
		{"train, losses held", train(training{hold: true}), 128, 0, 2, 168, []int{81, 81, 81}},
		{"decode", decode(false, false), 0, 0, 2, 22, []int{20, 20, 20}},
		{"decode in scopes", decode(true, false), 0, 0, 1, 0, []int{20, 20, 20}},
		{"decode, growing", decode(false, true), 0, 0, 4, 0, []int{20, 20, 20}},
		{"decode, growing in scopes", decode(true, true), 0, 0, 4, 0, []int{20, 20, 20}},
		{"rnn", rnn(false, 1), 0, 0, 2, 0, []int{12, 8, 8}},
		{"rnn, every second", rnn(false, 2), 0, 0, 2, 0, []int{20, 16, 16}},
		{"rnn, every fifth", rnn(false, 5), 0, 0, 2, 0, []int{44, 40, 40}},
		{"rnn, never read", rnn(false, 0), 64, 2, 4, 0, []int{64, 64, 64}},
		{"rnn in scopes", rnn(true, 1), 0, 0, 2, 0, []int{12, 8, 8}},
		{"lstm", lstm(), 0, 1, 2, 0, []int{11, 11, 11}},
		{"held", held(), 0, 0, 1, 24, []int{7, 7, 7}},
		{"misc", misc(false), 0, 3, 3, 23, []int{12, 14, 14}},
		{"misc in scopes", misc(true), 0, 0, 2, 23, []int{12, 14, 14}},
		{"alternate", alternate(), 0, 2, 5, 20, []int{6, 9, 6, 1, 9}},
	}
}

func TestScenarios(t *testing.T) {
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			tr, m := run(t, c.p, Config{Cut: c.cut})
			made := 0
			for _, d := range drains(tr) {
				if d.Planned {
					made++
				}
			}
			assert.Equal(t, c.late, lates(tr), "late demands")
			assert.Equal(t, c.made, made, "plans")
			assert.Equal(t, c.kept, kept(tr), "versions kept")
			assert.Equal(t, c.drain, lengths(tr)[:min(len(c.drain), len(drains(tr)))], "lengths of segments")
			assert.NoError(t, m.Fault())
			plans, last := tr.Settling().Worst()
			assert.LessOrEqual(t, plans, 2)
			if c.p.Steady() {
				assert.LessOrEqual(t, last, 3)
			}
			assert.NoError(t, differ(Run(New(Config{Cut: c.cut}), forgetful(c.p)), tr), "handles dropped")
			assert.NoError(t, Compare(newEager(), c.p, Config{Cut: c.cut}))
		})
	}
}
