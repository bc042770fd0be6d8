package sinter_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// naiveEinsum sums the products over every assignment of the letters.
func naiveEinsum(in []string, out string, shapes [][]int, data [][]float64) []float64 {
	length := map[byte]int{}
	var letters []byte
	for i, term := range in {
		for a := range len(term) {
			if _, ok := length[term[a]]; !ok {
				letters = append(letters, term[a])
			}
			length[term[a]] = max(length[term[a]], shapes[i][a])
		}
	}
	total := 1
	for i := range len(out) {
		total *= length[out[i]]
	}
	result := make([]float64, total)
	at := map[byte]int{}
	var visit func(n int)
	visit = func(n int) {
		if n < len(letters) {
			for i := range length[letters[n]] {
				at[letters[n]] = i
				visit(n + 1)
			}
			return
		}
		product := 1.0
		for i, term := range in {
			place := 0
			for a := range len(term) {
				x := at[term[a]]
				if shapes[i][a] == 1 {
					x = 0
				}
				place = place*shapes[i][a] + x
			}
			product *= data[i][place]
		}
		place := 0
		for i := range len(out) {
			place = place*length[out[i]] + at[out[i]]
		}
		result[place] += product
	}
	visit(0)
	return result
}

func TestEinsum(t *testing.T) {
	cases := []struct {
		equation string
		in       []string // for the reference: an ellipsis written out
		out      string
		shapes   [][]int
	}{
		{"ij,jk->ik", []string{"ij", "jk"}, "ik", [][]int{{3, 4}, {4, 5}}},
		{"ij,jk", []string{"ij", "jk"}, "ik", [][]int{{3, 4}, {4, 5}}},
		{"ij,kj->ki", []string{"ij", "kj"}, "ki", [][]int{{3, 4}, {5, 4}}},
		{"bij,bjk->bik", []string{"bij", "bjk"}, "bik", [][]int{{2, 3, 4}, {2, 4, 5}}},
		{"...ij,...jk->...ik", []string{"xij", "yxjk"}, "yxik", [][]int{{2, 3, 4}, {3, 2, 4, 5}}},
		{"...ij,...jk", []string{"xij", "xjk"}, "xik", [][]int{{1, 3, 4}, {2, 4, 5}}},
		{"ij->ji", []string{"ij"}, "ji", [][]int{{3, 4}}},
		{"ji", []string{"ji"}, "ij", [][]int{{3, 4}}},
		{"ij->", []string{"ij"}, "", [][]int{{3, 4}}},
		{"ij->j", []string{"ij"}, "j", [][]int{{3, 4}}},
		{"ii->i", []string{"ii"}, "i", [][]int{{4, 4}}},
		{"ii", []string{"ii"}, "", [][]int{{4, 4}}},
		{"iij->ji", []string{"iij"}, "ji", [][]int{{3, 3, 2}}},
		{"i,j->ij", []string{"i", "j"}, "ij", [][]int{{3}, {4}}},
		{"i,i->", []string{"i", "i"}, "", [][]int{{5}, {5}}},
		{"i,i->i", []string{"i", "i"}, "i", [][]int{{5}, {5}}},
		{"ij,jk,kl->il", []string{"ij", "jk", "kl"}, "il", [][]int{{2, 3}, {3, 4}, {4, 2}}},
		{"bhqd,bhkd->bhqk", []string{"bhqd", "bhkd"}, "bhqk", [][]int{{2, 2, 3, 4}, {2, 2, 5, 4}}},
		{" i j , j -> i ", []string{"ij", "j"}, "i", [][]int{{3, 0}, {0}}},
		{",->", []string{"", ""}, "", [][]int{{}, {}}},
		{"a,ab,abc->abc", []string{"a", "ab", "abc"}, "abc", [][]int{{2}, {2, 3}, {2, 3, 4}}},
	}
	for _, dev := range both(t) {
		for _, c := range cases {
			var ts []*sinter.Tensor
			var data [][]float64
			for _, s := range c.shapes {
				n := 1
				for _, d := range s {
					n *= d
				}
				v, f := make([]float32, n), make([]float64, n)
				for i := range v {
					v[i] = float32(i%7) - 3
					f[i] = float64(v[i])
				}
				ts = append(ts, sinter.From(dev, v, s...))
				data = append(data, f)
			}
			want := naiveEinsum(c.in, c.out, c.shapes, data)
			for _, dtype := range []sinter.DType{sinter.F32, sinter.F64, sinter.F16, sinter.I64, sinter.I32, sinter.I16} { // which hold every sum
				cast := make([]*sinter.Tensor, len(ts))
				for i, x := range ts {
					cast[i] = x.Cast(dtype)
				}
				y := sinter.Einsum(c.equation, cast...)
				require.NoError(t, y.Err(), c.equation)
				require.Equal(t, dtype, y.DType())
				got, err := sinter.Read[float64](context.Background(), y.Cast(sinter.F64))
				require.NoError(t, err, c.equation)
				require.Equal(t, append([]float64{}, want...), append([]float64{}, got...), "%s %v", c.equation, dtype)
			}
		}
	}
}

func TestEinsumRefuses(t *testing.T) {
	dev := open(t)
	x := sinter.Ones(dev, sinter.F32, 2, 3)
	for _, c := range []struct {
		equation, msg string
		in            []*sinter.Tensor
	}{
		{"ij,jk->ik", "names 2 operands, got 1", []*sinter.Tensor{x}},
		{"ijk->i", "does not fit rank 2", []*sinter.Tensor{x}},
		{"i->i", "does not fit rank 2", []*sinter.Tensor{x}},
		{"i1->i", "is no letter", []*sinter.Tensor{x}},
		{"ij->ik", `result: 'k' is in no operand`, []*sinter.Tensor{x}},
		{"ij->ii", `result: 'i' twice`, []*sinter.Tensor{x}},
		{"ij,ij->", "which is 2 elsewhere", []*sinter.Tensor{x, sinter.Ones(dev, sinter.F32, 4, 3)}},
	} {
		err := sinter.Einsum(c.equation, c.in...).Err()
		var e *sinter.OpError
		require.ErrorAs(t, err, &e, c.equation)
		assert.ErrorContains(t, err, c.msg, c.equation)
		assert.ErrorContains(t, err, "einsum_test.go:", c.equation)
	}
	assert.Error(t, sinter.Einsum("").Err())
	assert.Error(t, sinter.Einsum("i", nil).Err())
}
