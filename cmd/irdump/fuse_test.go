package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/null"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// planned plans a program as irdump does, without irdump's view of it.
func planned(t *testing.T, p *ir.Program) *optimize.Plan {
	t.Helper()
	planner := optimize.New(fuser.Default(), null.Open(backend.Options{}).Profile(), optimize.Options{Check: true})
	plan, err := planner.Plan(segmentOf(p, false))
	require.NoError(t, err)
	return plan
}

// corpus is the examples and random programs, by their text.
func corpus(t *testing.T) []*ir.Program {
	t.Helper()
	var out []*ir.Program
	for _, p := range programs(t) {
		out = append(out, p)
	}
	return append(out, random(t)...)
}

func fuseJSON(t *testing.T, p *ir.Program, args ...string) fuseView {
	t.Helper()
	code, out, errs := irdump(t, p.String(), append([]string{"fuse", "-json"}, args...)...)
	require.Equal(t, exitOK, code, errs)
	var v struct{ Segments []fuseView }
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Len(t, v.Segments, 1)
	return v.Segments[0]
}

// What is printed is the plan: the same blocks, every refusal of its log, and
// scores whose parts add up.
func TestViewIsThePlan(t *testing.T) {
	for _, p := range corpus(t) {
		p, _ := compact(p)
		plan := planned(t, p)
		v := fuseJSON(t, p)
		require.Len(t, v.Blocks, len(plan.Blocks))
		rejected := map[int]int{}
		for _, d := range plan.Log.Decisions {
			if (d.Event == optimize.EventOffer || d.Event == optimize.EventRefuse) && !d.Accepted {
				rejected[d.Op]++
			}
		}
		for i, b := range v.Blocks {
			want := plan.Blocks[i]
			assert.Equal(t, want.Fuser, b.Fuser)
			assert.InDelta(t, want.Score, b.Score, 1e-6)
			assert.InDelta(t, b.Score, b.score.Launches+b.Bytes-b.Recompute, 1e-3)
			shown := map[int]int{}
			for _, r := range b.Refusals {
				shown[r.Op]++
			}
			for k, op := range b.Ops {
				assert.Equal(t, want.Ops[k], op.Position)
				assert.Equal(t, rejected[op.Position], shown[op.Position], "refusals of operation %d of\n%v", op.Position, p)
			}
			if slices.Contains([]string{"single", "alias"}, b.Fuser) {
				continue
			}
			require.NotEmpty(t, b.Competed, "block %d of\n%v", i, p)
			assert.Equal(t, b.Fuser, b.Competed[0].Fuser)
			assert.True(t, b.Competed[0].Chosen)
		}
		for _, f := range v.Fates {
			assert.Equal(t, plan.Fates[f.Tensor].String(), f.Fate)
		}
	}
}

// Two operations are told to be together exactly if a block has both, and if
// they are not, there is a reason.
func TestWhyAgreesWithBlocks(t *testing.T) {
	for _, p := range corpus(t) {
		p, _ := compact(p)
		plan := planned(t, p)
		for a := 0; a < len(p.Ops); a++ {
			for b := a; b < len(p.Ops); b += 1 + len(p.Ops)/8 {
				name := func(op int) string { return "%" + strconv.FormatUint(uint64(p.Ops[op].Outputs[0].ID), 10) }
				code, out, errs := irdump(t, p.String(), "fuse", "-json", "-why", name(a), name(b))
				require.Equal(t, exitOK, code, errs)
				var v struct{ Segments []whyView }
				require.NoError(t, json.Unmarshal([]byte(out), &v))
				got := v.Segments[0]
				together := a == b || slices.ContainsFunc(plan.Blocks, func(blk optimize.Block) bool {
					return slices.Contains(blk.Ops, a) && slices.Contains(blk.Ops, b)
				})
				assert.Equal(t, together, got.Together)
				assert.Equal(t, together, len(got.Reasons) == 0, "%d and %d of\n%v", a, b, p)
				for _, r := range got.Reasons {
					if r.Rule != "" {
						assert.NotEmpty(t, r.Doc, "rule %s is not explained", r.Rule)
					}
				}
			}
		}
	}
}

func TestNoFusion(t *testing.T) {
	for _, p := range corpus(t) {
		for _, b := range fuseJSON(t, p, "-no-fusion").Blocks {
			assert.Len(t, b.Ops, 1)
			assert.Equal(t, b.Alone, b.Cost)
			assert.Zero(t, b.Score)
		}
	}
}

