package progen

import (
	"math/rand/v2"

	"github.com/sinter-ml/sinter/ir"
)

// Generate returns a random valid program; equal seeds and options give equal
// programs.
func Generate(seed uint64, o Options) *ir.Program {
	return generate(randomSource{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}, o)
}

// FromBytes returns the valid program that the bytes choose, for fuzzing: a
// changed byte changes the choices from there on.
func FromBytes(data []byte) *ir.Program {
	o := DefaultOptions()
	o.MaxElements = 400
	return generate(&byteSource{data}, o)
}

// generator is a program being recorded.
type generator struct {
	src     source
	options Options
	program *ir.Program
	next    ir.TensorID
	live    []ir.TensorRef // every tensor so far
	vars    []ir.TensorRef // each Var's current version

	// indexInputs are the last inputs made to be indices, by rank.
	indexInputs map[int]ir.TensorRef
}

func generate(src source, o Options) *ir.Program {
	o.fill()
	g := &generator{src: src, options: o, program: &ir.Program{}, indexInputs: map[int]ir.TensorRef{}}
	total := 0
	for _, group := range groups {
		total += o.Weights[group.name]
	}
	// A group may record several operations, or none if no operand fits.
	for try := 0; try < 4*o.Ops && len(g.program.Ops) < o.Ops && !src.empty() && total > 0; try++ {
		at := src.intn(total)
		for _, group := range groups {
			if at -= o.Weights[group.name]; at < 0 {
				group.record(g)
				break
			}
		}
	}
	g.chooseOutputs()
	return g.program
}

// chooseOutputs names the last result and a few others, any of which may also
// be an operand of later operations.
func (g *generator) chooseOutputs() {
	p := g.program
	if len(p.Ops) == 0 {
		g.apply(ir.Full, func(o *ir.Operation) {
			o.Attrs.DType = ir.F32
			o.Scalars = []ir.Scalar{ir.F32Scalar(1)}
		})
	}
	p.Outputs = []ir.TensorID{p.Ops[len(p.Ops)-1].Outputs[0].ID}
	used := map[ir.TensorID]bool{p.Outputs[0]: true}
	for range g.src.intn(g.options.Outputs) {
		id := p.Ops[g.src.intn(len(p.Ops))].Outputs[0].ID
		if !used[id] {
			used[id] = true
			p.Outputs = append(p.Outputs, id)
		}
	}
}

func (g *generator) chance(p float64) bool { return g.src.intn(1000) < int(p*1000) }

func pick[T any](g *generator, from ...T) T { return from[g.src.intn(len(from))] }

func (g *generator) define(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	g.next++
	ref := ir.TensorRef{ID: g.next, Shape: shape, DType: dtype}
	g.live = append(g.live, ref)
	return ref
}

// input adds an input of the program.
func (g *generator) input(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	ref := g.define(dtype, shape)
	g.program.Inputs = append(g.program.Inputs, ref)
	return ref
}

// constant adds a constant.
func (g *generator) constant(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	ref := g.define(dtype, shape)
	data := fillValues(g.src, dtype, shape.NumElements(), g.options.Special)
	g.program.Constants = append(g.program.Constants, ir.Constant{TensorRef: ref, Data: data})
	return ref
}

// fresh adds an input or, less often, a constant.
func (g *generator) fresh(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	if shape.NumElements() <= 16 && g.chance(0.2) {
		return g.constant(dtype, shape)
	}
	return g.input(dtype, shape)
}

// apply records an operation and returns its result. An operation that does
// not check, or whose result is too large, is not recorded.
func (g *generator) apply(kind ir.Kind, set func(*ir.Operation), in ...ir.TensorRef) (ir.TensorRef, bool) {
	op := ir.Operation{Kind: kind, Inputs: in, Outputs: []ir.TensorRef{{}}}
	if set != nil {
		set(&op)
	}
	if op.Check() != nil || op.Outputs[0].Shape.NumElements() > g.options.MaxElements {
		return ir.TensorRef{}, false
	}
	out := g.define(op.Outputs[0].DType, op.Outputs[0].Shape.Clone())
	op.Outputs[0] = out
	g.program.Ops = append(g.program.Ops, op)
	return out, true
}

