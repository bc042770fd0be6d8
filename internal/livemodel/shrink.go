package livemodel

import "slices"

// Shrink returns a smaller program that still fails, by leaving out steps,
// many at a time and then fewer, and iterations.
func Shrink(p *Program, fails func(*Program) bool) *Program {
	best := *p
	try := func(q Program) bool {
		if !fails(&q) {
			return false
		}
		best = q
		return true
	}
	for again := true; again; {
		again = false
		for n := 1; n < best.Times; n++ {
			q := best
			if q.Times = n; try(q) {
				again = true
				break
			}
		}
		for _, part := range []func(*Program) *[]Step{
			func(q *Program) *[]Step { return &q.Final },
			func(q *Program) *[]Step { return &q.Body },
			func(q *Program) *[]Step { return &q.Init },
		} {
			for width := len(*part(&best)); width > 0; width /= 2 {
				for at := 0; at+width <= len(*part(&best)); {
					q := best
					*part(&q) = slices.Delete(slices.Clone(*part(&q)), at, at+width)
					if try(q) {
						again = true
					} else {
						at += width
					}
				}
			}
		}
	}
	return &best
}
