package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
)

// sumBlock adds a block of at most codegen.BlockElems elements: lane j adds
// elements j, j+32, … one after another from zero; lanes are joined by a tree.
// Eight lanes at a time stay in machine registers.
func sumBlock[T float32 | float64](a []T) T {
	var lane [codegen.Lanes]T
	for g := 0; g < codegen.Lanes; g += 8 {
		var s0, s1, s2, s3, s4, s5, s6, s7 T
		i := g
		for ; i+8 <= len(a); i += codegen.Lanes {
			x := a[i : i+8 : i+8]
			s0 += x[0]
			s1 += x[1]
			s2 += x[2]
			s3 += x[3]
			s4 += x[4]
			s5 += x[5]
			s6 += x[6]
			s7 += x[7]
		}
		s := [8]T{s0, s1, s2, s3, s4, s5, s6, s7}
		for j := 0; i < len(a); i, j = i+1, j+1 {
			s[j] += a[i]
		}
		copy(lane[g:], s[:])
	}
	for half := codegen.Lanes / 2; half > 0; half /= 2 {
		for j := range half {
			lane[j] += lane[j+half]
		}
	}
	return lane[0]
}

// prodBlock is sumBlock for products.
func prodBlock[T float32 | float64](a []T) T {
	var lane [codegen.Lanes]T
	fill(lane[:], 1)
	for i, x := range a {
		lane[i%codegen.Lanes] *= x
	}
	for half := codegen.Lanes / 2; half > 0; half /= 2 {
		for j := range half {
			lane[j] *= lane[j+half]
		}
	}
	return lane[0]
}

// maxBlock returns the greatest element, NaN if there is one. The comparison
// fails for a greater element or a NaN alone, both rare; zeros of either sign
// compare equal, so a zero result is looked at again.
func maxBlock[T float32 | float64](a []T) T {
	m := T(math.Inf(-1))
	for _, x := range a {
		if !(x <= m) {
			m = max(m, x)
		}
	}
	if m == 0 {
		for _, x := range a {
			m = max(m, x)
		}
	}
	return m
}

// minBlock is maxBlock for the least element.
func minBlock[T float32 | float64](a []T) T {
	m := T(math.Inf(1))
	for _, x := range a {
		if !(x >= m) {
			m = min(m, x)
		}
	}
	if m == 0 {
		for _, x := range a {
			m = min(m, x)
		}
	}
	return m
}
