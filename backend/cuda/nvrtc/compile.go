package nvrtc

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/sinter-ml/sinter/backend"
)

// Kind says what a compilation is to give.
type Kind int

// The kinds. PTX alone is compiled for the virtual architecture, which skips
// NVRTC's assembler: faster, but faults of inline PTX stay unseen.
const (
	PTX Kind = iota
	CUBIN
	Both
)

// Input is what is compiled.
type Input struct {
	Source  string
	Name    string   // of the source, for messages: "softmax.cu"
	Arch    string   // "sm_80", "sm_90a", or "compute_80" for PTX alone
	Options []string // besides the architecture; --minimal is left out where the version does not know it
	Names   []string // expressions whose names in the output are wanted: "&scale<float>"
	Kind    Kind
}

// Output is what came of it.
type Output struct {
	PTX     []byte // without the terminating NUL
	CUBIN   []byte
	Lowered map[string]string // by expression of Input.Names
	Log     string            // warnings
}

// Compile compiles a source. As many compilations run at once as there are
// processors for Go; others wait. When ctx is done, the wait ends with its cause
// at once and the compilation as soon as the compiler asks.
//
// Errors are a *backend.CompileError with source and log if the compiler refused,
// *ArchError, *InputError or the cause of ctx.
func (l *Library) Compile(ctx context.Context, in Input) (*Output, error) {
	options, err := l.prepare(in)
	if err != nil {
		return nil, err
	}
	return l.dispatch(ctx, in, options)
}

// dispatch compiles with all options, when it is this one's turn, in a goroutine
// that nobody need wait for.
func (l *Library) dispatch(ctx context.Context, in Input, options []string) (*Output, error) {
	if ctx.Err() == nil {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return nil, stopped(ctx, in)
	}
	type outcome struct {
		out *Output
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-l.slots }()
		out, err := l.compile(ctx, in, options)
		done <- outcome{out, err}
	}()
	select {
	case o := <-done:
		return o.out, o.err
	case <-ctx.Done():
		return nil, stopped(ctx, in)
	}
}

func stopped(ctx context.Context, in Input) error {
	return fmt.Errorf("compile %s: %w", in.Name, context.Cause(ctx))
}

// prepare checks an input and returns all its options.
func (l *Library) prepare(in Input) ([]string, error) {
	a, ok := parseArch(in.Arch)
	switch {
	case !ok || !slices.Contains(l.archs, a.capability):
		return nil, &ArchError{in.Arch, l.Archs()}
	case in.Kind < PTX || in.Kind > Both:
		return nil, &InputError{"Kind", fmt.Sprintf("no kind %d", in.Kind)}
	case in.Kind != PTX && a.virtual:
		return nil, &InputError{"Kind", in.Arch + " gives no CUBIN, which is for an sm_ architecture"}
	}
	a.virtual = in.Kind == PTX
	options := append([]string{"-arch=" + a.String()}, l.known(in.Options)...)
	for field, texts := range map[string][]string{
		"Source": {in.Source}, "Name": {in.Name}, "Options": options, "Names": in.Names,
	} {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.IndexByte(s, 0) >= 0 }) {
			return nil, &InputError{field, "holds a NUL byte"}
		}
	}
	return options, nil
}

// compile runs the compiler in this goroutine.
func (l *Library) compile(ctx context.Context, in Input, options []string) (*Output, error) {
	fail := func(log string, err error) error {
		return &backend.CompileError{Kernel: in.Name, Source: in.Source, Log: log, Err: err}
	}
	var p program
	if err := l.check("nvrtcCreateProgram", l.api.create(&p, in.Source, in.Name, 0, nil, nil)); err != nil {
		return nil, fail("", err)
	}
	defer l.api.destroy(&p)
	for _, name := range in.Names {
		if err := l.check("nvrtcAddNameExpression("+name+")", l.api.addName(p, name)); err != nil {
			return nil, fail("", err)
		}
	}
	defer l.watch(ctx, p)()

	r := l.run(p, options)
	logText, err := l.bytes("nvrtcGetProgramLog", p, l.api.logSize, l.api.log)
	if err != nil {
		return nil, fail("", err)
	}
	log := text(logText)
	if r == failedCancelled {
		return nil, stopped(ctx, in)
	}
	if err := l.check("nvrtcCompileProgram", r); err != nil {
		return nil, fail(log, l.explain(r, err, log))
	}
	out := &Output{Log: log}
	if in.Kind != CUBIN {
		ptx, err := l.bytes("nvrtcGetPTX", p, l.api.ptxSize, l.api.ptx)
		if err != nil {
			return nil, fail(log, err)
		}
		out.PTX = bytes.TrimSuffix(ptx, []byte{0})
	}
	if in.Kind != PTX {
		if out.CUBIN, err = l.bytes("nvrtcGetCUBIN", p, l.api.cubinSize, l.api.cubin); err != nil {
			return nil, fail(log, err)
		}
	}
	for _, name := range in.Names {
		var at *byte // the program's own
		if err := l.check("nvrtcGetLoweredName("+name+")", l.api.loweredName(p, name, &at)); err != nil {
			return nil, fail(log, err)
		}
		if out.Lowered == nil {
			out.Lowered = make(map[string]string, len(in.Names))
		}
		out.Lowered[name] = cString(at)
	}
	return out, nil
}

// run calls the compiler with options as C strings, which stay where they are for
// the call.
func (l *Library) run(p program, options []string) result {
	var pin runtime.Pinner
	defer pin.Unpin()
	list := make([]*byte, len(options))
	for i, o := range options {
		list[i] = &append([]byte(o), 0)[0]
		pin.Pin(list[i])
	}
	pin.Pin(&list[0])
	return l.api.compile(p, int32(len(list)), &list[0])
}

// bytes reads what the library gives by a size and a copy.
func (l *Library) bytes(call string, p program, size func(program, *uint64) result, copyTo func(program, *byte) result) ([]byte, error) {
	var n uint64
	if err := l.check(call+"Size", size(p, &n)); err != nil || n == 0 {
		return nil, err
	}
	out := make([]byte, n)
	return out, l.check(call, copyTo(p, &out[0]))
}

// explain adds to a failure what the caller can do, or where the source is wrong.
func (l *Library) explain(r result, err error, log string) error {
	e := err.(*Error)
	switch r {
	case failedBuiltins:
		e.Hint = fmt.Sprintf("%s must lie beside %s", builtinsName(l.major, l.minor), l.path)
	case failedCompiling, failedOption:
		e.Hint = strings.TrimPrefix(firstError(log), ": ")
	}
	return e
}

// text is a log without the NUL and the blanks at its end.
func text(b []byte) string { return strings.TrimRight(string(b), "\x00\n ") }

// cString copies a C string.
func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
