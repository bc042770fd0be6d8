// Package golden reads the reference embeddings that tests of the examples
// compare with. It must not know the model.
package golden

import (
	"encoding/json"
	"math"
	"os"
)

// Case is a text and its embedding, evaluated in float64.
type Case struct {
	Text      string    `json:"text"`
	IDs       []int64   `json:"ids"`
	Embedding []float64 `json:"embedding"`
}

// Load reads the cases of a file, examples/embed/testdata/minilm-golden.json.
func Load(path string) ([]Case, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct{ Cases []Case }
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, err
	}
	return file.Cases, nil
}

// Distance returns the greatest difference between an embedding and the case's,
// +Inf if one is not a number or the lengths differ.
func (c *Case) Distance(embedding []float32) float64 {
	if len(embedding) != len(c.Embedding) {
		return math.Inf(1)
	}
	var most float64
	for i, want := range c.Embedding {
		d := math.Abs(float64(embedding[i]) - want)
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		most = max(most, d)
	}
	return most
}
