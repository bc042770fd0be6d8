package optimize

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// cyclic reports, by trying every pair, whether the groups of operations wait
// for each other.
func cyclic(groups [][]int, preds [][]int) bool {
	of := map[int]int{}
	for g, ops := range groups {
		for _, op := range ops {
			of[op] = g
		}
	}
	n := len(groups)
	reach := make([]bool, n*n)
	for g, ops := range groups {
		for _, op := range ops {
			for _, p := range preds[op] {
				if of[p] != g {
					reach[of[p]*n+g] = true
				}
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i*n+j] = reach[i*n+j] || reach[i*n+k] && reach[k*n+j]
			}
		}
	}
	for i := range n {
		if reach[i*n+i] {
			return true
		}
	}
	return false
}

func TestOrderFindsPathsThatReenter(t *testing.T) {
	legal, illegal := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 3 + r.IntN(14)
		preds := make([][]int, n)
		o := order{of: make([]*block, n), window: 1 << 20}
		for op := range n {
			for p := range op {
				if r.IntN(4) == 0 {
					preds[op] = append(preds[op], p)
				}
			}
			var live []*block
			for _, b := range o.list {
				if b != nil {
					live = append(live, b)
				}
			}
			// Try to merge one to three blocks with the new operation.
			var set []*block
			for range min(1+r.IntN(3), len(live)) {
				if b := live[r.IntN(len(live))]; !slices.Contains(set, b) {
					set = append(set, b)
				}
			}
			if len(set) == 0 || r.IntN(3) > 0 {
				o.append(&block{ops: []int{op}, preds: preds[op]})
				continue
			}
			groups := [][]int{{op}}
			for _, b := range live {
				if slices.Contains(set, b) {
					groups[0] = append(groups[0], b.ops...)
				} else {
					groups = append(groups, b.ops)
				}
			}
			before, rule := o.between(set, preds[op])
			require.Equal(t, cyclic(groups, preds), rule == RuleCycle, "seed %d, operation %d", seed, op)
			if rule != "" {
				illegal++
				o.append(&block{ops: []int{op}, preds: preds[op]})
				continue
			}
			legal++
			b := &block{ops: []int{op}, preds: preds[op]}
			for _, x := range set {
				b.ops = union(b.ops, x.ops)
				b.preds = append(b.preds, x.preds...)
			}
			o.merge(set, before, b)
			for _, b := range o.list {
				if b == nil {
					continue
				}
				for _, p := range b.preds {
					require.LessOrEqual(t, o.of[p].at, b.at, "the list is a running order")
				}
			}
		}
	}
	require.Greater(t, legal, 500)
	require.Greater(t, illegal, 500)
}

func TestOrderRefusesFarMerges(t *testing.T) {
	o := order{of: make([]*block, 8), window: 3}
	for op := range 7 {
		o.append(&block{ops: []int{op}})
	}
	_, rule := o.between([]*block{o.of[2]}, []int{2})
	require.Equal(t, RuleFar, rule)
	_, rule = o.between([]*block{o.of[4]}, []int{4})
	require.Empty(t, rule)
}
