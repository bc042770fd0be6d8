package kerneltest

import (
	"iter"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// maxTries bounds how often Shrink asks whether a case fails.
const maxTries = 3000

// Shrink returns a smaller case that still fails: shorter lengths, fewer parts,
// stores and instructions, dense layouts without windows and indices, plainer and
// less memory. Every case it asks about is well formed and a copy of its own; c
// must fail. It stops when nothing smaller that it knows fails.
func Shrink(c Case, fails func(Case) bool) Case {
	c = c.Clone()
	for tries, smaller := 0, true; smaller && tries < maxTries; {
		smaller = false
		now := cost(c)
		for next := range simpler(c) {
			next.tidy()
			if next.Check() != nil || slices.Compare(cost(next), now) >= 0 {
				continue
			}
			tries++
			if fails(next.Clone()) {
				c, smaller = next, true
				break
			}
			if tries == maxTries {
				break
			}
		}
	}
	return c
}

// cost measures a case by what makes it hard to read, most important first: each
// step of Shrink makes it less.
func cost(c Case) []int {
	parts, program, accesses, layouts, elems, distinct := len(c.Kernel.Parts), 0, 0, 0, 0, 0
	c.Kernel.Spaces(c.Launch, func(k *codegen.Kernel, l *codegen.Launch) {
		program += 2 * len(k.Stores)
		for i := range k.Body {
			switch k.Body[i].Op {
			case codegen.OpConst:
				program++
			case codegen.OpLoad, codegen.OpParam, codegen.OpCoord:
				program += 2
			default:
				program += 3
			}
		}
		for i := range l.Access {
			accesses += k.Accesses[i].Indices + len(l.Access[i].Window)
			if k.Accesses[i].Masked {
				accesses++
			}
			if !equalArgs(l.Access[i], denser(l, i)) {
				layouts++
			}
		}
	})
	for b, m := range c.Mem {
		size := c.Kernel.Buffers[b].DType.Size()
		n := len(m) / size
		elems += n
		for i := range n {
			if i > 0 && rawBits(m, size, i) != rawBits(m, size, i-1) || i == 0 && rawBits(m, size, 0) != 0 {
				distinct++
			}
		}
	}
	return []int{parts, c.Points(), program, accesses, layouts, distinct, elems}
}

func equalArgs(a, b codegen.AccessArgs) bool {
	return a.Offset == b.Offset && slices.Equal(a.Strides, b.Strides)
}

// denser returns access i in row-major order without gaps along the axes that it
// depends on; indexed axes are where they were.
func denser(l *codegen.Launch, i int) codegen.AccessArgs {
	a := l.Access[i]
	strides, step := make([]int, len(a.Strides)), 1
	for axis := len(strides) - 1; axis >= 0; axis-- {
		if a.Strides[axis] != 0 {
			strides[axis] = step
			step *= max(1, l.Dims[axis])
		}
	}
	a.Offset, a.Strides = 0, strides
	return a
}

// simpler yields cases that differ from c in one step.
func simpler(c Case) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for _, step := range []func(Case, func(Case) bool) bool{onePart, shorter, fewerStores, fewerInstrs, plainerAccess, plainerMemory} {
			if !step(c, yield) {
				return
			}
		}
	}
}

// onePart yields each part alone, and all but each.
func onePart(c Case, yield func(Case) bool) bool {
	for i := range c.Kernel.Parts {
		p := &c.Kernel.Parts[i]
		alone := Case{Kernel: p.Kernel, Launch: &c.Launch.Parts[i], Mem: p.Bytes(nil, c.Mem)}
		if !yield(alone.Clone()) {
			return false
		}
	}
	for i := range c.Kernel.Parts {
		next := c.Clone()
		next.Kernel.Parts = slices.Delete(next.Kernel.Parts, i, i+1)
		next.Launch.Parts = slices.Delete(next.Launch.Parts, i, i+1)
		if !yield(next) {
			return false
		}
	}
	return true
}

// shorter yields shorter lengths of each axis.
func shorter(c Case, yield func(Case) bool) bool {
	for axis, d := range c.Launch.Dims {
		for _, n := range []int{1, d / 2, d - 1} {
			if n < 1 || n >= d {
				continue
			}
			next := c.Clone()
			next.Launch.Dims[axis] = n
			if !yield(next) {
				return false
			}
		}
	}
	return true
}

