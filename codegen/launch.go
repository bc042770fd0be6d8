package codegen

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// ArgsError says that the arguments of a launch do not fit its kernel or
// would reach outside a buffer.
type ArgsError struct {
	Kernel string // the kernel's name
	Where  string // "launch", "access 2", …
	Rule   string
}

func (e *ArgsError) Error() string {
	return fmt.Sprintf("launch of %q: %s: %s", e.Kernel, e.Where, e.Rule)
}

// Clone returns a copy that shares nothing with l.
func (l *Launch) Clone() *Launch {
	c := &Launch{Dims: slices.Clone(l.Dims), Access: slices.Clone(l.Access), Params: slices.Clone(l.Params), State: slices.Clone(l.State)}
	for i := range c.Access {
		a := &c.Access[i]
		a.Strides, a.Index, a.Window = slices.Clone(a.Strides), slices.Clone(a.Index), slices.Clone(a.Window)
	}
	for i := range l.Parts {
		c.Parts = append(c.Parts, *l.Parts[i].Clone())
	}
	return c
}

// CheckLaunch proves, before a launch, that every access stays inside its
// buffer: it takes the least and greatest position from lengths, strides,
// windows and indexed axes. sizes holds the bytes of each buffer. The kernel
// must have been verified. It returns an *ArgsError.
//
// Index values are data: engines check them against IndexArg.Extent, and what
// is proved here is that no index inside its extent leaves the buffer.
func CheckLaunch(k *Kernel, l *Launch, sizes []int) error {
	return NewChecker(k).Check(l, sizes)
}

// Checker is CheckLaunch with what depends only on the kernel done once.
type Checker struct {
	k *Kernel
	// where each access is evaluated; an access used in several ways has the
	// union
	elements []bool // at every point of the space
	outer    []bool // at every point of the outer axes
	left     []bool // at every point of a contraction's left operand
	right    []bool // at every point of its right operand
	parts    []*Checker
	whole    []int // of a part: its buffers among those of the whole
}

// buffer returns the number of buffer b of the kernel among those a launch is
// given.
func (c *Checker) buffer(b int) int {
	if c.whole != nil {
		return c.whole[b]
	}
	return b
}

// NewChecker returns a checker for launches of a verified kernel.
func NewChecker(k *Kernel) *Checker {
	c := &Checker{k: k, elements: make([]bool, len(k.Accesses)), outer: make([]bool, len(k.Accesses)),
		left: make([]bool, len(k.Accesses)), right: make([]bool, len(k.Accesses))}
	mark := func(access int, outerOnly bool) {
		if outerOnly {
			c.outer[access] = true
		} else {
			c.elements[access] = true
		}
	}
	for i := range k.Parts {
		part := NewChecker(k.Parts[i].Kernel)
		part.whole = k.Parts[i].Buffers
		c.parts = append(c.parts, part)
	}
	for i := range k.Body {
		in := &k.Body[i]
		k.reads(in, func(access int) {
			mark(access, in.Op == OpLoad && k.outerOnly(in))
			c.left[access] = c.left[access] || in.Level == Left
			c.right[access] = c.right[access] || in.Level == Right
		})
	}
	for _, s := range k.Stores {
		mark(s.Access, k.outerOnly(&k.Body[s.Value]))
	}
	return c
}

// Check is CheckLaunch. It allocates only to report an error.
func (c *Checker) Check(l *Launch, sizes []int) error {
	k := c.k
	switch {
	case len(l.Dims) != k.Axes():
		return c.fail("launch", "%d lengths for %d axes", len(l.Dims), k.Axes())
	case len(l.Access) != len(k.Accesses):
		return c.fail("launch", "%d accesses, not %d", len(l.Access), len(k.Accesses))
	case len(l.Params) != len(k.Params):
		return c.fail("launch", "%d params, not %d", len(l.Params), len(k.Params))
	case c.whole == nil && len(sizes) != len(k.Buffers):
		return c.fail("launch", "%d buffers, not %d", len(sizes), len(k.Buffers))
	}
	points := 1
	for i, d := range l.Dims {
		var ok bool
		if points, ok = mul(points, max(d, 1)); (d < 0 || !ok) && k.Template != Custom {
			return c.fail("launch", "length %d of axis %d", d, i)
		}
	}
	for i, p := range k.Params {
		if !(ir.Scalar{DType: p, Bits: l.Params[i]}).Canonical() {
			return c.fail("launch", "param %d of type %v is %#x", i, p, l.Params[i])
		}
	}
	if k.Template == Custom {
		return c.checkCustom(l, sizes)
	}
	for i := range l.Access {
		if err := c.access(l, i, sizes); err != nil {
			return err
		}
	}
	return c.checkParts(l, sizes)
}

