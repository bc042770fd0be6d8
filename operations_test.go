package sinter_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

var update = flag.Bool("update", false, "write docs/OPERATIONS.md")

const operationsPage = "docs/OPERATIONS.md"

// made is what a function records, by its name.
type made struct {
	name  string
	kinds []ir.Kind
}

// further are calls that record what the sweep's do not.
var further = []sweepCall{
	{"Norm (p = 2)", reflect.ValueOf(func(x *tensor) *tensor { return x.Norm(2) }), sweepCase{in: []operand{matrix}}},
	{"Norm (other p)", reflect.ValueOf(func(x *tensor) *tensor { return x.Norm(3) }), sweepCase{in: []operand{matrix}}},
	{"Roll", reflect.ValueOf(func(x *tensor) *tensor { return x.Roll(0, 1) }), sweepCase{in: []operand{matrix}}},
	{"PadWith (reflect)", reflect.ValueOf(func(x *tensor) *tensor { return x.PadWith(sinter.PadReflect, 1, 1, 0, 0) }), sweepCase{in: []operand{matrix}}},
	{"QTensor.Dequantize", reflect.ValueOf(func(x, scale *tensor) *tensor { return stored8(x, scale).Dequantize(sinter.F32) }), sweepCase{in: bytes8}},
	{"QTensor.MatMul", reflect.ValueOf(func(x, scale *tensor) *tensor { return stored8(x, scale).MatMul(stored8(x, scale)) }), sweepCase{in: bytes8}},
	{"QTensor.Linear", reflect.ValueOf(func(x, scale *tensor) *tensor {
		return stored8(x, scale).Linear(stored8(x, scale), scale.Reshape(1).Expand(2))
	}), sweepCase{in: bytes8}},
	{"Var.Set", reflect.ValueOf(changed(func(v *sinter.Var, x *tensor) { v.Set(x) })), sweepCase{in: []operand{matrix}}},
	{"Var.SetSlice", reflect.ValueOf(changed(func(v *sinter.Var, x *tensor) { v.SetSlice(x) })), sweepCase{in: []operand{matrix}}},
	{"Var.SetSelect", reflect.ValueOf(changed(func(v *sinter.Var, x *tensor) { v.SetSelect(0, numbered(x), x) })), sweepCase{in: []operand{matrix}}},
	{"Var.ScatterAdd", reflect.ValueOf(changed(func(v *sinter.Var, x *tensor) { v.ScatterAdd(0, numbered(x), x) })), sweepCase{in: []operand{matrix}}},
}

var bytes8 = []operand{{ir.I8, shape{2, 2}}, {ir.F32, shape{1, 1}}}

// stored8 is a quantised tensor of given parts.
func stored8(x, scale *tensor) *sinter.QTensor {
	q, err := sinter.NewQTensor(scheme8, x, scale, nil, 2, 2)
	if err != nil {
		panic(err)
	}
	return q
}

func numbered(x *tensor) *tensor { return sinter.From(x.Stream(), []int64{0, 1}, 2) }

// changed returns the value of a Var after an effect.
func changed(effect func(v *sinter.Var, x *tensor)) func(x *tensor) *tensor {
	return func(x *tensor) *tensor {
		v := sinter.NewVar(x)
		effect(v, x)
		return v.Value()
	}
}

// recordings returns what every function of the user API records.
func recordings(t *testing.T) []made {
	dev := open(t, sinter.WithFusion(false))
	var kinds []ir.Kind
	dev.Runtime().Observe(func(r *fusion.Run) {
		for i := range r.Segment.Ops {
			if !r.Own {
				kinds = append(kinds, r.Segment.Ops[i].Kind)
			}
		}
	})
	var out []made
	record := func(name string, call func() []result) {
		kinds = nil
		for _, r := range call() {
			require.NoError(t, r.failed(), name)
			if r.t != nil {
				_, err := sinter.ReadBytes(ctx, r.t)
				require.NoError(t, err, name)
			}
		}
		out = append(out, made{name, kinds})
	}
	var names []string
	for name := range makers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		record(name, func() []result { return []result{{t: makers[name](dev, fits(name), 2, 3)}} })
	}
	calls := append(sweepCalls(), further...)
	slices.SortStableFunc(calls, func(a, b sweepCall) int { return cmp.Compare(a.name, b.name) })
	for i, c := range calls {
		if i+1 < len(calls) && calls[i+1].name == c.name {
			continue // the further one says more
		}
		in := c.operands(dev)
		for _, x := range in {
			_, err := sinter.ReadBytes(ctx, x)
			require.NoError(t, err)
		}
		record(c.name, func() []result {
			out, err := c.call(dev, in)
			require.NoError(t, err, c.name)
			return out
		})
	}
	return out
}

