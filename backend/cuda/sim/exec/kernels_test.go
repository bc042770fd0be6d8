package exec_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
)

const testdata = "../../ptx/testdata/"

// kept loads what NVRTC made of kernels.cu for an architecture.
func kept(t testing.TB, arch string) *exec.Program {
	src, err := os.ReadFile(testdata + "kernels." + arch + ".ptx")
	require.NoError(t, err)
	return load(t, string(src))
}

// options keep products and sums apart, so that plain Go gives the same bits.
var options = []string{"--std=c++17", "-default-device", "--minimal", "--fmad=false"}

// compiled compiles a source of testdata now.
func compiled(t *testing.T, file, arch string) *exec.Program {
	lib := nvrtctest.Require(t)
	src, err := os.ReadFile(testdata + file)
	require.NoError(t, err)
	out, err := lib.Compile(context.Background(), nvrtc.Input{Source: string(src), Name: file, Arch: arch, Options: options})
	require.NoError(t, err)
	return load(t, string(out.PTX))
}

// bench holds a program and memory for the kernels of a test.
type bench struct {
	t   testing.TB
	p   *exec.Program
	mem *exec.Memory
	rng *rand.Rand
	o   exec.Options
}

func newBench(t testing.TB, p *exec.Program) *bench {
	o := checked
	o.Workers = 1
	return &bench{t: t, p: p, mem: exec.NewMemory(), rng: rand.New(rand.NewPCG(1, 2)), o: o}
}

func (b *bench) random(n int) (uint64, []float32) {
	addr, v := array[float32](b.mem, n)
	for i := range v {
		v[i] = float32(b.rng.NormFloat64())
	}
	return addr, v
}

func (b *bench) randomInts(n int, bound int32) (uint64, []int32) {
	addr, v := array[int32](b.mem, n)
	for i := range v {
		v[i] = b.rng.Int32N(bound)
	}
	return addr, v
}

// result makes memory that a kernel must fill.
func (b *bench) result(n int) (uint64, []float32) {
	addr, v := array[float32](b.mem, n)
	b.mem.Poison(addr)
	return addr, v
}

func (b *bench) launch(entry string, grid, block exec.Dim, args ...exec.Arg) *exec.Counts {
	b.t.Helper()
	c, err := b.p.Launch(context.Background(), entry, grid, block, 0, args, b.mem, b.o)
	require.NoError(b.t, err)
	return c
}

func forEachArch(t *testing.T, f func(t *testing.T, p *exec.Program)) {
	for _, arch := range []string{"sm_80", "sm_100"} {
		t.Run("kept "+arch, func(t *testing.T) { f(t, kept(t, arch)) })
	}
	t.Run("sm_90a", func(t *testing.T) { f(t, compiled(t, "kernels.cu", "sm_90a")) })
}

