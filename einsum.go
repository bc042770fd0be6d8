package sinter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// Einsum returns the sum of products an equation names, such as "bij,bjk->bik":
// a letter for each axis of each operand, the letters of the result behind the
// arrow. Letters that are missing there are summed over; without an arrow the
// result has those that occur once, in alphabetical order. An ellipsis stands for
// any axes, which broadcast; a letter twice in one operand takes the diagonal.
// Operands are contracted from left to right, each pair by one MatMul.
func Einsum(equation string, ts ...*Tensor) *Tensor {
	c := compoundOf(ts...)
	if len(ts) == 0 {
		return orphan("Einsum", &ArgumentError{Msg: "needs at least one tensor"})
	}
	if bad := c.refuse("Einsum", ts...); bad != nil {
		return bad
	}
	e, err := parseEinsum(equation, ts)
	if err != nil {
		return c.fail("Einsum", ts[0], err)
	}
	return c.einsum(e, ts)
}

// einsum is a parsed equation. The axes of an ellipsis get labels of their own,
// below every letter.
type einsum struct {
	in     [][]rune
	out    []rune
	length map[rune]int
}

const ellipsis = "..."

func parseEinsum(equation string, ts []*Tensor) (*einsum, error) {
	left, right, arrow := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(ts) {
		return nil, &ArgumentError{Msg: fmt.Sprintf("%q names %d operands, got %d", equation, len(terms), len(ts))}
	}
	e := &einsum{length: map[rune]int{}}
	most := 0 // axes of the longest ellipsis
	for i, term := range terms {
		shape := ts[i].val().Shape()
		labels, dots, err := labelsOf(term, len(shape))
		if err != nil {
			return nil, &ArgumentError{Msg: fmt.Sprintf("%q, operand %d: %v", equation, i, err)}
		}
		most = max(most, dots)
		for axis, l := range labels {
			n := shape[axis]
			switch have, ok := e.length[l]; {
			case !ok || have == 1:
				e.length[l] = n
			case n != have && n != 1:
				return nil, &ShapeError{Msg: fmt.Sprintf("%q, operand %d: length %d of %s, which is %d elsewhere", equation, i, n, labelName(l), have)}
			}
		}
		e.in = append(e.in, labels)
	}
	if !arrow {
		e.out = e.implied(most)
		return e, nil
	}
	rank := len(right)
	if strings.Contains(right, ellipsis) {
		rank += most - len(ellipsis)
	}
	labels, _, err := labelsOf(right, rank)
	if err != nil {
		return nil, &ArgumentError{Msg: fmt.Sprintf("%q, result: %v", equation, err)}
	}
	for i, l := range labels {
		if _, ok := e.length[l]; !ok {
			return nil, &ArgumentError{Msg: fmt.Sprintf("%q, result: %s is in no operand", equation, labelName(l))}
		}
		if slices.Contains(labels[:i], l) {
			return nil, &ArgumentError{Msg: fmt.Sprintf("%q, result: %s twice", equation, labelName(l))}
		}
	}
	e.out = labels
	return e, nil
}

// labelsOf reads a term for so many axes; the axes of an ellipsis count from
// the right, −1 being the last.
func labelsOf(term string, rank int) (labels []rune, dots int, err error) {
	before, after, found := strings.Cut(term, ellipsis)
	letters := before + after
	for _, r := range letters {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return nil, 0, fmt.Errorf("%q is no letter", r)
		}
	}
	dots = rank - len(letters)
	if dots < 0 || dots > 0 && !found {
		return nil, 0, fmt.Errorf("%q does not fit rank %d", term, rank)
	}
	labels = []rune(before)
	for i := range dots {
		labels = append(labels, rune(i-dots))
	}
	return append(labels, []rune(after)...), dots, nil
}

// labelName is a label as errors name it.
func labelName(l rune) string {
	if l < 0 {
		return "an axis of the ellipsis"
	}
	return fmt.Sprintf("%q", l)
}

