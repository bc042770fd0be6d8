package nvrtc

import "fmt"

// result is nvrtcResult.
type result int32

// Results of NVRTC that mean something of their own here.
const (
	success          result  = 0
	failedOption     result  = 5
	failedCompiling  result  = 6
	failedBuiltins   result  = 7
	failedCancelled  result  = 16
	callbackContinue uintptr = 0
	callbackCancel   uintptr = 1
)

// program is nvrtcProgram.
type program uintptr

// api is NVRTC's C interface as far as it is used. Strings are copied with a NUL
// appended for each call; a **byte is an array of C strings.
type api struct {
	version     func(major, minor *int32) result
	numArchs    func(n *int32) result
	archs       func(archs *int32) result
	errorString func(r result) string
	create      func(p *program, source, name string, headers int32, contents, names **byte) result
	destroy     func(p *program) result
	addName     func(p program, expression string) result
	compile     func(p program, options int32, option **byte) result
	logSize     func(p program, n *uint64) result
	log         func(p program, to *byte) result
	ptxSize     func(p program, n *uint64) result
	ptx         func(p program, to *byte) result
	cubinSize   func(p program, n *uint64) result
	cubin       func(p program, to *byte) result
	loweredName func(p program, expression string, lowered **byte) result

	// flowCallback, since 12.8, sets what is asked during a compilation whether
	// to go on; nil in older versions.
	flowCallback func(p program, callback, payload uintptr) result
}

// bind looks up every function.
func (a *api) bind(handle uintptr) error {
	for _, f := range []struct {
		name     string
		to       any
		optional bool
	}{
		{"nvrtcVersion", &a.version, false},
		{"nvrtcGetNumSupportedArchs", &a.numArchs, false},
		{"nvrtcGetSupportedArchs", &a.archs, false},
		{"nvrtcGetErrorString", &a.errorString, false},
		{"nvrtcCreateProgram", &a.create, false},
		{"nvrtcDestroyProgram", &a.destroy, false},
		{"nvrtcAddNameExpression", &a.addName, false},
		{"nvrtcCompileProgram", &a.compile, false},
		{"nvrtcGetProgramLogSize", &a.logSize, false},
		{"nvrtcGetProgramLog", &a.log, false},
		{"nvrtcGetPTXSize", &a.ptxSize, false},
		{"nvrtcGetPTX", &a.ptx, false},
		{"nvrtcGetCUBINSize", &a.cubinSize, false},
		{"nvrtcGetCUBIN", &a.cubin, false},
		{"nvrtcGetLoweredName", &a.loweredName, false},
		{"nvrtcSetFlowCallback", &a.flowCallback, true},
	} {
		if err := bindSymbol(handle, f.name, f.to); err != nil && !f.optional {
			return fmt.Errorf("this is no NVRTC 11.1 or later: %w", err)
		}
	}
	return nil
}
