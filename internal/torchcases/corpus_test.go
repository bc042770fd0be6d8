package torchcases

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCorpusIsWhole(t *testing.T) {
	p := load(t)
	assert.Len(t, p.Cases, 3017)
	names := make(map[string]bool)
	for _, c := range p.Cases {
		assert.False(t, names[c.Name], "%s twice", c.Name)
		names[c.Name] = true
		assert.NotEmpty(t, c.OutName, c.Name)
		for i := range c.OutName {
			out := c.Out(i)
			if ref, ok := c.Ref(i); ok {
				assert.Equal(t, "f64", ref.DType, c.Name)
				assert.Equal(t, out.Shape, ref.Shape, c.Name)
			}
		}
	}
}

// Every row of the exceptions and of this package's own table is for some case.
func TestExceptionsMatch(t *testing.T) {
	p := load(t)
	for _, e := range p.Exceptions {
		n := 0
		for _, c := range p.Cases {
			if e.match(c) {
				n++
			}
		}
		assert.Equal(t, max(e.Matches, 1), n, "%s", e.Pattern)
	}
	used := make([]bool, len(exclusions))
	for _, c := range p.Cases {
		for i := range exclusions {
			used[i] = used[i] || exclusions[i].match(c)
		}
	}
	for i, e := range exclusions {
		assert.True(t, used[i], "no case is excluded by %s: %s", e.pattern, e.reason)
	}
}

// Every adapter is that of some case which is run.
func TestAdaptersAreUsed(t *testing.T) {
	unused := maps.Clone(adapters)
	p := load(t)
	for _, c := range p.Cases {
		if p.Excluded(c) != "" {
			continue
		}
		if _, ok := unused[c.Key()]; ok {
			delete(unused, c.Key())
		} else if _, own := adapters[c.Key()]; !own {
			delete(unused, c.Op)
		}
	}
	assert.Empty(t, slices.Collect(maps.Keys(unused)))
}

func TestDecodeArg(t *testing.T) {
	one := 1
	tests := []struct {
		text string
		want any
	}{
		{`null`, nil},
		{`true`, true},
		{`3`, 3},
		{`-3`, -3},
		{`3.0`, 3.0},
		{`1e-5`, 1e-5},
		{`"sum"`, "sum"},
		{`[1, [2.5, null]]`, []any{1, []any{2.5, nil}}},
		{`{"dtype": "f32"}`, DTypeArg("f32")},
		{`{"float": "-inf"}`, math.Inf(-1)},
		{`{"slice": [1, null, null]}`, SliceArg{&one, nil, nil}},
		{`{"ellipsis": true}`, EllipsisArg{}},
		{`{"tensor": "a", "strides": [0, 2]}`, TensorArg{Name: "a", Strides: []int{0, 2}}},
		{`{"tensor": "a", "complex": true}`, TensorArg{Name: "a", Complex: true}},
	}
	for _, tt := range tests {
		got, err := decodeArg(json.RawMessage(tt.text))
		require.NoError(t, err, tt.text)
		assert.Equal(t, tt.want, got, tt.text)
	}
	nan, err := decodeArg(json.RawMessage(`{"float": "nan"}`))
	require.NoError(t, err)
	assert.True(t, math.IsNaN(nan.(float64)))
	for _, bad := range []string{`{}`, `{"float": "x"}`, `{"surprise": 1}`, `[1, {}]`, `1.x`} {
		_, err := decodeArg(json.RawMessage(bad))
		assert.Error(t, err, bad)
	}
}
