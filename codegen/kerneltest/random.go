package kerneltest

import (
	"math/rand/v2"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Size is a class of spaces.
type Size int

// The sizes, by how many points a space has at most.
const (
	Small Size = iota
	Medium
	Large
)

var sizePoints = [...]int{Small: 300, Medium: 5000, Large: 60000}

// Options says what random kernels are made of.
type Options struct {
	Templates []codegen.Template // nil: all but Custom
	// AllFunctions also takes functions that engines owe only within some ulps,
	// and normal numbers. Without it, results have one right value but for
	// contractions of floats and attention.
	AllFunctions bool
	// DTypes are those of buffers and casts, nil: all. I64 for indices and Bool
	// for masks exist in programs anyway.
	DTypes []ir.DType
	Size   Size
}

// palette is what Options leave to choose from.
type palette struct {
	dtypes    []ir.DType // of casts
	storage   []ir.DType // of buffers, those most used several times
	registers []ir.DType // those most used several times
	numbers   []ir.DType // registers but for Bool
	factors   []ir.DType // of contractions and attention
	small     []ir.DType // floats that F32 may be stored as
	ranges    []ir.DType // what F32 ranges may be rounded to
	functions []ir.ScalarOp
	normals   []ir.DType // of normal numbers, none for exact programs
}

func (o Options) palette() palette {
	dtypes := o.DTypes
	if dtypes == nil {
		dtypes = ir.DTypes()
	}
	among := func(list ...ir.DType) []ir.DType {
		return slices.DeleteFunc(list, func(dt ir.DType) bool { return !slices.Contains(dtypes, dt) })
	}
	register := func(list ...ir.DType) []ir.DType {
		return slices.DeleteFunc(list, func(t ir.DType) bool {
			return t != ir.I64 && t != ir.Bool && !slices.ContainsFunc(dtypes, func(dt ir.DType) bool { return dt.Compute() == t })
		})
	}
	p := palette{
		dtypes:    dtypes,
		storage:   append(among(ir.F32, ir.F32, ir.BF16, ir.I64, ir.Bool), dtypes...),
		registers: register(ir.F32, ir.F32, ir.F32, ir.F64, ir.I64, ir.I64, ir.I32, ir.I16, ir.I8, ir.U64, ir.U32, ir.U16, ir.U8, ir.Bool),
		factors:   among(ir.F32, ir.F32, ir.BF16, ir.F16, ir.F64, ir.I64, ir.I32, ir.I8, ir.U8, ir.U16),
		small:     among(ir.BF16, ir.F16, ir.F8E4M3, ir.F8E5M2),
		ranges:    append([]ir.DType{ir.Invalid}, among(ir.F32, ir.F16, ir.BF16)...),
		functions: ExactFunctions,
	}
	p.numbers = p.registers[:len(p.registers)-1]
	if o.AllFunctions {
		p.functions = ir.ScalarOps()
		p.normals = register(ir.F32, ir.F64)
	}
	p.functions = slices.DeleteFunc(slices.Clone(p.functions), func(fn ir.ScalarOp) bool {
		return !slices.ContainsFunc(p.registers, fn.Sig().DefinedFor)
	})
	return p
}

// Random returns a random case: a template, a program, layouts with gaps, flips,
// broadcasts, windows and indices, lengths of 0 and 1 among others, and memory
// that has special values. Some index values of scatters are out of range.
func Random(r *rand.Rand, o Options) Case {
	from := o.palette()
	templates := o.Templates
	if templates == nil {
		templates = []codegen.Template{
			codegen.Map, codegen.Map, codegen.Rows, codegen.Rows, codegen.Contraction, codegen.Scan, codegen.Scatter, codegen.Attention, codegen.Sort, codegen.Parts,
		}
	}
	limit := sizePoints[o.Size]
	dims := func(least, most int) []int { return RandomDims(r, least+r.IntN(most-least+1), limit) }
	switch template := templates[r.IntN(len(templates))]; template {
	case codegen.Rows:
		d := dims(1, 4)
		return randomProgram(r, from, template, r.IntN(len(d)+1), d).Case
	case codegen.Contraction:
		return from.contraction(r, dims(3, 5))
	case codegen.Scan:
		t := from.pick(r, from.storage, ir.Numbers.Has)
		return randomScan(r, from, dims(1, 3), t, codegen.ReduceOp(r.IntN(4)), r.IntN(2) == 0, r.IntN(2) == 0).Case
	case codegen.Scatter:
		return from.scatter(r, dims(2, 2))
	case codegen.Attention:
		return from.attention(r, limit)
	case codegen.Sort:
		d := dims(1, 3)
		d[len(d)-1] = min(d[len(d)-1], 300) // the evaluator compares each with each
		return randomSort(r, from, d, from.pick(r, from.storage, ir.DType.Valid), r.IntN(2) == 0, r.IntN(2) == 0).Case
	case codegen.Parts:
		var parts []Case
		for range 2 + r.IntN(4) {
			d := RandomDims(r, r.IntN(4), limit/4)
			parts = append(parts, randomProgram(r, from, codegen.Map, len(d), d).Case)
		}
		return Join(parts...)
	default:
		d := dims(0, 4)
		return randomProgram(r, from, codegen.Map, len(d), d).Case
	}
}

// pick returns one dtype of a list that has a property, F32 if none has.
func (p *palette) pick(r *rand.Rand, list []ir.DType, has func(ir.DType) bool) ir.DType {
	list = slices.DeleteFunc(slices.Clone(list), func(dt ir.DType) bool { return !has(dt) })
	if len(list) == 0 {
		return ir.F32
	}
	return list[r.IntN(len(list))]
}

func (p *palette) contraction(r *rand.Rand, dims []int) Case {
	left := p.pick(r, p.factors, ir.DType.Valid)
	if r.IntN(2) == 0 {
		return randomPrologues(r, *p, dims, left.Compute()).Case
	}
	right := p.pick(r, p.factors, func(dt ir.DType) bool {
		return dt.Compute() == left.Compute() || ir.Bytes.Has(dt) && ir.Bytes.Has(left)
	})
	m := randomContraction(r, *p, dims, left, right)
	if r.IntN(4) > 0 {
		m.Tame()
	}
	return m.Case
}

func (p *palette) scatter(r *rand.Rand, dims []int) Case {
	dt := p.pick(r, p.storage, ir.DType.Valid)
	mode := ir.Assign
	if ir.Numbers.Has(dt) {
		mode = ir.ScatterMode(r.IntN(int(ir.ScatterMax) + 1))
	}
	rows, bad := 1+r.IntN(9), int64(0)
	if dims[0] > 0 && r.IntN(25) == 0 {
		bad = []int64{-1, int64(rows), 1 << 62, -1 << 63}[r.IntN(4)]
	}
	return RandomScatter(r, dims[0], dims[1], rows, dt, mode, bad).Case
}

func (p *palette) attention(r *rand.Rand, limit int) Case {
	d := RandomDims(r, 4, max(1, limit/8))
	c := Attention{
		Batches: 1 + r.IntN(2), Heads: 1 + r.IntN(2), Queries: d[0], Keys: min(d[1], 300), Dim: min(d[2], 70), ValueDim: min(d[3], 70),
		DType: p.pick(r, p.factors, ir.DType.IsFloat),
		Spec:  codegen.AttentionSpec{Causal: r.IntN(2) == 0, HasMask: r.IntN(2) == 0, ScaleRead: r.IntN(4) == 0},
	}
	c.Spec.BoolMask = c.Spec.HasMask && r.IntN(2) == 0
	if c.Spec.Causal {
		c.Offset = int64(r.IntN(7) - 3)
	}
	return c.Build(r).Case
}

// RandomDims returns lengths with at most limit points, zeros not counted: short
// and long ones in any order, some of them 0.
func RandomDims(r *rand.Rand, rank, limit int) []int {
	dims := make([]int, rank)
	points := 1
	for _, i := range r.Perm(rank) {
		d := 1 + r.IntN(max(1, min(limit/points, []int{1, 3, 7, 40, 1100}[r.IntN(5)])))
		if r.IntN(40) == 0 {
			d = 0
		}
		dims[i] = d
		points *= max(1, d)
	}
	return dims
}
