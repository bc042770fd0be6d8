package fuser

import (
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
	Stored    bool           // decided: it must exist in memory after the segment, or crosses blocks
	Dead      bool           // nobody can ask for it any more
	Var       bool           // a version of a Var
}

// Graph is a segment as fusers see it: operations with relative ids, which
// are indices of Tensors, and what is known of each tensor.
type Graph struct {
	Ops     []ir.Operation
	Tensors []Tensor
	InPlace []bool // effect operations: written over the old version's storage
	Dims    []int  // the distinct lengths, in order of first appearance; Dims[0] = 1
	dimOf   map[int]Dim
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
