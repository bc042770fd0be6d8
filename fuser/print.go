package fuser

import (
	"fmt"
	"strings"
)

var viewNames = [...]string{"reshape", "permute", "expand", "slice", "flip", "affine"}

// String prints the view with the entries of the table of lengths it names,
// such as "reshape[d1 d2]", or the operation whose ranges it takes.
func (v View) String() string {
	switch v.Kind {
	case ViewReshape, ViewExpand:
		return viewNames[v.Kind] + dimsString(v.Shape)
	case ViewSlice:
		return fmt.Sprintf("slice(op %d)", v.Op)
	case ViewAffine:
		return viewNames[v.Kind] + dimsString(v.Shape) + fmt.Sprint(v.Terms, v.Start)
	}
	return viewNames[v.Kind] + fmt.Sprint(v.Axes)
}

// String prints the entry's name: d3, or D0 for a derived length.
func (d Dim) String() string {
	if d < 0 {
		return fmt.Sprintf("D%d", -1-d)
	}
	return fmt.Sprintf("d%d", int32(d))
}

func dimsString(dims []Dim) string { return fmt.Sprint(dims) }

// String prints the way from a tensor to the kernel's space.
func (b Binding) String() string {
	var s strings.Builder
	for _, v := range b.Views {
		s.WriteString(v.String() + " ")
	}
	fmt.Fprintf(&s, "axes%v", b.Axes)
	if len(b.Index) > 0 {
		fmt.Fprintf(&s, " index%v", b.Index)
	}
	for _, w := range b.Window {
		fmt.Fprintf(&s, " window(axis %d from %d", w.Axis, w.Const)
		for _, d := range w.Sum {
			fmt.Fprintf(&s, "+%v", d)
		}
		if w.Range > 0 {
			fmt.Fprintf(&s, "+range %d of operation %d", w.Range-1, w.Op)
		}
		fmt.Fprintf(&s, " length %v)", w.Len)
	}
	return s.String()
}

// String prints the kernel, then the space and what each buffer, access and
// parameter is bound to.
func (c *Call) String() string {
	var s strings.Builder
	s.WriteString(c.Kernel.String())
	fmt.Fprintf(&s, "  space %s\n", dimsString(c.Dims))
	for i, d := range c.Derived {
		fmt.Fprintf(&s, "  D%d = %d*%v/%v\n", i, d.Factor, d.Num, d.Den)
	}
	for i, t := range c.Tensors {
		fmt.Fprintf(&s, "  b%d = tensor %d\n", i, t)
	}
	for i, b := range c.Access {
		fmt.Fprintf(&s, "  a%d = %v\n", i, b)
	}
	for i := range c.Parts {
		fmt.Fprintf(&s, "  part %d\n%s", i, c.Parts[i].String())
	}
	for i, p := range c.Params {
		switch {
		case p.IsLength:
			fmt.Fprintf(&s, "  p%d = %v\n", i, p.Length)
		case p.Op < 0:
			fmt.Fprintf(&s, "  p%d = %#x\n", i, p.Bits)
		default:
			fmt.Fprintf(&s, "  p%d = scalar %d of operation %d\n", i, p.Scalar, p.Op)
		}
	}
	return s.String()
}
