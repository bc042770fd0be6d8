// Package minilm is the sentence-embedding model all-MiniLM-L6-v2: a BERT
// encoder of six layers, mean pooling and normalisation.
//
// It shows how a published model is written on package nn. It must not know
// the program that uses it.
package minilm

import (
	"context"
	"strings"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/nn"
	"github.com/sinter-ml/sinter/safetensors"
)

// The sizes of the published model, as its config.json has them.
const (
	Vocabulary   = 30522
	Positions    = 512
	Width        = 384 // of a token's vector and of an embedding
	Heads        = 12
	Layers       = 6
	Intermediate = 1536 // width between the two linear layers of a block
	epsilon      = 1e-12
)

// Model is the network. Paths of its parameters are the names in the file; see
// [Load].
type Model struct {
	Embeddings struct {
		Words     *nn.Embedding `nn:"word_embeddings"`       // [Vocabulary, Width]
		Positions *nn.Embedding `nn:"position_embeddings"`   // [Positions, Width]
		Types     *nn.Embedding `nn:"token_type_embeddings"` // [2, Width]; all tokens are of type 0
		Norm      *nn.LayerNorm `nn:"LayerNorm"`
	}
	Layers []*Layer `nn:"encoder.layer"`
}

// Layer is a block of the encoder: attention and a feed-forward network, each
// added to its input and normalised.
type Layer struct {
	Attention struct {
		Self *nn.MultiHeadAttention `nn:""`
		Norm *nn.LayerNorm          `nn:"output.LayerNorm"`
	}
	Intermediate *nn.Linear    `nn:"intermediate.dense"` // [Width, Intermediate]
	Output       *nn.Linear    `nn:"output.dense"`       // [Intermediate, Width]
	Norm         *nn.LayerNorm `nn:"output.LayerNorm"`
}

// New makes the model on a device with all weights zero.
func New(at sinter.Placer) *Model {
	zero := nn.WithInit(nn.ZeroInit)
	norm := func() *nn.LayerNorm {
		l := nn.NewLayerNorm(at, Width)
		l.Epsilon = epsilon
		return l
	}
	m := new(Model)
	m.Embeddings.Words = nn.NewEmbedding(at, Vocabulary, Width, zero)
	m.Embeddings.Positions = nn.NewEmbedding(at, Positions, Width, zero)
	m.Embeddings.Types = nn.NewEmbedding(at, 2, Width, zero)
	m.Embeddings.Norm = norm()
	for range Layers {
		l := &Layer{
			Intermediate: nn.NewLinear(at, Width, Intermediate, zero),
			Output:       nn.NewLinear(at, Intermediate, Width, zero),
			Norm:         norm(),
		}
		l.Attention.Self = nn.NewMultiHeadAttention(at, Width, Heads, zero)
		l.Attention.Norm = norm()
		m.Layers = append(m.Layers, l)
	}
	return m
}

// Load makes the model on a device with the weights of the published file,
// model.safetensors.
func Load(ctx context.Context, at sinter.Placer, path string) (*Model, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := New(at)
	// The pooler serves another task of BERT, and the numbers of the positions
	// are known.
	unused := func(name string) bool {
		return name == "embeddings.position_ids" || strings.HasPrefix(name, "pooler.")
	}
	return m, nn.LoadInto(ctx, m, f, nn.Rename(published), nn.IgnoreUnexpected(unused), nn.TransposeLinear())
}

// published returns the name in the file of the parameter at a path. It differs
// in the attention, whose projections BERT keeps in two modules.
var published = strings.NewReplacer(
	"attention.query.", "attention.self.query.",
	"attention.key.", "attention.self.key.",
	"attention.value.", "attention.self.value.",
	"attention.output.weight", "attention.output.dense.weight",
	"attention.output.bias", "attention.output.dense.bias",
).Replace

// Forward returns an embedding of length 1 for each text of a batch: [b, Width]
// for token ids [b, n] (i64) and a mask [b, n] (bool) that is true where ids
// holds a token of the text. A text must have a token. Operations go to s.
//
// Padding has no effect: the mask selects, in the attention and in the mean, so
// that the numbers of a text alone and in a padded batch differ by no more than
// the order of their sums.
func (m *Model) Forward(s *sinter.Stream, ids, mask *sinter.Tensor) *sinter.Tensor {
	ids, mask = ids.On(s), mask.On(s)
	x := m.embed(s, ids)
	visible := mask.Reshape(mask.Dim(0), 1, 1, mask.Dim(1)) // [b, 1, 1, n]: the same for every head and query
	for _, l := range m.Layers {
		x = l.forward(x, visible)
	}
	return normalise(pool(s, x, mask))
}

// embed adds the vectors of word, type and position: ids [b, n] → [b, n, Width].
func (m *Model) embed(s *sinter.Stream, ids *sinter.Tensor) *sinter.Tensor {
	e := &m.Embeddings
	words := e.Words.Forward(ids)
	types := e.Types.Weight.Value().On(s).Slice(sinter.Index(0))
	positions := e.Positions.Weight.Value().On(s).Slice(sinter.Span(0, ids.Dim(1)))
	return e.Norm.Forward(words.Add(types).Add(positions))
}

// forward maps x [b, n, Width] to the same shape.
func (l *Layer) forward(x, visible *sinter.Tensor) *sinter.Tensor {
	x = l.Attention.Norm.Forward(l.Attention.Self.Attend(x, x, visible).Add(x))
	return l.Norm.Forward(l.Output.Forward(l.Intermediate.Forward(x).Gelu()).Add(x))
}

// pool returns the mean of each text's own tokens: x [b, n, Width] → [b, Width].
func pool(s *sinter.Stream, x, mask *sinter.Tensor) *sinter.Tensor {
	own := sinter.Where(mask.Unsqueeze(2), x, sinter.Zeros(s, sinter.F32)).Sum(1).Squeeze(1)
	return own.Div(mask.Cast(sinter.F32).Sum(1))
}

// normalise divides each row by its length, or 1e-12 if that is more.
func normalise(x *sinter.Tensor) *sinter.Tensor {
	return x.Div(x.Square().Sum(1).Sqrt().MaximumScalar(1e-12))
}
