package cudac_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/backend/cuda/sim/runner"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/interp"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// contractor executes contractions in a variant that a test chooses.
type contractor struct {
	target cudac.Target
	engine *runner.Engine
	choose *cudac.Variant
	report *runner.Report // of the last launch
}

func newContractor(t testing.TB, target cudac.Target) *contractor {
	c := &contractor{target: target}
	c.engine = runner.New(runner.Options{
		Target: target, Compile: runner.Cached(nvrtctest.Cache(t)),
		Exec:    exec.Options{CheckRaces: true, CheckUndefined: true, MaxInstructions: 1 << 30},
		Choose:  func(*codegen.Kernel, []*cudac.Variant) *cudac.Variant { return c.choose },
		Observe: func(r *runner.Report) { c.report = r },
	})
	return c
}

// run executes a launch in a variant and returns the memory after it.
func (c *contractor) run(t testing.TB, k kerneltest.Case, v *cudac.Variant) [][]byte {
	t.Helper()
	c.choose = v
	x, err := c.engine.Compile(k.Kernel)
	require.NoError(t, err)
	mem := kerneltest.CloneMemory(k.Mem)
	err = x.(codegen.HostExecutable).Run(k.Launch, mem, codegen.Serial{})
	require.NoError(t, err, "variant %s\n%s", v, x.Listing())
	return mem
}

// variants returns every variant of a launch, the always valid one last.
func (c *contractor) variants(k kerneltest.Case) []*cudac.Variant {
	candidates := cudac.Candidates(k.Kernel, k.Launch, c.target, false)
	return append(cudac.TiledContractions(k.Kernel, k.Launch, c.target), candidates[len(candidates)-1])
}

// factors is a product of two dtypes, and how its operands lie in memory.
type factors struct {
	left, right     ir.DType
	result          ir.DType // the register type
	leftT, rightT   bool     // transposed: lines are neighbours on the left, k on the right
	offset, padding int      // in elements
}

func (f factors) String() string {
	s := fmt.Sprintf("%v x %v", f.left, f.right)
	if f.leftT {
		s += " left transposed"
	}
	if f.rightT {
		s += " right transposed"
	}
	if f.offset+f.padding > 0 {
		s += fmt.Sprintf(" offset %d padding %d", f.offset, f.padding)
	}
	return s
}

// product returns the product of random matrices [m, k]·[k, n], to which a row is
// added.
func (f factors) product(m, n, k int) kerneltest.Case {
	b := kerneltest.NewBuilder(rand.New(rand.NewPCG(uint64(m), uint64(n*k))), codegen.Contraction, 2, m, n, k)
	operand := func(dt ir.DType, lines int, lineAxis int, transposed bool) int {
		rows, columns := lines, k
		strides := []int{0, 0, 1}
		strides[lineAxis] = columns + f.padding
		if transposed {
			rows, columns = k, lines
			strides[lineAxis], strides[2] = 1, lines+f.padding
		}
		return b.Access(b.Buffer(dt, codegen.In, f.offset+rows*(columns+f.padding)), codegen.AccessArgs{Offset: f.offset, Strides: strides}, false)
	}
	left, right := operand(f.left, m, 0, f.leftT), operand(f.right, n, 1, !f.rightT)
	v := b.Emit(codegen.Instr{Op: codegen.OpContract, Type: f.result, Access: left, Access2: right})
	out := f.result
	if f.result == ir.F32 && f.left.Size() == 2 {
		out = f.left
	}
	b.Out(b.Apply(ir.SAdd, v, b.In(f.result, 1)), out, 0, 1)
	b.Tame()
	return b.Case
}

// The dtypes of the numeric classes.
var contractTypes = []factors{
	{left: ir.F32, right: ir.F32, result: ir.F32},
	{left: ir.F64, right: ir.F64, result: ir.F64},
	{left: ir.BF16, right: ir.BF16, result: ir.F32},
	{left: ir.F16, right: ir.F16, result: ir.F32},
	{left: ir.F32, right: ir.BF16, result: ir.F32},
	{left: ir.F16, right: ir.BF16, result: ir.F32},
	{left: ir.F8E4M3, right: ir.F8E4M3, result: ir.F32},
	{left: ir.I8, right: ir.I8, result: ir.I32},
	{left: ir.U8, right: ir.I8, result: ir.I32},
	{left: ir.I8, right: ir.U8, result: ir.I32},
	{left: ir.U8, right: ir.U8, result: ir.I32},
	{left: ir.I8, right: ir.I8, result: ir.I8},
	{left: ir.I16, right: ir.I16, result: ir.I16},
	{left: ir.U16, right: ir.U16, result: ir.U16},
	{left: ir.I32, right: ir.I32, result: ir.I32},
	{left: ir.U32, right: ir.U32, result: ir.U32},
	{left: ir.I64, right: ir.I64, result: ir.I64},
	{left: ir.U64, right: ir.U64, result: ir.U64},
}