// shape returns a new shape of at least the given rank.
func (g *generator) shape(minRank int) ir.Shape {
	rank := minRank
	if g.options.MaxRank > minRank {
		rank += g.src.intn(g.options.MaxRank - minRank + 1)
	}
	shape := make(ir.Shape, rank)
	for i := range shape {
		room := max(1, g.options.MaxElements/max(1, shape[:i].NumElements()))
		shape[i] = min(g.length(), room)
	}
	return shape
}

// length returns the length of an axis: small, often 1 or a prime, seldom
// beyond a vector or a lane block.
func (g *generator) length() int {
	if g.chance(g.options.Empty) {
		return 0
	}
	return min(g.options.MaxLength, pick(g, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 31, 33, 37))
}

// tensor returns a live tensor that fits, recent ones more often, so that
// chains grow while older values are used again; or a new one of rank minRank
// or more.
func (g *generator) tensor(dtypes ir.DTypeSet, minRank int) ir.TensorRef {
	if len(g.live) > 0 && !g.chance(0.08) {
		for try := range 8 {
			window := len(g.live)
			if try < 3 {
				window = min(window, 4)
			}
			ref := g.live[len(g.live)-1-g.src.intn(window)]
			if dtypes.Has(ref.DType) && len(ref.Shape) >= minRank {
				return ref
			}
		}
	}
	return g.fresh(g.dtype(dtypes), g.shape(minRank))
}

// like returns a tensor of exactly this dtype and shape: a live one, a
// broadcast one, one value everywhere, or a new one.
func (g *generator) like(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	if ref, ok := g.find(func(t ir.TensorRef) bool { return t.DType == dtype && t.Shape.Equal(shape) }); ok {
		return ref
	}
	switch g.src.intn(6) {
	case 0:
		if out, ok := g.apply(ir.Expand, func(o *ir.Operation) { o.Attrs.Shape = shape }, g.fresh(dtype, g.narrow(shape))); ok {
			return out
		}
	case 1:
		if out, ok := g.apply(ir.Full, func(o *ir.Operation) {
			o.Attrs.Shape, o.Attrs.DType, o.Scalars = shape, dtype, []ir.Scalar{g.scalar(dtype)}
		}); ok {
			return out
		}
	}
	return g.fresh(dtype, shape)
}

// find returns a random live tensor that satisfies fits, most of the time.
func (g *generator) find(fits func(ir.TensorRef) bool) (ir.TensorRef, bool) {
	var found []ir.TensorRef
	for _, ref := range g.live {
		if fits(ref) {
			found = append(found, ref)
		}
	}
	if len(found) == 0 || g.chance(0.1) {
		return ir.TensorRef{}, false
	}
	return pick(g, found...), true
}

// narrow returns a shape that broadcasts to shape: leading axes dropped,
// others set to 1.
func (g *generator) narrow(shape ir.Shape) ir.Shape {
	out := shape[g.src.intn(len(shape)+1):].Clone()
	for i := range out {
		if g.src.intn(3) == 0 {
			out[i] = 1
		}
	}
	return out
}

// partner returns a tensor of this dtype that broadcasts with shape.
func (g *generator) partner(dtype ir.DType, shape ir.Shape) ir.TensorRef {
	if ref, ok := g.find(func(t ir.TensorRef) bool {
		joint, ok := ir.Broadcast(t.Shape, shape)
		return ok && t.DType == dtype && joint.NumElements() <= g.options.MaxElements
	}); ok {
		return ref
	}
	return g.fresh(dtype, g.narrow(shape))
}

// axes returns a non-empty set of axes, all of them for rank 0.
func (g *generator) axes(rank int) []int {
	if rank == 0 || g.src.intn(6) == 0 {
		return nil
	}
	if g.src.intn(2) == 0 {
		return []int{rank - 1}
	}
	var axes []int
	for a := range rank {
		if g.src.intn(2) == 0 {
			axes = append(axes, a)
		}
	}
	if axes == nil {
		axes = []int{g.src.intn(rank)}
	}
	return axes
}
