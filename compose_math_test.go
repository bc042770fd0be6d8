package sinter_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// step evaluates one operation by the oracle, which rounds as the rules say.
func step(t *testing.T, op ir.Operation, in ...oracle.Tensor) oracle.Tensor {
	t.Helper()
	for i, x := range in {
		op.Inputs = append(op.Inputs, ir.TensorRef{ID: ir.TensorID(i + 1), Shape: x.Shape, DType: x.DType})
	}
	require.NoError(t, op.Check())
	out, err := oracle.EvalOp(&op, in...)
	require.NoError(t, err)
	return out
}

// equal checks that a call gives the elements want on each device, all NaNs
// being one.
func equal(t *testing.T, want oracle.Tensor, call func(dev *sinter.Device) *tensor, devs []*sinter.Device, name string, args ...any) {
	t.Helper()
	name = fmt.Sprintf(name, args...)
	for _, dev := range devs {
		y := call(dev)
		require.NoError(t, y.Err(), name)
		require.NoError(t, oracle.Compare(get(t, y), want, oracle.Tol{}), name)
	}
}

// A scalar on the left is a tensor of rank 0 there, in the compute dtype.
func TestReversedScalars(t *testing.T) {
	devs, d := both(t), newData(11)
	for _, c := range []struct {
		kind ir.Kind
		call func(x *tensor, c float64) *tensor
	}{
		{ir.Sub, (*tensor).RSubScalar}, {ir.Div, (*tensor).RDivScalar}, {ir.FloorDiv, (*tensor).RFloorDivScalar},
		{ir.Remainder, (*tensor).RRemainderScalar}, {ir.Pow, (*tensor).RPowScalar},
	} {
		for _, dtype := range dtypesOf(c.kind) {
			for _, v := range []float64{0, 1, 2, 7.5, -3} {
				if dtype.IsInt() && (v != math.Trunc(v) || v < 0 && dtype.IsUnsigned()) {
					require.Error(t, c.call(put(devs[0], d.make(dtype, false, 2)), v).Err())
					for devs[0].Flush(ctx) != nil {
					}
					continue
				}
				for _, dims := range []shape{{}, {0}, {3, 11}} {
					x := d.make(dtype, true, dims...)
					wide := dtype.Compute()
					left := oracle.Tensor{DType: wide, Shape: shape{}, F: []float64{v}, I: []int64{int64(v)}}
					op := ir.Operation{Kind: c.kind, Inputs: []ir.TensorRef{{DType: wide}, {DType: wide, Shape: dims}}}
					require.NoError(t, op.Check())
					for _, dev := range devs {
						got := c.call(put(dev, x), v)
						require.Equal(t, dtype, got.DType())
						if dtype == wide {
							require.NoError(t, oracle.CheckOp(&op, get(t, got), left, x), "%v %v %v", c.kind, dtype, v)
							continue
						}
						in := step(t, ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: wide}}, x)
						want := step(t, ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype}}, step(t, ir.Operation{Kind: c.kind}, left, in))
						require.NoError(t, oracle.Compare(get(t, got), want, oracle.Tol{ULPs: 1}), "%v %v %v", c.kind, dtype, v)
					}
				}
			}
		}
	}
}

func TestLerp(t *testing.T) {
	devs, d := both(t), newData(12)
	for _, dtype := range dtypesOf(ir.Exp) {
		a, b, w := d.make(dtype, true, 3, 7), d.make(dtype, true, 7), d.make(dtype, false, 3, 1)
		far := step(t, ir.Operation{Kind: ir.Sub}, b, a)
		part := step(t, ir.Operation{Kind: ir.Mul, Scalars: scalars(dtype, 0.3)}, far)
		equal(t, step(t, ir.Operation{Kind: ir.Add}, a, part), func(dev *sinter.Device) *tensor {
			return put(dev, a).Lerp(put(dev, b), 0.3)
		}, devs, "Lerp %v", dtype)
		part = step(t, ir.Operation{Kind: ir.Mul}, w, far)
		equal(t, step(t, ir.Operation{Kind: ir.Add}, a, part), func(dev *sinter.Device) *tensor {
			return put(dev, a).LerpTensor(put(dev, b), put(dev, w))
		}, devs, "LerpTensor %v", dtype)
	}
}

