package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// indexRecipes lowers the kinds that read elements an index tensor names.
func indexRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{ir.Select: lowerSelect, ir.Gather: lowerGather, ir.Embedding: lowerEmbedding}
}

// picked reads x with one axis indexed. axes gives, for each axis of the
// output, the axis of x it walks, or -1.
func (c *context) picked(x ir.TensorID, axis int, axes []int, index codegen.Value) (codegen.Value, error) {
	src := c.g.shape(x)
	p, ok := c.p.lift(src[axis])
	if !ok {
		return 0, &Refusal{RuleWindowBehindView, fmt.Sprintf("axis %d of %v", axis, c.op.Kind)}
	}
	dst := append(append([]Dim(nil), c.g.shape(c.out)...), src[axis])
	p = p.prepend(step{kind: stepMap, src: src, dst: dst, axes: append(axes, axis)})
	return c.loadAt(x, p, []codegen.Value{index}, nil, 0)
}

func lowerSelect(c *context) (codegen.Value, error) {
	axis := c.op.Attrs.Axes[0]
	out := c.g.shape(c.out)
	axes, along := make([]int, len(out)), make([]int, len(out))
	for i := range axes {
		axes[i], along[i] = i, -1
	}
	axes[axis], along[axis] = -1, 0
	list := c.op.Inputs[1].ID
	index, err := c.value(list, c.p.prepend(step{kind: stepMap, src: c.g.shape(list), dst: out, axes: along}), c.at)
	if err != nil {
		return 0, err
	}
	return c.picked(c.op.Inputs[0].ID, axis, axes, index)
}

// lowerGather reads x at the output's own coordinates but for one axis. Where
// the indices are shorter than x, only the start of x is read.
func lowerGather(c *context) (codegen.Value, error) {
	axis := c.op.Attrs.Axes[0]
	axes := upTo(len(c.g.shape(c.out)))
	axes[axis] = -1
	for i, length := range c.g.shape(c.op.Inputs[0].ID) {
		if i != axis && length != c.g.shape(c.out)[i] && !c.p.plain() {
			return 0, &Refusal{RuleWindowBehindView, fmt.Sprintf("axis %d of Gather", i)}
		}
	}
	index, err := c.operand(1)
	if err != nil {
		return 0, err
	}
	return c.picked(c.op.Inputs[0].ID, axis, axes, index)
}

func lowerEmbedding(c *context) (codegen.Value, error) {
	out := c.g.shape(c.out)
	last := len(out) - 1
	axes, along := make([]int, len(out)), make([]int, len(out))
	for i := range axes {
		axes[i], along[i] = -1, i
	}
	axes[last], along[last] = 1, -1
	list := c.op.Inputs[1].ID
	index, err := c.value(list, c.p.prepend(step{kind: stepMap, src: c.g.shape(list), dst: out, axes: along}), c.at)
	if err != nil {
		return 0, err
	}
	return c.picked(c.op.Inputs[0].ID, 0, axes, index)
}
