package codegen

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// customKernel makes a result of one operand taken twice, of different lengths,
// and two scalars, of which an operand holds the second.
func customKernel() *Kernel {
	return &Kernel{
		Name: "mix", Template: Custom, Outer: 5,
		Buffers:  []Buffer{{ir.F32, In}, {ir.I64, In}, {ir.BF16, Out}},
		Accesses: []Access{{Buffer: 0}, {Buffer: 0}, {Buffer: 1}, {Buffer: 2}},
		Params:   []ir.DType{ir.F32, ir.I64},
		Custom:   CustomSpec{Name: "mix", Ints: []int{4, -1}, DType: ir.BF16, Flag: true, Ranks: []int{2, 1, 0, 2}, Sources: []int{0, 2}},
	}
}

func customLaunch() *Launch {
	return &Launch{Dims: []int{2, 3, 5, 1 << 30, 0}, Params: []uint64{0, 0}, Access: []AccessArgs{
		{Strides: []int{1, 2, 0, 0, 0}}, {Offset: 4, Strides: []int{0, 0, -1, 0, 0}}, {Strides: make([]int, 5)}, {Strides: []int{0, 0, 0, 0, 1}},
	}}
}

var customSizes = []int{6 * 4, 8, 0}

func TestCustomKernel(t *testing.T) {
	k := customKernel()
	require.NoError(t, k.Verify())
	assert.Equal(t, 3, k.Operands())
	assert.Equal(t, `kernel custom outer=5 inner=0 "mix"
  b0: in f32
  b1: in i64
  b2: out bf16
  a0: b0
  a1: b0
  a2: b1
  a3: b2
  p0: f32
  p1: i64
  custom "mix" ranks=[2 1 0 2] ints=[4 -1] dtype=bf16 flag sources=[0 2]
`, k.String())
	require.NoError(t, CheckLaunch(k, customLaunch(), customSizes), "the axes of one are nothing to another")
	read, written := Traffic(k, customLaunch())
	assert.Equal(t, []int64{6*4 + 5*4 + 8, 0}, []int64{read, written})
	c, l := NewChecker(k), customLaunch()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if c.Check(l, customSizes) != nil {
			t.Fail()
		}
	}))
}

func TestVerifyRefusesCustom(t *testing.T) {
	for name, spoil := range map[string]func(k *Kernel){
		"no name":                  func(k *Kernel) { k.Custom.Name = "" },
		"program":                  func(k *Kernel) { k.Body = scanKernel().Body },
		"missing rank":             func(k *Kernel) { k.Custom.Ranks = k.Custom.Ranks[:3] },
		"negative rank":            func(k *Kernel) { k.Custom.Ranks[0] = -1 },
		"axes":                     func(k *Kernel) { k.Outer = 4 },
		"inner axes":               func(k *Kernel) { k.Inner = 1 },
		"indexed":                  func(k *Kernel) { k.Accesses[0].Indices = 1 },
		"masked":                   func(k *Kernel) { k.Accesses[0].Masked = true },
		"no result":                func(k *Kernel) { k.Buffers[2].Mode = In },
		"inout":                    func(k *Kernel) { k.Buffers[2].Mode = InOut },
		"operand after result":     func(k *Kernel) { k.Buffers[0].Mode = Out },
		"result twice":             func(k *Kernel) { k.Accesses[2].Buffer, k.Buffers[1].Mode = 2, Out },
		"missing source":           func(k *Kernel) { k.Custom.Sources = nil },
		"no such source":           func(k *Kernel) { k.Custom.Sources[1] = 3 },
		"source that is no scalar": func(k *Kernel) { k.Custom.Sources[1] = 1 },
		"spec of a map":            func(k *Kernel) { *k = *mapKernel(); k.Custom.Name = "x" },
	} {
		k := customKernel()
		spoil(k)
		var e *VerifyError
		assert.ErrorAs(t, k.Verify(), &e, name)
	}
}

func TestCheckLaunchOfCustom(t *testing.T) {
	for name, spoil := range map[string]func(l *Launch, sizes []int){
		"first operand":   func(l *Launch, _ []int) { l.Access[0].Offset = 1 },
		"second operand":  func(l *Launch, _ []int) { l.Access[1].Offset = 3 },
		"small buffer":    func(_ *Launch, sizes []int) { sizes[1] = 7 },
		"negative length": func(l *Launch, _ []int) { l.Dims[0] = -2 },
		"strides":         func(l *Launch, _ []int) { l.Access[0].Strides = nil },
		"overflow":        func(l *Launch, _ []int) { l.Access[0].Strides[0] = math.MaxInt / 2; l.Dims[0] = 1 << 20 },
		"index":           func(l *Launch, _ []int) { l.Access[0].Index = []IndexArg{{1, 1}} },
		"result":          func(l *Launch, _ []int) { l.Dims[4] = 1 },
	} {
		l, sizes := customLaunch(), []int{6 * 4, 8, 0}
		spoil(l, sizes)
		var e *ArgsError
		assert.ErrorAs(t, CheckLaunch(customKernel(), l, sizes), &e, name)
	}
}
