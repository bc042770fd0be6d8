package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var code = regexp.MustCompile("`([^`]+)`")

// documented returns the directories, as path.Match patterns, in the first
// column of the table of packages in a document.
func documented(text string) []string {
	_, table, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n| package |")
	table, _, _ = strings.Cut(table, "\n\n")
	var patterns []string
	for _, line := range strings.Split(table, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				patterns = append(patterns, m[1])
			}
		}
	}
	return patterns
}

// matches reports whether a pattern stands for a directory.
func matches(pattern, dir string) bool {
	ok, _ := path.Match(pattern, dir)
	return ok
}

// Every directory with Go files has a row in the document, and every row has
// such directories.
func TestDocumentNamesEveryPackage(t *testing.T) {
	patterns := documented(string(read(t, "docs/ARCHITECTURE.md")))
	require.NotEmpty(t, patterns)
	var dirs []string
	for _, f := range goFiles(t) {
		if !slices.Contains(dirs, f.pkg) {
			dirs = append(dirs, f.pkg)
		}
	}
	for _, dir := range dirs {
		assert.True(t, slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) }),
			"%s has no row in the table of docs/ARCHITECTURE.md", dir)
	}
	for _, p := range patterns {
		assert.True(t, slices.ContainsFunc(dirs, func(dir string) bool { return matches(p, dir) }),
			"docs/ARCHITECTURE.md names %s, which holds no Go files", p)
	}
}

func TestDocumented(t *testing.T) {
	text := "`no`\n\n| package | what |\n|---|---|\n| `ir`, `a/*` and `.` | not `b` |\n| none | |\n\n| `c` | |\n"
	assert.Equal(t, []string{"ir", "a/*", "."}, documented(text))
	assert.Empty(t, documented("no table"))
	assert.True(t, matches("a/*", "a/b"))
	assert.False(t, matches("a/*", "a/b/c"))
	assert.False(t, matches("a", "a/b"))
}
