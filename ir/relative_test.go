package ir

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// encode appends operations the way a recorder does: ids numbered by first
// appearance.
func encode(t *testing.T, r *Relative, ops ...Operation) {
	t.Helper()
	r.Reset()
	ids := map[TensorID]int32{}
	number := func(id TensorID) int32 {
		if _, ok := ids[id]; !ok {
			ids[id] = int32(len(ids))
		}
		return ids[id]
	}
	for _, o := range ops {
		var in []int32
		for _, ref := range o.Inputs {
			in = append(in, number(ref.ID))
		}
		r.Append(&o, in, number(o.Outputs[0].ID))
	}
	h := uint64(hashSeed)
	for _, token := range r.Tokens {
		h = mix(h, token)
	}
	assert.Equal(t, h, r.Hash)
}

func tokensOf(t *testing.T, ops ...Operation) []uint64 {
	var r Relative
	encode(t, &r, ops...)
	return r.Tokens
}

// segment reads the operations of a program text.
func segment(t *testing.T, body string) []Operation {
	t.Helper()
	p, err := ParseProgram(TextHeader + "\n" + body)
	require.NoError(t, err)
	return p.Ops
}

const relativeBase = `
input %1 f32[4,6]
input %2 f32[6]
%3 f32[4,6] = Add %1, %2
%4 f32[4,6] = Mul %3 scalars(f32:2)
%5 f32[4,2] = Slice %4 ranges(0+4, 1+2*2)
%6 f32[4,1] = Sum %5 axes[1]
%7 f32[24] = Reshape %3 shape[24]`

func TestRelativeEqual(t *testing.T) {
	want := tokensOf(t, segment(t, relativeBase)...)
	for name, body := range map[string]string{
		"renamed ids": `
input %90 f32[6]
input %80 f32[4,6]
%70 f32[4,6] = Add %80, %90
%60 f32[4,6] = Mul %70 scalars(f32:2)
%50 f32[4,2] = Slice %60 ranges(0+4, 1+2*2)
%40 f32[4,1] = Sum %50 axes[1]
%30 f32[24] = Reshape %70 shape[24]`,
		"other scalars and starts": `
input %1 f32[4,6]
input %2 f32[6]
%3 f32[4,6] = Add %1, %2
%4 f32[4,6] = Mul %3 scalars(f32:-7)
%5 f32[4,2] = Slice %4 ranges(0+4, 3+2*2)
%6 f32[4,1] = Sum %5 axes[1]
%7 f32[24] = Reshape %3 shape[24]`,
		"other lengths of the same pattern": `
input %1 f32[3,8]
input %2 f32[8]
%3 f32[3,8] = Add %1, %2
%4 f32[3,8] = Mul %3 scalars(f32:2)
%5 f32[3,4] = Slice %4 ranges(0+3, 1+4*2)
%6 f32[3,1] = Sum %5 axes[1]
%7 f32[24] = Reshape %3 shape[24]`,
	} {
		assert.Equal(t, want, tokensOf(t, segment(t, body)...), name)
	}
	var r Relative
	encode(t, &r, segment(t, relativeBase)...)
	assert.Equal(t, []int{1, 4, 6, 2, 24}, r.Dims)
}

