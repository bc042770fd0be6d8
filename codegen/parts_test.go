package codegen

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// partsKernel scales and adds, and negates what one of its operands is too.
func partsKernel() *Kernel {
	negate := &Kernel{
		Name: "negate", Template: Map, Outer: 1,
		Buffers:  []Buffer{{ir.F32, In}, {ir.F32, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 1}},
		Body:     []Instr{{Op: OpLoad, Type: ir.F32}, {Op: OpApply, Type: ir.F32, Fn: ir.SNeg, Args: []Value{0}}},
		Stores:   []Store{{Access: 1, Value: 1}},
	}
	return &Kernel{
		Name: "both", Template: Parts,
		Buffers: []Buffer{{ir.BF16, In}, {ir.F32, In}, {ir.BF16, Out}, {ir.F32, Out}},
		Parts:   []Part{{mapKernel(), []int{0, 1, 2}}, {negate, []int{1, 3}}},
	}
}

func partsLaunch() *Launch {
	return &Launch{Parts: []Launch{*mapLaunch(), {Dims: []int{5}, Access: []AccessArgs{{Strides: []int{1}}, {Strides: []int{1}}}}}}
}

var partsSizes = []int{12, 20, 12, 20}

func TestVerifyRefusesParts(t *testing.T) {
	for name, spoil := range map[string]struct {
		f    func(k *Kernel)
		rule string
	}{
		"space":              {func(k *Kernel) { k.Outer = 1 }, "no space of its own"},
		"program":            {func(k *Kernel) { k.Params = []ir.DType{ir.F32} }, "no program of its own"},
		"one part":           {func(k *Kernel) { k.Parts = k.Parts[:1] }, "1 parts"},
		"no kernel":          {func(k *Kernel) { k.Parts[0].Kernel = nil }, "is no map"},
		"another template":   {func(k *Kernel) { k.Parts[0].Kernel = rowsKernel() }, "is no map"},
		"parts of parts":     {func(k *Kernel) { k.Parts[0].Kernel = partsKernel() }, "is no map"},
		"malformed part":     {func(k *Kernel) { k.Parts[0].Kernel.Stores = nil }, "nothing is stored"},
		"missing buffer":     {func(k *Kernel) { k.Parts[0].Buffers = k.Parts[0].Buffers[:2] }, "2 buffers, not 3"},
		"no such buffer":     {func(k *Kernel) { k.Parts[0].Buffers[0] = 7 }, "no buffer 7"},
		"another dtype":      {func(k *Kernel) { k.Buffers[3].DType = ir.F64 }, "buffer 3 is out f32 in the part"},
		"another mode":       {func(k *Kernel) { k.Buffers[3].Mode = InOut }, "buffer 3 is out f32 in the part"},
		"buffer twice":       {func(k *Kernel) { k.Parts[1].Buffers[1] = 1 }, "buffer 1"},
		"unused buffer":      {func(k *Kernel) { k.Buffers = append(k.Buffers, Buffer{ir.F32, In}) }, "no part uses it"},
		"written and read":   {func(k *Kernel) { shareOutput(k) }, "a part writes what another uses"},
		"parts of a map":     {func(k *Kernel) { *k = *mapKernel(); k.Parts = partsKernel().Parts }, "parts of a map kernel"},
		"input as output":    {func(k *Kernel) { k.Buffers[2].DType = ir.BF16; k.Parts[0].Buffers = []int{0, 1, 0} }, "buffer 0 is out bf16 in the part"},
		"buffer named twice": {func(k *Kernel) { readTwice(&k.Parts[1]) }, "buffer 1 is named twice"},
	} {
		t.Run(name, func(t *testing.T) {
			k := partsKernel()
			require.NoError(t, k.Verify())
			spoil.f(k)
			assert.ErrorContains(t, k.Verify(), spoil.rule)
		})
	}
}

// readTwice makes a part read its operand under two numbers.
func readTwice(p *Part) {
	k := p.Kernel
	k.Buffers, k.Accesses = append(k.Buffers, k.Buffers[0]), append(k.Accesses, Access{Buffer: 2})
	k.Body = []Instr{k.Body[0], {Op: OpLoad, Type: ir.F32, Access: 2}, {Op: OpApply, Type: ir.F32, Fn: ir.SAdd, Args: []Value{0, 1}}}
	k.Stores[0].Value = 2
	p.Buffers = append(p.Buffers, p.Buffers[0])
}

