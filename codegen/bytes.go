package codegen

import "github.com/sinter-ml/sinter/ir"

// Traffic returns the bytes a launch reads and writes, the measure of cost on
// a device limited by bandwidth.
//
// Each access counts once the elements it touches: the product of the lengths
// of the axes it depends on, which are those with a stride and those its index
// values depend on, clipped to its windows; along axes reached only through
// indices, no more than the lengths of the indexed axes. So an operand
// broadcast along an axis counts once, not once for each repetition.
// Overlapping windows of one axis (a stride smaller than the element is long)
// count each time. An adding store counts as read and written. An access used
// by several instructions counts once; two accesses of one buffer count each.
// Parts count each by itself, and a custom operation counts whole tensors.
// The kernel must have been verified and the launch checked.
func Traffic(k *Kernel, l *Launch) (read, written int64) {
	if k.Template == Custom {
		return k.customTraffic(l)
	}
	if k.Template == Parts {
		k.Spaces(l, func(k *Kernel, l *Launch) {
			r, w := Traffic(k, l)
			read, written = read+r, written+w
		})
		return read, written
	}
	deps := k.dependencies(l)
	loaded := make([]bool, len(k.Accesses))
	index := make([]uint64, len(k.Accesses)) // the axes the index values depend on
	elements := make([]bool, len(k.Accesses))
	for i := range k.Body {
		in := &k.Body[i]
		k.reads(in, func(access int) {
			loaded[access] = true
			elements[access] = elements[access] || in.Op != OpLoad || !k.outerOnly(in)
			if in.Op == OpLoad {
				for _, a := range in.Args[:k.Accesses[access].Indices] {
					index[access] |= deps[a]
				}
			}
		})
	}
	for access, used := range loaded {
		if used {
			read += k.touched(l, access, index[access], elements[access])
		}
	}
	for _, s := range k.Stores {
		var through uint64
		for _, x := range s.Index {
			through |= deps[x]
		}
		n := k.touched(l, s.Access, through, !k.outerOnly(&k.Body[s.Value]))
		written += n
		if s.Mode != ir.Assign {
			read += n
		}
	}
	return read, written
}

// touched returns the bytes one access touches.
func (k *Kernel) touched(l *Launch, access int, through uint64, elements bool) int64 {
	a := &l.Access[access]
	direct, indexed := int64(1), int64(1)
	for axis, d := range l.Dims {
		if axis >= k.Outer && !elements {
			break
		}
		if d == 0 && !k.readsWithout(access, axis, a.Strides[axis]) {
			return 0
		}
		first, end := 0, d
		for _, w := range a.Window {
			if w.Axis == axis {
				first, end = max(first, w.Lo), min(end, w.Hi)
			}
		}
		if end <= first && len(a.Window) > 0 {
			return 0
		}
		switch {
		case a.Strides[axis] != 0:
			direct *= int64(end - first)
		case through>>axis&1 != 0:
			indexed *= int64(end - first)
		}
	}
	if len(a.Index) > 0 {
		extent := int64(1)
		for _, x := range a.Index {
			extent *= int64(x.Extent)
		}
		indexed = min(indexed, extent)
	}
	return direct * indexed * int64(k.Buffers[k.Accesses[access].Buffer].DType.Size())
}

// dependencies returns, for each value, the set of axes it varies along.
func (k *Kernel) dependencies(l *Launch) []uint64 {
	outer := uint64(1)<<k.Outer - 1
	deps := make([]uint64, len(k.Body))
	for i := range k.Body {
		in := &k.Body[i]
		var d uint64
		for _, a := range in.Args {
			d |= deps[a]
		}
		switch in.Op {
		case OpCoord, OpArange:
			d = 1 << in.Index
		case OpLoad:
			a := &l.Access[in.Access]
			for axis, stride := range a.Strides {
				if stride != 0 {
					d |= 1 << axis
				}
			}
			for _, w := range a.Window {
				d |= 1 << w.Axis
			}
		case OpContract, OpAttention, OpPhilox, OpNormal, OpScan, OpSort:
			d = uint64(1)<<k.Axes() - 1
		}
		if k.outerOnly(in) {
			d &= outer
		}
		deps[i] = d
	}
	return deps
}
