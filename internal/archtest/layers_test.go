package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/sinter-ml/sinter"

// layer is a line of the table: packages of one height. A package may import
// those of higher lines, and of its own line only what lies under an internal
// directory (where Go limits who can).
type layer struct {
	paths   []string // below the module, as path.Match patterns; "." is the root
	notKnow string   // what the packages must not know, for the message
	only    []string // if not nil, the only project packages they may import
	never   []string // project packages of higher lines they must not import
	outside []string // modules they may import besides the standard library and x/sys
	testing bool     // for tests alone: no other package may import them
}

// layers is the order of the packages, from the highest line to the lowest.
var layers = []layer{
	{paths: []string{"ir"}, notKnow: "anything else of the project", only: []string{}},
	{paths: []string{"internal/race"}, notKnow: "anything else of the project", only: []string{}},
	{paths: []string{"internal/env"}, notKnow: "anything else of the project", only: []string{}},
	{paths: []string{"internal/cachedir"}, notKnow: "what files hold", only: []string{}},
	{paths: []string{"internal/cachedir/cachedirtest"}, notKnow: "what files hold", only: []string{"internal/cachedir"}, testing: true},
	{paths: []string{"internal/oracle", "internal/progen", "internal/livemodel"},
		notKnow: "how operations are fused or run", only: []string{"ir"}, testing: true},
	{paths: []string{"codegen"}, notKnow: "recorded operations, devices"},
	{paths: []string{"fuser"}, notKnow: "streams, devices"},
	{paths: []string{"optimize"}, notKnow: "which backend runs it"},
	{paths: []string{"codegen/kerneltest/precise"}, notKnow: "engines, kernels", only: []string{"ir"}, testing: true},
	{paths: []string{"codegen/kerneltest"}, notKnow: "any one engine, recorded operations", only: []string{"ir", "codegen"}, testing: true},
	{paths: []string{"codegen/interp", "codegen/cudac"}, notKnow: "the queue", never: []string{"fuser", "optimize"}},
	{paths: []string{"backend"}, notKnow: "any one backend, the queue", never: []string{"optimize", "codegen/interp"}},
	{paths: []string{"backend/backendtest"}, notKnow: "any one backend, the queue", testing: true},
	{paths: []string{"backend/cuda/ptx"}, notKnow: "kernels, devices, how PTX is run", only: []string{}},
	{paths: []string{"backend/cuda/nvrtc"}, notKnow: "kernels, devices", only: []string{"backend", "internal/cachedir", "internal/env"}, outside: []string{"github.com/ebitengine/purego"}},
	{paths: []string{"backend/cuda/nvrtc/nvrtctest"}, notKnow: "kernels, devices", only: []string{"backend/cuda/nvrtc", "internal/env"}, testing: true},
	{paths: []string{"backend/cuda/sim/exec/internal/num"}, notKnow: "PTX text, kernels, devices", only: []string{}},
	{paths: []string{"backend/cuda/sim/exec"}, notKnow: "kernels, streams, the driver",
		only: []string{"backend/cuda/ptx", "backend/cuda/sim/exec/internal/num"}},
	{paths: []string{"backend/cuda/sim/runner"}, notKnow: "streams, the driver, the queue", never: []string{"fuser", "optimize"}},
	{paths: []string{"backend/cpu", "backend/null"}, notKnow: "the queue, fusion", never: []string{"optimize"}},
	{paths: []string{"internal/cudatest"}, notKnow: "what programs do", testing: true},
	{paths: []string{"backend/fusion"}, notKnow: "the user API, any one backend", never: []string{"backend/cpu", "backend/null"}},
	{paths: []string{"internal/trace"}, notKnow: "the user API, how a trace is shown"},
	{paths: []string{"."}, notKnow: "graphs, models"},
	{paths: []string{"sintertest"}, notKnow: "graphs, models", testing: true},
	{paths: []string{"graphapi"}, notKnow: "models"},
	{paths: []string{"safetensors"}, notKnow: "tensors, devices, models", only: []string{"ir"}},
	{paths: []string{"nn"}, notKnow: "programs"},
	{paths: []string{"examples/*/data"}, notKnow: "anything else of the project", only: []string{}},
	{paths: []string{"examples/internal/*", "examples/*/internal/*"}, notKnow: "the program that uses them"},
	{paths: []string{"examples/embed/minilm"}, notKnow: "the program that uses it"},
	{paths: []string{"cmd/*", "cmd/*/internal/*", "bench", "bench/*", "examples/*"},
		notKnow: "one another", outside: []string{"github.com/alecthomas/kong"}},
	{paths: []string{"internal/gen/*", "*/internal/gen", "*/*/internal/gen", "backend/cuda/sim/exec/internal/gen"},
		notKnow: "other generators", outside: []string{"github.com/dave/jennifer"}},
	{paths: []string{"internal/traps", "internal/soak"}, notKnow: "nothing: they test the whole", testing: true},
	{paths: []string{"internal/torchcases"}, notKnow: "how operations are fused or run", testing: true},
	{paths: []string{"internal/archtest"}, notKnow: "anything else of the project", only: []string{}, testing: true},
}