// Reductions and scans in another dtype are those of the cast.
func TestInAnotherDType(t *testing.T) {
	devs, d := both(t), newData(13)
	for _, from := range ir.DTypes() {
		x := d.make(from, false, 3, 40)
		for _, to := range []ir.DType{ir.F64, ir.F32, ir.BF16, ir.I64, ir.U8} {
			cast := x
			if from != to {
				cast = step(t, ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: to}}, x)
			}
			same := func(op ir.Operation, call func(x *tensor) *tensor) {
				want := step(t, op, cast)
				for _, dev := range devs {
					got := get(t, call(put(dev, x)))
					tol := oracle.Tol{}
					if op.Kind == ir.CumProd || op.Kind == ir.CumSum {
						op.Inputs = []ir.TensorRef{{DType: to, Shape: x.Shape}}
						require.NoError(t, op.Check())
						var err error
						tol, err = oracle.Tolerance(&op, cast)
						require.NoError(t, err)
					}
					require.NoError(t, oracle.Compare(got, want, tol), "%v of %v as %v", op.Kind, from, to)
				}
			}
			same(ir.Operation{Kind: ir.Sum, Attrs: axes(1)}, func(x *tensor) *tensor { return x.SumAs(to, 1) })
			same(ir.Operation{Kind: ir.Prod}, func(x *tensor) *tensor { return x.ProdAs(to) })
			same(ir.Operation{Kind: ir.CumSum, Attrs: ir.Attrs{Axes: []int{1}, Reverse: true}}, func(x *tensor) *tensor {
				return x.CumSumAs(to, -1, sinter.ScanOptions{Reverse: true})
			})
			same(ir.Operation{Kind: ir.CumProd, Attrs: axes(0)}, func(x *tensor) *tensor { return x.CumProdAs(to, 0, sinter.ScanOptions{}) })
			if to.IsFloat() {
				same(ir.Operation{Kind: ir.Mean, Attrs: axes(0)}, func(x *tensor) *tensor { return x.MeanAs(to, 0) })
			}
		}
	}
	// The sum of more halves than a half counts.
	for _, dev := range devs {
		x := sinter.FullOf(dev, sinter.ToFloat16(1), 4099)
		require.Equal(t, []float32{4099}, read[float32](t, x.SumAs(sinter.F32)))
		require.Equal(t, []sinter.Float16{sinter.ToFloat16(4100)}, read[sinter.Float16](t, x.Sum()), "rounded once")
		require.Equal(t, []int64{3}, read[int64](t, sinter.From(dev, []bool{true, false, true, true}, 4).SumAs(sinter.I64)))
	}
}

func TestNorms(t *testing.T) {
	devs := both(t)
	inf := math.Inf(1)
	v := []float64{3, -4, 0, math.Copysign(0, -1), 12, -0.5}
	for _, dtype := range dtypesOf(ir.Exp) {
		for _, c := range []struct {
			p    float64
			want float64
		}{{0, 4}, {1, 19.5}, {2, math.Sqrt(9 + 16 + 144 + 0.25)}, {inf, 12}, {-inf, 0}, {3, math.Cbrt(27 + 64 + 1728 + 0.125)}} {
			for _, dev := range devs {
				x := put(dev, oracle.Floats(dtype, shape{2, 3}, v...))
				got := get(t, x.Norm(c.p))
				require.Equal(t, append(shape{}, 1, 1), append(shape{}, got.Shape...))
				want := oracle.Floats(dtype, shape{1, 1}, c.want)
				require.NoError(t, oracle.Compare(got, want, oracle.Tol{ULPs: 4}), "%v-norm of %v", c.p, dtype)
			}
		}
		for _, dev := range devs {
			x := put(dev, oracle.Floats(dtype, shape{2, 3}, v...))
			rows := get(t, x.Norm(1, -1))
			require.NoError(t, oracle.Compare(rows, oracle.Floats(dtype, shape{2, 1}, 7, 12.5), oracle.Tol{}))
			empty := sinter.Zeros(dev, dtype, 0, 2)
			require.NoError(t, oracle.Compare(get(t, empty.Norm(0, 0)), oracle.New(dtype, shape{1, 2}), oracle.Tol{}))
			require.NoError(t, oracle.Compare(get(t, empty.Norm(2, 0)), oracle.New(dtype, shape{1, 2}), oracle.Tol{}))
			isShape(t, empty.Norm(inf, 0).Err(), "Max")
			isArgument(t, x.Norm(math.NaN()).Err(), "Norm")
			isDType(t, x.Cast(sinter.I32).Norm(1).Err(), "Norm")
		}
	}
}

