package runner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// The named kernels in other forms than those they were made in: with lengths of 0
// and 1, with places in 64 bits, with strange numbers, in place.

// some returns the cases a test runs: all, or in a short one every n-th.
func some(cases []kerneltest.Case, n int) []kerneltest.Case {
	if !testing.Short() {
		return cases
	}
	return oneIn(cases, n)
}

// oneIn returns one in n cases.
func oneIn(cases []kerneltest.Case, n int) []kerneltest.Case {
	var out []kerneltest.Case
	for i := n / 2; i < len(cases); i += n {
		out = append(out, cases[i])
	}
	return out
}

// spaces calls f with each space of a case and the launch in it.
func spaces(c kerneltest.Case, f func(k *codegen.Kernel, l *codegen.Launch)) {
	c.Kernel.Spaces(c.Launch, f)
}

// A kernel works when an axis has no points, or one, or all axes have one.
func TestLengthsOfNothingAndOne(t *testing.T) {
	var cases []kerneltest.Case
	for _, c := range kerneltest.Golden() {
		axes := 0
		spaces(c, func(_ *codegen.Kernel, l *codegen.Launch) { axes = max(axes, len(l.Dims)) })
		for _, n := range []int{0, 1} {
			for axis := -1; axis < axes; axis++ {
				next := c.Clone()
				next.Kernel.Name = fmt.Sprintf("%s %d on %d", c.Kernel.Name, n, axis)
				spaces(next, func(_ *codegen.Kernel, l *codegen.Launch) {
					for i := range l.Dims {
						if axis == -1 || axis == i {
							l.Dims[i] = n
						}
					}
				})
				if next.Check() == nil {
					cases = append(cases, next)
				}
			}
		}
	}
	require.Greater(t, len(cases), 200)
	e := newEvery(t, cudac.Ampere)
	for _, c := range some(oneIn(cases, 3), 27) {
		t.Run(c.Kernel.Name, func(t *testing.T) { e.check(t, c) })
	}
}

// wide returns a case whose first axis is a new one of length 1, along which every
// access has a stride that makes its places too many for 32 bits.
func wide(c kerneltest.Case) kerneltest.Case {
	c = c.Clone()
	spaces(c, func(k *codegen.Kernel, l *codegen.Launch) {
		k.Outer++
		for i := range k.Body {
			switch in := &k.Body[i]; in.Op {
			case codegen.OpCoord, codegen.OpArange:
				in.Index++
			}
		}
		l.Dims = append([]int{1}, l.Dims...)
		for i := range l.Access {
			a := &l.Access[i]
			a.Strides = append([]int{math.MaxInt32}, a.Strides...)
			for j := range a.Window {
				a.Window[j].Axis++
			}
		}
	})
	return c
}

// Every template computes places in 64 bits where 32 are not known to be enough.
func TestPlacesIn64Bits(t *testing.T) {
	kept, err := kerneltest.Kept()
	require.NoError(t, err)
	e := newEvery(t, cudac.Ampere)
	for _, c := range some(append(kerneltest.Golden(), kept...), 15) {
		t.Run(c.Kernel.Name, func(t *testing.T) {
			e.check(t, wide(c))
			for _, v := range e.list {
				assert.True(t, v.Wide)
			}
		})
	}
}

// strange holds bits of floats that are easily got wrong: NaNs of both signs, quiet
// and signalling, with payloads; the least and greatest subnormal, the least
// normal and the greatest number; infinities and zeros.
var strange = map[ir.DType][]uint64{
	ir.F64: {
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0xfff4dead00000000, 0xffffffffffffffff, 0x7ff00000ffffffff,
		1, 0x800fffffffffffff, 0x0010000000000000, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x8000000000000000,
	},
	ir.F32: {
		0x7fc00000, 0xffc00000, 0x7f800001, 0xffa0dead, 0xffffffff, 0x7f80ffff,
		1, 0x807fffff, 0x00800000, 0xff7fffff, 0x7f800000, 0xff800000, 0x80000000,
	},
	ir.F16:    {0x7e00, 0xfe00, 0x7c01, 0xfdad, 0xffff, 1, 0x83ff, 0x0400, 0xfbff, 0x7c00, 0xfc00, 0x8000},
	ir.BF16:   {0x7fc0, 0xffc0, 0x7f81, 0xffad, 0xffff, 1, 0x807f, 0x0080, 0xff7f, 0x7f80, 0xff80, 0x8000},
	ir.F8E5M2: {0x7d, 0x7e, 0x7f, 0xfd, 0xff, 1, 0x83, 0x04, 0xfb, 0x7c, 0xfc, 0x80},
	ir.F8E4M3: {0x7f, 0xff, 1, 0x87, 0x08, 0xfe, 0x80},
}

