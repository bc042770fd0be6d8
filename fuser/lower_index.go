package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// indexRecipes lowers the kinds that read elements an index tensor names.
func indexRecipes() map[ir.Kind]recipe {
	out := map[ir.Kind]recipe{}
	for _, k := range []ir.Kind{ir.Select, ir.Gather, ir.Embedding, ir.GatherND} {
		out[k] = lowerPicked
	}
	return out
}

// picks says where the elements of a part of a tensor lie that index values
// name.
type picks struct {
	// axes gives, for each axis of the tensor, the axis of the part that walks
	// it, or -1 where the next of the lists says where.
	axes []int
	// lists are the paths from the tensor of indices to the part.
	lists []path
}

// picked returns how an indexing operation picks a part of a tensor: of operand
// 0 for its output, or of its output for the value it writes.
func (g *Graph) picked(op *ir.Operation, tensor, part []Dim) picks {
	list := g.shape(op.Inputs[1].ID)
	out := picks{axes: upTo(len(tensor))}
	along := upTo(len(part)) // of the list's axes
	switch op.Kind {
	case ir.Gather, ir.Scatter:
		out.axes[op.Attrs.Axes[0]] = -1
	case ir.Embedding:
		out.axes = []int{-1, len(part) - 1}
		along[len(part)-1] = -1
	case ir.GatherND, ir.ScatterND:
		// Each place of the list's last axis is a list, for one of the first axes.
		lead := len(list) - 1
		for i := lead; i < len(part); i++ {
			along[i] = -1
		}
		k := len(tensor) - (len(part) - lead)
		for i := range out.axes {
			out.axes[i] = max(i-k+lead, -1)
			if i < k {
				out.axes[i] = -1
				out.lists = append(out.lists, walk(list[:lead], part, along).prepend(fixed(list, i)))
			}
		}
		return out
	default:
		axis := op.Attrs.Axes[0]
		out.axes[axis] = -1
		for i := range along {
			along[i] = -1
		}
		along[axis] = 0
	}
	out.lists = []path{walk(list, part, along)}
	return out
}

// partial reports whether the part walks only the first elements of an axis, so
// that no view may lie between them.
func (p picks) partial(tensor, part []Dim) bool {
	for i, a := range p.axes {
		if a >= 0 && tensor[i] != part[a] {
			return true
		}
	}
	return false
}

// from returns the path of the tensor, with its indexed axes behind the part's,
// p leading on from the part.
func (p picks) from(tensor, part []Dim, on path) (path, bool) {
	if p.partial(tensor, part) && !on.plain() {
		return nil, false
	}
	s := step{kind: stepMap, src: tensor, dst: slices.Clone(part), axes: make([]int, len(part))}
	for i := range s.axes {
		s.axes[i] = slices.Index(p.axes, i)
	}
	for i, a := range p.axes {
		if a >= 0 {
			continue
		}
		lifted, ok := on.lift(tensor[i])
		if !ok {
			return nil, false
		}
		on = lifted
		s.dst, s.axes = append(s.dst, tensor[i]), append(s.axes, i)
	}
	return on.prepend(s), true
}

// pick returns the path of the tensor an operation picks from and the index
// values. c.out is the part.
func (c *context) pick(tensor []Dim) (path, []codegen.Value, error) {
	part := c.g.shape(c.out)
	how := c.g.picked(c.op, tensor, part)
	at, ok := how.from(tensor, part, c.p)
	if !ok {
		return nil, nil, &Refusal{RuleWindowBehindView, fmt.Sprintf("%v through a view", c.op.Kind)}
	}
	var index []codegen.Value
	for _, list := range how.lists {
		v, err := c.value(c.op.Inputs[1].ID, list.then(c.p), c.at)
		if err != nil {
			return nil, nil, err
		}
		index = append(index, v)
	}
	return at, index, nil
}

func lowerPicked(c *context) (codegen.Value, error) {
	x := c.op.Inputs[0].ID
	at, index, err := c.pick(c.g.shape(x))
	if err != nil {
		return 0, err
	}
	return c.loadAt(x, at, index, nil, 0)
}
