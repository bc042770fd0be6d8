package cudac

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// deviceFunc is CUDA C++ text that kernels may call: a function, a struct or a
// table, with a comment that says what it is. A source holds it once, after what
// it needs.
type deviceFunc struct {
	name  string
	needs []string
	text  string
}

//go:embed device/*.cu
var deviceFiles embed.FS

var (
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	// declared matches the name in the first line of a declaration.
	declared = regexp.MustCompile(`(?m)^(?:struct (\w+) |(?:__device__|template).*?(\w+)[(\[]|T (\w+)\()`)
)

// library holds every device function by name. What a function needs are the
// names of others in its text.
//
// No function uses an instruction that is approximate on hardware, so that each
// has the same bits on every device, and the same as where its PTX is interpreted.
// Minimax polynomials were fitted in 200 bits by least squares on Chebyshev nodes,
// reweighted until the greatest error no longer fell (Lawson, "Contributions to the
// theory of linear least maximum approximation", 1961); their coefficients were
// rounded one after another from the lowest power on, the rest being fitted again.
// The comments say how far, relative to the function, the rounded polynomial is off.
var library = sync.OnceValue(func() map[string]deviceFunc {
	all := map[string]deviceFunc{}
	files, err := deviceFiles.ReadDir("device")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := deviceFiles.ReadFile("device/" + file.Name())
		if err != nil {
			panic(err)
		}
		for chunk := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
			name := declaredName(chunk)
			if _, twice := all[name]; name == "" || twice {
				panic(fmt.Sprintf("%s: %q declared in\n%s", file.Name(), name, chunk))
			}
			all[name] = deviceFunc{name: name, text: chunk + "\n"}
		}
	}
	for name, f := range all {
		for _, id := range identifier.FindAllString(code(f.text), -1) {
			if _, ok := all[id]; ok && id != name && !slices.Contains(f.needs, id) {
				f.needs = append(f.needs, id)
			}
		}
		all[name] = f
	}
	return all
})

// declaredName returns the name a piece of text declares.
func declaredName(text string) string {
	for line := range strings.Lines(code(text)) {
		if m := declared.FindStringSubmatch(line); m != nil {
			return m[1] + m[2] + m[3]
		}
	}
	return ""
}

// code returns text without its comments.
func code(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		b.WriteString(strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// resolve returns the named device functions and all they need, each once and
// after what it needs itself. The order depends on that of the names alone.
func resolve(names []string) []deviceFunc {
	var out []deviceFunc
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		f, ok := library()[name]
		if !ok {
			panic("cudac: no device function " + name)
		}
		for _, n := range f.needs {
			visit(n)
		}
		out = append(out, f)
	}
	for _, name := range names {
		visit(name)
	}
	return out
}
