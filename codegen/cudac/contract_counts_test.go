package cudac_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/cudac"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// The tiles of large products read and write shared memory without conflicts of
// banks, whichever way the operands lie.
func TestContractionBanks(t *testing.T) {
	c := newContractor(t, cudac.Ampere)
	for i, f := range []factors{
		{left: ir.F32, right: ir.F32, result: ir.F32},
		{left: ir.F32, right: ir.F32, result: ir.F32, rightT: true},
		{left: ir.F32, right: ir.F32, result: ir.F32, leftT: true},
		{left: ir.F64, right: ir.F64, result: ir.F64},
		{left: ir.BF16, right: ir.BF16, result: ir.F32},
		{left: ir.BF16, right: ir.BF16, result: ir.F32, rightT: true},
		{left: ir.F16, right: ir.F16, result: ir.F32, leftT: true},
		{left: ir.I8, right: ir.I8, result: ir.I32, rightT: true},
		{left: ir.I8, right: ir.I8, result: ir.I32},
	} {
		if testing.Short() && i%4 > 0 {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			k := f.product(128, 128, 64)
			for _, v := range c.variants(k) {
				if len(v.Tile) == 0 || v.Tile[0] < 32 || v.Tile[1] < 32 || testing.Short() && v.Tile[0] < 128 {
					continue
				}
				c.run(t, k, v)
				for _, call := range c.report.Calls {
					n := call.Counts
					require.NotZero(t, n.SharedLoads.Wavefronts)
					assert.Zero(t, n.SharedLoads.Extra+n.SharedStores.Extra, "variant %s, %+v %+v", v, n.SharedLoads, n.SharedStores)
				}
			}
		})
	}
}

// assemble compiles every candidate of a product, which must warn of nothing, and
// checks the text and what each entry takes.
func assemble(t *testing.T, k kerneltest.Case, target cudac.Target, check func(v *cudac.Variant, ptx string, e nvrtc.Entry)) {
	target.SMs = 16 // for which a small product is a large one
	cache, assembler := nvrtctest.Cache(t), nvrtctest.Assembler(t)
	ctx := context.Background()
	for _, v := range cudac.Candidates(k.Kernel, k.Launch, target, false) {
		s, err := cudac.Generate(k.Kernel, v, target, k.Launch)
		require.NoError(t, err)
		out, err := cache.Compile(ctx, nvrtc.Input{Source: s.Text, Name: "contraction.cu", Arch: target.Arch(), Options: target.Options(), Kind: nvrtc.PTX})
		require.NoError(t, err, s.Text)
		assert.Empty(t, out.Log, s.Text)
		r, err := assembler.Assemble(ctx, out.PTX, target.Arch())
		require.NoError(t, err)
		for _, e := range r.Entries {
			t.Logf("%s %s: %d registers", target.Arch(), v, e.Registers)
			check(v, string(out.PTX), e)
		}
	}
}

// No tile spills registers, on any target.
func TestContractionSpills(t *testing.T) {
	for _, target := range []cudac.Target{cudac.Ampere, cudac.Hopper, cudac.Blackwell} {
		if testing.Short() && target != cudac.Hopper {
			continue
		}
		for i, f := range contractTypes {
			if f.left.IsUnsigned() || f.right.IsUnsigned() || f.left == ir.F16 {
				continue // written as their signed neighbours, or as bf16
			}
			for j, layout := range []factors{{}, {rightT: true}} {
				if testing.Short() && i+j != 2 {
					continue // bf16, and what comes before it transposed
				}
				f.rightT = layout.rightT
				assemble(t, f.product(512, 512, 1280), target, func(v *cudac.Variant, _ string, e nvrtc.Entry) {
					assert.Zero(t, e.Stack+e.SpillStores+e.SpillLoads, "%s %v %s", target.Arch(), f, v)
				})
			}
		}
	}
}

// Groups of warps are compiled and assembled, in every layout of operands; no
// interpreter executes them yet. Tensor maps copy the panels where they can, and
// nothing else does there.
func TestContractionGroups(t *testing.T) {
	target := cudac.Hopper
	target.Wgmma = true
	for i, f := range []factors{
		{left: ir.BF16, right: ir.BF16},
		{left: ir.F16, right: ir.F16, rightT: true},
		{left: ir.BF16, right: ir.BF16, leftT: true, rightT: true},
		{left: ir.F16, right: ir.F16, leftT: true},
		{left: ir.F16, right: ir.F16, offset: 1, padding: 3},
	} {
		if testing.Short() && i > 0 {
			continue
		}
		f.result = ir.F32
		mapped := 0
		assemble(t, f.product(512, 512, 1280), target, func(v *cudac.Variant, ptx string, e nvrtc.Entry) {
			assert.Contains(t, v.Kind, "wgmma")
			assert.Zero(t, e.Stack+e.SpillStores+e.SpillLoads, "%v %s", f, v)
			if !strings.HasPrefix(v.Kind, "wgmma_tma") || strings.HasPrefix(e.Name, "join") {
				return
			}
			mapped++
			assertBoxes(t, ptx, "2d")
		})
		assert.Equal(t, f.offset == 0, mapped > 0, "%v", f)
	}
}

// Matrices of a batch are the third dimension of a tensor map, unless they are one.
func TestContractionGroupsBatch(t *testing.T) {
	target := cudac.Hopper
	target.Wgmma = true
	b := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 2)), codegen.Contraction, 3, 6, 128, 128, 64)
	left := b.Access(b.Buffer(ir.BF16, codegen.In, 128*64), codegen.AccessArgs{Strides: []int{0, 64, 0, 1}}, false)
	right := b.Access(b.Buffer(ir.BF16, codegen.In, 6*64*128), codegen.AccessArgs{Strides: []int{64 * 128, 0, 1, 128}}, false)
	b.Out(b.Emit(codegen.Instr{Op: codegen.OpContract, Type: ir.F32, Access: left, Access2: right}), ir.F32, 0, 1, 2)
	mapped := 0
	assemble(t, b.Case, target, func(v *cudac.Variant, ptx string, e nvrtc.Entry) {
		assert.Zero(t, e.Stack+e.SpillStores+e.SpillLoads, "%s", v)
		if strings.HasPrefix(v.Kind, "wgmma_tma") {
			mapped++
			assertBoxes(t, ptx, "2d", "3d")
		}
	})
	assert.Positive(t, mapped)
}

// assertBoxes looks for what copies boxes of maps of the given ranks, and for
// nothing that threads copy.
func assertBoxes(t *testing.T, ptx string, ranks ...string) {
	t.Helper()
	for _, want := range []string{
		".param .align 64 .b8", "mbarrier.init.shared::cta.b64", "fence.mbarrier_init.release.cluster", "fence.proxy.async.shared::cta",
		"mbarrier.arrive.expect_tx.shared::cta.b64", "mbarrier.try_wait.parity.shared::cta.b64", "wgmma.mma_async.sync.aligned",
	} {
		assert.Contains(t, ptx, want)
	}
	for _, rank := range []string{"2d", "3d"} {
		instruction := "cp.async.bulk.tensor." + rank + ".shared::cluster.global.mbarrier::complete_tx::bytes"
		assert.Equal(t, slices.Contains(ranks, rank), strings.Contains(ptx, instruction), rank)
	}
	for _, other := range []string{"cp.async.cg", "cp.async.ca", "cp.async.wait_group"} {
		assert.NotContains(t, ptx, other)
	}
}