// Every tile, way of reading and split gives the same bits, right ones, without
// races or reads of what was never written.
func TestContractionVariants(t *testing.T) {
	c := newContractor(t, cudac.Ampere)
	check := func(t *testing.T, k kerneltest.Case) {
		require.NoError(t, k.Check())
		want := kerneltest.CloneMemory(k.Mem)
		tolerance, ok := kerneltest.EvaluateWithin(k.Kernel, k.Launch, want)
		require.True(t, ok)
		variants := c.variants(k)
		last := c.run(t, k, variants[len(variants)-1])
		require.NoError(t, kerneltest.Compare(k.Kernel, want, last, tolerance), variants[len(variants)-1])
		for _, v := range variants[:len(variants)-1] {
			require.NoError(t, v.Check(k.Kernel, k.Launch))
			assert.Equal(t, last, c.run(t, k, v), "variant %s", v)
		}
	}
	shapes := [][]int{{48, 80, 304}, {67, 9, 33}, {1, 40, 1200}, {70, 1, 2100}, {130, 136, 16}, {3, 5, 0}, {2, 3, 1}}
	for i, f := range contractTypes {
		for j, layout := range []factors{{}, {leftT: true}, {rightT: true}, {leftT: true, rightT: true}, {offset: 1, padding: 3}} {
			if testing.Short() && (j != i%3 || i != 0 && i != 2 && i != 7) {
				continue // one of each kind: fused multiply-adds, halves, bytes
			}
			f.leftT, f.rightT, f.offset, f.padding = layout.leftT, layout.rightT, layout.offset, layout.padding
			dims := shapes[(i+j)%len(shapes)]
			t.Run(fmt.Sprint(f, dims), func(t *testing.T) { check(t, f.product(dims[0], dims[1], dims[2])) })
		}
	}
}

// A row alone has the bits of the row among others.
func TestContractionRowAlone(t *testing.T) {
	c := newContractor(t, cudac.Ampere)
	for i, f := range contractTypes[:5] {
		if testing.Short() && i != 2 {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			const m, n, k = 9, 24, 1280
			all := f.product(m, n, k)
			variants := c.variants(all)
			whole := c.run(t, all, variants[len(variants)-1])
			for _, row := range []int{0, 8} {
				one := all.Clone()
				one.Launch.Dims[0] = 1
				one.Launch.Access[0].Offset += row * one.Launch.Access[0].Strides[0]
				out := len(one.Mem) - 1
				size := one.Kernel.Buffers[out].DType.Size()
				for _, v := range c.variants(one) {
					got := c.run(t, one, v)
					assert.Equal(t, whole[out][row*n*size:(row+1)*n*size], got[out][:n*size], "row %d, variant %s", row, v)
				}
			}
		})
	}
}

// Sums of f64 and of integers have the bits of the portable engine.
func TestContractionBits(t *testing.T) {
	c := newContractor(t, cudac.Ampere)
	for i, f := range contractTypes {
		if f.result == ir.F32 || testing.Short() && i%4 > 0 {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			k := f.product(19, 21, 700)
			x, err := interp.New().Compile(k.Kernel)
			require.NoError(t, err)
			want := kerneltest.CloneMemory(k.Mem)
			require.NoError(t, x.(codegen.HostExecutable).Run(k.Launch, want, codegen.Serial{}))
			assert.Equal(t, want, c.run(t, k, c.variants(k)[0]))
		})
	}
}

// Random operands, prologues and epilogues, with batches, windows and indices.
func TestContractionRandom(t *testing.T) {
	n := 120
	if testing.Short() {
		n = 6
	}
	c := newContractor(t, cudac.Ampere)
	for seed := range n {
		k := kerneltest.Random(rand.New(rand.NewPCG(uint64(seed), 5)), kerneltest.Options{Templates: []codegen.Template{codegen.Contraction}, Size: kerneltest.Size(seed % 2)})
		want := kerneltest.CloneMemory(k.Mem)
		tolerance, ok := kerneltest.EvaluateWithin(k.Kernel, k.Launch, want)
		if !ok {
			continue // an index out of range is for the tests of the runner
		}
		t.Run(fmt.Sprint(seed, k), func(t *testing.T) {
			variants := c.variants(k)
			last := variants[len(variants)-1]
			for _, v := range []*cudac.Variant{last, variants[seed%len(variants)]} {
				assert.NoError(t, kerneltest.Compare(k.Kernel, want, c.run(t, k, v), tolerance), "variant %s\n%s\n%+v", v, k.Kernel, k.Launch)
			}
		})
	}
}

