package cudac

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/interp"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
	"github.com/sinter-ml/sinter/ir"
)

// device is a module of entry points as NVRTC compiled it, run by the interpreter
// of PTX.
type device struct {
	once    sync.Once
	output  *nvrtc.Output
	program *exec.Program
	err     error
	entries map[string]entryPoint
}

// devices holds the modules compiled so far, by name.
var devices sync.Map

// compiled returns a module for sm_80, compiled once for all tests.
func compiled(t *testing.T, c *nvrtc.Cache, name string, entries []entryPoint) *device {
	t.Helper()
	found, _ := devices.LoadOrStore(name, &device{})
	d := found.(*device)
	d.once.Do(func() { d.err = d.compile(t.Context(), c, name, entries) })
	require.NoError(t, d.err)
	return d
}

func (d *device) compile(ctx context.Context, c *nvrtc.Cache, name string, entries []entryPoint) (err error) {
	d.output, err = c.Compile(ctx, nvrtc.Input{Source: sourceOf(entries), Name: name, Arch: Ampere.Arch(), Options: Ampere.Options(), Kind: nvrtc.Both})
	if err != nil {
		return err
	}
	m, err := ptx.Parse(string(d.output.PTX))
	if err != nil {
		return err
	}
	d.entries = map[string]entryPoint{}
	for _, e := range entries {
		d.entries[e.name] = e
	}
	d.program, err = exec.Load(m)
	return err
}

// call runs an entry on n elements and writes its results into out.
func (d *device) call(t *testing.T, entry string, n int, out []byte, operands ...[]byte) {
	t.Helper()
	require.Len(t, operands, len(d.entries[entry].operands))
	if n == 0 {
		return
	}
	mem := exec.NewMemory()
	var args []exec.Arg
	for _, b := range slices.Concat(operands, [][]byte{out}) {
		args = append(args, exec.ArgOf(mem.MapBytes(b)))
	}
	args = append(args, exec.ArgOf(int32(n)))
	const threads = 128
	_, err := d.program.Launch(t.Context(), entry, exec.Dim{X: (n + threads - 1) / threads, Y: 1, Z: 1}, exec.Dim{X: threads, Y: 1, Z: 1}, 0, args, mem, exec.Options{})
	require.NoError(t, err)
}

// laidOut lays values of a dtype out in memory.
func laidOut(dt ir.DType, values []kerneltest.Value) []byte {
	b := kerneltest.Alloc(len(values) * dt.Size())
	for i, v := range values {
		kerneltest.WriteElem(b, dt, i, v)
	}
	return b
}

// held returns a value as memory of a dtype holds it.
func held(dt ir.DType, v kerneltest.Value) kerneltest.Value {
	return kerneltest.FromBits(dt, kerneltest.ToBits(dt, v))
}

// castInputs returns values of a dtype, as registers hold them.
func castInputs(dt ir.DType) []kerneltest.Value {
	return elements(dt.Compute(), laidOut(dt.Compute(), kerneltest.CastInputs(dt, samples()/4)))
}

// elements reads memory of a dtype.
func elements(dt ir.DType, b []byte) []kerneltest.Value {
	out := make([]kerneltest.Value, len(b)/dt.Size())
	for i := range out {
		out[i] = kerneltest.ReadElem(b, dt, i)
	}
	return out
}

// equal reports whether two values are the same bits, all NaNs being one value.
func equal(a, b kerneltest.Value) bool {
	return a.F != a.F && b.F != b.F || math.Float64bits(a.F) == math.Float64bits(b.F) && a.I == b.I && a.B == b.B
}

// results are those of one function on operands of one type, by the device's
// function and by the portable engine.
type results struct {
	operands    [][]kerneltest.Value
	device, cpu []kerneltest.Value
}

// apply runs a scalar function on operands of type t, of which it has as many
// slices of the same length as the function has operands.
func apply(t *testing.T, d *device, fn ir.ScalarOp, dt ir.DType, operands [][]kerneltest.Value) results {
	t.Helper()
	n := len(operands[0])
	m := kerneltest.NewBuilder(rand.New(rand.NewPCG(1, 1)), codegen.Map, 1, n)
	var args []codegen.Value
	for i, values := range operands {
		of := dt
		if i == 0 && fn.Sig().Mask {
			of = ir.Bool
		}
		args = append(args, m.In(of, 0))
		m.Fill(i, func(i int) kerneltest.Value { return values[i] })
	}
	v := m.Apply(fn, args...)
	out := m.Kernel.Body[v].Type
	m.Out(v, out, 0)
	last := len(m.Mem) - 1
	got := kerneltest.Alloc(len(m.Mem[last]))
	d.call(t, "apply_"+dt.String(), n, got, m.Mem[:last]...)
	e, err := interp.New().Compile(m.Kernel)
	require.NoError(t, err)
	require.NoError(t, e.(codegen.HostExecutable).Run(m.Launch, m.Mem, codegen.Serial{}))
	return results{operands, elements(out, got), elements(out, m.Mem[last])}
}

// combinations returns all combinations of special values for a function of type
// t, and n of random values.
func combinations(fn ir.ScalarOp, dt ir.DType, n int) [][]kerneltest.Value {
	sig := fn.Sig()
	out := make([][]kerneltest.Value, sig.Arity)
	var dims []int
	for i := range out {
		dims = append(dims, len(kerneltest.Specials(operandType(fn, dt, i))))
	}
	for _, p := range kerneltest.Points(dims) {
		for i, c := range p {
			out[i] = append(out[i], kerneltest.Specials(operandType(fn, dt, i))[c])
		}
	}
	r := rand.New(rand.NewPCG(uint64(fn), uint64(dt)))
	for range n {
		for i := range out {
			out[i] = append(out[i], randomOf(r, operandType(fn, dt, i)))
		}
	}
	return out
}

func operandType(fn ir.ScalarOp, dt ir.DType, i int) ir.DType {
	if i == 0 && fn.Sig().Mask {
		return ir.Bool
	}
	return dt
}

// randomOf returns a random value of a register type: for a half of them any
// pattern, so that all exponents come, else a number of ordinary size.
func randomOf(r *rand.Rand, dt ir.DType) kerneltest.Value {
	if r.IntN(2) == 0 {
		return kerneltest.FromBits(dt, r.Uint64()>>(64-8*dt.Size()))
	}
	switch {
	case dt == ir.Bool:
		return kerneltest.Value{B: r.IntN(2) == 0}
	case dt.IsInt():
		return kerneltest.Value{I: dt.Wrap(int64(r.IntN(200) - 100))}
	}
	return held(dt, kerneltest.Value{F: math.Ldexp(r.NormFloat64(), r.IntN(10)-4)})
}

// eachFunction compiles the kernels of every scalar function that is wanted and
// calls f with them, functions in parallel.
func eachFunction(t *testing.T, want func(fn ir.ScalarOp) bool, f func(t *testing.T, d *device, fn ir.ScalarOp)) {
	l := nvrtctest.Cache(t)
	for _, fn := range ir.ScalarOps() {
		if !want(fn) {
			continue
		}
		t.Run(fn.String(), func(t *testing.T) {
			t.Parallel()
			f(t, compiled(t, l, fn.String(), applyEntries(fn)), fn)
		})
	}
}
