package oracle

import "github.com/sinter-ml/sinter/ir"

// broadcast expands tensors to their common shape: lengths aligned at the last
// axis, where 1 stretches.
func broadcast(ts []Tensor) ([]Tensor, error) {
	rank := 0
	for _, t := range ts {
		rank = max(rank, len(t.Shape))
	}
	shape := make(ir.Shape, rank)
	for k := range shape {
		shape[k] = 1
		for _, t := range ts {
			a := k - rank + len(t.Shape)
			if a < 0 || t.Shape[a] == 1 {
				continue
			}
			if shape[k] != 1 && shape[k] != t.Shape[a] {
				return nil, &ir.ShapeError{Msg: "shapes do not broadcast"}
			}
			shape[k] = t.Shape[a]
		}
	}
	out := make([]Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.expand(shape)
	}
	return out, nil
}

func broadcast2(a, b Tensor) (Tensor, Tensor, error) {
	t, err := broadcast([]Tensor{a, b})
	if err != nil {
		return Tensor{}, Tensor{}, err
	}
	return t[0], t[1], nil
}
