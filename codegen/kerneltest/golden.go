package kerneltest

// golden is a named kernel: build adds the program to an empty builder.
type golden struct {
	name string
	dims [3][]int // by Size
	make func(dims []int, stream uint64) *Builder
}

// goldens is the fixed list of named kernels, by template.
func goldens() []golden {
	var all []golden
	for _, list := range [...][]golden{goldenMaps(), goldenRows(), goldenContractions(), goldenAttentions(), goldenOrdered(), goldenParts()} {
		all = append(all, list...)
	}
	return all
}

// Golden returns the named kernels: a fixed list, covering every template and the
// shapes that matter to engines, in a fixed order, with small launches of odd
// lengths. The name is the kernel's; it may be part of a file's.
func Golden() []Case { return GoldenAt(Small) }

// GoldenAt is Golden with launches of a size. The kernels are the same for all
// sizes. Medium lengths are mostly multiples of what engines work in, Large ones
// those of models; the evaluator is too slow for most of these.
func GoldenAt(size Size) []Case {
	var out []Case
	for i, g := range goldens() {
		out = append(out, g.at(size, uint64(i)))
	}
	return out
}

// GoldenNamed returns one of the named kernels, and false if there is none of the
// name.
func GoldenNamed(name string, size Size) (Case, bool) {
	for i, g := range goldens() {
		if g.name == name {
			return g.at(size, uint64(i)), true
		}
	}
	return Case{}, false
}

// GoldenShaped is GoldenNamed with a launch of other lengths, as many as the named
// kernel has.
func GoldenShaped(name string, dims ...int) (Case, bool) {
	for i, g := range goldens() {
		if g.name == name && len(g.dims[Small]) == len(dims) {
			return g.with(dims, uint64(i)), true
		}
	}
	return Case{}, false
}

func (g golden) at(size Size, stream uint64) Case { return g.with(g.dims[size], stream) }

func (g golden) with(dims []int, stream uint64) Case {
	m := g.make(dims, stream)
	m.Kernel.Name = g.name
	return m.Case
}

// at returns lengths by size.
func at(small, medium, large []int) [3][]int { return [3][]int{small, medium, large} }

// d is a list of lengths.
func d(dims ...int) []int { return dims }

// number returns a float constant.
func number(f float64) Value { return Value{F: f} }
