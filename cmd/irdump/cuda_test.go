package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/nvrtc/nvrtctest"
	"github.com/sinter-ml/sinter/ir"
)

// asCommand makes this test's program irdump itself: NVRTC is looked for once a
// process.
const asCommand = "SINTER_TEST_IRDUMP"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// needsCUDA skips a test of a command line with -cuda where there is no NVRTC.
func needsCUDA(t *testing.T, args ...string) {
	t.Helper()
	for _, a := range args {
		if a == "-cuda" {
			nvrtctest.Require(t)
			t.Setenv("SINTER_NVRTC", nvrtctest.Folder(t))
			t.Setenv("SINTER_KERNEL_DIR", "off")
		}
	}
}

// cudaOf is what kernels -cuda -json shows.
type cudaOf struct {
	Segments []struct {
		Blocks []struct {
			Calls []struct {
				Tensors []ir.TensorID
				Kernel  string
			}
			CUDA []cudaView
		}
	}
}

func cudaJSON(t *testing.T, args ...string) cudaOf {
	t.Helper()
	var got cudaOf
	require.NoError(t, json.Unmarshal([]byte(good(t, append([]string{"kernels", "-cuda", "-json"}, args...)...)), &got))
	return got
}

// Every launch of every program has a source, PTX, and counts that agree with what
// the kernel must move at least.
func TestCUDA(t *testing.T) {
	needsCUDA(t, "-cuda")
	programs, err := filepath.Glob("testdata/*.sinter")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	archs := []string{"sm_80", "sm_90a", "sm_100"}
	if testing.Short() {
		archs = archs[:1]
	}
	for _, program := range programs {
		text, err := os.ReadFile(program)
		require.NoError(t, err)
		p, err := ir.ParseProgram(string(text))
		require.NoError(t, err)
		bytes := map[ir.TensorID]int{}
		for i := range p.Ops {
			out := p.Ops[i].Outputs[0]
			bytes[out.ID] = out.Shape.NumElements() * out.DType.Size()
		}
		for _, arch := range archs {
			launches := 0
			for _, s := range cudaJSON(t, "-arch", arch, program).Segments {
				for _, b := range s.Blocks {
					require.Len(t, b.CUDA, len(b.Calls))
					for i, v := range b.CUDA {
						launches++
						msg := program + " " + arch + "\n" + v.Source
						assert.Equal(t, arch, v.Arch)
						assert.Empty(t, v.Note, msg)
						assert.NotEmpty(t, v.Variant, msg)
						assert.Contains(t, v.PTX, ".target "+arch+"\n", msg)
						require.NotEmpty(t, v.Calls, msg)
						var written uint64
						for _, c := range v.Calls {
							assert.Contains(t, v.Source, c.Entry+"(", msg)
							assert.Contains(t, v.PTX, ".entry "+c.Entry+"(", msg)
							assert.Positive(t, c.Blocks*c.Threads)
							assert.InDelta(t, 128, c.Takes.Registers, 127, msg)
							assert.Zero(t, c.Takes.SpillLoads+c.Takes.SpillStores, msg)
							require.NotNil(t, c.Does, msg)
							var sum uint64
							for _, n := range c.Does.Classes {
								sum += n
							}
							assert.Equal(t, c.Does.Warps, sum, msg)
							assert.LessOrEqual(t, c.Does.Lanes, 32*c.Does.Warps, msg)
							written += c.Does.DRAMWritten
						}
						last := b.Calls[i].Tensors[len(b.Calls[i].Tensors)-1] // an output, in these programs
						require.Positive(t, bytes[last])
						assert.GreaterOrEqual(t, int(written), bytes[last], msg)
					}
				}
			}
			assert.Positive(t, launches, program)
		}
	}
}

