package codegen

import "slices"

// Hash returns a hash of the kernel's structure. The name is no part of it.
// Equal kernels have equal hashes, in every process: the hash may be stored.
func (k *Kernel) Hash() uint64 {
	h := hasher(fnvOffset)
	h.int(int(k.Template))
	h.int(k.Outer)
	h.int(k.Inner)
	h.int(len(k.Buffers))
	for _, b := range k.Buffers {
		h.int(int(b.DType))
		h.int(int(b.Mode))
	}
	h.int(len(k.Accesses))
	for _, a := range k.Accesses {
		h.int(a.Buffer)
		h.int(a.Indices)
		h.bool(a.Masked)
	}
	h.int(len(k.Params))
	for _, p := range k.Params {
		h.int(int(p))
	}
	h.bool(k.Attention.Causal)
	h.bool(k.Attention.HasMask)
	h.bool(k.Attention.BoolMask)
	h.bool(k.Attention.ScaleRead)
	h.int(len(k.Body))
	for i := range k.Body {
		in := &k.Body[i]
		for _, x := range [...]int{int(in.Op), int(in.Type), int(in.Level), int(in.Fn), int(in.Reduce),
			int(in.From), int(in.To), in.Access, in.Access2, in.Index, in.Index2} {
			h.int(x)
		}
		h.bool(in.Exclusive)
		h.bool(in.Reverse)
		h.bool(in.Positions)
		h.bool(in.Overflow)
		h.uint64(in.Bits)
		h.values(in.Args)
	}
	h.int(len(k.Stores))
	for _, s := range k.Stores {
		h.int(s.Access)
		h.int(int(s.Value))
		h.values(s.Index)
		h.int(int(s.Mode))
	}
	h.parts(k.Parts)
	if !k.Custom.equal(&CustomSpec{}) {
		h.custom(&k.Custom)
	}
	return uint64(h)
}

// Equal reports whether both kernels have the same structure, whatever their
// names.
func (k *Kernel) Equal(o *Kernel) bool {
	return k.Template == o.Template && k.Outer == o.Outer && k.Inner == o.Inner &&
		k.Attention == o.Attention &&
		slices.Equal(k.Buffers, o.Buffers) && slices.Equal(k.Accesses, o.Accesses) && slices.Equal(k.Params, o.Params) &&
		slices.EqualFunc(k.Body, o.Body, equalInstr) && slices.EqualFunc(k.Stores, o.Stores, equalStore) &&
		slices.EqualFunc(k.Parts, o.Parts, equalPart) && k.Custom.equal(&o.Custom)
}

func equalInstr(a, b Instr) bool {
	return a.Op == b.Op && a.Type == b.Type && a.Level == b.Level && a.Fn == b.Fn && a.Reduce == b.Reduce &&
		a.From == b.From && a.To == b.To && a.Exclusive == b.Exclusive && a.Reverse == b.Reverse && a.Positions == b.Positions && a.Overflow == b.Overflow &&
		a.Access == b.Access && a.Access2 == b.Access2 && a.Index == b.Index && a.Index2 == b.Index2 &&
		a.Bits == b.Bits && slices.Equal(a.Args, b.Args)
}

func equalStore(a, b Store) bool {
	return a.Access == b.Access && a.Value == b.Value && a.Mode == b.Mode && slices.Equal(a.Index, b.Index)
}

// Clone returns a copy that shares nothing with k.
func (k *Kernel) Clone() *Kernel {
	c := *k
	c.Buffers = slices.Clone(k.Buffers)
	c.Accesses = slices.Clone(k.Accesses)
	c.Params = slices.Clone(k.Params)
	c.Body = slices.Clone(k.Body)
	for i := range c.Body {
		c.Body[i].Args = slices.Clone(c.Body[i].Args)
	}
	c.Stores = slices.Clone(k.Stores)
	for i := range c.Stores {
		c.Stores[i].Index = slices.Clone(c.Stores[i].Index)
	}
	c.Parts, c.Custom = cloneParts(k.Parts), k.Custom.clone()
	return &c
}

// hasher is the 64-bit FNV-1a hash.
type hasher uint64

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func (h *hasher) uint64(x uint64) {
	v := uint64(*h)
	for range 8 {
		v = (v ^ x&0xff) * fnvPrime
		x >>= 8
	}
	*h = hasher(v)
}

func (h *hasher) int(x int) { h.uint64(uint64(x)) }

func (h *hasher) bool(x bool) {
	if x {
		h.uint64(1)
	} else {
		h.uint64(0)
	}
}

func (h *hasher) values(vs []Value) {
	h.int(len(vs))
	for _, v := range vs {
		h.int(int(v))
	}
}
