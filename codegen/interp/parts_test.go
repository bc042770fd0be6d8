package interp

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/internal/race"
	"github.com/sinter-ml/sinter/ir"
)

// Parts of any spaces give what each gives alone.
func TestRandomParts(t *testing.T) {
	for seed := range uint64(kernels(40, 200)) {
		r := rand.New(rand.NewPCG(seed, 21))
		var parts []kerneltest.Case
		for range 2 + r.IntN(4) {
			rank := r.IntN(4)
			parts = append(parts, kerneltest.RandomProgram(r, codegen.Map, rank, kerneltest.RandomDims(r, rank, 400)).Case)
		}
		c := kerneltest.Join(parts...)
		require.NoError(t, c.Kernel.Verify(), "seed %d\n%s", seed, c.Kernel)
		check(t, c)
	}
}

// sharedParts negates one operand twice, to two outputs of other shapes.
func sharedParts() (*codegen.Kernel, *codegen.Launch, [][]byte) {
	negate := func() *codegen.Kernel {
		return &codegen.Kernel{
			Template: codegen.Map, Outer: 1,
			Buffers:  []codegen.Buffer{{DType: ir.F32, Mode: codegen.In}, {DType: ir.F32, Mode: codegen.Out}},
			Accesses: []codegen.Access{{Buffer: 0}, {Buffer: 1}},
			Body:     []codegen.Instr{{Op: codegen.OpLoad, Type: ir.F32}, {Op: codegen.OpApply, Type: ir.F32, Fn: ir.SNeg, Args: []codegen.Value{0}}},
			Stores:   []codegen.Store{{Access: 1, Value: 1}},
		}
	}
	k := &codegen.Kernel{
		Template: codegen.Parts,
		Buffers:  []codegen.Buffer{{DType: ir.F32, Mode: codegen.In}, {DType: ir.F32, Mode: codegen.Out}, {DType: ir.F32, Mode: codegen.Out}},
		Parts:    []codegen.Part{{Kernel: negate(), Buffers: []int{0, 1}}, {Kernel: negate(), Buffers: []int{0, 2}}},
	}
	dense := codegen.AccessArgs{Strides: []int{1}}
	l := &codegen.Launch{Parts: []codegen.Launch{
		{Dims: []int{5000}, Access: []codegen.AccessArgs{dense, dense}},
		{Dims: []int{3}, Access: []codegen.AccessArgs{{Strides: []int{2}}, dense}},
	}}
	mem := [][]byte{alloc(5000 * 4), alloc(5000 * 4), alloc(3 * 4)}
	for i := range 5000 {
		mem[0][4*i+2], mem[0][4*i+3] = byte(i), 0x40
	}
	return k, l, mem
}

func TestPartsShareOperands(t *testing.T) {
	k, l, mem := sharedParts()
	x := compile(t, k)
	require.NoError(t, x.Run(l, mem, workers(3)))
	for i := range 3 {
		require.Equal(t, mem[1][8*i:8*i+4], mem[2][4*i:4*i+4])
		require.Equal(t, mem[0][8*i+3]|0x80, mem[2][4*i+3])
	}
	require.Contains(t, x.Listing(), "part 1\ninterp map")
	require.Same(t, k, x.Kernel())
}

// A launch that does not fit leaves all memory as it was, and fitting ones
// allocate nothing.
func TestPartsAreCheckedBeforeTheyRun(t *testing.T) {
	k, l, mem := sharedParts()
	x := compile(t, k)
	bad := l.Clone()
	bad.Parts[1].Dims[0] = 4
	before := kerneltest.CloneMemory(mem)
	var args *codegen.ArgsError
	require.ErrorAs(t, x.Run(bad, mem, codegen.Serial{}), &args)
	require.Equal(t, before, mem)
	err := x.Run(l, mem[:2], codegen.Serial{})
	require.ErrorAs(t, err, &args)
	err = nil

	if !race.Enabled {
		require.Zero(t, testing.AllocsPerRun(20, func() { err = errors.Join(err, x.Run(l, mem, codegen.Serial{})) }))
	}
	require.NoError(t, err)

	k.Parts[1].Buffers = []int{1, 2}
	_, err = New().Compile(k)
	var verify *codegen.VerifyError
	require.ErrorAs(t, err, &verify)
}
