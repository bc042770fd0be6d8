package backendtest

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
)

var sizes = []int{0, 1, 63, 64, 65, 257, 1000, 4096, 5000, 65537, 1 << 20, 3<<20 + 1}

func (s suite) memory(t *testing.T) {
	t.Run("counts", func(t *testing.T) {
		b := s.bench(t, backend.Options{})
		var bufs []*backend.Buffer
		total, padding := 0, 0
		for i, n := range sizes {
			buf := b.alloc(n)
			bufs = append(bufs, buf)
			total += n
			assert.Equal(t, n, buf.Bytes)
			if buf.Host != nil {
				assert.Len(t, buf.Host, n)
				assert.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(buf.Host)))%64, "alignment")
			}
			u := b.dev.Memory()
			assert.Equal(t, i+1, u.Allocations)
			assert.Equal(t, int64(total), u.InUse)
			if n > 256 {
				assert.LessOrEqual(t, int(u.Padding)-padding, n/4, "padding of %d bytes", n)
			}
			padding = int(u.Padding)
			assert.GreaterOrEqual(t, u.Reserved, u.InUse+u.Padding)
			assert.Equal(t, u.InUse, u.Peak)
			assert.Equal(t, int64(i+1), b.dev.Counters().Allocations)
		}
		b.free(bufs...)
		u := b.dev.Memory()
		assert.Zero(t, u.Allocations)
		assert.Zero(t, u.InUse)
		assert.Zero(t, u.Padding)
		assert.Equal(t, int64(total), u.Peak)
		assert.GreaterOrEqual(t, b.trim(), int64(total))
		assert.Zero(t, b.dev.Memory().Reserved)
		assert.Zero(t, b.trim(), "nothing is left")
		require.NoError(t, b.dev.Sync(ctx, b.stream))
	})
	t.Run("buffers do not overlap", func(t *testing.T) {
		b := s.bench(t, backend.Options{})
		var bufs []*backend.Buffer
		pattern := func(i, n int) []byte { return bytes.Repeat([]byte{byte(i*37 + 1)}, n) }
		for i := range 60 {
			bufs = append(bufs, b.upload(pattern(i, sizes[i%len(sizes)]%70000)))
		}
		for i, buf := range bufs {
			b.holds(pattern(i, buf.Bytes), buf, "buffer %d", i)
		}
	})
	t.Run("freed memory is used again", func(t *testing.T) {
		b := s.bench(t, backend.Options{})
		other := b.newStream()
		for _, n := range sizes {
			b.free(b.alloc(n))
		}
		reserves := b.dev.Counters().Reserves
		for round := range 50 {
			stream := b.stream
			if round%2 == 1 {
				stream = other
			}
			for _, n := range sizes {
				buf, err := b.dev.Alloc(stream, n)
				require.NoError(t, err)
				b.dev.Free(stream, buf)
			}
		}
		assert.Equal(t, reserves, b.dev.Counters().Reserves)
		require.NoError(t, b.dev.CloseStream(other))
		b.free(b.alloc(4096))
		assert.Equal(t, reserves, b.dev.Counters().Reserves)
	})
	t.Run("poison", func(t *testing.T) {
		b := s.bench(t, backend.Options{Poison: true})
		for _, n := range sizes {
			poison := bytes.Repeat([]byte{0xFF}, n)
			buf := b.alloc(n)
			b.holds(poison, buf, "fresh")
			require.NoError(t, b.dev.Write(ctx, b.stream, buf, 0, make([]byte, n)))
			b.free(buf)
			again := b.alloc(n)
			b.holds(poison, again, "freed")
			b.free(again)
		}
	})
	t.Run("misuse", func(t *testing.T) {
		b := s.bench(t, backend.Options{})
		foreign := s.bench(t, backend.Options{})
		live, freed := b.alloc(8), b.alloc(8)
		other := foreign.alloc(8)
		b.free(freed)
		require.NoError(t, b.dev.Sync(ctx, b.stream))
		one := make([]byte, 1)
		e := b.compileKernel(gatherKernel())
		l := gatherLaunch(1, 1, 1)
		for name, bad := range map[string]*backend.Buffer{"freed": freed, "foreign": other, "nil": nil} {
			t.Run(name, func(t *testing.T) {
				before := b.dev.Memory()
				fails[*backend.DeviceError](b, b.dev.Write(ctx, b.stream, bad, 0, one))
				fails[*backend.DeviceError](b, b.dev.Read(ctx, b.stream, one, bad, 0))
				fails[*backend.DeviceError](b, b.dev.Copy(b.stream, bad, 0, live, 0, 1))
				fails[*backend.DeviceError](b, b.dev.Copy(b.stream, live, 0, bad, 0, 1))
				fails[*backend.DeviceError](b, b.dev.Launch(b.stream, e, l, []*backend.Buffer{live, live, bad}))
				b.free(bad)
				fails[*backend.DeviceError](b, b.dev.Sync(ctx, b.stream), "freeing it is reported")
				require.NoError(t, b.dev.Sync(ctx, b.stream), "once")
				assert.Equal(t, before, b.dev.Memory())
			})
		}
		// The memory of a freed buffer is handed out once, even after a double free.
		first, second := b.alloc(8), b.alloc(8)
		assert.NotSame(t, first, second)
		require.NoError(t, b.dev.Write(ctx, b.stream, first, 0, bytes.Repeat([]byte{1}, 8)))
		require.NoError(t, b.dev.Write(ctx, b.stream, second, 0, bytes.Repeat([]byte{2}, 8)))
		b.holds(bytes.Repeat([]byte{1}, 8), first)
	})
}

