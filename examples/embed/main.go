// Embed prints sentence embeddings and how alike they are:
//
//	go run ./examples/embed "How do I bake bread?" "Making sourdough at home" "Markets fell on Monday"
//
// It needs the model that scripts/models.sh fetches.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/embed/minilm"
	"github.com/sinter-ml/sinter/examples/internal/models"
)

func main() {
	dir := flag.String("model", "", "folder of the model; by default the one scripts/models.sh fetches")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: embed [-model DIR] TEXT...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

// shown is how many numbers of an embedding are printed.
const shown = 6

func run(ctx context.Context, w io.Writer, dir string, texts []string) (err error) {
	if dir == "" {
		if dir, err = models.Find(); err != nil {
			return err
		}
	}
	dev, err := sinter.Open("auto")
	if err != nil {
		return err
	}
	defer func() {
		if cerr := dev.Close(); err == nil {
			err = cerr
		}
	}()
	enc, err := minilm.Open(ctx, dev, dir)
	if err != nil {
		return err
	}
	embeddings, err := enc.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, e := range embeddings {
		fmt.Fprintf(w, "%d %q\n  ", i, texts[i])
		for _, x := range e[:shown] {
			fmt.Fprintf(w, "%9.6f ", x)
		}
		fmt.Fprintf(w, "… %d numbers\n", len(e))
	}
	fmt.Fprintf(w, "\ncosine similarity\n    ")
	for i := range embeddings {
		fmt.Fprintf(w, "%7d", i)
	}
	fmt.Fprintln(w)
	for i, a := range embeddings {
		fmt.Fprintf(w, "%4d", i)
		for _, b := range embeddings {
			fmt.Fprintf(w, "%7.3f", dot(a, b))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// dot returns Σ aᵢ·bᵢ, which is the cosine of the angle, as embeddings have
// length 1.
func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