var (
	outsideAlways  = []string{"golang.org/x/sys"}
	outsideInTests = []string{"github.com/stretchr/testify"}
)

// find returns the line of a package, -1 if there is none.
func find(layers []layer, pkg string) int {
	return slices.IndexFunc(layers, func(l layer) bool {
		return slices.ContainsFunc(l.paths, func(pattern string) bool {
			ok, _ := path.Match(pattern, pkg)
			return ok
		})
	})
}

// check returns what is wrong with the imports of a package, given by its path
// below the module and the imports of one file.
func check(layers []layer, pkg string, imports []string, test bool) []string {
	at := find(layers, pkg)
	if at < 0 {
		return []string{fmt.Sprintf("package %s has no line in the table of layers", pkg)}
	}
	me := layers[at]
	var out []string
	complain := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s (%s must not know: %s)", fmt.Sprintf(format, args...), pkg, me.notKnow))
	}
	for _, imported := range imports {
		below, project := within(imported, module)
		switch {
		case imported == "C":
			complain("uses cgo")
		case project && test:
			// A test may look down, for a differential check; what it must not
			// do is checked by the compiler, as an import cycle.
			if find(layers, below) < 0 {
				complain("imports %s, which has no line in the table of layers", below)
			}
		case project:
			to := find(layers, below)
			internal := strings.Contains("/"+below+"/", "/internal/")
			switch {
			case to < 0:
				complain("imports %s, which has no line in the table of layers", below)
			case to > at, to == at && !internal:
				complain("imports %s, which is not above it", below)
			case layers[to].testing && !me.testing:
				complain("imports %s, which is for tests", below)
			case me.only != nil && !slices.Contains(me.only, below):
				complain("imports %s, but may import only %v", below, me.only)
			case slices.Contains(me.never, below):
				complain("imports %s", below)
			}
		case strings.Contains(strings.Split(imported, "/")[0], "."):
			allowed := slices.Concat(outsideAlways, me.outside)
			if test || me.testing {
				allowed = append(allowed, outsideInTests...)
			}
			if !slices.ContainsFunc(allowed, func(m string) bool { _, ok := within(imported, m); return ok }) {
				complain("imports %s, which is from outside", imported)
			}
		}
	}
	return out
}

// within reports whether an import path is prefix or lies below it, and where;
// "." for prefix itself.
func within(imported, prefix string) (string, bool) {
	if imported == prefix {
		return ".", true
	}
	return strings.CutPrefix(imported, prefix+"/")
}

func TestImportsPointUp(t *testing.T) {
	files := goFiles(t)
	require.NotEmpty(t, files)
	for _, f := range files {
		for _, problem := range check(layers, f.pkg, f.imports, f.test) {
			t.Errorf("%s: %s", f.path, problem)
		}
	}
}