func (s suite) limit(t *testing.T) {
	const limit = 8 << 20
	b := s.bench(t, backend.Options{MemoryLimit: limit})
	for _, n := range []int{limit + 1, math.MaxInt, -1} {
		_, err := b.dev.Alloc(b.stream, n)
		assert.Equal(t, n, fails[*backend.OutOfMemoryError](b, err).Bytes)
	}
	for _, n := range []int{1 << 20, 700_000, 5000, 100} {
		var bufs []*backend.Buffer
		for {
			buf, err := b.dev.Alloc(b.stream, n)
			if err != nil {
				oom := fails[*backend.OutOfMemoryError](b, err)
				assert.Equal(t, n, oom.Bytes)
				assert.Equal(t, int64(limit), oom.Limit)
				u := oom.Report.Usage
				assert.Equal(t, len(bufs), u.Allocations)
				assert.Equal(t, int64(n*len(bufs)), u.InUse)
				assert.LessOrEqual(t, u.Reserved, int64(limit))
				assert.Equal(t, b.dev.MemoryReport(), oom.Report)
				assert.Equal(t, u.InUse, oom.Report.Of(backend.General).InUse)
				break
			}
			bufs = append(bufs, buf)
			require.LessOrEqual(t, len(bufs)*n, limit)
		}
		assert.Greater(t, len(bufs)*n, limit/2, "of %d bytes each", n)
		// One freed buffer makes room for one.
		b.free(bufs[0])
		bufs[0] = b.alloc(n)
		_, err := b.dev.Alloc(b.stream, n)
		fails[*backend.OutOfMemoryError](b, err)
		b.free(bufs...)
		// Pooled memory of the wrong size is given back to make room.
		b.free(b.alloc(limit))
	}
	data := bytes.Repeat([]byte{3}, 100)
	b.holds(data, b.upload(data))
}

func (s suite) pools(t *testing.T) {
	b := s.bench(t, backend.Options{})
	p := b.dev.NewPool()
	q := b.dev.NewPool()
	require.NotEqual(t, p, q)
	require.GreaterOrEqual(t, p, backend.FirstPool)
	assert.Zero(t, b.dev.UsePool(b.stream, p))
	mine := b.alloc(1000)
	assert.Equal(t, p, mine.Pool)
	b.free(mine)
	assert.Equal(t, p, b.dev.UsePool(b.stream, 0))

	reserves := b.dev.Counters().Reserves
	general := b.alloc(1000)
	assert.Zero(t, general.Pool)
	assert.Equal(t, reserves+1, b.dev.Counters().Reserves, "the pool keeps its memory to itself")
	b.free(general)

	assert.Zero(t, b.dev.UsePool(b.stream, p))
	mine = b.alloc(1000)
	assert.Equal(t, reserves+1, b.dev.Counters().Reserves, "and uses it again")
	fails[*backend.DeviceError](b, b.dev.ClosePool(p), "used by a stream")
	b.dev.UsePool(b.stream, q)
	b.free(mine)
	b.trim()
	before := b.dev.Memory().Reserved
	require.NoError(t, b.dev.ClosePool(p))
	assert.Less(t, b.dev.Memory().Reserved, before)
	fails[*backend.DeviceError](b, b.dev.ClosePool(p), "closed already")
	for _, every := range []backend.Pool{backend.General, backend.Persistent, backend.Staging} {
		fails[*backend.DeviceError](b, b.dev.ClosePool(every), "a pool every device has")
	}

	require.NoError(t, b.dev.Sync(ctx, b.stream))
	for _, bad := range []backend.Pool{p, backend.Staging, q + 1} {
		assert.Equal(t, q, b.dev.UsePool(b.stream, bad), "a closed pool and that for the host are refused")
		fails[*backend.DeviceError](b, b.dev.Sync(ctx, b.stream))
	}
	assert.Equal(t, q, b.dev.UsePool(b.stream, 0))
	require.NoError(t, b.dev.ClosePool(q))
}
