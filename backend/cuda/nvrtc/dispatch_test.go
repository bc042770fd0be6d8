package nvrtc

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
)

var input = Input{Source: "source", Name: "k.cu", Arch: "sm_80"}

func TestEachCallFails(t *testing.T) {
	calls := []string{"create", "addName", "compile", "logSize", "log", "ptxSize", "ptx", "cubinSize", "cubin", "loweredName"}
	in := input
	in.Kind, in.Names = Both, []string{"name<int>"}
	for _, call := range calls {
		for _, with := range []result{1, failedOption, failedCompiling, failedBuiltins, 99} {
			f := &fake{failing: call, with: with}
			_, err := f.loaded(1).Compile(t.Context(), in)
			var compile *backend.CompileError
			require.ErrorAs(t, err, &compile, call)
			assert.Equal(t, "source", compile.Source)
			var e *Error
			require.ErrorAs(t, err, &e, call)
			assert.Equal(t, int(with), e.Code)
			assert.Contains(t, strings.ToLower(e.Call), strings.ToLower(strings.TrimSuffix(call, "Size")))
			assert.Zero(t, f.left(), "%s: the program is destroyed", call)
			if call == "compile" {
				assert.Equal(t, "k.cu(1): error: said", compile.Log)
				switch with {
				case failedCompiling, failedOption:
					assert.ErrorContains(t, err, compile.Log)
				case failedBuiltins:
					assert.ErrorContains(t, err, "must lie beside fake")
				}
			}
		}
	}
}

func TestOptions(t *testing.T) {
	f := &fake{}
	l := f.loaded(1)
	in := input
	in.Kind, in.Options = Both, []string{"--minimal", "--own"}
	ptx := func() string {
		out, err := l.Compile(t.Context(), in)
		require.NoError(t, err)
		return string(out.PTX)
	}
	assert.Equal(t, "-arch=sm_80\n--minimal\n--own\nsource", ptx())
	l.minor = 7
	assert.Equal(t, "-arch=sm_80\n--own\nsource", ptx(), "it came with 12.8")
	l.major, l.minor = 13, 0
	in.Kind, in.Arch = PTX, "sm_100f"
	assert.Equal(t, "-arch=compute_100f\n--minimal\n--own\nsource", ptx(), "without the assembler")
	assert.Equal(t, []string{"--minimal", "--own"}, in.Options)
	in.Options = nil
	assert.Equal(t, "-arch=compute_100f\nsource", ptx())
}

func TestKinds(t *testing.T) {
	l := (&fake{}).loaded(1)
	for kind, want := range map[Kind][2]string{PTX: {"-arch=compute_80\nsource", ""}, CUBIN: {"", "CUBIN of source"}, Both: {"-arch=sm_80\nsource", "CUBIN of source"}} {
		in := input
		in.Kind = kind
		out, err := l.Compile(t.Context(), in)
		require.NoError(t, err)
		assert.Equal(t, want, [2]string{string(out.PTX), string(out.CUBIN)})
		assert.Equal(t, want[0] == "", out.PTX == nil)
		assert.Equal(t, want[1] == "", out.CUBIN == nil)
	}
}

func TestArchitectures(t *testing.T) {
	f := &fake{}
	l := f.loaded(1)
	for _, name := range []string{"sm_80", "compute_80", "sm_90", "sm_90a", "compute_90a", "sm_100a", "sm_100f", "compute_100f"} {
		in := input
		in.Arch = name
		_, err := l.Compile(t.Context(), in)
		assert.NoError(t, err, name)
	}
	for _, name := range []string{
		"", "80", "sm_", "sm80", "sm_99", "sm_080", "sm_80a", "sm_90f", "sm_90aa", "sm_100af", "sm_-80", "SM_80", "sm_80 ", "compute_", "gfx_80", "sm_99999999999",
	} {
		in := input
		in.Arch = name
		_, err := l.Compile(t.Context(), in)
		var e *ArchError
		require.ErrorAs(t, err, &e, "%q", name)
		assert.Equal(t, name, e.Arch)
		assert.ErrorContains(t, err, "sm_80 sm_90 sm_100")
	}
	compiles, _, _ := f.counts()
	assert.Equal(t, 8, compiles)
}

func TestInputsThatCannotBe(t *testing.T) {
	for field, change := range map[string]func(*Input){
		"Source":  func(in *Input) { in.Source = "a\x00b" },
		"Name":    func(in *Input) { in.Name = "\x00" },
		"Options": func(in *Input) { in.Options = []string{"", "\x00"} },
		"Names":   func(in *Input) { in.Names = []string{"f\x00"} },
		"Kind":    func(in *Input) { in.Kind = CUBIN; in.Arch = "compute_80" },
	} {
		in := input
		change(&in)
		_, err := (&fake{}).loaded(1).Compile(t.Context(), in)
		var e *InputError
		require.ErrorAs(t, err, &e, field)
		assert.Equal(t, field, e.Field)
	}
	in := input
	in.Kind = 3
	_, err := (&fake{}).loaded(1).Compile(t.Context(), in)
	assert.ErrorContains(t, err, "no kind 3")
}

func TestNoMoreAtOnceThanSlots(t *testing.T) {
	f := &fake{gate: make(chan struct{})}
	l := f.loaded(3)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := l.Compile(t.Context(), input)
			assert.NoError(t, err)
		})
	}
	for range 10 {
		f.gate <- struct{}{}
	}
	wg.Wait()
	compiles, running, most := f.counts()
	assert.Equal(t, []int{10, 0}, []int{compiles, running})
	assert.LessOrEqual(t, most, 3)
}

// A wait ends when its context does: at once before the compilation, while it
// waits for others, and while it runs, whether the compiler asks or not.
func TestCancellation(t *testing.T) {
	for _, old := range []bool{false, true} {
		f := &fake{gate: make(chan struct{}), old: old}
		l := f.loaded(1)
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error)
		for range 2 { // one runs, one waits for its slot
			go func() {
				_, err := l.Compile(ctx, input)
				errs <- err
			}()
		}
		require.Eventually(t, func() bool { _, running, _ := f.counts(); return running == 1 }, time.Minute, time.Millisecond)
		cause := assert.AnError
		cancel(cause)
		for range 2 {
			assert.ErrorIs(t, <-errs, cause)
		}
		if old { // the compilation goes on until it ends
			f.gate <- struct{}{}
		}
		_, err := l.Compile(ctx, input)
		assert.ErrorIs(t, err, cause, "done before")
		l.slots <- struct{}{} // the compilation ended
		assert.Zero(t, f.left())
		compiles, _, _ := f.counts()
		assert.Equal(t, 1, compiles)
	}
	watched.Range(func(any, any) bool { assert.Fail(t, "a context is still held"); return false })
}
