package progen

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sinter-ml/sinter/ir"
)

// Data are values for a program's inputs and for its Vars' first versions, as
// little-endian elements.
type Data struct {
	Inputs [][]byte
	Vars   [][]byte
}

// DataOptions tell what the values are to be like.
type DataOptions struct {
	// Special is the rate of NaN, infinities, signed zeros, subnormals and huge
	// values.
	Special float64
	// OutOfRange makes one element of one input that is used as an index wrong.
	OutOfRange bool
}

// sourceOf is what the values of a tensor come from: they stay the same while a
// program around it shrinks.
func sourceOf(seed uint64, id ir.TensorID) randomSource {
	return randomSource{rand.New(rand.NewPCG(seed, 0xd1b54a32d192ed03^uint64(id)))}
}

// RandomData returns values for p: equal seeds give equal values. Inputs used
// as indices or starts are within the range all their uses allow. It reports
// whether the out-of-range index asked for exists.
func RandomData(p *ir.Program, seed uint64, o DataOptions) (d Data, outOfRange bool) {
	limits := indexLimits(p)
	var indices []int
	for i, ref := range p.Inputs {
		n := ref.Shape.NumElements()
		src := sourceOf(seed, ref.ID)
		limit, ok := limits[ref.ID]
		if !ok {
			d.Inputs = append(d.Inputs, fillValues(src, ref.DType, n, o.Special))
			continue
		}
		var b []byte
		for range n {
			b = binary.LittleEndian.AppendUint64(b, uint64(limit.low+src.intn(max(1, limit.high-limit.low+1))))
		}
		d.Inputs = append(d.Inputs, b)
		if n > 0 {
			indices = append(indices, i)
		}
	}
	for _, ref := range p.Vars {
		d.Vars = append(d.Vars, fillValues(sourceOf(seed, ref.ID), ref.DType, ref.Shape.NumElements(), o.Special))
	}
	if o.OutOfRange && len(indices) > 0 {
		src := sourceOf(seed, ^ir.TensorID(0))
		i := indices[src.intn(len(indices))]
		at := 8 * src.intn(len(d.Inputs[i])/8)
		limit := limits[p.Inputs[i].ID]
		wrong := []int{limit.low - 1, limit.beyond, math.MinInt, math.MaxInt}[src.intn(4)]
		binary.LittleEndian.PutUint64(d.Inputs[i][at:], uint64(wrong))
		outOfRange = true
	}
	return d, outOfRange
}

// span is a range of integers, both ends included, and the least one above that
// no use allows.
type span struct{ low, high, beyond int }

// axisOf is the span of the indices of an axis.
func axisOf(length int) span { return span{0, length - 1, length} }

// indexLimits returns the values that every use as an index or start allows,
// of the tensors that have such a use.
func indexLimits(p *ir.Program) map[ir.TensorID]span {
	limits := make(map[ir.TensorID]span)
	meet := func(id ir.TensorID, s span) {
		if have, ok := limits[id]; ok {
			s = span{max(s.low, have.low), min(s.high, have.high), min(s.beyond, have.beyond)}
		}
		limits[id] = s
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		switch op.Kind {
		case ir.Select, ir.Gather, ir.SetSelect, ir.ScatterAdd, ir.SelectAssign, ir.Scatter:
			meet(op.Inputs[1].ID, axisOf(op.Inputs[0].Shape[op.Attrs.Axes[0]]))
		case ir.Embedding:
			meet(op.Inputs[1].ID, axisOf(op.Inputs[0].Shape[0]))
		case ir.GatherND, ir.ScatterND:
			lists := op.Inputs[1].Shape
			// Each axis has indices of its own; which is which does not matter here.
			if axes := op.Inputs[0].Shape[:lists[len(lists)-1]]; len(axes) > 0 {
				meet(op.Inputs[1].ID, span{0, slices.Min(axes) - 1, slices.Max(axes)})
			}
		}
		for axis, r := range op.Ranges {
			if r.Input != 0 {
				meet(op.Inputs[r.Input].ID, startLimits(r, op.Inputs[0].Shape[axis]))
			}
		}
	}
	return limits
}

// startLimits returns the starts with which r stays inside an axis.
func startLimits(r ir.Range, length int) span {
	reach := max(r.Len-1, 0) * r.Step
	low, high := max(0, -reach), length-1-max(0, reach)
	return span{low, high, high + 1}
}
