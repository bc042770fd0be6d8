package minilm

import (
	"context"
	"path/filepath"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/internal/wordpiece"
)

// Encoder turns texts into embeddings. Any number of goroutines may use it: the
// model is shared, and every call has a stream of its own.
type Encoder struct {
	Model     *Model
	Tokenizer *wordpiece.Tokenizer

	dev *sinter.Device
}

// Open loads the published model from a folder that holds model.safetensors and
// vocab.txt.
func Open(ctx context.Context, dev *sinter.Device, dir string) (*Encoder, error) {
	tokens, err := wordpiece.Load(filepath.Join(dir, "vocab.txt"))
	if err != nil {
		return nil, err
	}
	model, err := Load(ctx, dev, filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return nil, err
	}
	return &Encoder{Model: model, Tokenizer: tokens, dev: dev}, nil
}

// Embed returns the embedding of each text, Width numbers of square sum 1. It
// pads the texts to the longest; each is cut to [wordpiece.MaxTokens].
func (e *Encoder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	// Reading after the scope lets it run knowing that nothing else is needed.
	var result *sinter.Tensor
	err := e.dev.Scope(func(sc *sinter.Scope) error {
		ids, mask := Inputs(sc, e.Tokenizer.EncodeBatch(texts))
		result = sc.Keep(e.Model.Forward(sc.Stream(), ids, mask))
		return nil
	})
	if err != nil {
		return nil, err
	}
	defer result.Release()
	flat, err := sinter.Read[float32](ctx, result)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = flat[i*Width : (i+1)*Width : (i+1)*Width]
	}
	return out, nil
}

// Inputs makes the tensors of a batch: token ids and mask, both [b, n].
func Inputs(at sinter.Placer, b wordpiece.Batch) (ids, mask *sinter.Tensor) {
	return sinter.From(at, b.IDs, b.Rows, b.Len), sinter.From(at, b.Mask, b.Rows, b.Len)
}
