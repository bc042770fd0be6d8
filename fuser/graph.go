package fuser

import (
	"fmt"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Tensor is what is known of a tensor of a segment before it is planned.
type Tensor struct {
	Shape     ir.Shape
	DType     ir.DType
	Producer  int            // position of the operation that makes it, -1: an input of the segment
	Consumers []int          // positions of the operations that read it, ascending
	Layout    codegen.Layout // inputs: how it is stored
	Buffer    int            // inputs: number of the buffer, from 1; equal numbers share memory, 0 shares with nobody
	Stored    bool           // decided: it must exist in memory after the segment, or crosses blocks
	Dead      bool           // nobody can ask for it any more
	Var       bool           // a version of a Var
}

// Graph is a segment as fusers see it: operations with relative ids, which
// are indices of Tensors, and what is known of each tensor.
type Graph struct {
	Ops     []ir.Operation
	Tensors []Tensor
	InPlace []bool        // effect operations: written over the old version's storage
	Off     map[Rule]bool // profit rules that are switched off
	Dims    []int         // the distinct lengths, in order of first appearance; Dims[0] = 1
	dimOf   map[int]Dim
	shapes  [][]Dim // of each tensor, filled by prepare
	feeds   []int   // by operation: the contraction whose operand is all that depends on it, or -1; filled by prepare
}

// Dim returns the entry of the table of lengths for a length that occurs in
// the segment.
func (g *Graph) Dim(length int) (Dim, bool) {
	if g.dimOf == nil {
		g.dimOf = make(map[int]Dim, len(g.Dims))
		for i, d := range g.Dims {
			g.dimOf[d] = Dim(i)
		}
	}
	d, ok := g.dimOf[length]
	return d, ok
}

// Remade reports whether the operation at a position creates a tensor that
// needs no memory: it depends on no tensor and is not to be stored, so every
// block that reads it makes it anew, element by element, and none stores it. An
// operation that cannot make it, and a view of it that is stored, reads what it
// wrote when it ran alone.
func (g *Graph) Remade(pos int) bool {
	op := &g.Ops[pos]
	return ir.Lookup(op.Kind).Class == ir.ClassCreate && len(op.Inputs) == 0 && !g.Tensors[op.Outputs[0].ID].Stored
}

// prepare names the lengths of every tensor, once. It fails when a length is
// missing from the table of lengths or a tensor is used that does not exist.
func (g *Graph) prepare() error {
	if len(g.shapes) == len(g.Tensors) {
		return nil
	}
	if len(g.Dims) == 0 || g.Dims[0] != 1 {
		return fmt.Errorf("the table of lengths %v does not start with 1", g.Dims)
	}
	shapes := make([][]Dim, len(g.Tensors))
	for t := range g.Tensors {
		shape := make([]Dim, len(g.Tensors[t].Shape))
		for i, length := range g.Tensors[t].Shape {
			d, ok := g.Dim(length)
			if !ok {
				return fmt.Errorf("length %d of tensor %d is not in the table of lengths", length, t)
			}
			shape[i] = d
		}
		shapes[t] = shape
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		if len(op.Outputs) != 1 {
			return fmt.Errorf("operation %d, %v, has %d outputs", i, op.Kind, len(op.Outputs))
		}
		for _, refs := range [...][]ir.TensorRef{op.Inputs, op.Outputs} {
			for _, ref := range refs {
				if ref.ID >= ir.TensorID(len(g.Tensors)) {
					return fmt.Errorf("operation %d, %v, uses tensor %d of %d", i, op.Kind, ref.ID, len(g.Tensors))
				}
			}
		}
	}
	g.shapes = shapes
	g.prepareFeeds()
	return nil
}

// shape returns the named lengths of a tensor.
func (g *Graph) shape(t ir.TensorID) []Dim { return g.shapes[t] }

// output returns the tensor an operation makes.
func (g *Graph) output(op int) ir.TensorID { return g.Ops[op].Outputs[0].ID }
