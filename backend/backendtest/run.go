// Package backendtest is the conformance suite of devices: what every
// backend.Device must do, written once. A backend's own test calls Run with a
// function that opens it.
//
// It must not know any one backend.
package backendtest

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// Opener opens a fresh device. It heeds the memory limit and, on devices that
// have memory, Poison.
type Opener func(o backend.Options) backend.Device

// Run runs the whole suite.
func Run(t *testing.T, open Opener) { run(t, suite{open: open, values: true}) }

// RunWithoutValues runs the suite on a device that executes nothing: what it
// answers is checked, what is in its memory is not.
func RunWithoutValues(t *testing.T, open Opener) { run(t, suite{open: open}) }

type suite struct {
	open   Opener
	values bool
}

func run(t *testing.T, s suite) {
	for _, part := range []struct {
		name string
		run  func(s suite, t *testing.T)
	}{
		{"memory", suite.memory},
		{"limit", suite.limit},
		{"pools", suite.pools},
		{"pools that outlive", suite.outlive},
		{"report", suite.report},
		{"persistent", suite.persistent},
		{"staging", suite.staging},
		{"use after free", suite.useAfterFree},
		{"dtypes", suite.dtypes},
		{"random allocations", suite.random},
		{"transfer", suite.transfer},
		{"streams", suite.streams},
		{"compile", suite.compile},
		{"launch", suite.launch},
		{"values", suite.kernels},
		{"parallel", suite.parallel},
		{"capture", suite.capture},
		{"replay", suite.replay},
		{"state of a graph", suite.state},
		{"bodies", suite.bodies},
		{"forks", suite.forks},
		{"update", suite.update},
		{"timing", suite.timing},
		{"faults", suite.faults},
		{"close", suite.close},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(s, t) })
	}
}

// bench is a device with one stream, for one test.
type bench struct {
	suite
	*testing.T
	dev    backend.Device
	stream backend.Stream
}

var ctx = context.Background()

func (s suite) bench(t *testing.T, o backend.Options) *bench {
	b := &bench{suite: s, T: t, dev: s.open(o)}
	t.Cleanup(func() { require.NoError(t, b.dev.Close()) })
	b.stream = b.newStream()
	return b
}

func (b *bench) newStream() backend.Stream {
	b.Helper()
	s, err := b.dev.NewStream()
	require.NoError(b, err)
	return s
}

func (b *bench) alloc(n int) *backend.Buffer {
	b.Helper()
	buf, err := b.dev.Alloc(b.stream, n)
	require.NoError(b, err)
	return buf
}

// trim gives pooled memory back and checks that it says how much.
func (b *bench) trim() int64 {
	b.Helper()
	before := b.dev.Memory().Reserved
	given, err := b.dev.Trim()
	require.NoError(b, err)
	require.Equal(b, before-b.dev.Memory().Reserved, given)
	return given
}

func (b *bench) free(bufs ...*backend.Buffer) {
	for _, x := range bufs {
		b.dev.Free(b.stream, x)
	}
}

// upload makes a buffer of the given bytes.
func (b *bench) upload(data []byte) *backend.Buffer {
	b.Helper()
	buf := b.alloc(len(data))
	require.NoError(b, b.dev.Write(ctx, b.stream, buf, 0, data))
	return buf
}

func (b *bench) read(buf *backend.Buffer) []byte {
	b.Helper()
	out := make([]byte, buf.Bytes)
	require.NoError(b, b.dev.Read(ctx, b.stream, out, buf, 0))
	return out
}

// holds checks the content of a buffer, on devices that have any.
func (b *bench) holds(want []byte, buf *backend.Buffer, msg ...any) {
	b.Helper()
	got := b.read(buf)
	if b.values {
		require.Equal(b, want, got, msg...)
	}
}

func (b *bench) compileKernel(k *codegen.Kernel) codegen.Executable {
	b.Helper()
	e, err := b.dev.Compile(k)
	require.NoError(b, err)
	return e
}

// fails checks that err is of type E and the device says it still works.
func fails[E error](b *bench, err error, msg ...any) E {
	b.Helper()
	var e E
	require.ErrorAs(b, err, &e, msg...)
	return e
}

func f32s(v ...float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.NativeEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func bf16s(v ...float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.NativeEndian.AppendUint16(out, uint16(ir.BFloat16FromFloat32(x)))
	}
	return out
}

func i64s(v ...int64) []byte {
	var out []byte
	for _, x := range v {
		out = binary.NativeEndian.AppendUint64(out, uint64(x))
	}
	return out
}
