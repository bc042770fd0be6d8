package sinter_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// both opens a device that fuses and one that does not.
func both(t testing.TB) []*sinter.Device {
	return []*sinter.Device{open(t), open(t, sinter.WithFusion(false))}
}

// method calls a method of Tensor by name.
func method(name string, args ...any) func(in tensors) *tensor {
	return func(in tensors) *tensor {
		m := reflect.ValueOf(in[0]).MethodByName(name)
		var vals []reflect.Value
		for _, x := range in[1:] {
			vals = append(vals, reflect.ValueOf(x))
		}
		for _, a := range args {
			vals = append(vals, reflect.ValueOf(a))
		}
		return m.Call(vals)[0].Interface().(*tensor)
	}
}

// generated lists the kinds that are a method of their own name with nothing
// but operands, at most one scalar, or axes.
func generated() (unary, parametric, binary, pair, reduce []ir.Kind) {
	for _, k := range ir.Kinds() {
		row := ir.Lookup(k)
		switch {
		case row.Class == ir.ClassMap && row.MinIn == 1 && row.MaxIn == 1 && row.MaxScalars == 0 && row.Attrs == 0:
			unary = append(unary, k)
		case row.Class == ir.ClassMap && row.MinIn == 1 && row.MaxIn == 1 && row.MaxScalars == 1:
			parametric = append(parametric, k)
		case row.Class == ir.ClassMap && row.MinIn == 1 && row.MaxIn == 2:
			binary = append(binary, k)
		case row.Class == ir.ClassMap && row.MinIn == 2 && row.MaxIn == 2:
			pair = append(pair, k)
		case row.Class == ir.ClassReduce && row.Attrs == ir.HasAxes && row.MaxScalars == 0:
			reduce = append(reduce, k)
		}
	}
	return unary, parametric, binary, pair, reduce
}

func dtypesOf(k ir.Kind) []ir.DType {
	var out []ir.DType
	for _, d := range ir.DTypes() {
		if ir.Lookup(k).DTypes.Has(d) {
			out = append(out, d)
		}
	}
	return out
}

func TestUnary(t *testing.T) {
	devs, data := both(t), newData(1)
	kinds, _, _, _, _ := generated()
	for _, k := range kinds {
		for _, d := range dtypesOf(k) {
			for _, s := range []shape{{}, {1}, {0}, {2, 0, 3}, {7}, {65}, {3, 5}, {2, 1, 3, 3}} {
				opCase{k.String(), ir.Operation{Kind: k}, []oracle.Tensor{data.make(d, true, s...)}, method(k.String())}.check(t, devs...)
			}
		}
	}
}

// parameters are tried for the one scalar of an activation.
var parameters = []float64{0.1, 1, 1.5}

func TestParametric(t *testing.T) {
	devs, data := both(t), newData(7)
	_, kinds, _, _, _ := generated()
	for _, k := range kinds {
		for _, d := range dtypesOf(k) {
			for _, c := range parameters {
				x := data.make(d, true, 33)
				opCase{k.String(), ir.Operation{Kind: k, Scalars: scalars(d, c)}, []oracle.Tensor{x}, method(k.String(), c)}.check(t, devs...)
				opCase{k.String() + "Tensor", ir.Operation{Kind: k, Scalars: fromOperands(d, 1, 1)},
					[]oracle.Tensor{x, oracle.Floats(d, shape{}, c)}, method(k.String() + "Tensor")}.check(t, devs...)
			}
		}
	}
}

func TestPair(t *testing.T) {
	devs, data := both(t), newData(8)
	_, _, _, kinds, _ := generated()
	for _, k := range kinds {
		for _, d := range dtypesOf(k) {
			for _, s := range [][2]shape{{{}, {}}, {{0}, {1}}, {{67}, {67}}, {{2, 1, 3}, {4, 1}}} {
				in := []oracle.Tensor{data.make(d, true, s[0]...), data.make(d, true, s[1]...)}
				if ir.Lookup(k).MaxScalars == 0 {
					opCase{k.String(), ir.Operation{Kind: k}, in, method(k.String())}.check(t, devs...)
					continue
				}
				for _, c := range parameters {
					opCase{k.String(), ir.Operation{Kind: k, Scalars: scalars(d, c)}, in, method(k.String(), c)}.check(t, devs...)
					opCase{k.String() + "Tensor", ir.Operation{Kind: k, Scalars: fromOperands(d, 2, 1)},
						append(in, oracle.Floats(d, shape{}, c)), method(k.String() + "Tensor")}.check(t, devs...)
				}
			}
		}
	}
}

