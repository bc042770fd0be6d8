package ptx

// Type is a fundamental type of PTX, as in .reg .f32, or a packed or reduced
// format that only instructions name, as in cvt.rn.bf16x2.f32.
type Type uint8

// The types. NoType is the zero value: nothing written.
const (
	NoType Type = iota
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16x2
	BF16
	BF16x2
	TF32
	F32
	F32x2
	F64
	E4M3
	E5M2
	E4M3x2
	E5M2x2
	U16x2
	S16x2
	U4
	S4
	B1
	Pred
	typeCount
)

var types = [typeCount]struct {
	name string
	bits int
}{
	NoType: {"", 0},
	B8:     {"b8", 8}, B16: {"b16", 16}, B32: {"b32", 32}, B64: {"b64", 64}, B128: {"b128", 128},
	U8: {"u8", 8}, U16: {"u16", 16}, U32: {"u32", 32}, U64: {"u64", 64},
	S8: {"s8", 8}, S16: {"s16", 16}, S32: {"s32", 32}, S64: {"s64", 64},
	F16: {"f16", 16}, F16x2: {"f16x2", 32}, BF16: {"bf16", 16}, BF16x2: {"bf16x2", 32},
	TF32: {"tf32", 32}, F32: {"f32", 32}, F32x2: {"f32x2", 64}, F64: {"f64", 64},
	E4M3: {"e4m3", 8}, E5M2: {"e5m2", 8}, E4M3x2: {"e4m3x2", 16}, E5M2x2: {"e5m2x2", 16},
	U16x2: {"u16x2", 32}, S16x2: {"s16x2", 32},
	U4: {"u4", 4}, S4: {"s4", 4}, B1: {"b1", 1},
	Pred: {"pred", 1},
}

var typeByName = func() map[string]Type {
	m := make(map[string]Type, typeCount)
	for t := B8; t < typeCount; t++ {
		m[types[t].name] = t
	}
	return m
}()

// String returns the type as PTX writes it, without the dot.
func (t Type) String() string {
	if t >= typeCount {
		return "invalid"
	}
	return types[t].name
}

// Bits returns the number of bits of one value; 1 for pred, 0 for NoType.
func (t Type) Bits() int { return types[t].bits }

// Bytes returns the number of bytes that a value takes in memory, at least 1;
// 0 for NoType.
func (t Type) Bytes() int { return (types[t].bits + 7) / 8 }

// Signed reports whether t is a signed integer.
func (t Type) Signed() bool { return t >= S8 && t <= S64 || t == S4 || t == S16x2 }

// Space is a state space: where a variable lies and which window an address
// counts in. Generic is the zero value, an address that may lie in any.
type Space uint8

// The state spaces.
const (
	Generic Space = iota
	Global
	Shared
	Local
	Const
	Param
)

// String returns the space as PTX writes it, without the dot.
func (s Space) String() string {
	return [...]string{"generic", "global", "shared", "local", "const", "param"}[s]
}
