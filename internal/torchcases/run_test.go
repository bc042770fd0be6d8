package torchcases

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

var ctx = context.Background()

func load(t testing.TB) *Corpus {
	t.Helper()
	p, err := Load()
	require.NoError(t, err)
	return p
}

func open(t testing.TB, opts ...sinter.Option) *sinter.Device {
	t.Helper()
	dev, err := sinter.Open("cpu", append([]sinter.Option{sinter.WithPoison(true)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// Every case that is not excluded gives PyTorch's numbers, and the same bits
// unfused, fused, and fused with operations before it.
func TestCases(t *testing.T) {
	p := load(t)
	ways := []struct {
		name   string
		dev    *sinter.Device
		detour bool
	}{
		{"unfused", open(t, sinter.WithFusion(false)), false},
		{"fused", open(t), false},
		{"fused with what comes before", open(t), true},
	}
	for i, c := range p.Cases {
		if p.Excluded(c) != "" || testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var first []*Host
			var err error
			for _, way := range ways {
				var out []*Host
				if out, err = Run(ctx, way.dev, c, way.detour); err == nil {
					if first == nil {
						first = out
						err = p.Compare(c, out)
					}
					assert.Equal(t, first, out, "%s: other bits than unfused", way.name)
				}
				if err != nil {
					break
				}
			}
			if reason := Faulty(c); reason != "" {
				assert.Error(t, err, "known to fail (%s), but passes", reason)
				return
			}
			assert.NoError(t, err)
		})
	}
	for _, way := range ways {
		stats := way.dev.Stats()
		assert.Zero(t, stats.Fallbacks, "%s: blocks failed and ran as single operations", way.name)
		if way.detour {
			assert.Less(t, 2*stats.Device.Launches, stats.Recorded, "little of what comes before is fused")
		}
	}
}

// A captured and replayed case gives the bits it gives otherwise.
func TestReplays(t *testing.T) {
	p := load(t)
	dev := open(t)
	s := dev.NewStream()
	step := 4
	if testing.Short() {
		step = 32
	}
	for i, c := range p.Cases {
		if i%step != 0 || p.Excluded(c) != "" || makesVars(c) {
			continue
		}
		want, err := Run(ctx, dev, c, false)
		require.NoError(t, err, c.Name)
		got, err := Replay(ctx, s, c)
		require.NoError(t, err, c.Name)
		assert.Equal(t, want, got, c.Name)
	}
}

// makesVars reports whether the call of a case makes a Var, which a captured
// function must not.
func makesVars(c *Case) bool {
	return slices.Contains([]string{"index_add", "index_copy", "slice_scatter"}, c.Op)
}
