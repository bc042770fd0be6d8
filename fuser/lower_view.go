package fuser

import "github.com/sinter-ml/sinter/ir"

// unfoldStep leads to the windows of an axis: the coordinate along it is the
// window's number times the step, plus the place in the window, which is the
// last axis.
func unfoldStep(op *ir.Operation, src, dst []Dim) step {
	s := step{kind: stepAffine, src: src, dst: dst, start: make([]int, len(src))}
	for i := range src {
		factor := 1
		if i == op.Attrs.Axes[0] {
			factor = op.Attrs.Ints[1]
		}
		s.terms = append(s.terms, Term{i, i, factor})
	}
	s.terms = append(s.terms, Term{op.Attrs.Axes[0], len(src), 1})
	return s
}

// diagonalStep leads to the elements whose second coordinate is the first plus
// the offset; the two axes become the last one.
func diagonalStep(op *ir.Operation, src, dst []Dim) step {
	s := step{kind: stepAffine, src: src, dst: dst, start: make([]int, len(src))}
	row, column := op.Attrs.Axes[0], op.Attrs.Axes[1]
	kept := 0
	for i := range src {
		if i != row && i != column {
			s.terms = append(s.terms, Term{i, kept, 1})
			kept++
		}
	}
	s.terms = append(s.terms, Term{row, kept, 1}, Term{column, kept, 1})
	s.start[row], s.start[column] = max(-op.Attrs.N, 0), max(op.Attrs.N, 0)
	return s
}
