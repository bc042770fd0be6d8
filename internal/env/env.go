// Package env is the one place that reads environment variables. Its table
// holds each of them with its meaning; Read parses them all, once for each
// device opened. Options given in the program beat what is read here.
//
// It must not know what the settings are used for.
package env

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Settings is what the environment says. Fields of variables that are not set
// have the table's default.
type Settings struct {
	Fusion      bool
	Graphs      bool
	Trace       string // file, "": no trace
	Workers     int    // 0: one for each processor
	MemoryLimit int64  // bytes, 0: what the machine has
	Seed        int64
	Poison      bool
	NoFusers    []string
	NoPasses    []string
	NoRules     []string
	PlanDir     string // "": plans are not kept
	NVRTC       string // file or folder, "": where the system has it
	KernelDir   string // "": in the user's cache directory, "off": compiled CUDA kernels are not kept
}

// Variable is one row of the table.
type Variable struct {
	Name    string
	Values  string // what may be written
	Default string
	Doc     string
	set     func(s *Settings, value string) error
}

var table = []Variable{
	{"SINTER_FUSION", "0, 1", "1", "0 runs every operation as a kernel of its own.",
		boolean(func(s *Settings) *bool { return &s.Fusion })},
	{"SINTER_NO_FUSERS", "names, with commas between", "", "Leaves out fusers; `irdump fusers` lists them.",
		func(s *Settings, v string) error { s.NoFusers = strings.Split(v, ","); return nil }},
	{"SINTER_NO_PASSES", "names, with commas between", "", "Leaves out passes that rewrite what was recorded; `irdump passes` lists them.",
		func(s *Settings, v string) error { s.NoPasses = strings.Split(v, ","); return nil }},
	{"SINTER_NO_RULES", "names, with commas between", "", "Switches off rules that keep apart what costs more fused; `irdump rules` lists them.",
		func(s *Settings, v string) error { s.NoRules = strings.Split(v, ","); return nil }},
	{"SINTER_GRAPHS", "0, 1", "1", "0 makes captured graphs run their closure again instead of replaying.",
		boolean(func(s *Settings) *bool { return &s.Graphs })},
	{"SINTER_TRACE", "file", "", "Records what is run to the file, for irdump.",
		func(s *Settings, v string) error { s.Trace = v; return nil }},
	{"SINTER_WORKERS", "1, 2, …", "", "How many threads a host device works with; by default one for each processor.",
		setWorkers},
	{"SINTER_MEMORY_LIMIT", "bytes, or with k, M, G", "", "The most memory a device takes; by default what the machine has.",
		setMemoryLimit},
	{"SINTER_SEED", "integer", "0", "Where random numbers start.", setSeed},
	{"SINTER_PLAN_DIR", "directory", "", "Keeps plans in the directory, so that a program that was run before explores nothing.",
		func(s *Settings, v string) error { s.PlanDir = v; return nil }},
	{"SINTER_NVRTC", "file or directory", "", "NVIDIA's run-time compiler, libnvrtc.so.12 or later, or the directory it lies in; by default what the system has.",
		func(s *Settings, v string) error { s.NVRTC = v; return nil }},
	{"SINTER_KERNEL_DIR", "directory, off", "", "Where compiled CUDA kernels are kept; by default `sinter/cuda` in the user's cache directory.",
		func(s *Settings, v string) error { s.KernelDir = v; return nil }},
	{"SINTER_POISON", "0, 1", "0", "1 fills freed and fresh memory with NaN patterns.",
		boolean(func(s *Settings) *bool { return &s.Poison })},
}

// Error says that a variable has a value it cannot have.
type Error struct {
	Name, Value, Want string
}

func (e *Error) Error() string {
	return fmt.Sprintf("environment variable %s=%q: want %s", e.Name, e.Value, e.Want)
}

// Read parses the environment. A variable set to the empty string counts as
// not set. Bad values keep the default and are reported together, each as an
// *Error.
func Read() (Settings, error) { return parse(os.Getenv) }

func parse(get func(name string) string) (Settings, error) {
	s := Settings{Fusion: true, Graphs: true}
	var errs []error
	for _, v := range table {
		value := get(v.Name)
		if value == "" {
			continue
		}
		if err := v.set(&s, value); err != nil {
			errs = append(errs, &Error{v.Name, value, v.Values})
		}
	}
	return s, errors.Join(errs...)
}

// Table returns the variables as a Markdown table, that of docs/ENVIRONMENT.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| variable | values | default | meaning |\n|---|---|---|---|\n")
	for _, v := range table {
		def := v.Default
		if def == "" {
			def = "not set"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", v.Name, v.Values, def, v.Doc)
	}
	return b.String()
}

var errBad = errors.New("bad value")

func boolean(field func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if v != "0" && v != "1" {
			return errBad
		}
		*field(s) = v == "1"
		return nil
	}
}

func setWorkers(s *Settings, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return errBad
	}
	s.Workers = n
	return nil
}

func setSeed(s *Settings, v string) error {
	n, err := strconv.ParseInt(v, 0, 64)
	if err != nil {
		return err
	}
	s.Seed = n
	return nil
}

func setMemoryLimit(s *Settings, v string) error {
	shift := 0
	switch {
	case strings.HasSuffix(v, "k"):
		shift = 10
	case strings.HasSuffix(v, "M"):
		shift = 20
	case strings.HasSuffix(v, "G"):
		shift = 30
	}
	n, err := strconv.ParseInt(strings.TrimRight(v, "kMG"), 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64>>shift || len(v)-len(strings.TrimRight(v, "kMG")) > 1 {
		return errBad
	}
	s.MemoryLimit = n << shift
	return nil
}
