package optimize

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

func TestWhy(t *testing.T) {
	b := &builder{}
	x := b.in(4, 4)
	a := b.op(ir.Neg, x)                // 0
	y := b.op(ir.Neg, a)                // 1
	s := b.axes(ir.Sum, y, 1)           // 2
	z := b.op(ir.MatMul, y, x)          // 3
	b.op(ir.Neg, b.op(ir.MatMul, z, z)) // 4, 5
	b.op(ir.Neg, b.in(3))               // 6
	dead := b.op(ir.Neg, s)             // 7
	b.dead(dead)
	p := plan(t, b, Options{})

	require.Equal(t, []Decision{{Event: EventFused, Op: 1, Block: blockOf(t, p, 0)}}, p.Log.Why(1, 0))

	rules := func(a, b int) map[string]string {
		out := map[string]string{}
		for _, d := range p.Log.Why(a, b) {
			out[d.Fuser] = d.Rule
		}
		return out
	}
	require.Equal(t, map[string]string{"rows": "class"}, rules(1, 3))
	require.Equal(t, map[string]string{"matmul": "second-contraction"}, rules(3, 4))
	require.Equal(t, EventApart, p.Log.Why(0, 6)[0].Event)
	require.Equal(t, "dead-code", p.Log.Why(2, 7)[0].Rule)
}

// anything accepts every operation, so that only the planner refuses.
func anything(ready bool) fuser.Factory {
	return fakeFactory("anything", func(f *fakeFuser, _ *ir.Operation, _ ir.Class) fuser.Verdict {
		f.ready = ready
		return accepted
	})
}

func TestWhyNamesLegality(t *testing.T) {
	cases := map[string]struct {
		build func(b *builder) (a, c int) // operations that stay apart
		opts  Options
		rule  Rule
	}{
		"old version": {func(b *builder) (int, int) {
			v, g := b.variable(4, 4), b.in(2, 4)
			b.asked(b.op(ir.Add, b.setRows(v, g, 0, 2), v))
			return 0, 1
		}, Options{}, RuleOldVersion},
		"far": {func(b *builder) (int, int) {
			x := b.op(ir.Neg, b.in(4))
			for range 3 {
				b.asked(b.op(ir.Neg, b.in(4)))
			}
			b.asked(b.op(ir.Neg, x))
			return 0, 4
		}, Options{Window: 2}, RuleFar},
		"not fused alone": {func(b *builder) (int, int) { // accepted, but never ready
			b.op(ir.Neg, b.op(ir.Neg, b.in(4)))
			return 0, 1
		}, Options{}, RuleNotReady},
		"too long": {func(b *builder) (int, int) {
			x := b.in(4)
			for range fakeProfile.MaxOps + 1 {
				x = b.op(ir.Neg, x)
			}
			return 0, fakeProfile.MaxOps
		}, Options{}, RuleTooLong},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			x, y := c.build(b)
			seg := b.done()
			p, err := fakePlanner([]fuser.Factory{anything(c.rule != RuleNotReady)}, c.opts).Plan(seg)
			require.NoError(t, err)
			require.NoError(t, Check(p, seg))
			require.NotEqual(t, blockOf(t, p, x), blockOf(t, p, y))
			why := p.Log.Why(x, y)
			require.Len(t, why, 1)
			require.Equal(t, string(c.rule), why[0].Rule)
			if c.rule == RuleNotReady {
				require.Equal(t, EventDissolved, why[0].Event)
			}
		})
	}
}

func TestLogAsJSON(t *testing.T) {
	l := newLog(10, 1)
	l.add(Decision{Event: EventOffer, Op: 3, Block: 1, Fuser: "map", Rule: "size", Detail: "Neg"})
	l.add(Decision{Event: EventChosen, Op: 0, Block: 1, Fuser: "map", Score: 1.5, Ready: true})
	l.Steps, l.Offers, l.Clones, l.Lowerings = 2, 3, 4, 5
	text, err := json.Marshal(l)
	require.NoError(t, err)
	require.JSONEq(t, `{"decisions":[
		{"event":"offer","op":3,"block":1,"fuser":"map","rule":"size","detail":"Neg"},
		{"event":"chosen","op":0,"block":1,"fuser":"map","score":1.5,"ready":true}],"steps":2,"offers":3,"clones":4,"lowerings":5}`, string(text))
}

func TestLogIsBounded(t *testing.T) {
	seg := encoder(2)
	p := fakePlanner(fakes(), Options{LogLimit: 5})
	got, err := p.Plan(seg)
	require.NoError(t, err)
	require.Len(t, got.Log.Decisions, 5)
	require.Positive(t, got.Log.Lost)
	full, err := fakePlanner(fakes(), Options{}).Plan(seg)
	require.NoError(t, err)
	require.Equal(t, full.Format(seg), got.Format(seg), "the limit changes no plan")
	require.Len(t, full.Log.Decisions, 5+got.Log.Lost)
}