// What gives an element and its position agrees with what gives one of them.
func TestPairs(t *testing.T) {
	devs, d := both(t), newData(14)
	for _, dtype := range dtypesOf(ir.Sort) {
		x := d.make(dtype, true, 4, 9)
		for _, dev := range devs {
			in := put(dev, x)
			same := func(name string, value, position, wantValue, wantPosition *tensor) {
				require.NoError(t, oracle.Compare(get(t, value), get(t, wantValue), oracle.Tol{}), "%s %v", name, dtype)
				require.NoError(t, oracle.Compare(get(t, position), get(t, wantPosition), oracle.Tol{}), "%s %v", name, dtype)
			}
			for _, o := range []sinter.Order{sinter.Ascending, sinter.Descending} {
				v, p := in.SortWith(1, o)
				same("SortWith", v, p, in.Sort(1, o), in.ArgSort(1, o))
				v, p = in.TopKWith(0, 3, o)
				same("TopKWith", v, p, in.TopK(0, 3, o), in.ArgTopK(0, 3, o))
			}
			if dtype != ir.Bool {
				v, p := in.MaxWith(0, 1)
				same("MaxWith", v, p, in.Max(0, 1), in.ArgMax(0, 1))
				v, p = in.MinWith(1)
				same("MinWith", v, p, in.Min(1), in.ArgMin(1))
				abs := step(t, ir.Operation{Kind: ir.Abs}, x)
				want := step(t, ir.Operation{Kind: ir.Max, Attrs: axes(1)}, abs)
				require.NoError(t, oracle.Compare(get(t, in.MaxAbs(1)), want, oracle.Tol{}), "MaxAbs %v", dtype)
			}
		}
	}
}

func TestProducts(t *testing.T) {
	devs, d := both(t), newData(15)
	for _, dtype := range dtypesOf(ir.Mul) {
		a, b := d.make(dtype, false, 5), d.make(dtype, false, 5)
		column := a
		column.Shape = shape{5, 1}
		equal(t, step(t, ir.Operation{Kind: ir.Mul}, column, b), func(dev *sinter.Device) *tensor { return put(dev, a).Outer(put(dev, b)) }, devs, "Outer %v", dtype)
		opCase{"Dot", ir.Operation{Kind: ir.MatMul}, []oracle.Tensor{a, b}, method("Dot")}.check(t, devs...)
	}
}

func TestActivationsOfClamps(t *testing.T) {
	devs, d := both(t), newData(16)
	for _, dtype := range dtypesOf(ir.Exp) {
		x := d.make(dtype, true, 65)
		opCase{"HardTanh", ir.Operation{Kind: ir.Clamp, Scalars: scalars(dtype, -1, 1)}, []oracle.Tensor{x}, method("HardTanh")}.check(t, devs...)
		opCase{"Relu6", ir.Operation{Kind: ir.Clamp, Scalars: scalars(dtype, 0, 6)}, []oracle.Tensor{x}, method("Relu6")}.check(t, devs...)
		a, b := d.make(dtype, false, 3, 4), d.make(dtype, false, 3, 4)
		want := step(t, ir.Operation{Kind: ir.Mul}, a, step(t, ir.Operation{Kind: ir.Sigmoid}, b))
		both := step(t, ir.Operation{Kind: ir.Cat, Attrs: axes(1)}, a, b)
		for _, dev := range devs {
			require.NoError(t, oracle.Compare(get(t, put(dev, both).Glu(-1)), want, oracle.Tol{ULPs: 5}), "Glu %v", dtype)
		}
	}
}