// The order that the layers must have, from the design.
func TestTableOrder(t *testing.T) {
	order := []string{
		"ir", "codegen", "fuser", "optimize", "codegen/interp", "backend", "backend/cpu", "backend/fusion", ".", "graphapi", "nn", "cmd/irdump",
	}
	for i := 1; i < len(order); i++ {
		assert.Less(t, find(layers, order[i-1]), find(layers, order[i]), "%s before %s", order[i-1], order[i])
	}
	assert.Equal(t, find(layers, "backend/cpu"), find(layers, "backend/null"))
	assert.Equal(t, find(layers, "cmd/irdump"), find(layers, "examples/embed"))
}

func TestCheckFindsViolations(t *testing.T) {
	in := func(below string) string { return module + "/" + below }
	tests := []struct {
		pkg, imported string
		test          bool
		want          string // "" if allowed
	}{
		{"ir", "strings", false, ""},
		{"ir", in("codegen"), false, "codegen, which is not above it"},
		{"ir", in("internal/env"), false, "not above it"},
		{"codegen", in("ir"), false, ""},
		{"codegen", in("backend"), false, "not above it"},
		{"fuser", in("backend/cpu"), false, "not above it"},
		{"optimize", in("backend"), false, "not above it"},
		{"optimize", in("codegen/interp"), false, "not above it"},
		{"optimize", in("codegen/interp"), true, ""},
		{"codegen/interp", in("optimize"), false, "imports optimize"},
		{"examples/internal/a", in("examples/internal/b"), false, ""},
		{"backend/cpu", in("backend/null"), false, "not above it"},
		{"backend/cpu", in("backend"), false, ""},
		{"backend/fusion", in("backend/cpu"), false, "imports backend/cpu"},
		{"backend/fusion", module, false, "imports ., which is not above it"},
		{".", in("backend/cpu"), false, ""},
		{".", in("graphapi"), false, "not above it"},
		{".", "golang.org/x/sys/cpu", false, ""},
		{".", "github.com/alecthomas/kong", false, "from outside"},
		{".", "golang.org/x/system", false, "from outside"},
		{".", "C", false, "cgo"},
		{".", "github.com/stretchr/testify/assert", false, "from outside"},
		{".", "github.com/stretchr/testify/assert", true, ""},
		{".", in("internal/oracle"), false, "which is for tests"},
		{".", in("internal/oracle"), true, ""},
		{"internal/oracle", in("codegen"), false, "not above it"},
		{"internal/progen", in("ir"), false, ""},
		{"internal/progen", in("internal/env"), false, "only [ir]"},
		{"internal/progen", in("internal/oracle"), false, "only [ir]"},
		{"graphapi", module, false, ""},
		{"safetensors", in("ir"), false, ""},
		{"safetensors", module, false, "only [ir]"},
		{"nn", in("safetensors"), false, ""},
		{"cmd/irdump", "github.com/alecthomas/kong", false, ""},
		{"cmd/irdump", in("examples/embed"), false, "not above it"},
		{"examples/embed", in("examples/internal/models"), false, ""},
		{"codegen/interp/internal/gen", "github.com/dave/jennifer/jen", false, ""},
		{"internal/gen/x", "github.com/dave/jennifer/jen", false, ""},
		{"codegen/interp", "github.com/dave/jennifer/jen", false, "from outside"},
		{"surprise", "fmt", false, "package surprise has no line"},
		{"nn", in("surprise"), false, "surprise, which has no line"},
		{"nn", in("surprise"), true, "surprise, which has no line"},
	}
	for _, tt := range tests {
		t.Run(tt.pkg+" "+tt.imported, func(t *testing.T) {
			got := strings.Join(check(layers, tt.pkg, []string{tt.imported}, tt.test), "\n")
			if tt.want == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, tt.want)
			}
		})
	}
}