func TestCUDAShowsWhatIsAsked(t *testing.T) {
	needsCUDA(t, "-cuda")
	for _, what := range []string{"source", "ptx", "counts"} {
		v := cudaJSON(t, "-show", what, "testdata/softmax.sinter").Segments[0].Blocks[0].CUDA[0]
		assert.Equal(t, what == "source", v.Source != "")
		assert.Equal(t, what == "ptx", v.PTX != "")
		assert.Equal(t, what == "counts", v.Calls != nil)
	}
	text := good(t, "kernels", "-cuda", "testdata/softmax.sinter")
	for _, part := range []string{
		"\n    CUDA for sm_80, variant ", `      extern "C" __global__ `, "\n    PTX\n", "      .target sm_80\n", "\n    call ",
		"\n      takes         registers ", "\n      instructions  ", "\n      DRAM          read 4096, written 4096\n",
	} {
		assert.Contains(t, text, part)
	}
	assert.Equal(t, text, good(t, "kernels", "-cuda", "testdata/softmax.sinter"), "a second run prints the same")
}

// Constants are what they are, integers can be indices, an effect writes over the
// old version, and what the interpreter is given says when an index cannot fit.
func TestCUDAValues(t *testing.T) {
	needsCUDA(t, "-cuda")
	program := func(ops string) string {
		file := filepath.Join(t.TempDir(), "p.sinter")
		require.NoError(t, os.WriteFile(file, []byte("sinter.program v1\n"+ops), 0o600))
		return file
	}
	gather := program("input %0 f32[7,64]\ninput %1 i64[5]\n%2 f32[5,64] = Select %0, %1 axes[0]\noutput %2\n")
	v := cudaJSON(t, gather).Segments[0].Blocks[0].CUDA[0]
	assert.Empty(t, v.Note)
	assert.EqualValues(t, 5*64*4, v.Calls[0].Does.DRAMWritten)

	shifted := program("input %0 f32[7,64]\ninput %1 i64[5]\n%2 i64[5] = Add %1 scalars(i64:100)\n%3 f32[5,64] = Select %0, %2 axes[0]\noutput %3\n")
	blocks := cudaJSON(t, shifted).Segments[0].Blocks
	v = blocks[len(blocks)-1].CUDA[0]
	assert.Contains(t, v.Note, "with the values made up: index 10")
	assert.NotEmpty(t, v.Source)
	assert.NotEmpty(t, v.Calls)
}

func TestCUDAErrors(t *testing.T) {
	for args, want := range map[string]string{
		"kernels -cuda testdata/trace.jsonl":                 "-cuda is for programs",
		"kernels -cuda -arch sm_75 testdata/softmax.sinter":  `no CUDA code is generated for "sm_75"`,
		"kernels -cuda -arch=x testdata/softmax.sinter":      `"x"`,
		"kernels -cuda -show=sass testdata/softmax.sinter":   "--show",
		"kernels -cuda -show= -block x testdata/step.sinter": "-help",
	} {
		code, out, errs := irdump(t, "", strings.Fields(args)...)
		assert.Equal(t, exitUsage, code, args)
		assert.Empty(t, out)
		assert.Contains(t, errs, want)
	}
	needsCUDA(t, "-cuda")
	code, _, errs := irdump(t, "", "kernels", "-cuda", "-arch", "sm_81", "testdata/softmax.sinter")
	assert.Equal(t, exitInput, code)
	assert.Contains(t, errs, `NVRTC knows no architecture "sm_81"`)
}

func TestWithoutTheCompiler(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skip("this platform has no programs: ", err)
	}
	cmd := exec.CommandContext(t.Context(), self, "kernels", "-cuda", "testdata/softmax.sinter")
	cmd.Env = append(os.Environ(), asCommand+"=1", "SINTER_NVRTC="+t.TempDir())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitInput, exit.ExitCode())
	assert.Contains(t, string(out), "NVRTC, CUDA's run-time compiler, was not found; tried")
	assert.Contains(t, string(out), "SINTER_NVRTC")
}
