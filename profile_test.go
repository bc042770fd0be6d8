package sinter_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
	"github.com/sinter-ml/sinter/graphapi"
)

// TestProfile measures a function, what it is told of and what is not there.
func TestProfile(t *testing.T) {
	dev := open(t)
	s := dev.Stream()
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2)
	before := x.AddScalar(1)
	var y *tensor
	r, err := s.Profile(ctx, func() error {
		y = before.MatMul(before).Relu().Named("hidden")
		return nil
	})
	require.NoError(t, err)
	require.True(t, r.Measured())
	require.Len(t, r.Launches, 1, "what was queued before is not in it")
	require.Len(t, r.Launches[0].Ops, 2)
	require.Contains(t, r.String(), `Relu "hidden" at `)
	require.Contains(t, r.String(), "profile_test.go:")
	require.Equal(t, []float32{16, 21, 28, 37}, read[float32](t, y))

	var b bytes.Buffer
	require.NoError(t, sinter.WriteChromeTrace(&b, r))
	require.True(t, json.Valid(b.Bytes()))
	require.Contains(t, b.String(), `hidden`)

	r, err = s.Profile(ctx, func() error { return nil })
	require.NoError(t, err)
	require.False(t, r.Measured())

	failed := errors.New("stop")
	_, err = s.Profile(ctx, func() error { return failed })
	require.ErrorIs(t, err, failed)
	require.Panics(t, func() { _, _ = s.Profile(ctx, func() error { panic("f") }) })
	var shape *sinter.ShapeError
	_, err = s.Profile(ctx, func() error { y.Reshape(3); return nil })
	require.ErrorAs(t, err, &shape)
}

// TestProfileReplays: a window around replays of a graph shows every launch
// with the operations it was recorded for; one inside the captured function
// shows the passes that run.
func TestProfileReplays(t *testing.T) {
	dev := open(t)
	s := dev.Stream()
	w := sinter.NewVar(sinter.From(dev, []float32{1, 2, 3, 4}, 2, 2))
	x := sinter.From(dev, []float32{1, 0, 0, 1}, 2, 2)
	var inside []*sinter.Profile
	g, err := graphapi.Capture(ctx, s, func(s *sinter.Stream, in tensors) (tensors, error) {
		p, err := s.OpenProfile(ctx, sinter.ProfileOptions{})
		inside = append(inside, p)
		h := in[0].MatMul(w.Value()).Relu()
		out := h.Softmax(-1).Add(h.Sum(0))
		return tensors{out}, errors.Join(err, p.Close(ctx))
	}, tensors{x})
	require.NoError(t, err)
	require.True(t, g.IsHardware())
	for i, p := range inside {
		r, err := p.Report(ctx)
		require.NoError(t, err)
		require.Equal(t, i < len(inside)-1, r.Measured(), "the last pass is only recorded")
	}
	warm, err := inside[len(inside)-2].Report(ctx)
	require.NoError(t, err)

	p, err := s.OpenProfile(ctx, sinter.ProfileOptions{Name: "replays"})
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, g.Replay())
	}
	require.NoError(t, p.Close(ctx))
	require.NoError(t, g.Replay(), "after it")
	r, err := p.Report(ctx)
	require.NoError(t, err)
	require.Len(t, r.Launches, 3*g.Launches())
	for i, l := range r.Launches {
		require.True(t, l.Replay)
		want := warm.Launches[i%g.Launches()]
		require.Equal(t, want.Kernel, l.Kernel)
		require.Equal(t, want.Ops, l.Ops)
		require.Equal(t, want.Read, l.Read)
		require.Equal(t, r.Launches[i-i%g.Launches()].Block, l.Block, "one replay")
	}
	require.Contains(t, r.String(), "profile_test.go:")
	var b bytes.Buffer
	require.NoError(t, sinter.WriteChromeTrace(&b, r))
	require.Equal(t, 3, bytes.Count(b.Bytes(), []byte(`"cat":"replay"`)))
	require.NoError(t, g.Close())

	// A window in a pass whose operations are dropped with the capture.
	passes, failed := 0, errors.New("stop")
	_, err = graphapi.Capture(ctx, s, func(s *sinter.Stream, in tensors) (tensors, error) {
		p, err := s.OpenProfile(ctx, sinter.ProfileOptions{})
		inside = append(inside, p)
		out := in[0].Exp()
		err = errors.Join(err, p.Close(ctx))
		if passes++; passes == 4 {
			err = failed
		}
		return tensors{out}, err
	}, tensors{x})
	require.ErrorIs(t, err, failed)
	r, err = inside[len(inside)-1].Report(ctx)
	require.NoError(t, err)
	require.False(t, r.Measured())
}
