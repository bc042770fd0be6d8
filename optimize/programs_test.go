package optimize

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

var cpuProfile = fuser.Profile{Name: "cpu", Bandwidth: 20, LaunchCost: 2000, OpCost: 0.1, RowBytes: 1 << 16, MaxBuffers: 24, MaxOps: 128}

// segmentOf makes a program one segment, its outputs asked for and some of the
// other values dead.
func segmentOf(p *ir.Program, r *rand.Rand) *Segment {
	seg := &Segment{Dims: []int{1}, InPlace: make([]bool, len(p.Ops))}
	ids := map[ir.TensorID]ir.TensorID{}
	add := func(ref ir.TensorRef, t Tensor) {
		t.Shape, t.DType = ref.Shape, ref.DType
		ids[ref.ID] = ir.TensorID(len(seg.Tensors))
		seg.Tensors = append(seg.Tensors, t)
		for _, n := range ref.Shape {
			if !slices.Contains(seg.Dims, n) {
				seg.Dims = append(seg.Dims, n)
			}
		}
	}
	input := func(ref ir.TensorRef, isVar int) {
		add(ref, Tensor{Input: true, Var: isVar, Buffer: len(seg.Tensors) + 1, Layout: codegen.Contiguous(ref.Shape), Takeable: isVar == 0 && r.IntN(4) == 0})
	}
	for _, in := range p.Inputs {
		input(in, 0)
	}
	for i, v := range p.Vars {
		input(v, i+1)
	}
	for _, c := range p.Constants {
		input(c.TensorRef, 0)
	}
	for _, op := range p.Ops {
		op.Inputs, op.Outputs = slices.Clone(op.Inputs), slices.Clone(op.Outputs)
		for i := range op.Inputs {
			op.Inputs[i].ID = ids[op.Inputs[i].ID]
		}
		add(op.Outputs[0], Tensor{Dead: r.IntN(2) == 0, Asked: slices.Contains(p.Outputs, op.Outputs[0].ID)})
		op.Outputs[0].ID = ids[op.Outputs[0].ID]
		seg.Ops = append(seg.Ops, op)
	}
	for i := range seg.Ops {
		seg.InPlace[i] = seg.Ops[i].Kind == ir.Set && r.IntN(2) == 0 && !readAfter(seg, i) || seg.inPlace(i)
	}
	return seg
}

// Real programs through the library's fusers: every plan is right by Check,
// and fusing never adds launches.
func TestRandomProgramsThroughTheFusers(t *testing.T) {
	off := New(nil, cpuProfile, Options{Check: true})
	on := New(fuser.Default(), cpuProfile, Options{Check: true})
	forced := New(fuser.Default(), cpuProfile, Options{Check: true, Force: true})
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	launches := func(p *Plan) int {
		n := 0
		for _, b := range p.Blocks {
			n += len(b.Calls)
		}
		return n
	}
	fused, failed := 0, 0
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		program := progen.Generate(seed, progen.Options{Special: 0.01, Empty: 0.01})
		seg := segmentOf(program, r)
		alone, err := off.Plan(seg)
		require.NoError(t, err, "seed %d\n%s", seed, program)
		for _, p := range []*Planner{on, forced} {
			got, err := p.Plan(seg)
			require.NoError(t, err, "seed %d\n%s", seed, program)
			require.True(t, got.Holds(seg.Facts()), "seed %d: a plan holds for its own segment", seed)
			require.LessOrEqual(t, launches(got), launches(alone), "seed %d\n%s\n%s", seed, got.Format(seg), alone.Format(seg))
			fused += launches(alone) - launches(got)
			for _, d := range got.Log.Decisions {
				if d.Event == EventFailed {
					failed++
					t.Logf("seed %d: %+v", seed, d)
				}
			}
			again, err := p.Plan(seg)
			require.NoError(t, err)
			require.Equal(t, got.Format(seg), again.Format(seg))
		}
	}
	require.Greater(t, fused, int(n), "launches saved")
	t.Logf("%d launches saved, %d blocks failed", fused, failed)
}

// transformer records encoder layers as a model does: normalise first, heads
// split by reshape and permute, nothing kept but the result.
func transformer(layers int) *Segment {
	const batch, tokens, heads, size = 2, 16, 4, 8
	const width = heads * size
	b := &builder{}
	linear := func(x ir.TensorID, out int) ir.TensorID {
		in := b.seg.Tensors[x].Shape[2]
		return b.op(ir.Linear, x, b.variable(in, out), b.variable(out))
	}
	norm := func(x ir.TensorID) ir.TensorID {
		return b.scalar(ir.LayerNorm, 1e-5, x, b.variable(width), b.variable(width))
	}
	split := func(x ir.TensorID) ir.TensorID {
		return b.axes(ir.Permute, b.shape(ir.Reshape, linear(x, width), batch, tokens, heads, size), 0, 2, 1, 3)
	}
	x := b.in(batch, tokens, width)
	for range layers {
		h := norm(x)
		q, k, v := split(h), split(h), split(h)
		s := b.scalar(ir.Mul, 0.3, b.op(ir.MatMul, q, b.axes(ir.Permute, k, 0, 1, 3, 2)))
		o := b.op(ir.MatMul, b.axes(ir.Softmax, s, 3), v)
		o = b.shape(ir.Reshape, b.axes(ir.Permute, o, 0, 2, 1, 3), batch, tokens, width)
		x = b.op(ir.Add, x, linear(o, width))
		x = b.op(ir.Add, x, linear(b.op(ir.Gelu, linear(norm(x), 4*width)), width))
	}
	b.asked(x)
	for t := range b.seg.Tensors {
		b.seg.Tensors[t].Dead = !b.seg.Tensors[t].Input && !b.seg.Tensors[t].Asked
	}
	return b.done()
}

func TestTransformerThroughTheFusers(t *testing.T) {
	p := New(fuser.Default(), cpuProfile, Options{Check: true})
	var steps, offers int
	for _, layers := range []int{1, 10, 20, 40, 80} {
		plan, err := p.Plan(transformer(layers))
		require.NoError(t, err)
		n := 0
		for _, b := range plan.Blocks {
			n += len(b.Calls)
		}
		// Two norms, six linear layers, two products and a softmax; views,
		// scale, Gelu and residuals cost no launch.
		require.Equal(t, 11*layers, n)
		if layers > 10 {
			require.LessOrEqual(t, float64(plan.Log.Steps), 2.2*float64(steps), "%d layers", layers)
			require.LessOrEqual(t, float64(plan.Log.Offers), 2.1*float64(offers), "%d layers", layers)
		}
		steps, offers = plan.Log.Steps, plan.Log.Offers
	}
}
