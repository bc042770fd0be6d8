package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/examples/digits/internal/dataset"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, 0))
	text := out.String()
	require.Contains(t, text, "351 of 360 held-out digits right: accuracy 0.975\n")
	require.Contains(t, text, "same bits")
	require.Contains(t, text, "unfused: 6 operations recorded, 6 launches\n")
	require.Contains(t, text, "\nfused: 6 operations recorded, 4 launches\n")
	require.Contains(t, text, "replayed: 0 operations recorded, 4 launches\n")
	require.Contains(t, text, "Linear + Relu")
	require.Regexp(t, `(?m)^batch +unfused +fused +replayed$`, text)
	require.Regexp(t, `(?m)^360 +[0-9.]+ µs +1.00×`, text)
	require.Regexp(t, `(?m)^1 +[0-9.]+ µs +1.00×`, text)
}

// The logits agree with the network evaluated in float64, and so do the labels.
func TestNetwork(t *testing.T) {
	ctx := context.Background()
	dev, err := sinter.Open("cpu")
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	net, err := load(ctx, dev)
	require.NoError(t, err)
	digits, err := dataset.Load()
	require.NoError(t, err)
	_, heldOut := digits.Split()
	const n = 10
	x := sinter.From(dev, heldOut.X[:n*dataset.Pixels], n, dataset.Pixels)
	logitsT, labelsT := net.classify(x)
	logits, err := sinter.Read[float32](ctx, logitsT)
	require.NoError(t, err)
	labels, err := sinter.Read[int64](ctx, labelsT)
	require.NoError(t, err)

	for row := range n {
		want := make([]float64, dataset.Pixels)
		for i, p := range heldOut.Image(row) {
			want[i] = float64(p)
		}
		for i, l := range net.Net {
			w, err := sinter.ReadVar[float32](ctx, l.Weight)
			require.NoError(t, err)
			b, err := sinter.ReadVar[float32](ctx, l.Bias)
			require.NoError(t, err)
			next := make([]float64, len(b))
			for o := range next {
				next[o] = float64(b[o])
				for k, v := range want {
					if i > 0 {
						v = max(v, 0)
					}
					next[o] += v * float64(w[k*len(b)+o])
				}
			}
			want = next
		}
		best := 0
		for c, v := range want {
			require.InDelta(t, v, float64(logits[row*dataset.Classes+c]), 1e-4)
			if v > want[best] {
				best = c
			}
		}
		require.EqualValues(t, best, labels[row])
	}
}

func TestCompareTellsWaysApart(t *testing.T) {
	give := func(x float32) *way {
		return &way{name: "a way", run: func(_ context.Context, logits []float32, labels []int64) error {
			logits[3], labels[0] = x, 7
			return nil
		}}
	}
	labels, err := compare(context.Background(), []*way{give(1), give(1)}, 1)
	require.NoError(t, err)
	require.Equal(t, []int64{7}, labels)
	_, err = compare(context.Background(), []*way{give(1), give(1.5)}, 1)
	require.ErrorContains(t, err, "other logits")
}
