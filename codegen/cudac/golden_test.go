package cudac

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/kerneltest"
)

var update = flag.Bool("update", false, "write the golden files")

// withoutFunctions returns the source of a variant with the names of its device
// functions in place of their texts, which stand elsewhere in this package.
func withoutFunctions(t *testing.T, k *codegen.Kernel, v *Variant, target Target, l *codegen.Launch) string {
	t.Helper()
	s, err := Generate(k, v, target, l)
	require.NoError(t, err)
	g := &generator{k: k, v: v, t: target, l: bind(k, l)}
	templates[k.Template].write(g)
	require.Equal(t, s.Text, g.text(), "a source is the same whenever it is written")
	var names []string
	for _, n := range g.needs {
		if !strings.HasPrefix(n, vectorPrefix) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	g.needs = slices.DeleteFunc(g.needs, func(n string) bool { return slices.Contains(names, n) })
	text := g.text()
	if len(names) > 0 {
		header, rest, _ := strings.Cut(text, "\n\n")
		text = header + "\n// device functions: " + strings.Join(names, ", ") + "\n\n" + rest
	}
	return text
}

// The sources of the named kernels, in the first and the last variant that a
// launch may take, are those of the golden files: for sm_80, and for the other
// targets where they differ.
func TestGoldenSources(t *testing.T) {
	want := map[string]bool{}
	for _, c := range kerneltest.GoldenAt(kerneltest.Medium) {
		t.Run(c.Kernel.Name, func(t *testing.T) {
			var file strings.Builder
			var seen []string
			for _, target := range []Target{Ampere, Hopper, Blackwell} {
				list := Candidates(c.Kernel, c.Launch, target, false)
				for _, v := range slices.Compact([]*Variant{list[0], list[len(list)-1]}) {
					text := withoutFunctions(t, c.Kernel, v, target, c.Launch)
					if slices.Contains(seen, text) {
						continue
					}
					seen = append(seen, text)
					fmt.Fprintf(&file, "// ==== %s ====\n%s\n", target.Arch(), text)
				}
			}
			name := filepath.Join("testdata", c.Kernel.Name+".cu")
			want[c.Kernel.Name+".cu"] = true
			if *update {
				require.NoError(t, os.WriteFile(name, []byte(file.String()), 0o644))
				return
			}
			golden, err := os.ReadFile(name)
			require.NoError(t, err, "go test -update writes it")
			assert.Equal(t, string(golden), file.String(), "go test -update writes it anew")
		})
	}
	files, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, f := range files {
		assert.True(t, want[f.Name()], "no kernel is named as testdata/%s", f.Name())
	}
}
