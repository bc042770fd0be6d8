package sinter

import "github.com/sinter-ml/sinter/ir"

// To returns t on another stream or device: t itself if it is there already.
// On another stream of t's device the result shares t's memory. On another
// device it is a copy, made at once: what t needs runs, and its elements go
// through staging memory of the other device. An error that t carries comes
// along.
func (t *Tensor) To(at Placer) *Tensor {
	s, v := place(at), t.val()
	switch {
	case s == nil:
		return t.failed("To", errNoPlace)
	case v == nilValue:
		return &Tensor{v: s.Fail("To", caller(2), nil, F32, errNil)}
	case v.Runtime() == nil:
		return t // an orphan: the first cause
	case v.Runtime() != s.Runtime():
		return &Tensor{v: s.Bring(v, caller(2))}
	case v.Home() == s:
		return &Tensor{v: v}
	}
	op := ir.Operation{Kind: ir.Reshape, PC: caller(2), Attrs: ir.Attrs{Shape: v.Shape().Clone()}}
	return &Tensor{v: s.Record(op, v)}
}