func TestRelativeDiffers(t *testing.T) {
	want := tokensOf(t, segment(t, relativeBase)...)
	for name, change := range map[string]func([]Operation){
		"kind":          func(ops []Operation) { ops[0].Kind = Sub },
		"axes":          func(ops []Operation) { ops[3].Attrs.Axes = []int{0} },
		"more axes":     func(ops []Operation) { ops[3].Attrs.Axes = []int{0, 1} },
		"ints":          func(ops []Operation) { ops[3].Attrs.Ints = []int{1} },
		"n":             func(ops []Operation) { ops[3].Attrs.N = 1 },
		"flag":          func(ops []Operation) { ops[3].Attrs.Flag = true },
		"reverse":       func(ops []Operation) { ops[3].Attrs.Reverse = true },
		"mode":          func(ops []Operation) { ops[3].Attrs.Mode = ScatterMin },
		"name":          func(ops []Operation) { ops[3].Attrs.Name = "a" },
		"long name":     func(ops []Operation) { ops[3].Attrs.Name = longCustom },
		"output dtype":  func(ops []Operation) { ops[3].Outputs[0].DType = BF16 },
		"output shape":  func(ops []Operation) { ops[3].Outputs[0].Shape = Shape{4, 6} },
		"output rank":   func(ops []Operation) { ops[4].Outputs[0].Shape = Shape{24, 1} },
		"operand":       func(ops []Operation) { ops[4].Inputs[0].ID = 4 },
		"operand order": func(ops []Operation) { ops[1].Inputs[0].ID = 1 },
		"input dtype":   func(ops []Operation) { ops[0].Inputs[1].DType = I64 },
		"input length":  func(ops []Operation) { ops[0].Inputs[1].Shape = Shape{1} },
		"equal lengths": func(ops []Operation) { ops[0].Inputs[0].Shape = Shape{6, 6} },
		"scalar type":   func(ops []Operation) { ops[1].Scalars[0].DType = I64 },
		"scalar source": func(ops []Operation) { ops[1].Scalars[0].Input = 1 },
		"no scalar":     func(ops []Operation) { ops[1].Scalars = nil },
		"range length":  func(ops []Operation) { ops[2].Ranges[1].Len = 1 },
		"range step":    func(ops []Operation) { ops[2].Ranges[1].Step = 1 },
		"range source":  func(ops []Operation) { ops[2].Ranges[1].Input = 1 },
	} {
		ops := segment(t, relativeBase)
		change(ops)
		assert.NotEqual(t, want, tokensOf(t, ops...), name)
	}
	assert.NotEqual(t, want, tokensOf(t, segment(t, relativeBase)[:4]...))
}

// Custom operations differ by their names, to the last byte, and by all their
// attributes, also by the dtype, which need not be the output's.
func TestRelativeCustom(t *testing.T) {
	base := Operation{Kind: Custom, Inputs: []TensorRef{ref(F32, 2)}, Attrs: Attrs{Name: longCustom[:8], Ints: []int{1}, DType: I8}, Scalars: []Scalar{IntScalar(U8, 3)}}
	require.NoError(t, base.Check())
	want := tokensOf(t, base)
	for name, change := range map[string]func(*Operation){
		"name":   func(o *Operation) { o.Attrs.Name = longCustom },
		"dtype":  func(o *Operation) { o.Attrs.DType = U8 },
		"ints":   func(o *Operation) { o.Attrs.Ints = []int{2} },
		"flag":   func(o *Operation) { o.Attrs.Flag = true },
		"scalar": func(o *Operation) { o.Scalars = []Scalar{IntScalar(I8, 3)} },
	} {
		o := base
		o.Outputs = nil
		change(&o)
		require.NoError(t, o.Check())
		assert.NotEqual(t, want, tokensOf(t, o), name)
	}
	o := base
	o.Scalars = []Scalar{IntScalar(U8, 4)}
	assert.Equal(t, want, tokensOf(t, o), "another value")
}

// The samples of all kinds in all dtypes have forms of their own: no two
// encodings are confused, nor is one the beginning of another.
func TestRelativeNotConfused(t *testing.T) {
	var forms [][]uint64
	hashes := map[uint64]bool{}
	for _, k := range Kinds() {
		for _, d := range dtypesOf(k) {
			o := sample(k, d)
			require.NoError(t, o.Check())
			for i := range o.Inputs {
				o.Inputs[i].ID = TensorID(i)
			}
			o.Outputs[0].ID = TensorID(len(o.Inputs))
			var r Relative
			encode(t, &r, o)
			for _, f := range forms {
				n := min(len(f), len(r.Tokens))
				assert.False(t, slices.Equal(f[:n], r.Tokens[:n]), "%v of %v", k, d)
			}
			assert.False(t, hashes[r.Hash], "%v of %v", k, d)
			hashes[r.Hash] = true
			forms = append(forms, r.Tokens)
		}
	}
}

