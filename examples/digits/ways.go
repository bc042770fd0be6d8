package main

import (
	"context"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/digits/internal/dataset"
	"github.com/sinter-ml/sinter/graphapi"
)

// way is a way to run the network on a batch.
type way struct {
	name string
	dev  *sinter.Device
	// run classifies the batch and copies the results to the host.
	run   func(ctx context.Context, logits []float32, labels []int64) error
	close func() error
}

// eager records the network at every run; the device decides whether it fuses.
func eager(name string, dev *sinter.Device, net *network, pixels []float32) *way {
	s := dev.NewStream()
	x := sinter.From(s, pixels, len(pixels)/dataset.Pixels, dataset.Pixels)
	run := func(ctx context.Context, toLogits []float32, toLabels []int64) error {
		var logits, labels *sinter.Tensor
		err := s.Scope(func(sc *sinter.Scope) error {
			logits, labels = net.classify(x)
			sc.Keep(logits)
			sc.Keep(labels)
			return nil
		})
		if err != nil {
			return err
		}
		defer logits.Release()
		defer labels.Release()
		return results(ctx, logits, labels, toLogits, toLabels)
	}
	return &way{name: name, dev: dev, run: run, close: s.Close}
}

// captured records the network once and replays it at every run.
func captured(ctx context.Context, name string, dev *sinter.Device, net *network, pixels []float32) (*way, error) {
	s := dev.NewStream()
	x := sinter.From(s, pixels, len(pixels)/dataset.Pixels, dataset.Pixels)
	g, err := graphapi.Capture(ctx, s, func(_ *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		logits, labels := net.classify(in[0])
		return []*sinter.Tensor{logits, labels}, nil
	}, []*sinter.Tensor{x}, graphapi.RequireHardware())
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, toLogits []float32, toLabels []int64) error {
		if err := g.Replay(x); err != nil {
			return err
		}
		return results(ctx, g.Out(0), g.Out(1), toLogits, toLabels)
	}
	end := func() error {
		if err := g.Close(); err != nil {
			return err
		}
		return s.Close()
	}
	return &way{name: name, dev: dev, run: run, close: end}, nil
}

func results(ctx context.Context, logits, labels *sinter.Tensor, toLogits []float32, toLabels []int64) error {
	if err := sinter.ReadInto(ctx, logits, toLogits); err != nil {
		return err
	}
	return sinter.ReadInto(ctx, labels, toLabels)
}
