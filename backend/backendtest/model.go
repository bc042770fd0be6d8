package backendtest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
)

// owned is a buffer in use as the model knows it.
type owned struct {
	buf  *backend.Buffer
	fill byte
}

// random makes random allocations on several streams and pools and compares
// with a model: what is in use is counted right, belongs to the pool asked
// for, and keeps its content whatever happens around it.
func (s suite) random(t *testing.T) {
	for seed := range uint64(8) {
		b := s.bench(t, backend.Options{Poison: seed%2 == 1, MemoryLimit: 64 << 20})
		r := rand.New(rand.NewPCG(seed, 99))
		streams := []backend.Stream{b.stream, b.newStream(), b.newStream()}
		pools := []backend.Pool{backend.General, b.dev.NewPool(), backend.Persistent}
		using := map[backend.Stream]backend.Pool{}
		var live []owned
		var bytesInUse int64
		for range 600 {
			stream := streams[r.IntN(len(streams))]
			switch r.IntN(10) {
			case 0:
				p := pools[r.IntN(len(pools))]
				require.Equal(t, using[stream], b.dev.UsePool(stream, p))
				using[stream] = p
			case 1:
				b.trim()
			case 2:
				// A stream ends; what it freed and what it holds go on.
				i := r.IntN(len(streams))
				if streams[i] == b.stream {
					continue
				}
				require.NoError(t, b.dev.CloseStream(streams[i]))
				delete(using, streams[i])
				streams[i] = b.newStream()
			case 3, 4, 5:
				if len(live) == 0 {
					continue
				}
				i := r.IntN(len(live))
				x := live[i]
				b.holds(bytes.Repeat([]byte{x.fill}, x.buf.Bytes), x.buf)
				b.dev.Free(stream, x.buf)
				bytesInUse -= int64(x.buf.Bytes)
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			default:
				n := r.IntN(1 << r.IntN(19))
				buf, err := b.dev.Alloc(stream, n)
				pool := using[stream]
				if r.IntN(8) == 0 {
					b.dev.Free(stream, buf)
					buf, err = b.dev.AllocHost(n)
					pool = backend.Staging
				}
				require.NoError(t, err)
				require.Equal(t, pool, buf.Pool)
				x := owned{buf, byte(r.IntN(256))}
				require.NoError(t, b.dev.Write(ctx, stream, buf, 0, bytes.Repeat([]byte{x.fill}, n)))
				live = append(live, x)
				bytesInUse += int64(n)
			}
			u := b.dev.Memory()
			require.Equal(t, len(live), u.Allocations)
			require.Equal(t, bytesInUse, u.InUse)
			require.GreaterOrEqual(t, u.Reserved, u.InUse+u.Padding)
			b.reports()
		}
		for _, x := range live {
			b.holds(bytes.Repeat([]byte{x.fill}, x.buf.Bytes), x.buf)
			b.free(x.buf)
		}
		for _, stream := range streams {
			b.dev.UsePool(stream, 0)
			require.NoError(t, b.dev.Sync(ctx, stream))
		}
		require.NoError(t, b.dev.ClosePool(pools[1]))
		b.trim()
		require.Zero(t, b.dev.Memory().Reserved)
	}
}