func TestBinary(t *testing.T) {
	devs, data := both(t), newData(2)
	_, _, kinds, _, _ := generated()
	shapes := [][2]shape{
		{{}, {}}, {{3}, {}}, {{}, {2, 3}}, {{5}, {1}}, {{1, 4}, {3, 1}}, {{2, 1, 3}, {4, 1}},
		{{0}, {0}}, {{0, 3}, {1}}, {{1}, {2, 0}}, {{67}, {67}},
	}
	for _, k := range kinds {
		for _, d := range dtypesOf(k) {
			for _, s := range shapes {
				in := []oracle.Tensor{data.make(d, true, s[0]...), data.make(d, true, s[1]...)}
				opCase{k.String(), ir.Operation{Kind: k}, in, method(k.String())}.check(t, devs...)
			}
		}
	}
}

func TestBinaryScalar(t *testing.T) {
	devs, data := both(t), newData(3)
	_, _, kinds, _, _ := generated()
	for _, k := range kinds {
		for _, d := range dtypesOf(k) {
			if ir.Lookup(k).DTypes == ir.OnlyBool {
				continue // And, Or and Xor with a constant are Not, a constant or nothing
			}
			values := []float64{0, 2, 7}
			switch {
			case d.IsFloat():
				values = []float64{0, 0.1, -3, 2, 1e30}
			case d == ir.Bool:
				values = []float64{0, 1}
			}
			for _, c := range values {
				op := ir.Operation{Kind: k, Scalars: scalars(d, c)}
				for _, dims := range []shape{{}, {0}, {9}, {2, 3}} {
					opCase{k.String() + "Scalar", op, []oracle.Tensor{data.make(d, true, dims...)}, method(k.String()+"Scalar", c)}.check(t, devs...)
				}
			}
		}
	}
}

func TestReduce(t *testing.T) {
	devs, data := both(t), newData(4)
	_, _, _, _, kinds := generated()
	cases := []struct {
		shape shape
		axes  []int
	}{
		{shape{}, nil}, {shape{1}, []int{0}}, {shape{5}, nil}, {shape{3, 4}, []int{-1}}, {shape{3, 4}, []int{0}},
		{shape{2, 3, 5}, []int{0, 2}}, {shape{2, 3, 5}, []int{1}}, {shape{2, 3, 5}, nil}, {shape{70, 3}, []int{0}},
		{shape{0, 3}, []int{1}}, {shape{0, 3}, []int{0}}, {shape{1100}, nil},
	}
	for _, k := range kinds {
		for _, d := range dtypesOf(k) {
			for _, c := range cases {
				extremum := k == ir.Max || k == ir.Min || k == ir.ArgMax || k == ir.ArgMin
				if extremum && len(c.axes) == 1 && c.axes[0] == 0 && c.shape[0] == 0 {
					continue // an error: tested with the others
				}
				args := make([]any, len(c.axes))
				for i, a := range c.axes {
					args[i] = a
				}
				in := []oracle.Tensor{data.make(d, d.IsInt() || extremum, c.shape...)}
				opCase{k.String(), ir.Operation{Kind: k, Attrs: axes(c.axes...)}, in, method(k.String(), args...)}.check(t, devs...)
			}
		}
	}
}

// Every exported method of Tensor that makes a tensor is compared with the
// oracle by one of the tables.
func TestEveryMethodIsTested(t *testing.T) {
	tested := map[string]bool{"Named": true, "On": true, "To": true} // of no kind
	u, p, b, q, r := generated()
	for _, k := range slices.Concat(u, p, b, q, r) {
		for _, form := range []string{"", "Scalar", "Tensor"} {
			tested[k.String()+form] = true
		}
	}
	for _, c := range special(newData(5)) {
		tested[c.name] = true
	}
	for _, name := range slices.Concat(randomTested, composed()) {
		tested[name] = true
	}
	typ := reflect.TypeFor[*tensor]()
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if m.Type.NumOut() > 0 && (m.Type.Out(0) == typ || m.Type.Out(0) == reflect.SliceOf(typ)) && !tested[m.Name] {
			t.Errorf("no table tests %s", m.Name)
		}
	}
}
