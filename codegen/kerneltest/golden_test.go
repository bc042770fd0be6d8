package kerneltest

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

func TestGoldenKernelsAreWellFormed(t *testing.T) {
	fileName := regexp.MustCompile(`^[a-z0-9-]+$`)
	names, templates, hashes := map[string]bool{}, map[codegen.Template]int{}, map[uint64]string{}
	medium := GoldenAt(Medium)
	for i, c := range Golden() {
		name := c.Kernel.Name
		require.NoError(t, c.Check(), name)
		assert.Regexp(t, fileName, name)
		assert.False(t, names[name], "%s twice", name)
		names[name] = true
		templates[c.Kernel.Template]++
		hashes[c.Kernel.Hash()] = name
		require.NoError(t, medium[i].Check(), name)
		assert.True(t, c.Kernel.Equal(medium[i].Kernel), "%s: the structure is the same for all lengths", name)
		if c.Kernel.Template != codegen.Parts {
			assert.NotEqual(t, c.Launch.Dims, medium[i].Launch.Dims, name)
		}
		found, ok := GoldenNamed(name, Small)
		require.True(t, ok)
		assert.Equal(t, c, found, "the same from call to call")
	}
	assert.Len(t, templates, int(codegen.Custom), "every template but custom")
	assert.Greater(t, len(hashes), 60, "structures that differ")
	_, ok := GoldenNamed("no such kernel", Small)
	assert.False(t, ok)
}

// A named kernel has any lengths, of as many axes as it knows.
func TestGoldenShaped(t *testing.T) {
	c, ok := GoldenShaped("softmax", 3, 20)
	require.True(t, ok)
	require.NoError(t, c.Check())
	assert.Equal(t, []int{3, 20}, c.Launch.Dims)
	named, _ := GoldenNamed("softmax", Small)
	assert.Equal(t, named.Kernel.String(), c.Kernel.String())
	for name, dims := range map[string][]int{"softmax": {60}, "no such kernel": {3, 20}} {
		_, ok = GoldenShaped(name, dims...)
		assert.False(t, ok, name)
	}
}

// The numbers of the named kernels are ordinary: all indices in range, nothing
// open, no float NaN but where the kernel is about one.
func TestGoldenKernelsHaveDefiniteResults(t *testing.T) {
	for _, c := range Golden() {
		tol, ok := EvaluateWithin(c.Kernel, c.Launch, c.Mem)
		require.True(t, ok, c.Kernel.Name)
		for b, buffer := range c.Kernel.Buffers {
			assert.Zero(t, tol.Open(b), "%s buffer %d", c.Kernel.Name, b)
			if buffer.Mode == codegen.In || !buffer.DType.IsFloat() {
				continue
			}
			for i := range len(c.Mem[b]) / buffer.DType.Size() {
				v := ReadElem(c.Mem[b], buffer.DType, i)
				require.False(t, v.F != v.F, "%s buffer %d element %d", c.Kernel.Name, b, i)
			}
		}
	}
}

// Results of a few named kernels, by their meaning.
func TestGoldenMeanings(t *testing.T) {
	run := func(name string) Case {
		c, ok := GoldenNamed(name, Small)
		require.True(t, ok)
		require.True(t, Evaluate(c.Kernel, c.Launch, c.Mem))
		return c
	}
	at := func(c Case, buffer, i int) float64 {
		return ReadElem(c.Mem[buffer], c.Kernel.Buffers[buffer].DType, i).F
	}

	pad := run("pad") // [3, 5]: two fills on the left, a row of fills below
	for i := range 15 {
		want := -1.0
		if r, col := i/5, i%5; r < 2 && col >= 2 {
			want = at(pad, 0, r*3+col-2)
		}
		assert.Equal(t, want, at(pad, 1, i))
	}
	concat := run("concat")
	for i := range 15 {
		want := 0.0
		if r, col := i/5, i%5; col < 2 {
			want = at(concat, 1, r*2+col)
		} else {
			want = at(concat, 0, r*3+col-2)
		}
		assert.Equal(t, want, at(concat, 2, i))
	}
	strided := run("strided")
	for i := range 15 {
		assert.Equal(t, -at(strided, 0, i/5*10+9-i%5*2), at(strided, 1, i))
	}
	for _, name := range []string{"softmax", "softmax-long"} {
		softmax := run(name)
		n := softmax.Launch.Dims[1]
		sum := 0.0
		for i := range n {
			sum += at(softmax, 1, n+i)
		}
		assert.InDelta(t, 1, sum, 1e-5)
	}
	norm := run("layer-norm") // with the weights and biases taken away, mean 0 and variance 1
	n := norm.Launch.Dims[1]
	sum, squares := 0.0, 0.0
	for i := range n {
		y := (at(norm, 3, i) - at(norm, 2, i)) / at(norm, 1, i)
		sum, squares = sum+y, squares+y*y
	}
	assert.InDelta(t, 0, sum/float64(n), 1e-5)
	assert.InDelta(t, 1, squares/float64(n), 1e-3)
	top := run("top-k")
	for r := range 3 {
		for k := range 3 {
			from := int(ReadElem(top.Mem[2], ir.I64, r*3+k).I)
			assert.Equal(t, at(top, 0, r*41+from), at(top, 1, r*3+k))
		}
		assert.GreaterOrEqual(t, at(top, 1, r*3), at(top, 1, r*3+1))
	}
}
