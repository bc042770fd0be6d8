package nn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
)

// paths returns the paths in the order they come in.
func paths(module any) []string {
	var out []string
	for path := range nn.Params(module) {
		out = append(out, path)
	}
	return out
}

type block struct {
	Attention *nn.MultiHeadAttention
	Norm      *nn.LayerNorm `nn:"LayerNorm"`
	QKVProj   nn.Linear
	Off       *nn.Linear `nn:"-"`
	Absent    *nn.Linear
	hidden    *nn.Linear
}

type more struct{ Shift *sinter.Var }

type base struct {
	Scale  *sinter.Var
	secret *sinter.Var
}

type list []*sinter.Var

type model struct {
	base
	*more
	list
	Encoder struct {
		Layers []*block `nn:"layer"`
	}
	Head  nn.Sequential
	Tied  *sinter.Var
	Again *nn.Linear
	Self  *model
	Pair  [2]*sinter.Var
	Any   any
	Count int
}

func TestParams(t *testing.T) {
	dev := open(t)
	v := func() *sinter.Var { return variable(dev, []float32{1}, 1) }
	linear := func() *nn.Linear { return nn.NewLinear(dev, 2, 2, nn.WithInit(nn.ZeroInit)) }
	m := &model{Head: nn.Sequential{linear(), nn.Relu{}, nil, linear()}}
	m.Encoder.Layers = []*block{{
		Attention: &nn.MultiHeadAttention{Query: linear(), Heads: 1},
		Norm:      nn.NewLayerNorm(dev, 2),
		QKVProj:   *linear(),
		Off:       linear(),
		hidden:    linear(),
	}, nil, {Norm: nn.NewLayerNorm(dev, 2, nn.WithoutBias())}}
	m.base, m.more, m.list = base{v(), v()}, &more{v()}, list{v()}
	m.Tied = m.Head[0].(*nn.Linear).Weight
	m.Again = m.Head[3].(*nn.Linear)
	m.Self = m
	m.Pair = [2]*sinter.Var{v(), v()}
	m.Any = &nn.Embedding{Weight: v()}

	require.Equal(t, []string{
		"scale",
		"shift",
		"encoder.layer.0.attention.query.weight",
		"encoder.layer.0.attention.query.bias",
		"encoder.layer.0.LayerNorm.weight",
		"encoder.layer.0.LayerNorm.bias",
		"encoder.layer.0.qkv_proj.weight",
		"encoder.layer.0.qkv_proj.bias",
		"encoder.layer.2.LayerNorm.weight",
		"head.0.weight",
		"head.0.bias",
		"head.3.weight",
		"head.3.bias",
		"pair.0",
		"pair.1",
		"any.weight",
	}, paths(m))

	for path, x := range nn.Params(m) {
		if path == "head.0.weight" {
			require.Same(t, m.Tied, x)
			break // the sequence stops when asked to
		}
	}
}

// Embedded carries its name nowhere.
type Embedded struct{ Scale *sinter.Var }

func TestParamsOf(t *testing.T) {
	dev := open(t)
	v := variable(dev, []float32{1}, 1)
	for name, c := range map[string]struct {
		module any
		want   []string
	}{
		"nil":       {nil, nil},
		"nil layer": {(*nn.Linear)(nil), nil},
		"number":    {3, nil},
		"layer":     {nn.NewLinear(dev, 1, 1), []string{"weight", "bias"}},
		"value":     {nn.Embedding{Weight: v}, []string{"weight"}},
		"slice":     {[]nn.Module{nn.Relu{}, &nn.Embedding{Weight: v}}, []string{"1.weight"}},
		"embedded":  {struct{ Embedded }{Embedded{v}}, []string{"scale"}},
		"tagged": {struct {
			Embedded `nn:"e"`
		}{Embedded{v}}, []string{"e.scale"}},
		"empty tag": {struct {
			In Embedded `nn:""`
		}{Embedded{v}}, []string{"scale"}},
		"var":          {v, []string{""}},
		"names":        {struct{ A, LayerNorm1, MLPIn, QK, In_Out any }{v, nil, nil, nil, nil}, []string{"a"}},
		"layer norm":   {struct{ LayerNorm1 *sinter.Var }{v}, []string{"layer_norm1"}},
		"acronym":      {struct{ MLPIn *sinter.Var }{v}, []string{"mlp_in"}},
		"all capitals": {struct{ QK *sinter.Var }{v}, []string{"qk"}},
		"underscore":   {struct{ In_Out *sinter.Var }{v}, []string{"in_out"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, paths(c.module)) })
	}
}