// With more lengths than are looked up by scanning, each still has one entry.
func TestRelativeManyLengths(t *testing.T) {
	var ops []Operation
	for round := range 2 {
		for n := range 3 * scanDims {
			o := Operation{Kind: Exp, Inputs: []TensorRef{ref(F32, n)}}
			require.NoError(t, o.Check())
			o.Inputs[0].ID = TensorID(1000 * (2*n + round))
			o.Outputs[0].ID = o.Inputs[0].ID + 1
			ops = append(ops, o)
		}
	}
	var r Relative
	for range 2 {
		encode(t, &r, ops...)
		require.Len(t, r.Dims, 3*scanDims)
		seen := map[int]bool{}
		for _, d := range r.Dims {
			assert.False(t, seen[d])
			seen[d] = true
		}
	}
	first := slices.Clone(r.Tokens)
	encode(t, &r, ops[:1]...)
	assert.Equal(t, []int{1, 0}, r.Dims)
	encode(t, &r, ops...)
	assert.Equal(t, first, r.Tokens)
}

func TestRelativeAllocations(t *testing.T) {
	ops := segment(t, relativeBase)
	var r Relative
	in := []int32{0, 1}
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		r.Reset()
		r.Append(&ops[0], in, 2)
		for i := 1; i < len(ops); i++ {
			r.Append(&ops[i], in[:1], int32(i)+2)
		}
	}))
}

func TestStructHash(t *testing.T) {
	base := func() *Operation {
		return &Operation{Kind: Slice, PC: 7, Attrs: Attrs{Shape: Shape{2}, Axes: []int{1}, Ints: []int{3}},
			Ranges: []Range{{1, 2, 1, 0}}, Scalars: []Scalar{F32Scalar(1)}}
	}
	want := StructHash(base(), []uint64{1, 2})
	for name, change := range map[string]func(*Operation){
		"scalar": func(o *Operation) { o.Scalars[0] = F32Scalar(2) },
		"start":  func(o *Operation) { o.Ranges[0].Start = 0 },
		"length": func(o *Operation) { o.Ranges[0].Len = 9; o.Attrs.Shape = Shape{5} },
	} {
		o := base()
		change(o)
		assert.Equal(t, want, StructHash(o, []uint64{1, 2}), name)
	}
	for name, change := range map[string]func(*Operation){
		"kind":      func(o *Operation) { o.Kind = SetSlice },
		"call site": func(o *Operation) { o.PC = 8 },
		"axes":      func(o *Operation) { o.Attrs.Axes = []int{0} },
		"ints":      func(o *Operation) { o.Attrs.Ints = []int{4} },
		"no ints":   func(o *Operation) { o.Attrs.Ints = nil },
		"n":         func(o *Operation) { o.Attrs.N = 1 },
		"flag":      func(o *Operation) { o.Attrs.Flag = true },
		"reverse":   func(o *Operation) { o.Attrs.Reverse = true },
		"dtype":     func(o *Operation) { o.Attrs.DType = F32 },
		"mode":      func(o *Operation) { o.Attrs.Mode = ScatterSum },
		"name":      func(o *Operation) { o.Attrs.Name = "x" },
		"rank":      func(o *Operation) { o.Attrs.Shape = Shape{2, 1} },
		"step":      func(o *Operation) { o.Ranges[0].Step = 2 },
	} {
		o := base()
		change(o)
		assert.NotEqual(t, want, StructHash(o, []uint64{1, 2}), name)
	}
	assert.NotEqual(t, want, StructHash(base(), []uint64{2, 1}))
	assert.NotEqual(t, want, StructHash(base(), []uint64{1, 2, 0}))
}
