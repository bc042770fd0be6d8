package fuser

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// recipe writes the value of one operation's output at the end of a path.
type recipe func(c *context) (codegen.Value, error)

// recipes holds the one lowering of each kind whose elements can be computed
// on their own, at any place. Reductions are among them: a row is all they
// need. Contractions are only computed where their template does.
var recipes = map[ir.Kind]recipe{}

func init() {
	for _, part := range []map[ir.Kind]recipe{
		mapRecipes(), sourceRecipes(), moveRecipes(), indexRecipes(), reduceRecipes(), scanRecipes(), orderRecipes(),
		normRecipes(), normGradientRecipes(), contractRecipes(),
	} {
		maps.Copy(recipes, part)
	}
}

// context is an operation at one place in a kernel.
type context struct {
	*lowering
	op  *ir.Operation
	pos int
	out ir.TensorID
	p   path // from the output to the space
	at  codegen.Level
}

// outDType returns the dtype the result is rounded to.
func (c *context) outDType() ir.DType { return c.dtype(c.out) }

// operand returns operand i, broadcast to the output's shape.
func (c *context) operand(i int) (codegen.Value, error) {
	return c.value(c.op.Inputs[i].ID, c.p.prepend(c.g.operandStep(c.op, i)), c.at)
}

// operandStep returns the step from operand i of an operation to its output's
// shape: broadcast, aligned at the last axis, or, of the vectors with one
// element for each channel, along axis 1.
func (g *Graph) operandStep(op *ir.Operation, i int) step {
	src, dst := g.shape(op.Inputs[i].ID), g.shape(op.Outputs[0].ID)
	if len(src) != 1 || i == 0 || op.Kind != ir.BatchNorm && op.Kind != ir.GroupNorm {
		return path(nil).expand(src, dst)[0]
	}
	s := step{kind: stepMap, src: src, dst: dst, axes: make([]int, len(dst))}
	for a := range s.axes {
		s.axes[a] = -1
	}
	s.axes[1] = 0
	return s
}

// arguments returns the operands, then the scalars.
func (c *context) arguments() ([]codegen.Value, error) {
	own := len(c.op.Operands())
	args := make([]codegen.Value, 0, own+len(c.op.Scalars))
	for i := range own {
		v, err := c.operand(i)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	for i := range c.op.Scalars {
		v, err := c.scalar(i)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, nil
}

// scalar returns scalar i of the operation: a runtime parameter, or the element
// of a rank-0 operand.
func (c *context) scalar(i int) (codegen.Value, error) {
	s := &c.op.Scalars[i]
	if s.Input == 0 {
		return c.paramValue(c.at, Param{Op: c.pos, Scalar: i}, s.DType), nil
	}
	return c.rankZero(c.op.Inputs[s.Input].ID)
}

// rankZero returns the one element of a tensor.
func (c *context) rankZero(t ir.TensorID) (codegen.Value, error) {
	return c.value(t, c.p.expand(c.g.shape(t), c.g.shape(c.out)), c.at)
}

func (c *context) fn(f ir.ScalarOp, args ...codegen.Value) codegen.Value {
	return c.apply(c.at, f, args...)
}

// num returns a constant of the type the operation computes in.
func (c *context) num(v float64) codegen.Value {
	return c.constant(c.at, c.outDType().Compute(), ir.FloatScalar(c.outDType(), v).Bits)
}

func (c *context) i64(v int64) codegen.Value {
	return c.constant(c.at, ir.I64, ir.I64Scalar(v).Bits)
}

// done rounds the result.
func (c *context) done(v codegen.Value) codegen.Value { return c.round(c.at, v, c.outDType()) }

// axis returns the axis of the kernel's space that walks axis i of the output,
// so that their coordinates are equal.
func (c *context) axis(i int) (int, error) {
	if c.p.plain() {
		for k, a := range c.p.axes()[:len(c.space)] {
			if a == i {
				return k, nil
			}
		}
		if c.whole() {
			return i, nil
		}
	}
	return 0, &Refusal{RuleWindowBehindView, fmt.Sprintf("axis %d of %v", i, c.op.Kind)}
}

// whole reports whether the output is the kernel's space axis by axis; paths
// leave out the axes of length 1.
func (c *context) whole() bool {
	return c.p.equal(identity(c.space)) && slices.Equal(c.space, c.g.shape(c.out))
}

// upTo returns 0, 1, … n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// coordOf returns the coordinate along axis i of the output, 0 along an axis
// of length 1.
func (c *context) coordOf(i int) (codegen.Value, error) {
	if c.g.shape(c.out)[i] == unit {
		return c.i64(0), nil
	}
	k, err := c.axis(i)
	if err != nil {
		return 0, err
	}
	return c.coord(c.at, k), nil
}

// external resolves the views of the block over operand i and returns the
// tensor from outside the block below them and the steps from it to the
// operand. It refuses an operand the block computes.
func (l *lowering) external(t ir.TensorID) (ir.TensorID, path, error) {
	var steps path
	for {
		producer, ok := l.computes(t)
		if !ok {
			return t, steps, nil
		}
		s, ok := l.g.viewStep(producer)
		if !ok {
			return 0, nil, &Refusal{RuleIndexedRead, fmt.Sprintf("tensor %d is computed by %v in the block", t, l.g.Ops[producer].Kind)}
		}
		steps = append(path{s}, steps...)
		t = l.g.Ops[producer].Inputs[0].ID
	}
}

// loadAt loads tensor t through p with index values for the axes of p's last
// map beyond the space, and a fill value outside of the window.
func (c *context) loadAt(t ir.TensorID, p path, index []codegen.Value, window []Window, fill codegen.Value) (codegen.Value, error) {
	base, steps, err := c.external(t)
	if err != nil {
		return 0, err
	}
	p = steps.then(p)
	c.reads = append(c.reads, read{tensor: base, at: p})
	a := c.bind(base, p, window, codegen.In)
	args := append([]codegen.Value(nil), index...)
	if window != nil {
		args = append(args, fill)
	}
	lv := c.at
	for _, v := range args {
		lv = min(lv, c.kernel.Body[v].Level) // Element < Row
	}
	return c.emit(codegen.Instr{Op: codegen.OpLoad, Type: c.dtype(base).Compute(), Level: lv, Access: a, Args: args}), nil
}
