package traps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..")

// named finds the tests a document names: an optional package, then a test.
var named = regexp.MustCompile("(?:`([a-z/]+)` )?`(Test[^`]*)`")

// testsOf returns the tests a package declares.
func testsOf(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	require.NoError(t, err)
	out := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				out[f.Name.Name] = true
			}
		}
	}
	return out
}

// The table names tests that exist, and all of this package's.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "TRAPS.md"))
	require.NoError(t, err)
	own := testsOf(t, "internal/traps")
	delete(own, "TestDocument")
	programs := map[string]bool{}
	for table, traps := range map[string][]trap{"TestFusionTraps/": fusionTraps, "TestNumberTraps/": numberTraps, "TestWidthTraps/": widthTraps} {
		for _, x := range traps {
			programs[table+x.name] = true
		}
		delete(own, strings.TrimSuffix(table, "/"))
	}
	seen := map[string]bool{}
	others := map[string]map[string]bool{}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		pkg, name := m[1], m[2]
		switch {
		case name == "Test…" || name == "Test…/name":
		case pkg == "":
			require.True(t, own[name] || programs[name], "there is no %s", name)
			seen[name] = true
		default:
			if others[pkg] == nil {
				others[pkg] = testsOf(t, pkg)
			}
			require.True(t, others[pkg][name], "there is no %s in %s", name, pkg)
		}
	}
	for name := range own {
		require.True(t, seen[name], "%s is not in the table", name)
	}
	for name := range programs {
		require.True(t, seen[name], "%s is not in the table", name)
	}
}