// withStrange puts strange numbers in the place of one float in so many that a
// case reads; of them only NaNs, or all but NaNs.
func withStrange(c kerneltest.Case, r *rand.Rand, oneIn int, nan bool) kerneltest.Case {
	c = c.Clone()
	for b, buffer := range c.Kernel.Buffers {
		dt := buffer.DType
		var bits []uint64
		for _, x := range strange[dt] {
			if v := kerneltest.FromBits(dt, x); (v.F != v.F) == nan {
				bits = append(bits, x)
			}
		}
		size := dt.Size()
		for i := range len(c.Mem[b]) / size {
			if len(bits) > 0 && r.IntN(oneIn) == 0 {
				x := bits[r.IntN(len(bits))]
				for j := range size {
					c.Mem[b][i*size+j] = byte(x >> (8 * j))
				}
			}
		}
	}
	return c
}

// NaNs with payloads and signs, subnormals and the ends of the ranges mean what
// they mean to the evaluator.
func TestStrangeNumbers(t *testing.T) {
	kept, err := kerneltest.Kept()
	require.NoError(t, err)
	e := newEvery(t, cudac.Ampere)
	for i, c := range some(append(kerneltest.Golden(), kept...), 15) {
		t.Run(c.Kernel.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			e.check(t, withStrange(c, r, 12, true))
			e.check(t, withStrange(c, r, 3, false))
		})
	}
}

// pairs returns the outputs of a case that may take the storage of an input: it
// has, in every access, the same layout.
func pairs(c kerneltest.Case) (out [][2]int) {
	places := make([]map[string]bool, len(c.Mem))
	spaces(c, func(k *codegen.Kernel, l *codegen.Launch) {
		for i, a := range k.Accesses {
			if places[a.Buffer] == nil {
				places[a.Buffer] = map[string]bool{}
			}
			places[a.Buffer][fmt.Sprint(l.Access[i].Offset, l.Access[i].Strides, l.Access[i].Index, l.Access[i].Window)] = true
		}
	})
	for o, to := range c.Kernel.Buffers {
		for i, from := range c.Kernel.Buffers {
			if to.Mode == codegen.Out && from.Mode == codegen.In && to.DType == from.DType && len(c.Mem[i]) == len(c.Mem[o]) &&
				len(places[i]) == 1 && fmt.Sprint(places[i]) == fmt.Sprint(places[o]) {
				out = append(out, [2]int{i, o})
			}
		}
	}
	return out
}

// An output that takes the storage of an input gets the results it gets in memory
// of its own, in each candidate.
func TestInPlace(t *testing.T) {
	var cases []kerneltest.Case
	byTemplate := map[codegen.Template]int{}
	for _, c := range kerneltest.Golden() {
		if len(pairs(c)) > 0 {
			cases = append(cases, c)
			byTemplate[c.Kernel.Template]++
		}
	}
	o := kerneltest.Options{Templates: []codegen.Template{codegen.Map, codegen.Rows, codegen.Contraction, codegen.Scan, codegen.Sort}}
	for seed := uint64(0); seed < 1500 && len(cases) < 150; seed++ {
		c := kerneltest.Random(rand.New(rand.NewPCG(seed, 81)), o)
		if len(pairs(c)) > 0 && c.Points() > 0 && byTemplate[c.Kernel.Template] < 40 {
			c.Kernel.Name = fmt.Sprint(c.Kernel.Name, seed)
			cases = append(cases, c)
			byTemplate[c.Kernel.Template]++
		}
	}
	for _, template := range o.Templates {
		require.NotZero(t, byTemplate[template], template)
	}
	e := newEvery(t, cudac.Ampere)
	for _, c := range some(cases, 20) {
		t.Run(c.Kernel.Name, func(t *testing.T) {
			for _, p := range pairs(c) {
				from, to := p[0], p[1]
				c.Mem[to] = slices.Clone(c.Mem[from]) // what is not written stays
				want := kerneltest.CloneMemory(c.Mem)
				tolerance, ok := kerneltest.EvaluateWithin(c.Kernel, c.Launch, want)
				require.True(t, ok)
				want[from] = want[to]
				e.list = nil
				for i := 0; i == 0 || i < len(e.list); i++ {
					got := kerneltest.CloneMemory(c.Mem)
					got[to] = got[from]
					if f := e.run(c, got, i); f != nil {
						t.Fatal(report(c, f))
					}
					assert.True(t, e.list[i].Alias)
					require.NoError(t, kerneltest.Compare(c.Kernel, want, got, kerneltest.Tolerance{Each: toleranceOf(tolerance, from, to)}),
						"buffer %d in buffer %d, variant %s\n%s", to, from, e.list[i], c.Text())
				}
			}
		})
	}
}

// toleranceOf gives buffer from, whose storage buffer to takes, its tolerance.
func toleranceOf(t kerneltest.Tolerance, from, to int) [][]float64 {
	each := slices.Clone(t.Each)
	each[from] = each[to]
	return each
}
