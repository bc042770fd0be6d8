package fuser

import (
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// regroup is a path that broadcasts a tensor, joins the broadcast axes with
// others and lays the result along the space: scales that belong to blocks of an
// axis, say. Strides cannot express it, coordinates can.
type regroup struct {
	before path // steps before the broadcast
	spread step // the broadcast
	joined step // the reshape
	space  step // the last map
	// The joined axes that another shape has are lead … of both shapes, but for
	// the last tail axes.
	lead, tail int
}

// regrouped takes a path apart if it is one.
func (p path) regrouped() (r regroup, ok bool) {
	n := len(p)
	if n < 3 || p[n-2].kind != stepReshape || p[n-3].kind != stepMap || p[n-3].injective() {
		return r, false
	}
	r = regroup{before: p[:n-3], spread: p[n-3], joined: p[n-2], space: p[n-1]}
	src, dst := r.joined.src, r.joined.dst
	for r.lead < min(len(src), len(dst)) && src[r.lead] == dst[r.lead] {
		r.lead++
	}
	for r.tail < min(len(src), len(dst))-r.lead && src[len(src)-1-r.tail] == dst[len(dst)-1-r.tail] {
		r.tail++
	}
	return r, !r.before.reshapes()
}

// loadRegrouped reads an external tensor through a path whose coordinates have
// to be worked out: of the joined axes the position among their elements is
// taken apart by the lengths the tensor was broadcast to.
func (l *lowering) loadRegrouped(t ir.TensorID, p path, r regroup, at codegen.Level) codegen.Value {
	l.reads = append(l.reads, read{tensor: t, at: p})
	walked := func(axis int) int { return slices.Index(r.space.axes[:len(l.space)], axis) }
	apply := func(fn ir.ScalarOp, a, b codegen.Value) codegen.Value { return l.apply(at, fn, a, b) }
	length := func(d Dim) codegen.Value {
		return l.paramValue(at, Param{Op: -1, IsLength: true, Length: d}, ir.I64)
	}

	src, dst := r.joined.src, r.joined.dst
	position := l.constant(at, ir.I64, 0)
	for y := r.lead; y < len(dst)-r.tail; y++ {
		position = apply(ir.SMul, position, length(dst[y]))
		if k := walked(y); k >= 0 {
			position = apply(ir.SAdd, position, l.coord(at, k))
		}
	}
	s := step{kind: stepMap, src: r.spread.src, dst: slices.Clone(l.space), axes: make([]int, len(l.space))}
	for k := range s.axes {
		s.axes[k] = -1
	}
	var index []codegen.Value
	for x := len(src) - 1; x >= 0; x-- {
		axis := r.spread.axes[x]
		switch {
		case x < r.lead || x >= len(src)-r.tail:
			y := x
			if x >= r.lead {
				y += len(dst) - len(src)
			}
			if k := walked(y); k >= 0 && axis >= 0 {
				s.axes[k] = axis
			}
			continue
		case axis >= 0:
			s.dst, s.axes = append(s.dst, r.spread.src[axis]), append(s.axes, axis)
			index = append(index, apply(ir.SFmod, position, length(src[x])))
		}
		position = apply(ir.SDiv, position, length(src[x]))
	}
	a := l.newAccess(t, path(nil).prepend(s).after(r.before), nil, codegen.In)
	return l.emit(codegen.Instr{Op: codegen.OpLoad, Type: l.dtype(t).Compute(), Level: at, Access: a, Args: index})
}
