package optimize

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// randomSegment returns a segment of n operations over 4×4 matrices and their
// views, with Vars, effects, inputs that alias and every mix of flags.
func randomSegment(r *rand.Rand, n int) *Segment {
	b := &builder{}
	var pool []ir.TensorID // values to read
	var vars []ir.TensorID // newest version of each Var
	for i := range 4 {
		t := b.in(4, 4)
		if i < 2 {
			b.seg.Tensors[t].Var = i + 1
			vars = append(vars, t)
		} else {
			b.seg.Tensors[t].Takeable = r.IntN(2) == 0
		}
		pool = append(pool, t)
	}
	if r.IntN(2) == 0 { // another name for a Var's storage
		t := b.in(4, 4)
		b.seg.Tensors[t].Buffer = b.seg.Tensors[vars[0]].Buffer
		pool = append(pool, t)
	}
	pick := func() ir.TensorID {
		if r.IntN(3) > 0 { // mostly what is new
			return pool[len(pool)-1-r.IntN(min(4, len(pool)))]
		}
		return pool[r.IntN(len(pool))]
	}
	square := func(t ir.TensorID) ir.TensorID {
		s := b.seg.Tensors[t].Shape
		switch {
		case s.Equal(ir.Shape{4, 4}):
			return t
		case s.NumElements() == 16:
			return b.shape(ir.Reshape, t, 4, 4)
		case len(s) == 2 && s[1] == 1 || len(s) == 2 && s[0] == 1:
			return b.shape(ir.Expand, t, 4, 4)
		}
		return b.op(ir.MatMul, b.axes(ir.Permute, t, 1, 0), t) // [2,4] → [4,4]
	}
	for len(b.seg.Ops) < n {
		x := pick()
		switch r.IntN(15) {
		case 0:
			x = b.op(ir.Neg, x)
		case 1, 2, 3:
			x = b.op([]ir.Kind{ir.Add, ir.Mul}[r.IntN(2)], square(x), square(pick()))
		case 4:
			x = b.scalar(ir.Mul, float32(r.IntN(2)+2), x)
		case 5:
			x = b.axes(ir.Permute, square(x), [][]int{{1, 0}, {1, 0}, {0, 1}}[r.IntN(3)]...)
		case 6:
			x = square(x)
			x = b.shape(ir.Reshape, x, [][]int{{16}, {2, 8}, {4, 4}}[r.IntN(3)]...)
			if s := b.seg.Tensors[x].Shape; len(s) == 2 && s[0] == 2 {
				x = b.shape(ir.Reshape, x, 16)
			}
		case 7:
			lo := r.IntN(3)
			x = b.rows(square(x), lo, lo+2)
		case 8:
			x = b.axes(ir.Sum, square(x), 1)
		case 9:
			x = b.op(ir.MatMul, square(x), square(pick()))
		case 10:
			x = b.cast(x, ir.F32)
		case 11:
			x = b.add(ir.Operation{Kind: ir.Uniform, Attrs: ir.Attrs{Shape: ir.Shape{4, 4}, DType: ir.F32},
				Scalars: []ir.Scalar{ir.I64Scalar(1), ir.I64Scalar(int64(len(b.seg.Ops))), ir.F32Scalar(0), ir.F32Scalar(1)}})
		case 12:
			v := r.IntN(len(vars))
			vars[v] = b.set(vars[v], square(x), false)
			x = vars[v]
		case 13:
			v := r.IntN(len(vars))
			lo := r.IntN(3)
			vars[v] = b.setRows(vars[v], b.rows(square(x), lo, lo+2), lo, lo+2)
			x = vars[v]
		case 14: // often equal to one before
			x = b.full(float32(r.IntN(2)), [][]int{{4, 4}, {4, 1}}[r.IntN(2)]...)
		}
		pool = append(pool, x)
	}
	for t := range b.seg.Tensors {
		if x := &b.seg.Tensors[t]; !x.Input {
			x.Asked, x.Dead = r.IntN(8) == 0, r.IntN(2) == 0
		}
	}
	// Set is in place when nobody can still ask for the old version.
	for i := range b.seg.Ops {
		if b.seg.Ops[i].Kind == ir.Set && r.IntN(2) == 0 && !readAfter(&b.seg, i) {
			b.seg.InPlace[i] = true
		}
	}
	return b.done()
}

// readAfter reports whether something recorded after effect e reads the
// storage it would write over, or can still ask for it.
func readAfter(seg *Segment, e int) bool {
	c := &checker{seg: seg}
	old := seg.InPlace[e]
	seg.InPlace[e] = true
	same := c.sharing(e)
	seg.InPlace[e] = old
	for i := e + 1; i < len(seg.Ops); i++ {
		for _, in := range seg.Ops[i].Inputs {
			if same[in.ID] {
				return true
			}
		}
	}
	return false
}

func TestRandomSegments(t *testing.T) {
	passes := []string{}
	for _, p := range Passes {
		passes = append(passes, p.Name)
	}
	planners := map[string]*Planner{
		"off":       fakePlanner(nil, Options{}),
		"fused":     fakePlanner(fakes(), Options{}),
		"forced":    fakePlanner(fakes(), Options{Force: true}),
		"no passes": fakePlanner(fakes(), Options{Disable: passes}),
		"window":    fakePlanner(fakes(), Options{Window: 3}),
	}
	fused := 0
	for i := range uint64(400) {
		r := rand.New(rand.NewPCG(i, 7))
		seg := randomSegment(r, 1+r.IntN(40))
		for name, p := range planners {
			msg := fmt.Sprintf("seed %d, %s", i, name)
			plan, err := p.Plan(seg)
			require.NoError(t, err, msg)
			require.NoError(t, Check(plan, seg), "%s\n%s", msg, plan.Format(seg))
			require.NoError(t, runModel(plan, seg), "%s\n%s", msg, plan.Format(seg))
			again, err := p.Plan(seg)
			require.NoError(t, err, msg)
			require.Equal(t, plan.Format(seg), again.Format(seg), msg)
			require.Equal(t, plan.Log.Decisions, again.Log.Decisions, msg)
			for _, b := range plan.Blocks {
				if len(b.Ops) > 1 {
					fused++
				}
			}
		}
	}
	require.Greater(t, fused, 1000, "the segments are worth fusing")
}
