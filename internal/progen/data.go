package progen

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

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

// RandomData returns values for p: equal seeds give equal values. Inputs used
// as indices or starts are within the range all their uses allow. It reports
// whether the out-of-range index asked for exists.
func RandomData(p *ir.Program, seed uint64, o DataOptions) (d Data, outOfRange bool) {
	src := randomSource{rand.New(rand.NewPCG(seed, 0xd1b54a32d192ed03))}
	limits := indexLimits(p)
	var indices []int
	for i, ref := range p.Inputs {
		n := ref.Shape.NumElements()
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
		d.Vars = append(d.Vars, fillValues(src, ref.DType, ref.Shape.NumElements(), o.Special))
	}
	if o.OutOfRange && len(indices) > 0 {
		i := indices[src.intn(len(indices))]
		at := 8 * src.intn(len(d.Inputs[i])/8)
		limit := limits[p.Inputs[i].ID]
		wrong := []int{limit.low - 1, limit.high + 1, math.MinInt, math.MaxInt}[src.intn(4)]
		binary.LittleEndian.PutUint64(d.Inputs[i][at:], uint64(wrong))
		outOfRange = true
	}
	return d, outOfRange
}

// span is a range of integers, both ends included.
type span struct{ low, high int }

// indexLimits returns the values that every use as an index or start allows,
// of the tensors that have such a use.
func indexLimits(p *ir.Program) map[ir.TensorID]span {
	limits := make(map[ir.TensorID]span)
	meet := func(id ir.TensorID, s span) {
		if have, ok := limits[id]; ok {
			s = span{max(s.low, have.low), min(s.high, have.high)}
		}
		limits[id] = s
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		switch op.Kind {
		case ir.Select, ir.Gather, ir.SetSelect, ir.ScatterAdd:
			meet(op.Inputs[1].ID, span{0, op.Inputs[0].Shape[op.Attrs.Axes[0]] - 1})
		case ir.Embedding:
			meet(op.Inputs[1].ID, span{0, op.Inputs[0].Shape[0] - 1})
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
	return span{max(0, -reach), length - 1 - max(0, reach)}
}

// fillValues returns n little-endian elements.
func fillValues(src source, dtype ir.DType, n int, special float64) []byte {
	var b []byte
	for range n {
		switch dtype {
		case ir.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(randomFloat(src, special)))
		case ir.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(ir.BFloat16FromFloat32(randomFloat(src, special))))
		case ir.I64:
			b = binary.LittleEndian.AppendUint64(b, uint64(randomInt(src, special)))
		case ir.Bool:
			b = append(b, byte(src.intn(2)))
		}
	}
	return b
}

var specialFloats = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
	math.SmallestNonzeroFloat32, -0x1p-130, 0x1p-126, math.MaxFloat32, -math.MaxFloat32, 3e20, -1e10, 88.5, -104, 0x1p24 + 2, 1e-20,
}

// randomFloat returns mostly a number between −4 and 4, exact halves among
// them.
func randomFloat(src source, special float64) float32 {
	if src.intn(1000) < int(special*1000) {
		return specialFloats[src.intn(len(specialFloats))]
	}
	if src.intn(4) == 0 {
		return float32(src.intn(17)-8) / 2
	}
	return float32(src.intn(1<<16)-1<<15) / (1 << 13)
}

var specialInts = []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, 0, -1, 1<<31 - 1, -1 << 31, 1 << 53, 1<<24 + 1}

// randomInt returns mostly a small number.
func randomInt(src source, special float64) int64 {
	if src.intn(1000) < int(special*1000) {
		return specialInts[src.intn(len(specialInts))]
	}
	return int64(src.intn(21) - 8)
}