// fits is a dtype that a maker makes.
func fits(name string) ir.DType {
	if strings.HasPrefix(name, "RandInt") {
		return ir.I64
	}
	return ir.F32
}

// family is a group of dtypes with a column of its own.
type family struct {
	name string
	set  ir.DTypeSet
}

var families = []family{
	{"floats", ir.Floats}, {"integers", ir.Ints}, {"bool", ir.OnlyBool}, {"8-bit floats", ir.AnyDType &^ ir.Computing},
}

// defined is the cell of a kind in a family's column.
func defined(set ir.DTypeSet, f family) string {
	switch both := set & f.set; both {
	case 0:
		return "–"
	case f.set:
		return "yes"
	default:
		return both.String()
	}
}

// reasons say why a kind is not defined for a family. The first that holds is
// the reason.
var reasons = []struct {
	family string
	of     func(row *ir.Info) bool
	why    string
}{
	{"8-bit floats", always, "8-bit floats are storage: they are moved and cast, and every other operation needs a cast first, which says where rounding happens"},
	{"bool", inClass(ir.ClassRandom, ir.ClassCreate), "random bools are Bernoulli's; a range of bools has no meaning"},
	{"bool", named("Bitcast"), "a bool is the byte 0 or 1, and other bytes are none: cast"},
	{"bool", named("Less", "LessEqual", "Greater", "GreaterEqual"), "truth values have no order but for sorting; compare casts"},
	{"bool", always, "there is no arithmetic on bool: logic, comparisons for equality, Where, Any, All, ArgMax, ArgMin, sorting, moves and casts; count with SumAs"},
	{"floats", named("IntMatMul"), "its sums are exact in i32; floats have MatMul"},
	{"integers", named("IntMatMul"), "bytes alone: sums of others do not fit i32; they have MatMul"},
	{"floats", inClass(ir.ClassRandom), "Bernoulli draws bools, RandInt integers: cast"},
	{"floats", named("Not", "And", "Or", "Xor", "Any", "All"), "logic is of bools: compare with 0 first"},
	{"integers", named("Not", "And", "Or", "Xor", "Any", "All"), "logic is of bools: compare with 0 first; bits have BitwiseAnd and its like"},
	{"floats", named("BitwiseNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "ShiftLeft", "ShiftRight"), "bits of floats are those of a Bitcast"},
	{"integers", inClass(ir.ClassRandom), "of integers draw RandInt"},
	{"integers", named("Mean", "Var", "Std"), "a mean of integers is none: ask for a float, as MeanAs does"},
	{"integers", always, "its values are not integers: cast to the float that is meant"},
}

func always(*ir.Info) bool { return true }

func named(names ...string) func(row *ir.Info) bool {
	return func(row *ir.Info) bool { return slices.Contains(names, row.Name) }
}

func inClass(classes ...ir.Class) func(row *ir.Info) bool {
	return func(row *ir.Info) bool { return slices.Contains(classes, row.Class) }
}

const operationsIntro = `# Operations

What can be recorded, for which element types, and what the functions of the user API record. This page is written from the table of kinds in
package ir and from what the functions record; ` + "`go test . -run TestOperationsPage -update`" + ` writes it, and a test keeps it true. The numeric rules
(rounding, NaN, order of sums) are in the comments of the functions.

Floats are f64 f32 f16 bf16, integers i64 i32 i16 i8 u64 u32 u16 u8, 8-bit floats f8e4m3 f8e5m2. Operands share one element type: nothing is promoted. Masks
are bool and indices i64, whatever the operands; the columns are of operand 0, or of the result where there is no operand. Scatters replace elements of any type
and combine numbers.

`

// page writes the page.
func page(t *testing.T) string {
	var b strings.Builder
	b.WriteString(operationsIntro)
	all := recordings(t)
	by := map[ir.Kind][]string{}
	var compositions []made
	for _, m := range all {
		if len(m.kinds) == 1 {
			by[m.kinds[0]] = append(by[m.kinds[0]], "`"+m.name+"`")
		} else if len(m.kinds) > 1 {
			compositions = append(compositions, m)
		}
	}
	why := map[string][]string{} // the kinds of each reason
	var order []string
	for class := ir.ClassMap; class <= ir.ClassOpaque; class++ {
		title := class.String()
		fmt.Fprintf(&b, "## %s%s\n\n| kind | the result | recorded by |", strings.ToUpper(title[:1]), title[1:])
		for _, f := range families {
			fmt.Fprintf(&b, " %s |", f.name)
		}
		b.WriteString("\n|---|---|---|" + strings.Repeat(":-:|", len(families)) + "\n")
		for _, k := range ir.Kinds() {
			row := ir.Lookup(k)
			if row.Class != class {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s |", row.Name, strings.ReplaceAll(row.Doc, "|", "\\|"), strings.Join(by[k], " "))
			for _, f := range families {
				fmt.Fprintf(&b, " %s |", defined(row.DTypes, f))
				if row.DTypes&f.set == f.set {
					continue
				}
				r := slices.IndexFunc(reasons, func(r struct {
					family string
					of     func(row *ir.Info) bool
					why    string
				}) bool {
					return r.family == f.name && r.of(row)
				})
				require.GreaterOrEqual(t, r, 0, "%s is not defined for %s, and nothing says why", row.Name, f.name)
				if why[reasons[r].why] == nil {
					order = append(order, reasons[r].why)
				}
				if s := f.name + ": " + row.Name; !slices.Contains(why[reasons[r].why], s) {
					why[reasons[r].why] = append(why[reasons[r].why], s)
				}
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	b.WriteString("## Why not\n\n| what is not defined | why |\n|---|---|\n")
	for _, reason := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", grouped(why[reason]), reason)
	}
	b.WriteString("\n## Functions made of several operations\n\nThey fuse like any others. Those without operands are here for matrices of two rows.\n\n| function | records |\n|---|---|\n")
	for _, m := range compositions {
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.name, counted(m.kinds))
	}
	return b.String()
}

// grouped writes "family: kind" pairs with each family once, and no more kinds
// than can be read.
func grouped(pairs []string) string {
	var families []string
	kinds := map[string][]string{}
	for _, p := range pairs {
		f, k, _ := strings.Cut(p, ": ")
		if kinds[f] == nil {
			families = append(families, f)
		}
		kinds[f] = append(kinds[f], k)
	}
	var out []string
	for _, f := range families {
		list := strings.Join(kinds[f], ", ")
		if n := len(kinds[f]); n > 12 {
			list = fmt.Sprintf("%s and %d others", strings.Join(kinds[f][:6], ", "), n-6)
		}
		out = append(out, f+": "+list)
	}
	return strings.Join(out, "; ")
}

// counted lists kinds in the order they are recorded, repeats as a number.
func counted(kinds []ir.Kind) string {
	var order []ir.Kind
	times := map[ir.Kind]int{}
	for _, k := range kinds {
		if times[k] == 0 {
			order = append(order, k)
		}
		times[k]++
	}
	var out []string
	for _, k := range order {
		s := k.String()
		if times[k] > 1 {
			s = fmt.Sprintf("%s ×%d", s, times[k])
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestOperationsPage(t *testing.T) {
	want := page(t)
	if *update {
		require.NoError(t, os.WriteFile(operationsPage, []byte(want), 0o644))
	}
	got, err := os.ReadFile(operationsPage)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "run go test . -run TestOperationsPage -update")
}

// Every kind but custom ones is recorded by a function of the user API alone.
func TestEveryKindHasAFunction(t *testing.T) {
	has := map[ir.Kind]bool{ir.Custom: true}
	for _, m := range recordings(t) {
		for _, k := range m.kinds {
			has[k] = has[k] || len(m.kinds) == 1
		}
	}
	for _, k := range ir.Kinds() {
		assert.True(t, has[k], k.String())
	}
}