func (c *Checker) access(l *Launch, i int, sizes []int) error {
	k, a := c.k, &l.Access[i]
	if len(a.Strides) != k.Axes() {
		return c.failAccess(i, "%d strides for %d axes", len(a.Strides), k.Axes())
	}
	if len(a.Index) != k.Accesses[i].Indices {
		return c.failAccess(i, "%d indexed axes, not %d", len(a.Index), k.Accesses[i].Indices)
	}
	if len(a.Window) > 0 && !k.Accesses[i].Masked {
		return c.failAccess(i, "window of an access that is not masked")
	}
	for _, w := range a.Window {
		if w.Axis < 0 || w.Axis >= k.Axes() {
			return c.failAccess(i, "window on axis %d of %d", w.Axis, k.Axes())
		}
		if c.absent(i, w.Axis) {
			return c.failAccess(i, "window on axis %d, which the operand does not have", w.Axis)
		}
	}
	for axis, stride := range a.Strides {
		if stride != 0 && l.Dims[axis] > 1 && c.absent(i, axis) {
			return c.failAccess(i, "stride %d on axis %d, which the operand does not have", stride, axis)
		}
	}
	if c.outer[i] {
		for axis := k.Outer; axis < k.Axes(); axis++ {
			if a.Strides[axis] != 0 && l.Dims[axis] > 1 {
				return c.failAccess(i, "stride %d on inner axis %d, but it is evaluated at outer points", a.Strides[axis], axis)
			}
		}
		if err := c.bounds(l, i, k.Outer, sizes); err != nil {
			return err
		}
	}
	if c.elements[i] {
		return c.bounds(l, i, k.Axes(), sizes)
	}
	return nil
}

// absent reports whether an operand of a contraction that reads through access
// i does not have an axis.
func (c *Checker) absent(i, axis int) bool {
	return c.left[i] && c.k.apart(Left, axis) || c.right[i] && c.k.apart(Right, axis)
}

// bounds checks access i at every point of the first axes of the space, the
// other coordinates being 0.
func (c *Checker) bounds(l *Launch, i, axes int, sizes []int) error {
	a := &l.Access[i]
	lo, hi, ok := a.Offset, a.Offset, true
	for axis := range c.k.Axes() {
		first, last := 0, 0
		if axis < axes {
			last = l.Dims[axis] - 1
			if c.k.readsWithout(i, axis, a.Strides[axis]) {
				last = max(last, 0)
			}
		}
		for _, w := range a.Window {
			if w.Axis == axis {
				first, last = max(first, w.Lo), min(last, w.Hi-1)
			}
		}
		if first > last {
			return nil // nothing is read or written
		}
		lo, hi, ok = extend(lo, hi, ok, first, last, a.Strides[axis])
	}
	for n, x := range a.Index {
		if x.Extent < 0 {
			return c.failAccess(i, "indexed axis %d has length %d", n, x.Extent)
		}
		if x.Extent == 0 {
			return nil // every index is out of range
		}
		lo, hi, ok = extend(lo, hi, ok, 0, x.Extent-1, x.Stride)
	}
	b := c.k.Accesses[i].Buffer
	n := sizes[c.buffer(b)] / c.k.Buffers[b].DType.Size()
	if !ok {
		return c.failAccess(i, "positions overflow")
	}
	if lo < 0 || hi >= n {
		return c.failAccess(i, "reaches elements %d to %d of buffer %d, which has %d", lo, hi, b, n)
	}
	return nil
}

// readsWithout reports whether an access reads even where an axis is empty: an
// attention reads V where there are no head dims, and Q where there are no
// keys.
func (k *Kernel) readsWithout(access, axis, stride int) bool {
	return k.Template == Attention && stride == 0 && (axis > k.Outer || axis == k.Outer && access == 0)
}

// extend widens the range of positions lo..hi by an axis with coordinates
// first..last.
func extend(lo, hi int, ok bool, first, last, stride int) (int, int, bool) {
	a, okA := mul(first, stride)
	b, okB := mul(last, stride)
	if a > b {
		a, b = b, a
	}
	lo, okLo := add(lo, a)
	hi, okHi := add(hi, b)
	return lo, hi, ok && okA && okB && okLo && okHi
}

// add and mul report whether the result fits an int.
func add(a, b int) (int, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func mul(a, b int) (int, bool) {
	hi, lo := bits.Mul(magnitude(a), magnitude(b))
	return a * b, hi == 0 && int(lo) >= 0
}

func magnitude(a int) uint {
	if a < 0 {
		return -uint(a)
	}
	return uint(a)
}

func (c *Checker) fail(where, rule string, args ...any) error {
	return &ArgsError{Kernel: c.k.Name, Where: where, Rule: fmt.Sprintf(rule, args...)}
}

func (c *Checker) failAccess(i int, rule string, args ...any) error {
	return c.fail(fmt.Sprintf("access %d", i), rule, args...)
}
