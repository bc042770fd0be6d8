package sinter_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// composed names the methods that are made of several operations: those the
// tables of moves have, and those with tests of their own.
func composed() []string {
	names := []string{
		"RSubScalar", "RDivScalar", "RFloorDivScalar", "RRemainderScalar", "RPowScalar", "Lerp", "LerpTensor",
		"SumAs", "ProdAs", "MeanAs", "CumSumAs", "CumProdAs", "SortWith", "TopKWith", "MaxWith", "MinWith", "MaxAbs",
		"Dot", "Outer", "HardTanh", "Relu6", "Glu", "BatchNormTrain", "MaskedSelect", "Nonzero", "Unique", "OneHot",
	}
	for _, c := range moveCases() {
		names = append(names, c.name)
	}
	return names
}

// pick returns the elements of x at positions, and fill in the places from
// there to n.
func pick(x oracle.Tensor, n int, fill float64, positions []int) oracle.Tensor {
	out := oracle.New(x.DType, shape{n})
	for i := range n {
		switch {
		case i < len(positions) && x.F != nil:
			out.F[i] = x.F[positions[i]]
		case i < len(positions) && x.I != nil:
			out.I[i] = x.I[positions[i]]
		case i < len(positions):
			out.B[i] = x.B[positions[i]]
		case x.F != nil:
			out.F[i] = fill
		case x.I != nil:
			out.I[i] = int64(fill)
		default:
			out.B[i] = fill != 0
		}
	}
	return out
}

func TestMaskedSelect(t *testing.T) {
	devs, d := both(t), newData(21)
	for _, dtype := range ir.DTypes() {
		for _, c := range []struct{ x, mask shape }{{shape{3, 4}, shape{3, 4}}, {shape{3, 4}, shape{4}}, {shape{}, shape{5}}, {shape{}, shape{}}, {shape{0, 2}, shape{1}}} {
			x, mask := d.make(dtype, true, c.x...), d.make(ir.Bool, false, c.mask...)
			whole := step(t, ir.Operation{Kind: ir.Or}, mask, oracle.New(ir.Bool, c.x))
			wide := step(t, ir.Operation{Kind: ir.Expand, Attrs: ir.Attrs{Shape: whole.Shape}}, x)
			var kept []int
			for i, keep := range whole.B {
				if keep {
					kept = append(kept, i)
				}
			}
			for _, n := range []int{0, 1, 4, 20} {
				want := pick(wide, n, 1, kept)
				for _, dev := range devs {
					got, count := put(dev, x).MaskedSelect(put(dev, mask), n, 1)
					require.NoError(t, oracle.Compare(get(t, got), want, oracle.Tol{}), "%v%v %v to %d", dtype, c.x, c.mask, n)
					require.Equal(t, []int64{int64(len(kept))}, read[int64](t, count))
					require.Equal(t, 0, count.Rank())
				}
			}
		}
	}
}

func TestNonzero(t *testing.T) {
	devs, d := both(t), newData(22)
	for _, dtype := range ir.DTypes() {
		for _, s := range []shape{{}, {7}, {3, 4}, {2, 3, 2}, {0, 3}} {
			x := d.make(dtype, true, s...)
			for i := range x.Len() {
				if i%3 == 0 && x.F != nil {
					x.F[i] = math.Copysign(0, -1)
				} else if i%3 == 0 && x.I != nil {
					x.I[i] = 0
				}
			}
			var found []int64
			total := 0
			indices(s, func(at []int) {
				i := offset(s, at)
				if x.F != nil && x.F[i] == 0 || x.I != nil && x.I[i] == 0 || x.B != nil && !x.B[i] {
					return
				}
				total++
				for _, k := range at {
					found = append(found, int64(k))
				}
			})
			for _, n := range []int{0, 2, 15} {
				want := slices.Clone(found[:min(len(found), n*len(s))])
				for len(want) < n*len(s) {
					want = append(want, -1)
				}
				for _, dev := range devs {
					got, count := put(dev, x).Nonzero(n)
					require.Equal(t, append(shape{}, n, len(s)), got.Shape())
					require.Equal(t, append([]int64{}, want...), append([]int64{}, read[int64](t, got)...), "%v%v to %d", dtype, s, n)
					require.Equal(t, []int64{int64(total)}, read[int64](t, count))
				}
			}
		}
	}
}

