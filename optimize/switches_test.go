package optimize

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// Everything that can be switched off has one name and is explained.
func TestSwitches(t *testing.T) {
	seen := map[string]bool{}
	kinds := map[string]int{}
	for _, s := range Switches(fuser.Default()) {
		require.False(t, seen[s.Name], "%s", s.Name)
		seen[s.Name] = true
		kinds[s.Kind]++
		require.NotEmpty(t, s.Doc, "%s", s.Name)
	}
	require.Equal(t, len(Passes), kinds["pass"])
	require.Equal(t, len(fuser.Default())+1, kinds["fuser"])
	for _, r := range Rules {
		require.Equal(t, r.Profit, seen[string(r.Rule)], "%s", r.Rule)
	}
	for _, name := range bounds {
		require.True(t, seen[name], "%s", name)
	}
	require.NoError(t, CheckSwitches([]string{"cse", fuser.HorizontalName, "recompute"}, nil))
	var e *SwitchError
	require.ErrorAs(t, CheckSwitches([]string{"cse", "shape", "sea"}, nil), &e)
	require.Equal(t, []string{"shape", "sea"}, e.Unknown, "a rule of correctness is no switch")
	require.ErrorContains(t, e, "no-gain")
}

// Each rule of cost, switched off, lets happen what it alone forbade.
func TestRulesSwitchedOff(t *testing.T) {
	chain := func(b *builder, n int) {
		x := b.in(4, 4)
		for range n {
			x = b.op(ir.Neg, x)
		}
		b.asked(x)
	}
	short, rows := cpuProfile, cpuProfile
	short.MaxOps, rows.RowBytes = 3, 64
	free := cpuProfile
	free.LaunchCost, free.Bandwidth = 0, 1e12
	cases := []struct {
		rule    string
		profile fuser.Profile
		window  int
		record  func(b *builder)
		fewer   []string // what must be off beside it
	}{
		{string(RuleTooLong), short, 0, func(b *builder) { chain(b, 8) }, []string{string(fuser.RuleMaxOps)}},
		{string(RuleNoGain), free, 0, func(b *builder) { b.asked(b.op(ir.Exp, b.in(4)), b.op(ir.Neg, b.in(5))) }, nil},
		{string(fuser.RuleRowOnChip), rows, 0, func(b *builder) { b.asked(b.op(ir.Neg, b.axes(ir.Softmax, b.in(4, 64), 1))) }, nil},
		{string(RuleFar), cpuProfile, 1, func(b *builder) {
			x := b.op(ir.Exp, b.in(4, 4))
			for range 4 {
				b.asked(b.op(ir.MatMul, b.in(4, 4), b.in(4, 4)))
			}
			b.asked(b.op(ir.Neg, x))
		}, nil},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			count := func(disable ...string) int {
				b := &builder{}
				c.record(b)
				return launches(planned(t, b, c.profile, Options{Window: c.window, Disable: disable}))
			}
			before := count(c.fewer...)
			require.Less(t, count(append(c.fewer, c.rule)...), before)
		})
	}
}

// A fuser that is switched off finishes nothing, the others go on.
func TestFusersSwitchedOff(t *testing.T) {
	for _, f := range fuser.Default() {
		b := &builder{}
		h := b.op(ir.Gelu, b.op(ir.MatMul, b.in(8, 8), b.in(8, 8)))
		y := b.op(ir.Exp, b.op(ir.Neg, b.in(8, 8)))
		b.asked(h, y, b.axes(ir.Sum, b.op(ir.Mul, h, h), 1), b.op(ir.Neg, b.axes(ir.Softmax, b.op(ir.Neg, y), 1)))
		p := planned(t, b, cpuProfile, Options{Disable: []string{f.Name}})
		fused := 0
		for _, blk := range p.Blocks {
			require.NotEqual(t, f.Name, blk.Fuser)
			if len(blk.Ops) > 1 {
				fused++
			}
		}
		require.Positive(t, fused, f.Name)
	}
}

// Operations that differ in anything but scalars are not computed once.
func TestEqualOperationsAreEqualInEverything(t *testing.T) {
	base := ir.Operation{Kind: ir.Custom, Inputs: []ir.TensorRef{{ID: 1}}}
	key := string(appendKey(nil, &base))
	attrs := reflect.TypeFor[ir.Attrs]()
	for i := range attrs.NumField() {
		op := base
		f := reflect.ValueOf(&op.Attrs).Elem().Field(i)
		switch f.Kind() {
		case reflect.Slice:
			f.Set(reflect.ValueOf(make([]int, 1)).Convert(f.Type()))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(1)
		default:
			f.SetUint(1)
		}
		require.NotEqual(t, key, string(appendKey(nil, &op)), attrs.Field(i).Name)
	}
}
