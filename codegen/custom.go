package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// CustomSpec is the part of a Custom kernel that is structure: which of the
// device's registered functions runs, and with what attributes.
//
// Access i is operand i as a whole, results after operands: they are the
// accesses of buffers that are written. The space is the axes of all of them,
// one after another; Ranks says how many are whose. So lengths, strides and
// offsets come with each launch as those of any kernel do, and no element is
// looked at.
type CustomSpec struct {
	Name  string
	Ints  []int
	DType ir.DType
	Flag  bool
	Ranks []int // by access
	// Sources says, by parameter, which operand holds its value instead, 0: none.
	Sources []int
}

func (s *CustomSpec) equal(o *CustomSpec) bool {
	return s.Name == o.Name && slices.Equal(s.Ints, o.Ints) && s.DType == o.DType && s.Flag == o.Flag &&
		slices.Equal(s.Ranks, o.Ranks) && slices.Equal(s.Sources, o.Sources)
}

func (s *CustomSpec) clone() CustomSpec {
	c := *s
	c.Ints, c.Ranks, c.Sources = slices.Clone(s.Ints), slices.Clone(s.Ranks), slices.Clone(s.Sources)
	return c
}

func (h *hasher) custom(s *CustomSpec) {
	h.int(len(s.Name))
	for _, c := range []byte(s.Name) {
		h.int(int(c))
	}
	h.int(int(s.DType))
	h.bool(s.Flag)
	for _, list := range [...][]int{s.Ints, s.Ranks, s.Sources} {
		h.int(len(list))
		for _, x := range list {
			h.int(x)
		}
	}
}

func (s *CustomSpec) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "custom %q ranks=%v", s.Name, s.Ranks)
	if len(s.Ints) > 0 {
		fmt.Fprintf(&b, " ints=%v", s.Ints)
	}
	if s.DType != ir.Invalid {
		fmt.Fprintf(&b, " dtype=%v", s.DType)
	}
	if s.Flag {
		b.WriteString(" flag")
	}
	if len(s.Sources) > 0 {
		fmt.Fprintf(&b, " sources=%v", s.Sources)
	}
	return b.String()
}

// Operands returns how many accesses of a Custom kernel are operands.
func (k *Kernel) Operands() int {
	n := 0
	for _, a := range k.Accesses {
		if k.Buffers[a.Buffer].Mode == In {
			n++
		}
	}
	return n
}

// custom checks a Custom kernel, which has no program.
func (v *verifier) custom() {
	k := v.k
	v.where = "kernel"
	if k.Template != Custom {
		v.check(k.Custom.Name == "" && len(k.Custom.Ranks) == 0, "a custom operation in a %v kernel", k.Template)
		return
	}
	v.check(k.Custom.Name != "", "it has no name")
	v.check(len(k.Body)+len(k.Stores)+len(k.Parts) == 0, "a custom kernel has no program")
	if !v.check(len(k.Custom.Ranks) == len(k.Accesses), "%d ranks of %d accesses", len(k.Custom.Ranks), len(k.Accesses)) {
		return
	}
	axes, written := 0, make([]int, len(k.Buffers))
	operands := 0
	for i, a := range k.Accesses {
		v.where = fmt.Sprintf("access %d", i)
		v.check(k.Custom.Ranks[i] >= 0 && k.Custom.Ranks[i] <= MaxAxes, "rank %d", k.Custom.Ranks[i])
		v.check(a.Indices == 0 && !a.Masked, "it is indexed or masked")
		axes += k.Custom.Ranks[i]
		if v.err != nil {
			return
		}
		switch k.Buffers[a.Buffer].Mode {
		case In:
			v.check(operands == i, "an operand after a result")
			operands++
		case Out:
			written[a.Buffer]++
		default:
			v.check(false, "read and written")
		}
	}
	v.where = "kernel"
	v.check(k.Inner == 0 && k.Outer == axes, "%d outer and %d inner axes, not %d and 0", k.Outer, k.Inner, axes)
	v.check(operands < len(k.Accesses), "it has no result")
	for b, n := range written {
		v.check(k.Buffers[b].Mode == In || n == 1, "buffer %d is written %d times", b, n)
	}
	v.check(len(k.Custom.Sources) == len(k.Params), "%d sources of %d params", len(k.Custom.Sources), len(k.Params))
	for _, s := range k.Custom.Sources {
		v.check(s >= 0 && s < max(1, operands), "no operand %d", s)
		v.check(s <= 0 || s >= len(k.Custom.Ranks) || k.Custom.Ranks[s] == 0, "operand %d is no scalar", s)
	}
}

// checkCustom is Check of a Custom kernel: each access reaches along its own
// axes alone.
func (c *Checker) checkCustom(l *Launch, sizes []int) error {
	at := 0
	for i := range l.Access {
		a := &l.Access[i]
		if len(a.Strides) != c.k.Axes() || len(a.Index)+len(a.Window) > 0 {
			return c.failAccess(i, "%d strides for %d axes", len(a.Strides), c.k.Axes())
		}
		lo, hi, ok, empty := a.Offset, a.Offset, true, false
		for axis := at; axis < at+c.k.Custom.Ranks[i]; axis++ {
			n := l.Dims[axis]
			if n < 0 {
				return c.fail("launch", "length %d of axis %d", n, axis)
			}
			empty = empty || n == 0
			lo, hi, ok = extend(lo, hi, ok, 0, n-1, a.Strides[axis])
		}
		at += c.k.Custom.Ranks[i]
		b := c.k.Accesses[i].Buffer
		n := sizes[b] / c.k.Buffers[b].DType.Size()
		if !empty && (!ok || lo < 0 || hi >= n) {
			return c.failAccess(i, "reaches elements %d to %d of buffer %d, which has %d", lo, hi, b, n)
		}
	}
	return nil
}

// customTraffic counts every element of every operand and result once.
func (k *Kernel) customTraffic(l *Launch) (read, written int64) {
	at := 0
	for i, rank := range k.Custom.Ranks {
		b := k.Buffers[k.Accesses[i].Buffer]
		n := int64(b.DType.Size())
		for axis := at; axis < at+rank; axis++ {
			if l.Access[i].Strides[axis] != 0 || l.Dims[axis] == 0 {
				n *= int64(l.Dims[axis])
			}
		}
		at += rank
		if b.Mode == In {
			read += n
		} else {
			written += n
		}
	}
	return read, written
}
