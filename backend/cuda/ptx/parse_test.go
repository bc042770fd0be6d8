package ptx_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc"
	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

var update = flag.Bool("update", false, "write the PTX of testdata/kernels.cu anew")

func parse(t *testing.T, src string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(src)
	require.NoError(t, err)
	return m
}

// withoutLines clears the lines, which printing changes.
func withoutLines(m *ptx.Module) *ptx.Module {
	clear := func(lists ...[]*ptx.Decl) {
		for _, list := range lists {
			for _, d := range list {
				d.Line = 0
			}
		}
	}
	clear(m.Globals)
	for _, f := range m.Funcs {
		f.Line = 0
		clear(f.Params, f.Returns, f.Vars)
		for _, p := range f.Protos {
			clear(p.Params, p.Returns)
		}
		for i := range f.Body {
			f.Body[i].Line = 0
		}
	}
	return m
}

// options are those of the product.
var options = []string{"--std=c++17", "-default-device", "--minimal", "--fmad=false"}

// compile makes PTX of a source of testdata.
func compile(t *testing.T, file, arch string) string {
	lib := nvrtctest.Require(t)
	src, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	out, err := lib.Compile(context.Background(), nvrtc.Input{Source: string(src), Name: file, Arch: arch, Options: options})
	require.NoError(t, err)
	return string(out.PTX)
}

// What NVRTC makes of the kernels for three generations of cards is read, and
// what is printed of it reads back as the same module.
func TestCompilersOutput(t *testing.T) {
	check := func(t *testing.T, src string) {
		m := parse(t, src)
		printed := m.String()
		again := parse(t, printed)
		assert.Equal(t, printed, again.String())
		assert.Equal(t, withoutLines(m), withoutLines(again))
	}
	for _, arch := range []string{"sm_80", "sm_100"} {
		t.Run("kept "+arch, func(t *testing.T) {
			file := filepath.Join("testdata", "kernels."+arch+".ptx")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(compile(t, "kernels.cu", arch)), 0o644))
			}
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			check(t, string(src))
		})
	}
	for _, arch := range []string{"sm_80", "sm_90a", "sm_100"} {
		for _, file := range []string{"kernels.cu", "functions.cu"} {
			t.Run(file+" "+arch, func(t *testing.T) { check(t, compile(t, file, arch)) })
		}
	}
}

// A known piece of the compiler's output has the typed form that its text says.
func TestTypedForm(t *testing.T) {
	src, err := os.ReadFile("testdata/kernels.sm_80.ptx")
	require.NoError(t, err)
	m := parse(t, string(src))
	assert.Equal(t, ptx.Version{Major: 8, Minor: 8}, m.Version)
	assert.Equal(t, "sm_80", m.Target)
	assert.Equal(t, 64, m.AddressSize)
	var entries []string
	for _, f := range m.Funcs {
		if f.Entry {
			entries = append(entries, f.Name)
			assert.Equal(t, ptx.Visible, f.Linkage)
		}
	}
	assert.Equal(t, []string{"map", "row_sum", "matmul", "calls", "indirect", "generic", "lanes", "tensor"}, entries)

	table := m.Globals[0]
	assert.Equal(t, "table", table.Name)
	assert.Equal(t, ptx.Const, table.Space)
	assert.Equal(t, 16, table.Size)
	assert.Equal(t, []byte{0, 0, 128, 63, 0, 0, 32, 64, 0, 0, 64, 192, 0, 0, 128, 64}, table.Init)

	calls := m.Func("calls")
	assert.Equal(t, 16, calls.Params[3].Size)
	assert.Equal(t, 8, calls.Params[3].Align)
	n := 0
	for i := range calls.Body {
		if c := calls.Body[i].Call; c != nil {
			n++
			assert.Equal(t, ptx.Sym, c.Target.Kind)
			assert.True(t, m.Func(c.Target.Sym).Defined)
			assert.Len(t, c.Returns, 1)
		}
	}
	assert.Equal(t, 2, n)

	tensor := m.Func("tensor")
	threads, ok := tensor.Directive("maxntid")
	assert.True(t, ok)
	assert.Equal(t, []int{128, 1, 1}, threads)
	ops := map[string]*ptx.Instr{}
	for i := range tensor.Body {
		ops[tensor.Body[i].Name] = &tensor.Body[i]
	}
	mma := ops["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"]
	require.NotNil(t, mma)
	assert.Equal(t, ptx.Shape{M: 16, N: 8, K: 16}, mma.Shape)
	assert.Equal(t, []ptx.Type{ptx.F32, ptx.BF16, ptx.BF16, ptx.F32}, mma.Types)
	assert.Len(t, mma.Dst, 1)
	assert.Len(t, mma.Dst[0].Elems, 4)
	assert.Len(t, mma.Src, 3)
	copying := ops["cp.async.cg.shared.global"]
	require.NotNil(t, copying)
	assert.Empty(t, copying.Dst)
	assert.Equal(t, []ptx.OperandKind{ptx.Addr, ptx.Addr, ptx.Imm}, []ptx.OperandKind{copying.Src[0].Kind, copying.Src[1].Kind, copying.Src[2].Kind})
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"kernels.sm_80.ptx", "kernels.sm_100.ptx"} {
		src, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(string(src))
	}
	for _, c := range syntaxCases {
		f.Add(module(c.src))
	}
	for _, c := range wrongCases {
		f.Add(c.src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := ptx.Parse(src)
		if err != nil {
			var syntax *ptx.SyntaxError
			require.ErrorAs(t, err, &syntax)
			return
		}
		again, err := ptx.Parse(m.String())
		require.NoError(t, err, "what is printed is read back")
		require.Equal(t, m.String(), again.String())
	})
}

func BenchmarkParse(b *testing.B) {
	src, err := os.ReadFile("testdata/kernels.sm_80.ptx")
	require.NoError(b, err)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := ptx.Parse(string(src)); err != nil {
			b.Fatal(err)
		}
	}
}