// implied are the labels of a result that is not given: the ellipsis and what
// occurs once.
func (e *einsum) implied(dots int) []rune {
	var out []rune
	for i := range dots {
		out = append(out, rune(i-dots))
	}
	times := map[rune]int{}
	for _, labels := range e.in {
		for _, l := range labels {
			times[l]++
		}
	}
	var letters []rune
	for l, n := range times {
		if l > 0 && n == 1 {
			letters = append(letters, l)
		}
	}
	slices.Sort(letters)
	return append(out, letters...)
}

func (c compound) einsum(e *einsum, ts []*Tensor) *Tensor {
	needed := func(l rune, after int) bool {
		if slices.Contains(e.out, l) {
			return true
		}
		for _, labels := range e.in[after:] {
			if slices.Contains(labels, l) {
				return true
			}
		}
		return false
	}
	acc, have := c.distinct(ts[0], e.in[0])
	acc, have = c.sumOut(acc, have, func(l rune) bool { return needed(l, 1) })
	for i := 1; i < len(ts); i++ {
		next, labels := c.distinct(ts[i], e.in[i])
		next, labels = c.sumOut(next, labels, func(l rune) bool { return slices.Contains(have, l) || needed(l, i+1) })
		acc, have = c.contract(e, acc, have, next, labels, func(l rune) bool { return needed(l, i+1) })
	}
	axes := make([]int, len(e.out))
	for i, l := range e.out {
		axes[i] = slices.Index(have, l)
	}
	if out := c.permute(acc, axes); out != ts[0] {
		return out
	}
	return c.same(acc)
}

// distinct takes the diagonal of axes that share a label.
func (c compound) distinct(t *Tensor, labels []rune) (*Tensor, []rune) {
	for i := 0; i < len(labels); i++ {
		j := slices.Index(labels[i+1:], labels[i])
		if j < 0 {
			continue
		}
		j += i + 1
		l := labels[i]
		t = c.op(ir.Operation{Kind: ir.Diagonal, Attrs: ir.Attrs{Axes: []int{i, j}}}, t)
		labels = slices.Delete(slices.Clone(labels), j, j+1)
		labels = append(slices.Delete(labels, i, i+1), l)
		i = -1
	}
	return t, labels
}

// sumOut sums over the axes that are not wanted.
func (c compound) sumOut(t *Tensor, labels []rune, wanted func(rune) bool) (*Tensor, []rune) {
	var axes []int
	var left []rune
	var shape Shape
	for i, l := range labels {
		if wanted(l) {
			left = append(left, l)
			shape = append(shape, t.Dim(i))
		} else {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return t, labels
	}
	return c.reshape(c.reduce(ir.Sum, t, axes...), shape), left
}

// contract multiplies two operands and sums over the labels both have that are
// not wanted any more: a matrix product [batch, m, k]·[batch, k, n].
func (c compound) contract(e *einsum, a *Tensor, la []rune, b *Tensor, lb []rune, wanted func(rune) bool) (*Tensor, []rune) {
	var batch, m, k, n []rune
	for _, l := range la {
		switch shared := slices.Contains(lb, l); {
		case shared && wanted(l):
			batch = append(batch, l)
		case shared:
			k = append(k, l)
		default:
			m = append(m, l)
		}
	}
	for _, l := range lb {
		if !slices.Contains(la, l) {
			n = append(n, l)
		}
	}
	x := c.matrix(e, a, la, batch, m, k)
	y := c.matrix(e, b, lb, batch, k, n)
	out := slices.Concat(batch, m, n)
	shape := make(Shape, len(out))
	for i, l := range out {
		shape[i] = e.length[l]
	}
	return c.reshape(c.op(ir.Operation{Kind: ir.MatMul}, x, y), shape), out
}

// matrix lays an operand out as [batch, rows, columns], each of several axes.
func (c compound) matrix(e *einsum, t *Tensor, labels []rune, groups ...[]rune) *Tensor {
	var axes []int
	var full, grouped Shape
	for _, group := range groups {
		total := 1
		for _, l := range group {
			axes = append(axes, slices.Index(labels, l))
			full = append(full, e.length[l])
			total *= e.length[l]
		}
		grouped = append(grouped, total)
	}
	t = c.permute(t, axes)
	if !t.val().Shape().Equal(full) { // a length 1 against another
		t = c.expand(t, full)
	}
	return c.reshape(t, grouped)
}
