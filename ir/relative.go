package ir

import "math/bits"

// Relative encodes a sequence of operations so that equal programs are equal
// values: tensors and lengths are numbered by first appearance, scalars and
// starts of ranges count by position and source only. Two sequences have the
// same form exactly if their Tokens are equal; then what was planned for one
// holds for the other, with its own lengths and scalars.
//
// The encoding grows with each Append and, once its slices have grown,
// allocates nothing.
type Relative struct {
	Tokens []uint64
	Hash   uint64 // of Tokens
	Dims   []int  // the distinct lengths in order of first appearance; Dims[0] = 1

	next  int32       // the first tensor id not seen
	dimOf map[int]int // entries of Dims behind the first scanDims
}

// scanDims is up to how many lengths are looked up by a scan: programs rarely
// have more, and a scan is then quicker than hashing.
const scanDims = 32

// Reset makes r empty, keeping its memory. A zero Relative must be Reset
// before its first use.
func (r *Relative) Reset() {
	r.Tokens = r.Tokens[:0]
	r.Hash = hashSeed
	r.Dims = append(r.Dims[:0], 1)
	r.next = 0
	clear(r.dimOf)
}

// Append encodes o, which must have passed Check. in gives the relative ids of
// o.Inputs and out that of its output; ids are dense, in order of first
// appearance, inputs before the output.
//
// The tokens of an operation are, in this order: a header with the kind, the
// flags and the numbers of what follows; the number of inputs and ints; the
// name, of a custom operation with its dtype; N if set; axes; ints; for each input its id and, at its first appearance, its
// type; the output's type; scalars; ranges. A header fixes the length of all
// that follows it, so tokens of different operations are never confused.
// Attrs.Shape and Attrs.DType are, in every other kind that has them, the
// output's.
func (r *Relative) Append(o *Operation, in []int32, out int32) {
	start := len(r.Tokens)
	a := &o.Attrs
	header := uint64(o.Kind) | uint64(len(a.Axes))<<16 | uint64(len(o.Scalars))<<24 | uint64(len(o.Ranges))<<32
	if a.Flag {
		header |= 1 << 40
	}
	if a.Reverse {
		header |= 1 << 41
	}
	if a.N != 0 {
		header |= 1 << 42
	}
	header |= uint64(a.Mode)<<43 | uint64(len(a.Name))<<48
	t := append(r.Tokens, header, uint64(len(in))|uint64(len(a.Ints))<<32)
	t = appendName(t, a.Name)
	if o.Kind == Custom {
		t = append(t, uint64(a.DType))
	}
	if a.N != 0 {
		t = append(t, uint64(a.N))
	}
	for _, axis := range a.Axes {
		t = append(t, uint64(axis))
	}
	for _, n := range a.Ints {
		t = append(t, uint64(n))
	}
	for i, id := range in {
		t = append(t, uint64(id))
		if id >= r.next {
			r.next = id + 1
			t = r.appendType(t, &o.Inputs[i])
		}
	}
	r.next = max(r.next, out+1)
	t = r.appendType(t, &o.Outputs[0])
	for i := range o.Scalars {
		s := &o.Scalars[i]
		t = append(t, uint64(s.DType)|uint64(s.Input)<<8)
	}
	for i := range o.Ranges {
		g := &o.Ranges[i]
		t = append(t, r.dim(g.Len)<<8|uint64(g.Input), uint64(g.Step))
	}
	h := r.Hash
	for _, token := range t[start:] {
		h = mix(h, token)
	}
	r.Tokens, r.Hash = t, h
}

// appendName appends the bytes of a name, eight to a token.
func appendName(t []uint64, name string) []uint64 {
	for i := 0; i < len(name); i += 8 {
		word := uint64(0)
		for j, c := range []byte(name[i:min(i+8, len(name))]) {
			word |= uint64(c) << (8 * j)
		}
		t = append(t, word)
	}
	return t
}

func (r *Relative) appendType(t []uint64, ref *TensorRef) []uint64 {
	t = append(t, uint64(ref.DType)|uint64(len(ref.Shape))<<8)
	for _, d := range ref.Shape {
		t = append(t, r.dim(d))
	}
	return t
}

// dim returns the number of a length, adding it to the table if it is new.
func (r *Relative) dim(n int) uint64 {
	for i, d := range r.Dims[:min(len(r.Dims), scanDims)] {
		if d == n {
			return uint64(i)
		}
	}
	at := len(r.Dims)
	if at >= scanDims {
		if i, ok := r.dimOf[n]; ok {
			return uint64(i)
		}
		if r.dimOf == nil {
			r.dimOf = map[int]int{}
		}
		r.dimOf[n] = at
	}
	r.Dims = append(r.Dims, n)
	return uint64(at)
}

// StructHash is the structural hash of the value o makes: of its kind, its
// attributes, its call site and its inputs' hashes. Scalars, starts of ranges
// and lengths do not count, so the value keeps its hash from one round of a
// loop to the next.
func StructHash(o *Operation, inputs []uint64) uint64 {
	a := &o.Attrs
	h := mix(hashSeed, uint64(o.Kind)|uint64(a.DType)<<16|uint64(len(a.Shape))<<24|uint64(len(a.Axes))<<32|uint64(len(o.Ranges))<<40)
	h = mix(h, uint64(o.PC))
	flags := uint64(0)
	if a.Flag {
		flags |= 1
	}
	if a.Reverse {
		flags |= 2
	}
	h = mix(mix(h, flags|uint64(a.Mode)<<2|uint64(len(a.Ints))<<8), uint64(a.N))
	for i := 0; i < len(a.Name); i++ {
		h = mix(h, uint64(a.Name[i]))
	}
	for _, axis := range a.Axes {
		h = mix(h, uint64(axis))
	}
	for _, n := range a.Ints {
		h = mix(h, uint64(n))
	}
	for i := range o.Ranges {
		h = mix(h, uint64(o.Ranges[i].Step))
	}
	for _, in := range inputs {
		h = mix(h, in)
	}
	return h
}

const hashSeed = 0x9e3779b97f4a7c15

// mix folds a word into a hash: the folded 128-bit product of wyhash
// (https://github.com/wangyi-fudan/wyhash). The second word is offset so that
// a zero one still turns the hash.
func mix(h, word uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, word^0xe7037ed1a0b428db)
	return hi ^ lo ^ bits.RotateLeft64(h, 23)
}
