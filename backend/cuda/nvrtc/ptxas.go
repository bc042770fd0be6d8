package nvrtc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/internal/env"
)

// Assembler is ptxas, NVIDIA's assembler of PTX, which says what a kernel takes of
// a processor. It needs no card.
type Assembler struct {
	path string
}

// Resources is what the kernels of a module take.
type Resources struct {
	Global   int // bytes of global variables
	Constant int // bytes of constant variables
	Entries  []Entry
}

// Entry is what one kernel takes; for a thread unless said otherwise.
type Entry struct {
	Name        string // as in the PTX
	Registers   int
	Barriers    int // of a block
	Shared      int // bytes for a block, besides what a launch adds
	Stack       int // bytes
	SpillStores int // bytes written since registers did not suffice
	SpillLoads  int // bytes read again
	Constant    int // bytes of parameters and constants, where the assembler tells
}

// Entry returns the kernel of a name.
func (r *Resources) Entry(name string) (Entry, bool) {
	for _, e := range r.Entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// FindAssembler looks for ptxas beside the library that SINTER_NVRTC names, in
// CUDA's place for programs beside that, in PATH and where CUDA is usually
// installed. The error is a *NotFoundError.
func FindAssembler() (*Assembler, error) {
	missing := &NotFoundError{What: assemblerName + ", CUDA's assembler of PTX,", Mend: mendAssembler}
	var names []string
	if settings, _ := env.Read(); settings.NVRTC != "" {
		folder := settings.NVRTC
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			folder = filepath.Dir(folder)
		}
		names = append(names, filepath.Join(folder, assemblerName), filepath.Join(folder, "..", "bin", assemblerName))
	}
	names = append(names, assemblerName) // in PATH
	for _, name := range append(names, matching(programFolders)...) {
		a, err := OpenAssembler(name)
		if err == nil {
			return a, nil
		}
		missing.Tried = append(missing.Tried, err.(*NotFoundError).Tried...)
	}
	return nil, missing
}

// OpenAssembler takes the ptxas that is a file, lies in a folder, or is found in
// PATH by its name. The error is a *NotFoundError.
func OpenAssembler(path string) (*Assembler, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, assemblerName)
	}
	found, err := exec.LookPath(path)
	if err == nil && !strings.EqualFold(strings.TrimSuffix(filepath.Base(found), ".exe"), assemblerName) {
		err = fmt.Errorf("%s is not %s", found, assemblerName)
	}
	if err != nil {
		return nil, &NotFoundError{assemblerName + ", CUDA's assembler of PTX,", []Attempt{{path, err}}, mendAssembler}
	}
	return &Assembler{found}, nil
}

// Path is the program's file.
func (a *Assembler) Path() string { return a.path }

// Assemble checks PTX by assembling it for an architecture, "sm_80", and returns
// what it takes. What the assembler refuses is a *backend.CompileError with the
// PTX and the assembler's words.
func (a *Assembler) Assemble(ctx context.Context, ptx []byte, arch string) (*Resources, error) {
	fail := func(log string, err error) error {
		return &backend.CompileError{Source: string(ptx), Log: log, Err: err}
	}
	if parsed, ok := parseArch(arch); !ok || parsed.virtual {
		return nil, &InputError{"Arch", fmt.Sprintf("%q is no architecture to assemble for, such as sm_80", arch)}
	}
	dir, err := os.MkdirTemp("", "sinter-ptxas-")
	if err != nil {
		return nil, fail("", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays is in the system's folder for such
	cmd := exec.CommandContext(ctx, a.path, "-v", "-arch="+arch, "-", "-o", filepath.Join(dir, "out.cubin"))
	cmd.Stdin = bytes.NewReader(ptx)
	said, err := cmd.CombinedOutput()
	log := text(said)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("assemble: %w", context.Cause(ctx))
	case err != nil:
		return nil, fail(log, fmt.Errorf("%s: %w%s", assemblerName, err, firstError(log)))
	}
	return parseResources(log)
}

// firstError is the first line of a log that tells of an error, after ": ", or "".
func firstError(log string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "error") || strings.Contains(line, "fatal") {
			return ": " + strings.TrimSpace(line)
		}
	}
	return ""
}

var (
	compilingLine = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	functionLine  = regexp.MustCompile(`Function properties for (\S+)`)
	spillLine     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedPart      = regexp.MustCompile(`(\d+) (registers|barriers|bytes (?:smem|gmem|cumulative stack size|cmem\[\d+\]))`)
)

// parseResources reads what ptxas -v says: for each kernel its name, the stack and
// spills of its functions, each after the function's name, and what it used.
func parseResources(log string) (*Resources, error) {
	r := &Resources{}
	var at *Entry // the kernel that is told of, nil before the first
	own := false  // the function told of is the kernel, not one it calls
	for line := range strings.Lines(log) {
		if m := compilingLine.FindStringSubmatch(line); m != nil {
			r.Entries = append(r.Entries, Entry{Name: m[1]})
			at = &r.Entries[len(r.Entries)-1]
		} else if m := functionLine.FindStringSubmatch(line); m != nil {
			own = at != nil && m[1] == at.Name
		} else if m := spillLine.FindStringSubmatch(line); m != nil && own {
			at.Stack, at.SpillStores, at.SpillLoads = number(m[1]), number(m[2]), number(m[3])
		} else {
			for _, m := range usedPart.FindAllStringSubmatch(line, -1) {
				r.add(at, m[2], number(m[1]))
			}
		}
	}
	for _, e := range r.Entries {
		if e.Registers == 0 {
			return nil, fmt.Errorf("%s: what kernel %s takes was not said:\n%s", assemblerName, e.Name, log)
		}
	}
	return r, nil
}

// add adds one count to a kernel, or to the module if there is none.
func (r *Resources) add(at *Entry, what string, n int) {
	constant := strings.HasPrefix(what, "bytes cmem")
	switch {
	case at == nil && constant:
		r.Constant += n
	case at == nil && what == "bytes gmem":
		r.Global += n
	case at == nil:
	case constant:
		at.Constant += n
	case what == "registers":
		at.Registers = n
	case what == "barriers":
		at.Barriers = n
	case what == "bytes smem":
		at.Shared = n
	case what == "bytes cumulative stack size":
		at.Stack = max(at.Stack, n)
	}
}

// number reads what matched \d+; more than an int holds is not said.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
