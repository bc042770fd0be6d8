package fuser

import (
	"iter"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Dim names an entry of a segment's table of distinct lengths. Lengths that
// were equal when the plan was made share an entry; entry 0 is always 1. A
// negative value -1-i stands for entry i of a call's Derived lengths.
type Dim int32

// Derived is a length that no tensor of the segment has: Factor times the
// length Num, divided by the length Den.
type Derived struct {
	Factor   int
	Num, Den Dim
}

// ViewKind is a step that changes a layout without moving data.
type ViewKind uint8

// The view steps.
const (
	ViewReshape ViewKind = iota // to Shape
	ViewPermute                 // by Axes
	ViewExpand                  // to Shape
	ViewSlice                   // by the Ranges of operation Op; an axis whose start is a tensor is left whole
	ViewFlip                    // of Axes
	ViewAffine                  // to Shape, by Terms from Start
)

// View is one step on the way from a stored tensor's layout to what a kernel
// indexes. It names lengths, not values, so that it serves every size.
type View struct {
	Kind  ViewKind
	Shape []Dim
	Axes  []int
	Op    int // position in the segment
	Terms []Term
	Start []int // by axis before the view
}

// Term says that the coordinate along axis From before a view grows by Factor
// with each step along axis To after it.
type Term struct{ From, To, Factor int }

// Binding places one access of a kernel: the tensor's layout, taken through
// the views, with its axes put in the order of the kernel's space.
type Binding struct {
	Views []View
	// Axes gives, for each axis of the kernel's space, the axis of the layout
	// it walks, or -1 for none (stride 0).
	Axes []int
	// Index lists the layout's axes that are indexed by values; -1 stands for
	// an axis along which the tensor does not change (length 1, or expanded).
	Index []int
	// Extent is the length of each indexed axis: what indices must stay below.
	Extent []Dim
	// Window bounds space axes: the layout is read only at Lo ≤ i < Lo+Len,
	// and lies Lo further along.
	Window []Window
}

// Window bounds one axis of a kernel's space. Lo is Const plus the sum of the
// lengths Sum, plus, when Range is not 0, the least coordinate that range
// Range−1 of operation Op takes, whose step is 1 or −1.
type Window struct {
	Axis      int
	Const     int
	Sum       []Dim
	Len       Dim
	Op, Range int
}

// Param is a runtime scalar of a kernel: scalar Scalar of operation Op, or,
// when Op is negative, the literal Bits or the length Length.
type Param struct {
	Op, Scalar int
	Bits       uint64
	IsLength   bool
	Length     Dim
}

// Call is one launch of a kernel. One of a kernel of parts has a call for each
// of them, and no space of its own.
type Call struct {
	Kernel  *codegen.Kernel
	Dims    []Dim         // the space
	Tensors []ir.TensorID // the tensor behind each buffer of the kernel (relative ids)
	Access  []Binding     // one for each access of the kernel
	Params  []Param       // one for each parameter of the kernel
	Derived []Derived     // lengths named by negative Dims
	// Copies says that the call makes the second of its tensors a copy of the
	// first. It need not run when one took the other's storage.
	Copies bool
	Parts  []Call
}

// Spaces yields the calls that have a space: c, or its parts.
func (c *Call) Spaces() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		if len(c.Parts) == 0 {
			yield(c)
			return
		}
		for i := range c.Parts {
			if !yield(&c.Parts[i]) {
				return
			}
		}
	}
}

// Alias is an output that is a view of a stored tensor and costs no launch.
type Alias struct {
	Tensor ir.TensorID
	Of     ir.TensorID
	Views  []View
}

// InPlace says that an output may be written to an input's storage, when the
// runtime is its sole owner.
type InPlace struct{ Out, In ir.TensorID }

// Optimization is what a fuser finishes into, as data: it can be printed,
// stored and run by any device.
type Optimization struct {
	Fuser   string
	Ops     []int // positions in the segment, ascending
	Calls   []Call
	Aliases []Alias
	Stored  []ir.TensorID // outputs the calls write
	InPlace []InPlace
	// Aside lists tensors the calls read that may share memory with a Var's
	// version they overwrite, in another order. Where one does, it must be
	// copied aside first.
	Aside []ir.TensorID

	Score   float64 // nanoseconds saved against running the operations one by one
	Saving  Saving  // its parts
	Read    int64   // bytes the calls read and write, at the sizes first seen
	Written int64
	MaxDim  Dim // highest length used
}
