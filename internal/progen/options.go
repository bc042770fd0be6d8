package progen

import "math/rand/v2"

// Options bound and weigh the random choices. Zero fields take the value of
// DefaultOptions, except those that say otherwise.
type Options struct {
	Ops         int // operations recorded, about
	MaxRank     int
	MaxLength   int // of an axis
	MaxElements int // of a tensor
	Outputs     int // at most

	// Weights tells how often each group of operations is chosen, by the names
	// of Groups; groups that are not in a non-nil map do not occur.
	Weights map[string]int

	// Special is the rate of NaN, infinities, signed zeros, subnormals and huge
	// values among scalars and constants. Zero means none.
	Special float64
	// Empty is the rate of length-0 axes among new shapes. Zero means none.
	Empty float64
}

// DefaultOptions mix everything, on tensors small enough for a slow oracle.
func DefaultOptions() Options {
	o := Options{Special: 0.02, Empty: 0.01}
	o.fill()
	return o
}

func (o *Options) fill() {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&o.Ops, 24)
	set(&o.MaxRank, 4)
	set(&o.MaxLength, 37)
	set(&o.MaxElements, 2000)
	set(&o.Outputs, 4)
	if o.Weights == nil {
		o.Weights = map[string]int{}
		for _, g := range groups {
			o.Weights[g.name] = g.weight
		}
	}
}

// Groups returns the names of the groups of operations in a fixed order.
func Groups() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	return names
}

// source is where choices come from.
type source interface {
	// intn returns a number in [0, n); n is at least 1.
	intn(n int) int
	// empty reports whether nothing is left to decide with.
	empty() bool
}

type randomSource struct{ *rand.Rand }

func (s randomSource) intn(n int) int { return s.IntN(n) }
func (s randomSource) empty() bool    { return false }

// byteSource decides by the bytes of a fuzzer; when they run out every choice
// is the first.
type byteSource struct{ rest []byte }

func (s *byteSource) intn(n int) int {
	v := 0
	for span := 1; span < n && len(s.rest) > 0; span <<= 8 {
		v = v<<8 | int(s.rest[0])
		s.rest = s.rest[1:]
	}
	return v % n
}

func (s *byteSource) empty() bool { return len(s.rest) == 0 }