// What the compiler makes of whole kernels computes what the source says.
func TestKernels(t *testing.T) {
	forEachArch(t, func(t *testing.T, p *exec.Program) {
		t.Run("map", func(t *testing.T) {
			b := newBench(t, p)
			const n = 4099
			x, xv := b.random(n)
			z, zv := b.random(n)
			y, yv := b.result(n)
			c := b.launch("map", dim(3), dim(128), exec.ArgOf(x), exec.ArgOf(z), exec.ArgOf(y), exec.ArgOf(int32(n)))
			for i := range yv {
				want := max(math.Exp(float64(xv[i]))*float64(zv[i])+1, 0)
				require.InDelta(t, want, float64(yv[i]), 2e-6*max(want, 1), "element %d", i)
			}
			assert.EqualValues(t, (n*4+31)/32*2, c.GlobalLoads.Sectors)
			assert.EqualValues(t, (n*4+31)/32, c.GlobalStores.Sectors)
			assert.EqualValues(t, (n*4+31)/32*32, c.DRAMWritten)
		})
		t.Run("row_sum", func(t *testing.T) {
			b := newBench(t, p)
			const rows, columns = 7, 333
			x, xv := b.random(rows * columns)
			y, yv := b.result(rows)
			c := b.launch("row_sum", dim(rows), dim(128), exec.ArgOf(x), exec.ArgOf(y), exec.ArgOf(int32(columns)))
			for r := range yv {
				want := 0.0
				for _, v := range xv[r*columns:][:columns] {
					want += float64(v)
				}
				require.InDelta(t, want, float64(yv[r]), 1e-4)
			}
			assert.EqualValues(t, rows*4, c.Barriers)
			assert.Zero(t, c.SharedLoads.Extra+c.SharedStores.Extra)
		})
		t.Run("matmul", func(t *testing.T) {
			b := newBench(t, p)
			const m, n, k = 33, 40, 29
			x, xv := b.random(m * k)
			z, zv := b.random(k * n)
			y, yv := b.result(m * n)
			b.launch("matmul", exec.Dim{X: (n + 15) / 16, Y: (m + 15) / 16, Z: 1}, exec.Dim{X: 16, Y: 16, Z: 1},
				exec.ArgOf(x), exec.ArgOf(z), exec.ArgOf(y), exec.ArgOf(int32(m)), exec.ArgOf(int32(n)), exec.ArgOf(int32(k)))
			for i := range m {
				for j := range n {
					// The compiler was told to keep multiplication and addition apart.
					var want float32
					for l := range k {
						want += float32(xv[i*k+l] * zv[l*n+j])
					}
					require.Equal(t, want, yv[i*n+j], "element %d, %d", i, j)
				}
			}
		})
		t.Run("calls", func(t *testing.T) { testCalls(t, newBench(t, p)) })
		t.Run("indirect", func(t *testing.T) {
			b := newBench(t, p)
			x, xv := b.randomInts(32, 1000)
			y, yv := array[int32](b.mem, 32)
			b.launch("indirect", dim(1), dim(32), exec.ArgOf(x), exec.ArgOf(y))
			for i, v := range xv {
				want := xv[(i+int(v&7))&31]
				if v&1 == 0 {
					want = want*3 + 1
				} else {
					want ^= 5
				}
				assert.Equal(t, want, yv[i])
			}
		})
		t.Run("generic", func(t *testing.T) {
			for which, space := range []int32{100, 400, 200} {
				b := newBench(t, p)
				y, yv := array[int32](b.mem, 64)
				b.launch("generic", dim(1), dim(32), exec.ArgOf(y), exec.ArgOf(int32(which)))
				for i := range 32 {
					assert.Equal(t, int32(i/4)+space, yv[32+i])
				}
			}
		})
		t.Run("lanes", func(t *testing.T) { testLanes(t, newBench(t, p)) })
		t.Run("tensor", func(t *testing.T) { testTensor(t, newBench(t, p)) })
	})
}

func testCalls(t *testing.T, b *bench) {
	const n = 70
	x, xv := b.random(n)
	y, yv := b.result(n)
	extra := struct {
		scale float32
		steps int32
		shift int64
	}{0.5, 3, 11}
	_, before, _ := b.p.Symbol("calls_made")
	made := before[0]
	b.launch("calls", dim(3), dim(32), exec.ArgOf(x), exec.ArgOf(y), exec.ArgOf(int32(n)), exec.ArgOf(extra))
	table := []float32{1, 2.5, -3, 4}
	for i, v := range xv {
		var sum float32
		for s := range i & 7 {
			sum = float32(float32(sum*0.5)+table[s&3]) + v
		}
		assert.Equal(t, sum+float32(int64(i&7)*3+11), yv[i], "element %d", i)
		if v > 0 {
			made++
		}
	}
	assert.Equal(t, made, before[0])
}

func testLanes(t *testing.T, b *bench) {
	x, xv := b.randomInts(64, 9)
	y, yv := array[uint32](b.mem, 64)
	b.launch("lanes", dim(1), dim(64), exec.ArgOf(y), exec.ArgOf(x))
	count, three := uint32(0), uint32(0)
	for _, v := range xv {
		count += uint32(v & 1)
		if v == 3 {
			three = 1
		}
	}
	for i := range yv {
		v := xv[i/32*32:][:32]
		lane := i % 32
		var ballot, same, odd, sum, most uint32
		high, allHigh := uint32(0), uint32(1)
		for j, x := range v {
			ballot |= uint32(x&1) << j
			if x&3 == v[lane]&3 {
				same |= 1 << j
			}
			odd += uint32(x & 1)
			sum += uint32(x)
			most = max(most, uint32(x))
			if x > 3 {
				high = 1
			} else {
				allHigh = 0
			}
		}
		want := ballot + high + 7*allHigh
		want ^= same
		if odd == 0 || odd == 32 {
			want ^= math.MaxUint32
			want++
		}
		want += sum
		want ^= most
		want += uint32(v[lane&^7+3])
		want += 3 * uint32(v[max(lane-1, 0)])
		down := lane + 2
		if down/16 != lane/16 {
			down = lane
		}
		want += 5 * uint32(v[down])
		want += count + 3*three + 5
		assert.Equal(t, want, yv[i], "thread %d", i)
	}
}

