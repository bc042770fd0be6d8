package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// scanRecipes lowers the scans: the inner axis of the kernel is the scan's.
func scanRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{
		ir.CumSum:  scanBy(codegen.RSum),
		ir.CumProd: scanBy(codegen.RProd),
		ir.CumMax:  scanBy(codegen.RMax),
		ir.CumMin:  scanBy(codegen.RMin),
	}
}

// scanBy rounds each element of a running result in the compute dtype once.
func scanBy(r codegen.ReduceOp) recipe {
	return func(c *context) (codegen.Value, error) {
		if c.template != codegen.Scan {
			return 0, &Refusal{RuleKind, fmt.Sprintf("%v outside of a scan", c.op.Kind)}
		}
		if err := c.innerIs(c.op.Attrs.Axes); err != nil {
			return 0, err
		}
		x, err := c.operand(0)
		if err != nil {
			return 0, err
		}
		return c.done(c.emit(codegen.Instr{
			Op: codegen.OpScan, Type: c.kernel.Body[x].Type, Reduce: r,
			Exclusive: c.op.Attrs.Flag, Reverse: c.op.Attrs.Reverse, Args: []codegen.Value{x},
		})), nil
	}
}

// orderRecipes lowers the kinds that sort: the inner axis of the kernel is the
// sorted one.
func orderRecipes() map[ir.Kind]recipe {
	return map[ir.Kind]recipe{
		ir.Sort:    sortFor(false),
		ir.TopK:    sortFor(false),
		ir.ArgSort: sortFor(true),
		ir.ArgTopK: sortFor(true),
	}
}

// sortFor sorts whole rows for the elements or their positions; of the first
// elements alone the others are not stored (clip).
func sortFor(positions bool) recipe {
	return func(c *context) (codegen.Value, error) {
		if err := c.anchored(codegen.Sort); err != nil {
			return 0, err
		}
		x := c.op.Inputs[0].ID
		shape := c.g.shape(x)
		v, err := c.value(x, walk(shape, c.space, rowOrder(len(shape), c.op.Attrs.Axes)), codegen.Element)
		if err != nil {
			return 0, err
		}
		t := c.kernel.Body[v].Type
		if positions {
			t = ir.I64
		}
		return c.emit(codegen.Instr{
			Op: codegen.OpSort, Type: t, Reverse: c.op.Attrs.Reverse, Positions: positions, Args: []codegen.Value{v},
		}), nil
	}
}

// sorted makes the space that of an operation that sorts and returns the path
// of its output, which may be shorter than the sorted axis.
func (l *lowering) sorted(op *ir.Operation) path {
	axis := op.Attrs.Axes[0]
	l.template = codegen.Sort
	l.rowFrame(l.g.shape(op.Inputs[0].ID), op.Attrs.Axes, false)
	out := op.Outputs[0].ID
	shape := l.g.shape(out)
	if shape[axis] != l.space[l.outer] {
		l.clip = map[ir.TensorID][]Window{out: {{Axis: l.outer, Len: shape[axis]}}}
	}
	l.anchor = walk(shape, l.space, rowOrder(len(shape), op.Attrs.Axes))
	return l.anchor
}