// shareOutput adds a part that writes the output of another.
func shareOutput(k *Kernel) {
	other := k.Parts[1].Kernel.Clone()
	k.Parts = append(k.Parts, Part{other, []int{1, 3}})
}

func TestCheckLaunchOfParts(t *testing.T) {
	c := NewChecker(partsKernel())
	require.NoError(t, c.Check(partsLaunch(), partsSizes))
	var args *ArgsError
	for name, spoil := range map[string]func(l *Launch, sizes []int){
		"missing part":  func(l *Launch, _ []int) { l.Parts = l.Parts[:1] },
		"first part":    func(l *Launch, _ []int) { l.Parts[0].Access[0].Offset = 1 << 20 },
		"second part":   func(l *Launch, _ []int) { l.Parts[1].Dims[0]++ },
		"small buffer":  func(_ *Launch, sizes []int) { sizes[3]-- },
		"own space":     func(l *Launch, _ []int) { l.Dims = []int{1} },
		"axes of parts": func(l *Launch, _ []int) { l.Parts[1].Dims = nil },
	} {
		l, sizes := partsLaunch(), slices.Clone(partsSizes)
		spoil(l, sizes)
		assert.ErrorAs(t, c.Check(l, sizes), &args, name)
	}
	assert.Error(t, c.Check(partsLaunch(), partsSizes[:3]), "a buffer is missing")
	l := partsLaunch()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if c.Check(l, partsSizes) != nil {
			t.Fail()
		}
	}))
	clone := l.Clone()
	assert.Equal(t, l, clone)
	clone.Parts[1].Dims[0], clone.Parts[0].Access[0].Strides[0] = 77, 77
	assert.Equal(t, partsLaunch(), l, "clones share nothing")
}

func TestTrafficOfParts(t *testing.T) {
	read, written := Traffic(partsKernel(), partsLaunch())
	r, w := Traffic(mapKernel(), mapLaunch())
	assert.Equal(t, []int64{r + 20, w + 20}, []int64{read, written})
}

func TestTextOfParts(t *testing.T) {
	assert.Equal(t, `kernel parts outer=0 inner=0 "both"
  b0: in bf16
  b1: in f32
  b2: out bf16
  b3: out f32
  part 0: b0 b1 b2
    kernel map outer=2 inner=0 "scale-add"
      b0: in bf16
      b1: in f32
      b2: out bf16
      a0: b0
      a1: b1 masked
      a2: b2
      p0: f32
      %0: f32 = load a0
      %1: f32 = param p0
      %2: f32 = mul %0, %1
      %3: f32 = const -0.5
      %4: f32 = load a1 else %3
      %5: f32 = add %2, %4
      %6: f32 = cast f32 to bf16 %5
      store a2 %6
  part 1: b1 b3
    kernel map outer=1 inner=0 "negate"
      b0: in f32
      b1: out f32
      a0: b0
      a1: b1
      %0: f32 = load a0
      %1: f32 = neg %0
      store a1 %1
`, partsKernel().String())
	k := partsKernel()
	k.Parts[0].Kernel = nil
	assert.Contains(t, k.String(), "part 0: b0 b1 b2\n  part 1", "also when malformed")
}

func TestBytesOfAPart(t *testing.T) {
	whole := [][]byte{{0}, {1}, {2}, {3}}
	p := &partsKernel().Parts[1]
	assert.Equal(t, [][]byte{{1}, {3}}, p.Bytes(make([][]byte, 1, 2), whole))
	k, l := partsKernel(), partsLaunch()
	var names []string
	k.Spaces(l, func(k *Kernel, l *Launch) { names = append(names, k.Name) })
	mapKernel().Spaces(mapLaunch(), func(k *Kernel, _ *Launch) { names = append(names, k.Name) })
	assert.Equal(t, []string{"scale-add", "negate", "scale-add"}, names)
}
