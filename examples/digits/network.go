package main

import (
	"context"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/digits/data"
	"github.com/sinter-ml/sinter/examples/digits/internal/dataset"
	"github.com/sinter-ml/sinter/nn"
	"github.com/sinter-ml/sinter/safetensors"
)

// network is a perceptron with ReLU between its layers.
type network struct {
	Net []*nn.Linear
}

// load makes the network on a device with the weights carried in the binary.
func load(ctx context.Context, dev *sinter.Device) (*network, error) {
	f, err := safetensors.Parse(data.Weights)
	if err != nil {
		return nil, err
	}
	net := &network{Net: []*nn.Linear{
		nn.NewLinear(dev, dataset.Pixels, 64, nn.WithInit(nn.ZeroInit)),
		nn.NewLinear(dev, 64, 32, nn.WithInit(nn.ZeroInit)),
		nn.NewLinear(dev, 32, dataset.Classes, nn.WithInit(nn.ZeroInit)),
	}}
	return net, nn.LoadInto(ctx, net, f)
}

// Forward returns the logits [n, Classes] of pixels x [n, Pixels].
func (net *network) Forward(x *sinter.Tensor) *sinter.Tensor {
	for i, l := range net.Net {
		if i > 0 {
			x = x.Relu()
		}
		x = l.Forward(x)
	}
	return x
}

// classify returns the logits and, as [n, 1], the label of each row.
func (net *network) classify(x *sinter.Tensor) (logits, labels *sinter.Tensor) {
	logits = net.Forward(x)
	return logits, logits.ArgMax(-1)
}
