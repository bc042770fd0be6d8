package nvrtc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
)

// benchInput is one of several inputs of equal size.
func benchInput(source string, i int, kind nvrtc.Kind) nvrtc.Input {
	return nvrtc.Input{Source: fmt.Sprintf("// %d\n%s", i%10, source), Name: "bench.cu", Arch: "sm_80", Options: strict, Kind: kind}
}

// What a kernel costs that nobody compiled before: a small one, and a module of
// large ones.
func BenchmarkCompile(b *testing.B) {
	l := nvrtctest.Require(b)
	for kernel, source := range map[string]string{"small": addSource, "large": resourceSource} {
		for name, kind := range map[string]nvrtc.Kind{"ptx": nvrtc.PTX, "cubin": nvrtc.CUBIN} {
			b.Run("kernel="+kernel+"/kind="+name, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					_, err := l.Compile(b.Context(), benchInput(source, i, kind))
					require.NoError(b, err)
				}
			})
		}
	}
}

// What a kernel costs that this process, or another one before, compiled.
func BenchmarkCache(b *testing.B) {
	l := nvrtctest.Require(b)
	for name, bytes := range map[string]int64{"memory": 0, "disk": 1} { // with one byte only the last one stays in memory
		b.Run("from="+name, func(b *testing.B) {
			c := nvrtc.NewCache(l, nvrtc.CacheOptions{Dir: b.TempDir(), MaxBytes: bytes})
			for i := range 2 {
				_, err := c.Compile(b.Context(), benchInput(resourceSource, i, nvrtc.Both))
				require.NoError(b, err)
			}
			for i := 0; b.Loop(); i++ {
				_, err := c.Compile(b.Context(), benchInput(resourceSource, i%2, nvrtc.Both))
				require.NoError(b, err)
			}
			b.StopTimer()
			require.Equal(b, 2, c.Stats().Compiles)
			require.Equal(b, name == "disk", c.Stats().MemoryHits == 0)
		})
	}
}

func BenchmarkAssemble(b *testing.B) {
	l, a := nvrtctest.Require(b), nvrtctest.Assembler(b)
	out, err := l.Compile(b.Context(), benchInput(resourceSource, 0, nvrtc.PTX))
	require.NoError(b, err)
	for b.Loop() {
		_, err := a.Assemble(b.Context(), out.PTX, "sm_80")
		require.NoError(b, err)
	}
}