// fewerStores leaves out each store.
func fewerStores(c Case, yield func(Case) bool) bool {
	for i := range c.Kernel.Stores {
		next := c.Clone()
		next.Kernel.Stores = slices.Delete(next.Kernel.Stores, i, i+1)
		if !yield(next) {
			return false
		}
	}
	return true
}

// fewerInstrs puts an operand, or the constant 1 or 0, in the place of each
// instruction.
func fewerInstrs(c Case, yield func(Case) bool) bool {
	for v := len(c.Kernel.Body) - 1; v >= 0; v-- {
		in := &c.Kernel.Body[v]
		for _, a := range in.Args {
			if c.Kernel.Body[a].Type != in.Type {
				continue
			}
			next := c.Clone()
			next.replace(codegen.Value(v), a)
			if !yield(next) {
				return false
			}
		}
		for _, x := range []Value{{F: 1, I: 1, B: true}, {}} {
			next := c.Clone()
			next.Kernel.Body[v] = codegen.Instr{Op: codegen.OpConst, Type: in.Type, Level: in.Level, Bits: ScalarBits(in.Type, x)}
			if !yield(next) {
				return false
			}
		}
	}
	return true
}

// replace makes everything that uses a value use another.
func (c *Case) replace(old, by codegen.Value) {
	swap := func(list []codegen.Value) {
		for i := range list {
			if list[i] == old {
				list[i] = by
			}
		}
	}
	for i := range c.Kernel.Body {
		swap(c.Kernel.Body[i].Args)
	}
	for i := range c.Kernel.Stores {
		s := &c.Kernel.Stores[i]
		swap(s.Index)
		if s.Value == old {
			s.Value = by
		}
	}
}

// plainerAccess yields each access without its window, without its indices, and
// dense.
func plainerAccess(c Case, yield func(Case) bool) bool {
	for i, a := range c.Kernel.Accesses {
		if a.Masked && !yield(c.without(i, false)) || a.Indices > 0 && !yield(c.without(i, true)) {
			return false
		}
		next := c.Clone()
		next.Launch.Access[i] = denser(next.Launch, i)
		if !yield(next) {
			return false
		}
	}
	return true
}

// without returns the case with an access that has no indices, or no window.
func (c Case) without(access int, indices bool) Case {
	next := c.Clone()
	a, args := &next.Kernel.Accesses[access], &next.Launch.Access[access]
	for i := range next.Kernel.Body {
		in := &next.Kernel.Body[i]
		if in.Op == codegen.OpLoad && in.Access == access {
			if indices {
				in.Args = in.Args[a.Indices:]
			} else {
				in.Args = in.Args[:a.Indices]
			}
		}
	}
	if indices {
		a.Indices, args.Index = 0, nil
	} else {
		a.Masked, args.Window = false, nil
	}
	return next
}

// plainerMemory yields each buffer filled with 0, with 1 and with few numbers, and
// as short as the launch allows.
func plainerMemory(c Case, yield func(Case) bool) bool {
	for b, m := range c.Mem {
		dt := c.Kernel.Buffers[b].DType
		for _, fill := range []func(i int) Value{
			func(int) Value { return Value{} },
			func(int) Value { return Value{F: 1, I: 1, B: true} },
			func(i int) Value { return Value{F: float64(i / 4), I: dt.Wrap(int64(i / 4)), B: i/4%2 == 1} },
		} {
			next := c.Clone()
			for i := range len(m) / dt.Size() {
				WriteElem(next.Mem[b], dt, i, fill(i))
			}
			if !yield(next) {
				return false
			}
		}
		if !yield(c.trimmed(b, dt)) {
			return false
		}
	}
	return true
}

// trimmed returns the case with the least memory of a buffer.
func (c Case) trimmed(b int, dt ir.DType) Case {
	next := c.Clone()
	whole := next.Mem[b]
	lo, hi := 0, len(whole)/dt.Size() // hi elements are enough
	for lo < hi {
		mid := (lo + hi) / 2
		if next.Mem[b] = whole[:mid*dt.Size()]; next.Check() == nil {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	next.Mem[b] = whole[:hi*dt.Size()]
	return next
}
