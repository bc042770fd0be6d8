package cudac

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// samples is how many random operands a function is tried on, besides special
// ones.
func samples() int {
	if testing.Short() {
		return 4_000
	}
	return 60_000
}

// What is correctly rounded, on floats, integers and bools, gives the bits of the
// evaluator of kerneltest and of the portable engine.
func TestExactFunctions(t *testing.T) {
	exact := func(fn ir.ScalarOp) bool { return FuncBound(fn, ir.F32) == 0 || fn.Sig().Int }
	eachFunction(t, exact, func(t *testing.T, d *device, fn ir.ScalarOp) {
		for _, dt := range registers() {
			if !fn.Sig().DefinedFor(dt) || FuncBound(fn, dt) != 0 {
				continue
			}
			r := apply(t, d, fn, dt, combinations(fn, dt, samples()/4))
			for i, got := range r.device {
				args := make([]kerneltest.Value, len(r.operands))
				for j := range args {
					args[j] = r.operands[j][i]
				}
				want := kerneltest.Apply(fn, dt, args)
				require.True(t, equal(want, got), "%v %v of %v: want %v, got %v", fn, dt, args, want, got)
				require.True(t, equal(r.cpu[i], got), "%v %v of %v: the portable engine gives %v, the device %v", fn, dt, args, r.cpu[i], got)
			}
		}
	})
}

// Casts round once: on all values of small types, on special and random ones of
// others, and next to what lies between two values of a smaller float.
func TestCastsAreExact(t *testing.T) {
	l := nvrtctest.Cache(t)
	for _, from := range ir.DTypes() {
		t.Run(from.String(), func(t *testing.T) {
			t.Parallel()
			d := compiled(t, l, movesOf(from), moveEntries(from))
			values := castInputs(from)
			operand := laidOut(from.Compute(), values)
			for _, to := range ir.DTypes() {
				for _, overflow := range []bool{false, true} {
					name := "cast_" + to.String()
					if overflow {
						name = "castover_" + to.String()
					}
					if overflow && !to.IsFloat8() {
						continue
					}
					out := kerneltest.Alloc(len(values) * to.Compute().Size())
					d.call(t, name, len(values), out, operand)
					for i, got := range elements(to.Compute(), out) {
						want := held(to.Compute(), kerneltest.Cast(from, to, overflow, values[i]))
						require.True(t, equal(want, got), "%s of %v: want %v, got %v", name, values[i], want, got)
					}
				}
			}
		})
	}
}

// Loads and stores are those of the evaluator, for every element of up to 16 bits.
func TestLoadsAndStores(t *testing.T) {
	l := nvrtctest.Cache(t)
	for _, dt := range ir.DTypes() {
		t.Run(dt.String(), func(t *testing.T) {
			t.Parallel()
			d := compiled(t, l, movesOf(dt), moveEntries(dt))
			values := castInputs(dt)
			raw, register := laidOut(dt, values), laidOut(dt.Compute(), values)
			out := kerneltest.Alloc(len(register))
			d.call(t, "load", len(values), out, raw)
			for i, got := range elements(dt.Compute(), out) {
				require.True(t, equal(values[i], got), "load of %v: got %v", values[i], got)
			}
			if dt.Compute() == ir.F32 {
				values = castInputs(ir.F32)
				register = laidOut(ir.F32, values)
			}
			out = kerneltest.Alloc(len(values) * dt.Size())
			d.call(t, "store", len(values), out, register)
			for i, got := range elements(dt, out) {
				want := held(dt, values[i])
				require.True(t, equal(want, got), "store of %v: want %v, got %v", values[i], want, got)
			}
		})
	}
}

// A bitcast is a store and a load of the same bytes.
func TestBitcasts(t *testing.T) {
	l := nvrtctest.Cache(t)
	for _, from := range ir.DTypes() {
		t.Run(from.String(), func(t *testing.T) {
			t.Parallel()
			d := compiled(t, l, movesOf(from), moveEntries(from))
			values := castInputs(from)
			for _, to := range ir.DTypes() {
				if from.Size() != to.Size() || from == ir.Bool || to == ir.Bool {
					continue
				}
				out := kerneltest.Alloc(len(values) * to.Compute().Size())
				d.call(t, "bits_"+to.String(), len(values), out, laidOut(from.Compute(), values))
				for i, got := range elements(to.Compute(), out) {
					if values[i].F != values[i].F {
						continue // which NaN it is is not said
					}
					want := kerneltest.FromBits(to, kerneltest.ToBits(from, values[i]))
					require.True(t, equal(want, got), "bits of %v %v as %v: want %v, got %v", from, values[i], to, want, got)
				}
			}
		})
	}
}

// Random words are those of the evaluator, at positions of more than 32 bits too;
// normal numbers are near those of the formula in float64, as near as their numeric
// class says.
func TestRandomNumbers(t *testing.T) {
	l := nvrtctest.Cache(t)
	d := compiled(t, l, "random", randomEntries())
	r := rand.New(rand.NewPCG(4, 4))
	n := samples() / 4
	seeds, offsets, positions := make([]kerneltest.Value, n), make([]kerneltest.Value, n), make([]kerneltest.Value, n)
	for i := range n {
		seeds[i].I, offsets[i].I = int64(r.Uint64()), int64(r.Uint64())
		positions[i].I = int64(r.Uint64() >> (1 + r.IntN(63)))
	}
	operands := [][]byte{laidOut(ir.I64, seeds), laidOut(ir.I64, offsets), laidOut(ir.I64, positions)}
	word := func(i int, position int64) uint32 {
		return kerneltest.Philox(uint64(seeds[i].I), uint64(offsets[i].I), uint64(position)/4)[position%4]
	}
	out := kerneltest.Alloc(8 * n)
	d.call(t, "philox", n, out, operands...)
	for i, got := range elements(ir.I64, out) {
		require.Equal(t, int64(word(i, positions[i].I)), got.I, "position %d", positions[i].I)
	}
	for _, dt := range []ir.DType{ir.F32, ir.F64} {
		out := kerneltest.Alloc(dt.Size() * n)
		d.call(t, "normal_"+dt.String(), n, out, operands...)
		tolerance := map[ir.DType]float64{ir.F32: 2e-6, ir.F64: 2e-15}[dt]
		for i, got := range elements(dt, out) {
			pair := positions[i].I &^ 1
			want := normal(word(i, pair), word(i, pair+1), positions[i].I&1 != 0)
			assert.InDelta(t, want, got.F, tolerance, "position %d", positions[i].I)
			if dt == ir.F32 { // of which float64 is precise enough
				assert.LessOrEqual(t, ulpsApart(dt, want, got.F), normalUlps(dt), "position %d", positions[i].I)
			}
		}
	}
}
