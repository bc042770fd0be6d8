// Command hello is the first screen of the README: a small model run, captured
// and replayed. Its size bounds what a program pays for linking Sinter.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	dev, err := sinter.Open("auto")
	if err != nil {
		return err
	}
	defer dev.Close()

	w := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4, 5, 6}, 3, 2))
	model := func(s *sinter.Stream, in []*sinter.Tensor) ([]*sinter.Tensor, error) {
		return []*sinter.Tensor{in[0].MatMul(w.Value()).AddScalar(1).Gelu().Softmax(-1)}, nil
	}

	x := sinter.From(dev, []float32{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 2, 3)
	y, err := model(dev.Stream(), []*sinter.Tensor{x})
	if err != nil {
		return err
	}
	eager, err := sinter.Read[float32](ctx, y[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "eager:   ", eager)

	g, err := graphapi.Capture(ctx, dev.Stream(), model, []*sinter.Tensor{x})
	if err != nil {
		return err
	}
	if err := g.Replay(x); err != nil {
		return err
	}
	replayed, err := sinter.Read[float32](ctx, g.Out(0))
	fmt.Fprintln(out, "replayed:", replayed)
	return err
}