// Under Relaxed f32 factors are rounded to tf32, ties away from zero; those that
// are tf32 already give sums as exact as the class of f32.
func TestContractionTF32(t *testing.T) {
	target := cudac.Ampere
	target.Relaxed = true
	c := newContractor(t, target)
	for i, f := range []factors{{}, {rightT: true}, {leftT: true}, {offset: 1, padding: 3}} {
		if testing.Short() && i > 0 {
			continue
		}
		f.left, f.right, f.result = ir.F32, ir.F32, ir.F32
		k := f.product(67, 48, 1040)
		for b := range 2 {
			for at := range len(k.Mem[b]) / 4 {
				k.Mem[b][4*at], k.Mem[b][4*at+1] = 0, 0 // 8 significant bits
			}
		}
		want := kerneltest.CloneMemory(k.Mem)
		tolerance, _ := kerneltest.EvaluateWithin(k.Kernel, k.Launch, want)
		variants := c.variants(k)
		last := c.run(t, k, variants[len(variants)-1])
		require.NoError(t, kerneltest.Compare(k.Kernel, want, last, tolerance))
		for _, v := range variants[:len(variants)-1] {
			if testing.Short() && v.Tile[0] < 128 {
				continue
			}
			require.Contains(t, v.Kind, "mma")
			assert.Equal(t, last, c.run(t, k, v), "%v, variant %s", f, v)
		}
	}
	one := kerneltest.MatMul([]int{1, 4, 1}, ir.F32).Case
	kerneltest.WriteElem(one.Mem[0], ir.F32, 0, kerneltest.Value{F: 1})
	for i, x := range []float64{1 + 0x1p-11, 1 + 0x1p-12, -1 - 0x1p-11, 1 + 0x1p-10} {
		kerneltest.WriteElem(one.Mem[1], ir.F32, i, kerneltest.Value{F: x})
	}
	got := c.run(t, one, c.variants(one)[0])
	for i, want := range []float64{1 + 0x1p-10, 1, -1 - 0x1p-10, 1 + 0x1p-10} {
		assert.Equal(t, want, kerneltest.ReadElem(got[2], ir.F32, i).F)
	}
}

// A launch whose places need 64 bits gives the bits of one whose places do not.
func TestContractionWide(t *testing.T) {
	c := newContractor(t, cudac.Ampere)
	for i, f := range contractTypes {
		if testing.Short() && i > 0 || i > 3 {
			continue
		}
		k := f.product(40, 24, 72)
		near := c.run(t, k, c.variants(k)[0])
		far := k.Clone()
		// An axis of length 1 may have any stride.
		far.Kernel.Outer++
		far.Launch.Dims = append([]int{1}, far.Launch.Dims...)
		for a := range far.Launch.Access {
			far.Launch.Access[a].Strides = append([]int{math.MaxInt >> 22}, far.Launch.Access[a].Strides...)
		}
		for _, v := range c.variants(far) {
			require.True(t, v.Wide)
			assert.Equal(t, near, c.run(t, far, v), "%v, variant %s", f, v)
		}
	}
}

// A sum that is too small to be told from zero is +0 in every variant, whatever the
// sign of its products.
func TestContractionTinyProducts(t *testing.T) {
	c := newContractor(t, cudac.Ampere)
	for _, dims := range [][]int{{8, 8, 16}, {8, 8, 304}} {
		k := kerneltest.MatMul(dims, ir.F32).Case
		for b, x := range []float64{-1e-30, 1e-30} {
			for i := range len(k.Mem[b]) / 4 {
				kerneltest.WriteElem(k.Mem[b], ir.F32, i, kerneltest.Value{F: x})
			}
		}
		for _, v := range c.variants(k) {
			if len(v.Tile) > 0 && testing.Short() && v.Tile[0] != 32 {
				continue
			}
			got := c.run(t, k, v)
			assert.Equal(t, make([]byte, len(got[2])), got[2], "variant %s", v)
		}
	}
}
