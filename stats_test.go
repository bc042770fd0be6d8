package sinter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter"
)

// TestStats: a device counts what its streams did, also those that are closed;
// a difference is what happened in between.
func TestStats(t *testing.T) {
	dev := open(t)
	x := sinter.From(dev, []float32{1, 2, 3, 4}, 4)
	step := func(s *sinter.Stream) {
		require.Equal(t, []float32{4, 6, 8, 10}, read[float32](t, x.On(s).AddScalar(1).MulScalar(2)))
	}
	step(dev.Stream())
	before := dev.Stats()
	s := dev.NewStream()
	step(s)
	mine, all := s.Stats(), dev.Stats().Sub(before)
	require.Equal(t, int64(2), mine.Recorded)
	require.Equal(t, int64(1), mine.Device.Launches)
	require.Equal(t, int64(1), mine.Device.Allocations)
	require.Equal(t, int64(1), mine.Device.Copies, "the read")
	require.Equal(t, int64(16), mine.Device.BytesCopied)
	require.Equal(t, []int64{16, 16}, []int64{mine.BytesRead, mine.BytesWritten})
	require.Equal(t, all.Memory, dev.Stats().Memory, "a state, not a count")
	all.Memory, all.Device.Reserves = mine.Memory, 0
	require.Equal(t, mine, all, "nothing else happened")
	require.NoError(t, s.Close())
	require.Equal(t, before.Recorded+2, dev.Stats().Recorded)
	require.Equal(t, sinter.Stats{}, mine.Sub(mine))
	require.Empty(t, sinter.Stats{}.String())
	for _, want := range []string{"recorded         2\n", "launches         1\n", "bytes copied     16\n"} {
		require.Contains(t, mine.String(), want)
	}
	require.Contains(t, dev.Stats().String(), "memory ")
}