func TestLeavingOut(t *testing.T) {
	p := programs(t)["testdata/rewritten.sinter"]
	passes := map[string]bool{}
	for _, r := range fuseJSON(t, p).Rewrites {
		passes[r.Pass] = true
	}
	for _, pass := range optimize.Passes {
		assert.True(t, passes[pass.Name], "the example has nothing for pass %s", pass.Name)
		for _, r := range fuseJSON(t, p, "-no-pass", pass.Name).Rewrites {
			assert.NotEqual(t, pass.Name, r.Pass)
		}
	}
	for _, f := range fuser.Default() {
		for _, p := range programs(t) {
			for _, b := range fuseJSON(t, p, "-no-fuser", f.Name).Blocks {
				assert.NotEqual(t, f.Name, b.Fuser)
			}
		}
	}
}

// -force leaves no refusal that is a matter of cost, but for the length of a
// block and of a search, which bound the time of planning.
func TestForce(t *testing.T) {
	bounds := []string{string(fuser.RuleMaxOps), string(optimize.RuleTooLong), string(optimize.RuleFar), string(optimize.RuleNotReady)}
	count := func(args ...string) int {
		n := 0
		for _, p := range corpus(t) {
			for _, b := range fuseJSON(t, p, args...).Blocks {
				for _, r := range b.Refusals {
					if explain(r.Rule).Profit && !slices.Contains(bounds, r.Rule) {
						n++
					}
				}
			}
		}
		return n
	}
	assert.Positive(t, count())
	assert.Zero(t, count("-force"))
	p := programs(t)["testdata/longrows.sinter"]
	assert.Len(t, fuseJSON(t, p).Blocks, 2)
	assert.Len(t, fuseJSON(t, p, "-force").Blocks, 1)
}

// -keep stores or keeps a recipe of what is dead otherwise.
func TestKeep(t *testing.T) {
	p := programs(t)["testdata/softmax.sinter"]
	count := func(v fuseView, want ...string) int {
		n := 0
		for _, f := range v.Fates {
			if slices.Contains(want, f.Fate) {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 4, count(fuseJSON(t, p), "dropped", "temporary"))
	assert.Equal(t, 5, count(fuseJSON(t, p, "-keep"), "stored", "virtual"))
}

// A Set goes over the old version's storage when nothing can ask for that any
// more.
func TestInPlace(t *testing.T) {
	const head = "sinter.program v1\nvar %0 f32[4]\ninput %1 f32[4]\n"
	cases := []struct {
		name, rest string
		keep, want bool
	}{
		{"alone", "%2 f32[4] = Set %0, %1\n", false, true},
		{"kept", "%2 f32[4] = Set %0, %1\n", true, false},
		{"old version asked for", "%2 f32[4] = Set %0, %1\noutput %0\n", false, false},
		{"read before by the dead", "%3 f32[4] = Exp %0\n%2 f32[4] = Set %0, %3\n", false, true},
		{"read before by the living", "%3 f32[4] = Exp %0\n%2 f32[4] = Set %0, %3\noutput %3\n", false, false},
		{"read after", "%2 f32[4] = Set %0, %1\n%3 f32[4] = Exp %0\n", false, false},
		{"partly", "%2 f32[4] = SetSlice %0, %1 ranges(0+4)\n", true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := ir.ParseProgram(head + c.rest)
			require.NoError(t, err)
			seg := segmentOf(p, c.keep)
			effect := slices.IndexFunc(p.Ops, func(op ir.Operation) bool { return ir.Lookup(op.Kind).Class == ir.ClassEffect })
			assert.Equal(t, c.want, seg.InPlace[effect])
		})
	}
}

// Numbers far apart are made dense; the program stays what it is.
func TestCompact(t *testing.T) {
	const text = "sinter.program v1\ninput %900000 \"x\" f32[2]\nvar %7 f32[2]\nconstant %50 f32[2] 0000803f0000803f\n" +
		"%800000 f32[2] = Add %900000, %50 @a.go:1\n%18446744073709551615 \"y\" f32[2] = Set %7, %800000\noutput %800000\n"
	const want = "sinter.program v1\ninput %0 \"x\" f32[2]\nvar %1 f32[2]\nconstant %2 f32[2] 0000803f0000803f\n" +
		"%3 f32[2] = Add %0, %2 @a.go:1\n%4 \"y\" f32[2] = Set %1, %3\noutput %3\n"
	p, err := ir.ParseProgram(text)
	require.NoError(t, err)
	q, renumbered := compact(p)
	assert.True(t, renumbered)
	assert.Equal(t, want, q.String())
	assert.Equal(t, text, p.String(), "the given program is left alone")
	again, renumbered := compact(q)
	assert.False(t, renumbered)
	assert.Same(t, q, again)

	code, out, errs := irdump(t, text, "fuse")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, errs, "numbered anew")
	assert.Contains(t, out, "%3 ")
}

// random returns random programs, with effects, views and every kind.
func random(t *testing.T) []*ir.Program {
	t.Helper()
	var out []*ir.Program
	for seed := range uint64(25) {
		out = append(out, progen.Generate(seed, progen.DefaultOptions()))
	}
	return out
}