func testTensor(t *testing.T, b *bench) {
	const k = 80
	half := func() (uint64, []float64) {
		addr, v := array[uint16](b.mem, 64*k)
		wide := make([]float64, len(v))
		for i := range v {
			v[i] = uint16(math.Float32bits(float32(b.rng.NormFloat64())) >> 16)
			wide[i] = float64(math.Float32frombits(uint32(v[i]) << 16))
		}
		return addr, wide
	}
	x, xv := half()
	z, zv := half()
	y, yv := b.result(64 * 64)
	c := b.launch("tensor", dim(1), dim(128), exec.ArgOf(x), exec.ArgOf(z), exec.ArgOf(y), exec.ArgOf(int32(k)))
	for i := range 64 {
		for j := range 64 {
			want := 0.0
			for l := range k {
				want += xv[i*k+l] * zv[j*k+l]
			}
			require.InDelta(t, want, float64(yv[i*64+j]), 1e-4, "element %d, %d", i, j)
		}
	}
	assert.Zero(t, c.SharedLoads.Extra, "rows are padded against bank conflicts")
	assert.EqualValues(t, 4*(k/16)*8, c.Classes[exec.ClassMatrix].Warps)
}

// Kernels that draw in the device library, for each architecture.
func TestDeviceLibrary(t *testing.T) {
	for _, arch := range []string{"sm_80", "sm_100"} {
		t.Run(arch, func(t *testing.T) {
			b := newBench(t, compiled(t, "functions.cu", arch))
			const n = 300
			x, xv := array[float64](b.mem, n)
			z, zv := b.random(n)
			y, yv := array[float64](b.mem, n)
			for i := range xv {
				xv[i] = b.rng.NormFloat64() * math.Pow(10, float64(i%15))
				zv[i] *= float32(math.Pow(10, float64(i%9)))
			}
			b.launch("trigonometry", dim(10), dim(32), exec.ArgOf(x), exec.ArgOf(z), exec.ArgOf(y), exec.ArgOf(int32(n)))
			for i := range yv {
				want := math.Sin(xv[i]) + math.Pow(math.Abs(xv[i]), 0.3) + math.Sin(float64(zv[i]))
				assert.InDelta(t, want, yv[i], 1e-6*max(1, want), "%g %g", xv[i], zv[i])
			}
		})
	}
}

// Speed of the interpreter on the kernels of most use, by checks.
func BenchmarkKernels(b *testing.B) {
	for _, o := range []struct {
		name string
		o    exec.Options
	}{
		{"unchecked", exec.Options{Workers: 1}},
		{"undefined", exec.Options{Workers: 1, CheckUndefined: true}},
		{"races", exec.Options{Workers: 1, CheckRaces: true, CheckUndefined: true}},
	} {
		x := newBench(b, kept(b, "sm_80"))
		x.o = o.o
		const n, m = 1 << 15, 64
		in, _ := x.random(n)
		out, _ := x.result(n)
		for name, launch := range map[string]func() *exec.Counts{
			"map": func() *exec.Counts {
				return x.launch("map", dim(16), dim(256), exec.ArgOf(in), exec.ArgOf(in), exec.ArgOf(out), exec.ArgOf(int32(n)))
			},
			"matmul": func() *exec.Counts {
				return x.launch("matmul", exec.Dim{X: m / 16, Y: m / 16, Z: 1}, exec.Dim{X: 16, Y: 16, Z: 1},
					exec.ArgOf(in), exec.ArgOf(in), exec.ArgOf(out), exec.ArgOf(int32(m)), exec.ArgOf(int32(m)), exec.ArgOf(int32(m)))
			},
			"tensor": func() *exec.Counts {
				return x.launch("tensor", dim(1), dim(128), exec.ArgOf(in), exec.ArgOf(in), exec.ArgOf(out), exec.ArgOf(int32(128)))
			},
		} {
			b.Run(fmt.Sprintf("%s/%s", name, o.name), func(b *testing.B) {
				lanes := uint64(0)
				for b.Loop() {
					lanes += launch().LaneInstructions
				}
				b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlane-instr/s")
			})
		}
	}
}
