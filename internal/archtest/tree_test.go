package archtest

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const maxLines = 400

// root is the module's directory, seen from this package.
var root = filepath.Join("..", "..")

// files returns the paths of the tree's files below the root, with slashes;
// what .gitignore names is left out.
func files(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		switch {
		case d.IsDir() && (below == ".git" || below == ".nvrtc" || below == "models" || below == "dist" || d.Name() == "__pycache__"):
			return filepath.SkipDir
		case !d.Type().IsRegular():
		case strings.HasSuffix(below, ".test"), strings.HasSuffix(below, ".prof"), strings.HasSuffix(below, ".out"):
		default:
			out = append(out, below)
		}
		return nil
	})
	require.NoError(t, err)
	return out
}

func read(t *testing.T, below string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(below)))
	require.NoError(t, err)
	return b
}

// goFile is a Go file, whatever its build constraints.
type goFile struct {
	path    string
	pkg     string // its directory below the module, "." for the root
	imports []string
	test    bool
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, below := range files(t) {
		if path.Ext(below) != ".go" || strings.Contains("/"+below, "/testdata/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), below, read(t, below), parser.ImportsOnly)
		require.NoError(t, err)
		f := goFile{path: below, pkg: path.Dir(below), test: strings.HasSuffix(below, "_test.go")}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			f.imports = append(f.imports, imported)
		}
		out = append(out, f)
	}
	return out
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || strings.HasPrefix(path.Base(f.path), "gen_") {
			continue
		}
		lines := bytes.Count(read(t, f.path), []byte("\n"))
		assert.LessOrEqual(t, lines, maxLines, "%s: split it, one idea a file", f.path)
	}
}

// unwanted is put together from pieces, so that this file does not hold the
// words itself: leftovers of how the work was done, of where, and of work not
// done.
var unwanted = regexp.MustCompile(strings.Join([]string{
	`(?i:\b(` + "ses" + `sions?|` + "hel" + `pers?|` + "age" + `nts?)\b)`,
	`(?i:\bissue` + `s?[ /]*#?[0-9])`,
	`(?i:\bissue` + ` #)`,
	"/wo" + `rk/`,
	`\.lib` + `rary\b`,
	`\bTO` + `DO\b|\bFIX` + `ME\b`,
	`proxy\.gol` + `ang|pypi\.o` + `rg|pythonho` + `sted|registry\.npm` + `js`,
}, "|"))

// findUnwanted returns the first unwanted word of a text, "" if there is none.
// The method that marks a test function's own failures is not one.
func findUnwanted(text string) string {
	return unwanted.FindString(strings.ReplaceAll(text, "Helper()", ""))
}

func TestUnwantedWords(t *testing.T) {
	for _, below := range files(t) {
		b := read(t, below)
		if !utf8.Valid(b) {
			continue
		}
		for i, line := range strings.Split(string(b), "\n") {
			if word := findUnwanted(line); word != "" {
				t.Errorf("%s:%d: %q does not belong in the tree", below, i+1, word)
			}
		}
	}
}

func TestFindUnwanted(t *testing.T) {
	for _, bad := range []string{
		"a ses" + "sion", "Hel" + "pers", "an age" + "nt.", "see issue" + " #12", "issue" + " 12", "issues/" + "7",
		"/wo" + "rk/x", "../.lib" + "rary", "// TO" + "DO: x", "https://pypi.o" + "rg/x",
	} {
		assert.NotEmpty(t, findUnwanted(bad), bad)
	}
	for _, good := range []string{"t.Helper()", "obsession", "reagent", "an issue of style", "network/", "mylibrary", "todo"} {
		assert.Empty(t, findUnwanted(good), good)
	}
}