// Statistics of a batch are in f32 for halves, and the result is rounded once.
func TestBatchNormTrain(t *testing.T) {
	devs, d := both(t), newData(17)
	for _, dtype := range dtypesOf(ir.Exp) {
		for _, dims := range []shape{{4, 3}, {2, 3, 5}, {2, 3, 2, 2}, {1, 3}} {
			x, w, b := d.make(dtype, false, dims...), d.make(dtype, false, 3), d.make(dtype, false, 3)
			wide := dtype.Compute()
			up := func(x oracle.Tensor) oracle.Tensor { x.DType = wide; return x } // values stay
			reduced := []int{0}
			for a := 2; a < len(dims); a++ {
				reduced = append(reduced, a)
			}
			channels := func(x oracle.Tensor) oracle.Tensor { x.Shape = shape{3}; return x }
			mean := channels(step(t, ir.Operation{Kind: ir.Mean, Attrs: axes(reduced...)}, up(x)))
			variance := channels(step(t, ir.Operation{Kind: ir.Var, Attrs: axes(reduced...)}, up(x)))
			norm := ir.Operation{Kind: ir.BatchNorm, Scalars: scalars(wide, 1e-3)}
			for _, dev := range devs {
				y, m, v := put(dev, x).BatchNormTrain(put(dev, w), put(dev, b), 1e-3)
				require.Equal(t, dtype, y.DType())
				require.NoError(t, oracle.Compare(get(t, m), mean, oracle.Tol{}), "mean %v%v", dtype, dims)
				require.NoError(t, oracle.Compare(get(t, v), variance, oracle.Tol{ULPs: 2}), "variance %v%v", dtype, dims)
				if dtype == wide {
					norm.Inputs = nil
					in := []oracle.Tensor{x, get(t, m), get(t, v), w, b}
					for i, o := range in {
						norm.Inputs = append(norm.Inputs, ir.TensorRef{ID: ir.TensorID(i + 1), Shape: o.Shape, DType: o.DType})
					}
					require.NoError(t, norm.Check())
					require.NoError(t, oracle.CheckOp(&norm, get(t, y), in...), "%v%v", dtype, dims)
				} else {
					want := step(t, norm, up(x), get(t, m), get(t, v), up(w), up(b))
					want = step(t, ir.Operation{Kind: ir.Cast, Attrs: ir.Attrs{DType: dtype}}, want)
					require.NoError(t, oracle.Compare(get(t, y), want, oracle.Tol{ULPs: 1, Abs: slack(want.Len())}), "%v%v", dtype, dims)
				}
				plain, _, _ := put(dev, x).BatchNormTrain(nil, nil, 1e-3)
				require.NoError(t, plain.Err())
			}
		}
	}
}

// slack is an absolute tolerance for what f32 cancels.
func slack(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1e-5
	}
	return out
}

// 64-bit integers are exact beyond 2⁵³ where no float64 is on the way.
func TestWideIntegers(t *testing.T) {
	const big, huge = int64(1)<<60 + 3, uint64(1)<<63 + 5
	for _, dev := range both(t) {
		require.Equal(t, []int64{big, big}, read[int64](t, sinter.FullOf(dev, big, 2)))
		require.Equal(t, []uint64{huge, huge}, read[uint64](t, sinter.FullOf(dev, huge, 2)))
		x := sinter.From(dev, []uint64{1, huge, math.MaxUint64}, 3)
		h := sinter.Scalar(dev, huge)
		require.Equal(t, []uint64{huge + 1, 2*uint64(huge-1<<63) + 0, huge - 1}, read[uint64](t, x.Add(h)))
		require.Equal(t, []bool{false, true, false}, read[bool](t, x.Equal(h)))
		require.Equal(t, []uint64{huge, huge, math.MaxUint64}, read[uint64](t, x.ClampTensor(h, sinter.Scalar(dev, uint64(math.MaxUint64)))))
		require.Equal(t, []uint64{huge, 1}, read[uint64](t, x.Narrow(0, 0, 1).PadTensor(h, 1, 0)))
		require.Equal(t, []uint64{huge, huge, huge}, read[uint64](t, x.MaskFillTensor(sinter.Ones(dev, sinter.Bool, 1), h)))
		require.Equal(t, []uint64{math.MaxUint64}, read[uint64](t, x.Max()))
		_, lo := bits.Mul64(huge, huge)
		require.Equal(t, []uint64{lo}, read[uint64](t, h.Square().Reshape(1)))
		require.Equal(t, []int64{big + 1}, read[int64](t, sinter.Arange(dev, sinter.I64, 1, 1, 1).Add(sinter.Scalar(dev, big))))
	}
}
