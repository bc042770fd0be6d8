package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
)

// sumBlock adds a block of at most codegen.BlockElems elements: lane j adds
// elements j, j+32, … one after another from zero; lanes are joined by a tree.
// Eight lanes at a time stay in machine registers.
func sumBlock(a []float32) float32 {
	var lane [codegen.Lanes]float32
	for g := 0; g < codegen.Lanes; g += 8 {
		var s0, s1, s2, s3, s4, s5, s6, s7 float32
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
		s := [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
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
func prodBlock(a []float32) float32 {
	var lane [codegen.Lanes]float32
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

// The greatest and least element do not depend on the order, so four chains
// hide the latency.

func maxBlock(a []float32) float32 {
	m0 := float32(math.Inf(-1))
	m1, m2, m3 := m0, m0, m0
	for ; len(a) >= 4; a = a[4:] {
		m0, m1, m2, m3 = max(m0, a[0]), max(m1, a[1]), max(m2, a[2]), max(m3, a[3])
	}
	for _, x := range a {
		m0 = max(m0, x)
	}
	return max(max(m0, m1), max(m2, m3))
}

func minBlock(a []float32) float32 {
	m0 := float32(math.Inf(1))
	m1, m2, m3 := m0, m0, m0
	for ; len(a) >= 4; a = a[4:] {
		m0, m1, m2, m3 = min(m0, a[0]), min(m1, a[1]), min(m2, a[2]), min(m3, a[3])
	}
	for _, x := range a {
		m0 = min(m0, x)
	}
	return min(min(m0, m1), min(m2, m3))
}
