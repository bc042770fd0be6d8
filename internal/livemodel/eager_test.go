package livemodel

import "errors"

// eager is the plainest engine: every operation runs when it is recorded, and
// nothing is ever kept, queued or decided.
type eager struct{ s *eagerState }

type eagerState struct {
	draws  int
	scopes [][]*eagerTensor
	errs   [][]*failure // by open scope, the stream's first
}

type eagerTensor struct {
	shape []int
	data  []float32
	err   *failure
	dead  bool
	keep  bool
}

type eagerVar struct{ now *eagerTensor }

func newEager() eager { return eager{&eagerState{errs: make([][]*failure, 1)}} }

func (e eager) hand(t *eagerTensor) *eagerTensor {
	t = &eagerTensor{shape: t.shape, data: t.data, err: t.err}
	if n := len(e.s.scopes); n > 0 && t.err == nil {
		e.s.scopes[n-1] = append(e.s.scopes[n-1], t)
	}
	return t
}

func (e eager) NewVar(data []float32, shape []int) Var {
	return &eagerVar{&eagerTensor{shape: shape, data: data}}
}

func (e eager) From(data []float32, shape []int) Tensor {
	return e.hand(&eagerTensor{shape: shape, data: data})
}

func (e eager) fail(kind ErrKind, site int) *eagerTensor {
	f := &failure{Cause: Cause{kind, site}}
	for i := range e.s.errs {
		e.s.errs[i] = append(e.s.errs[i], f)
	}
	return &eagerTensor{err: f}
}

func (e eager) result(c Call, in ...*eagerTensor) *eagerTensor {
	var shapes [][]int
	var values [][]float32
	for _, t := range in {
		switch {
		case t.err != nil:
			return t
		case t.dead:
			return e.fail(Released, c.Site)
		}
		shapes, values = append(shapes, t.shape), append(values, t.data)
	}
	shape, err := inferShape(c, shapes)
	if err != nil {
		return e.fail(BadOp, c.Site)
	}
	if c.Op == OpUniform {
		e.s.draws++
		return &eagerTensor{shape: shape, data: Philox(0, uint64(e.s.draws-1), size(shape))}
	}
	return &eagerTensor{shape: shape, data: eval(c, shapes, shape, values)}
}

func (e eager) Op(c Call, in []Tensor) Tensor {
	ts := make([]*eagerTensor, len(in))
	for i := range in {
		ts[i] = in[i].(*eagerTensor)
	}
	return e.hand(e.result(c, ts...))
}

func (e eager) Value(v Var) Tensor { return e.hand(v.(*eagerVar).now) }

func (e eager) Effect(c Call, v Var, t Tensor) {
	w := v.(*eagerVar)
	if r := e.result(c, t.(*eagerTensor), w.now); r.err == nil {
		w.now = r
	}
}

func (e eager) Read(site int, t Tensor) ([]float32, error) {
	x := t.(*eagerTensor)
	if x.err == nil && x.dead {
		x = e.fail(Released, site)
	}
	if x.err != nil {
		x.err.reported = true
		return nil, x.err
	}
	return x.data, nil
}

func (e eager) report(errs []*failure) error {
	var first error
	for _, f := range errs {
		if !f.reported && first == nil {
			first = f
		}
		f.reported = true
	}
	return first
}

func (e eager) Flush() error { return e.report(e.s.errs[0]) }

func (e eager) BeginScope() {
	e.s.scopes, e.s.errs = append(e.s.scopes, nil), append(e.s.errs, nil)
}

func (e eager) Keep(t Tensor) { t.(*eagerTensor).keep = true }

func (e eager) EndScope() error {
	n := len(e.s.scopes) - 1
	mine, errs := e.s.scopes[n], e.s.errs[n+1]
	e.s.scopes, e.s.errs = e.s.scopes[:n], e.s.errs[:n+1]
	for _, t := range mine {
		switch {
		case !t.keep:
			t.dead = true
		case n > 0:
			t.keep = false
			e.s.scopes[n-1] = append(e.s.scopes[n-1], t)
		}
	}
	return e.report(errs)
}

func (e eager) Release(t Tensor) { t.(*eagerTensor).dead = true }
func (e eager) Forgot()          {}

func (e eager) Cause(err error) Cause {
	var f *failure
	errors.As(err, &f)
	return f.Cause
}