func TestUnique(t *testing.T) {
	devs, d := both(t), newData(23)
	for _, dtype := range dtypesOf(ir.Sort) {
		for _, s := range []shape{{}, {25}, {3, 4}, {0}} {
			x := d.make(dtype, true, s...)
			flat := x
			flat.Shape = shape{x.Len()}
			order := step(t, ir.Operation{Kind: ir.ArgSort, Attrs: axes(0)}, flat)
			var kept []int
			for _, p := range order.I {
				same := len(kept) > 0 && (x.F != nil && x.F[p] == x.F[kept[len(kept)-1]] ||
					x.I != nil && x.I[p] == x.I[kept[len(kept)-1]] || x.B != nil && x.B[p] == x.B[kept[len(kept)-1]])
				if !same {
					kept = append(kept, int(p))
				}
			}
			for _, n := range []int{0, 1, 3, 40} {
				want := pick(x, n, 1, kept)
				for _, dev := range devs {
					got, count := put(dev, x).Unique(n, 1)
					require.NoError(t, oracle.Compare(get(t, got), want, oracle.Tol{}), "%v%v to %d", dtype, s, n)
					require.Equal(t, []int64{int64(len(kept))}, read[int64](t, count))
				}
			}
		}
	}
}

func TestOneHot(t *testing.T) {
	for _, dev := range both(t) {
		for _, dtype := range ir.DTypes() {
			for _, s := range []shape{{}, {4}, {2, 3}, {0, 2}} {
				const classes = 5
				want := oracle.New(dtype, append(slices.Clone(s), classes))
				index := newData(24).indices(classes, s...)
				for i, c := range index.I {
					switch p := i*classes + int(c); {
					case want.F != nil:
						want.F[p] = 1
					case want.I != nil:
						want.I[p] = 1
					default:
						want.B[p] = true
					}
				}
				require.NoError(t, oracle.Compare(get(t, put(dev, index).OneHot(classes, dtype)), want, oracle.Tol{}), "%v%v", dtype, s)
			}
		}
		for _, bad := range []int64{-1, 3} {
			_, err := sinter.Read[float32](ctx, sinter.Scalar(dev, bad).OneHot(3, sinter.F32))
			var index *sinter.IndexError
			require.ErrorAs(t, err, &index)
			require.ErrorContains(t, err, here(-3)+": ", "the line of the call, not of the library's")
		}
	}
}

func TestEyeAndLinspace(t *testing.T) {
	for _, dev := range both(t) {
		for _, dtype := range ir.DTypes() {
			for _, s := range []shape{{3, 3}, {2, 4}, {4, 2}, {0, 3}, {1, 1}} {
				want := oracle.New(dtype, s)
				for i := range min(s[0], s[1]) {
					switch p := i*s[1] + i; {
					case want.F != nil:
						want.F[p] = 1
					case want.I != nil:
						want.I[p] = 1
					default:
						want.B[p] = true
					}
				}
				require.NoError(t, oracle.Compare(get(t, sinter.Eye(dev, dtype, s[0], s[1])), want, oracle.Tol{}), "%v%v", dtype, s)
			}
			if dtype == ir.Bool {
				continue
			}
			for _, c := range []struct {
				start, end float64
				n          int
			}{{0, 10, 5}, {3, 3, 4}, {5, 1, 1}, {7, 2, 0}, {9, 2, 8}, {0, 1, 7}} {
				want := oracle.New(dtype, shape{c.n})
				step := (c.end - c.start) / math.Max(float64(c.n-1), 1)
				for i := range c.n {
					v := c.start + float64(float64(i)*step)
					if want.F != nil {
						want.F[i] = oracle.Floats(dtype, shape{}, v).F[0]
					} else {
						want.I[i] = int64(v)
					}
				}
				require.NoError(t, oracle.Compare(get(t, sinter.Linspace(dev, dtype, c.start, c.end, c.n)), want, oracle.Tol{}), "%v %v", dtype, c)
			}
		}
	}
}
