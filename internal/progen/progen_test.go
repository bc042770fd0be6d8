package progen

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

func TestProgramsAreValidAndVaried(t *testing.T) {
	kinds := map[ir.Kind]int{}
	var ranks [6]int
	dtypes := map[ir.DType]bool{}
	var empty, viewsOfViews, oldReads, starts, scalarOperands, manyOutputs int
	for seed := range uint64(800) {
		o := DefaultOptions()
		p := Generate(seed, o)
		require.NoError(t, p.Validate(), "seed %d:\n%v", seed, p)
		defs := p.Definitions()
		overwritten := map[ir.TensorID]bool{}
		for _, op := range p.Ops {
			out := op.Outputs[0]
			kinds[op.Kind]++
			dtypes[out.DType] = true
			ranks[min(len(out.Shape), 5)]++
			assert.LessOrEqual(t, out.Shape.NumElements(), o.MaxElements)
			if out.Shape.NumElements() == 0 {
				empty++
			}
			for _, in := range op.Inputs {
				if overwritten[in.ID] {
					oldReads++
				}
			}
			switch ir.Lookup(op.Kind).Class {
			case ir.ClassEffect:
				overwritten[op.Inputs[0].ID] = true
			case ir.ClassView:
				from := defs[op.Inputs[0].ID]
				if from.Source == ir.FromOp && ir.Lookup(p.Ops[from.Index].Kind).Class == ir.ClassView {
					viewsOfViews++
				}
			}
			for _, r := range op.Ranges {
				if r.Input != 0 {
					starts++
				}
			}
			for _, s := range op.Scalars {
				if s.Input != 0 {
					scalarOperands++
				}
			}
		}
		if len(p.Outputs) > 1 {
			manyOutputs++
		}
	}
	for _, kind := range ir.Kinds() {
		assert.Equal(t, kind != ir.Custom, kinds[kind] > 0, kind.String()) // what a custom operation does is registered apart
	}
	assert.Len(t, dtypes, len(dtypesMade))
	for rank := range 5 {
		assert.Greater(t, ranks[rank], 100, "rank %d", rank)
	}
	for what, n := range map[string]int{
		"empty results": empty, "views of views": viewsOfViews, "reads of overwritten versions": oldReads,
		"starts from operands": starts, "scalars from operands": scalarOperands, "programs of several outputs": manyOutputs,
	} {
		assert.Greater(t, n, 20, what)
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	for seed := range uint64(20) {
		a, b := Generate(seed, DefaultOptions()), Generate(seed, DefaultOptions())
		assert.True(t, a.Equal(b))
		da, _ := RandomData(a, seed, DataOptions{Special: 0.1})
		db, _ := RandomData(b, seed, DataOptions{Special: 0.1})
		assert.Equal(t, da, db)
	}
	assert.False(t, Generate(1, DefaultOptions()).Equal(Generate(2, DefaultOptions())))
}

func TestWeights(t *testing.T) {
	for _, group := range Groups() {
		ops := 0
		for seed := range uint64(5) {
			p := Generate(seed, Options{Ops: 30, Weights: map[string]int{group: 1}})
			require.NoError(t, p.Validate())
			ops += len(p.Ops)
		}
		assert.Greater(t, ops, 20, group)
	}
	p := Generate(3, Options{Weights: map[string]int{"reduce": 1}})
	for _, op := range p.Ops {
		class := ir.Lookup(op.Kind).Class
		assert.Contains(t, []ir.Class{ir.ClassReduce, ir.ClassCreate, ir.ClassView}, class)
	}
	p = Generate(3, Options{Weights: map[string]int{}})
	require.NoError(t, p.Validate())
	assert.Len(t, p.Ops, 1, "with nothing to choose there is one constant")
}

func TestDataFitsAndIndicesAreInRange(t *testing.T) {
	indices := 0
	for seed := range uint64(200) {
		p := Generate(seed, DefaultOptions())
		d, wrong := RandomData(p, seed, DataOptions{Special: 0.3})
		assert.False(t, wrong)
		require.Len(t, d.Inputs, len(p.Inputs))
		require.Len(t, d.Vars, len(p.Vars))
		limits := indexLimits(p)
		for i, ref := range p.Inputs {
			require.Len(t, d.Inputs[i], ref.Shape.NumElements()*ref.DType.Size())
			limit, ok := limits[ref.ID]
			if !ok {
				continue
			}
			require.Equal(t, ir.I64, ref.DType)
			require.LessOrEqual(t, limit.low, limit.high, "seed %d: %%%d\n%v", seed, ref.ID, p)
			for at := 0; at < len(d.Inputs[i]); at += 8 {
				v := int(binary.LittleEndian.Uint64(d.Inputs[i][at:]))
				assert.True(t, v >= limit.low && v <= limit.high)
				indices++
			}
		}
		for i, ref := range p.Vars {
			assert.Len(t, d.Vars[i], ref.Shape.NumElements()*ref.DType.Size())
		}
	}
	assert.Greater(t, indices, 200)
}

func TestOutOfRangeData(t *testing.T) {
	count := 0
	for seed := range uint64(100) {
		p := Generate(seed, DefaultOptions())
		good, _ := RandomData(p, seed, DataOptions{})
		bad, wrong := RandomData(p, seed, DataOptions{OutOfRange: true})
		changed := 0
		for i := range bad.Inputs {
			for at := range bad.Inputs[i] {
				if good.Inputs[i][at] != bad.Inputs[i][at] {
					changed++
					limit := indexLimits(p)[p.Inputs[i].ID]
					v := int(binary.LittleEndian.Uint64(bad.Inputs[i][at/8*8:]))
					assert.True(t, v < limit.low || v > limit.high)
				}
			}
		}
		assert.Equal(t, wrong, changed > 0)
		if wrong {
			count++
		}
	}
	assert.Greater(t, count, 20)
}

func TestSpecialRate(t *testing.T) {
	p := &ir.Program{Inputs: []ir.TensorRef{{ID: 1, Shape: ir.Shape{2000}, DType: ir.F32}}}
	count := func(rate float64) (n int) {
		d, _ := RandomData(p, 1, DataOptions{Special: rate})
		for at := 0; at < len(d.Inputs[0]); at += 4 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(d.Inputs[0][at:]))
			if v != v || math.Abs(float64(v)) > 4 {
				n++
			}
		}
		return n
	}
	assert.Zero(t, count(0))
	assert.InDelta(t, 125, count(0.1), 60) // 10 of the 16 special values show
	assert.Greater(t, count(1), 1000)
}

func TestFromBytes(t *testing.T) {
	require.NoError(t, FromBytes(nil).Validate())
	data := make([]byte, 300)
	kinds := map[ir.Kind]bool{}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		p := FromBytes(data)
		require.NoError(t, p.Validate())
		assert.True(t, p.Equal(FromBytes(data)))
		for _, op := range p.Ops {
			kinds[op.Kind] = true
		}
	}
	assert.Greater(t, len(kinds), 70)
}

func FuzzFromBytes(f *testing.F) {
	f.Add([]byte("a program of some length, to start from"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := FromBytes(data)
		if err := p.Validate(); err != nil {
			t.Fatalf("%v\n%v", err, p)
		}
		if again, err := ir.ParseProgram(p.String()); err != nil || !again.Equal(p) {
			t.Fatalf("the text form does not parse back: %v\n%v", err, p)
		}
	})
}
