package cudac

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// attentionSize is batch, heads, queries, keys, head dim and value dim.
type attentionSize struct{ b, h, m, n, d, e int }

// attentionKernel is an attention of dense operands.
func attentionKernel(dt ir.DType, spec codegen.AttentionSpec, s attentionSize) (*codegen.Kernel, *codegen.Launch) {
	t := dt.Compute()
	k := &codegen.Kernel{
		Name: "attention", Template: codegen.Attention, Outer: 4, Inner: 2, Attention: spec,
		Params: []ir.DType{t, ir.I64},
		Body:   []codegen.Instr{{Op: codegen.OpAttention, Type: t}},
	}
	l := &codegen.Launch{Dims: []int{s.b, s.h, s.m, s.e, s.n, s.d}, Params: []uint64{0, 0}}
	add := func(dt ir.DType, mode codegen.Mode, strides ...int) {
		k.Accesses = append(k.Accesses, codegen.Access{Buffer: len(k.Buffers)})
		k.Buffers = append(k.Buffers, codegen.Buffer{DType: dt, Mode: mode})
		l.Access = append(l.Access, placed(0, strides...))
	}
	add(dt, codegen.In, s.h*s.m*s.d, s.m*s.d, s.d, 0, 0, 1)
	add(dt, codegen.In, s.h*s.n*s.d, s.n*s.d, 0, 0, s.d, 1)
	add(dt, codegen.In, s.h*s.n*s.e, s.n*s.e, 0, 1, s.e, 0)
	if spec.HasMask {
		mask := dt
		if spec.BoolMask {
			mask = ir.Bool
		}
		add(mask, codegen.In, 0, 0, s.n, 0, 1, 0)
	}
	if spec.ScaleRead {
		add(dt, codegen.In, 0, 0, 0, 0, 0, 0)
	}
	k.Stores = []codegen.Store{{Access: len(k.Accesses), Value: 0}}
	add(dt, codegen.Out, s.h*s.m*s.e, s.m*s.e, s.e, 1, 0, 0)
	return k, l
}

func TestAttentionVariants(t *testing.T) {
	for _, c := range []struct {
		dt   ir.DType
		size attentionSize
		want []string
	}{
		{ir.F32, attentionSize{2, 3, 100, 200, 64, 64}, []string{"attention-simt [4]", "attention-simt [1]"}},
		{ir.F32, attentionSize{2, 3, 1, 200, 64, 64}, []string{"attention-simt [1]", "attention-simt [4]"}},
		{ir.F64, attentionSize{2, 3, 100, 200, 64, 64}, []string{"attention-simt [2]", "attention-simt [1]"}},
		{ir.F32, attentionSize{2, 3, 17, 0, 0, 5}, []string{"attention-simt [4]", "attention-simt [1]"}},
		{ir.BF16, attentionSize{2, 3, 100, 200, 64, 64}, []string{"attention-mma vector=8 [4 64 64]", "attention-mma vector=8 [1 64 64]", "attention-mma [4 64 64]", "attention-mma [1 64 64]"}},
		{ir.F16, attentionSize{2, 3, 1, 200, 256, 160}, []string{"attention-mma vector=8 [1 256 128]", "attention-mma vector=8 [4 256 128]", "attention-mma [1 256 128]", "attention-mma [4 256 128]"}},
		{ir.F16, attentionSize{2, 3, 20, 10, 12, 5}, []string{"attention-mma [4 16 16]", "attention-mma [1 16 16]"}},
		{ir.F16, attentionSize{2, 3, 20, 10, 0, 5}, []string{"attention-mma [4 16 16]", "attention-mma [1 16 16]"}},
		{ir.BF16, attentionSize{2, 3, 20, 10, 257, 5}, []string{"attention-simt [4]", "attention-simt [1]"}},
	} {
		k, l := attentionKernel(c.dt, codegen.AttentionSpec{}, c.size)
		require.NoError(t, k.Verify())
		var got []string
		for _, v := range Candidates(k, l, Ampere, false) {
			kind := v.Kind
			if v.Vector > 1 {
				kind += fmt.Sprint(" vector=", v.Vector)
			}
			got = append(got, fmt.Sprint(kind, " ", v.Tile))
			s, err := Generate(k, v, Ampere, l)
			require.NoError(t, err)
			calls, err := s.Bind(l)
			require.NoError(t, err)
			require.Len(t, calls.List, 1)
		}
		assert.Equal(t, c.want, got, "%+v", c)
	}
}

func TestAttentionOfNothing(t *testing.T) {
	for _, size := range []attentionSize{{0, 3, 5, 6, 7, 8}, {2, 3, 0, 6, 7, 8}, {2, 3, 5, 6, 7, 0}} {
		k, l := attentionKernel(ir.F32, codegen.AttentionSpec{}, size)
		for _, v := range Candidates(k, l, Ampere, false) {
			s, err := Generate(k, v, Ampere, l)
			require.NoError(t, err)
			calls, err := s.Bind(l)
			require.NoError(t, err)
			assert.Empty(t, calls.List)
		}
	}
}
