package nvrtc

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// namesAt are the names to try for what is said to be the library's file or
// folder.
func namesAt(path string) []string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}
	}
	return within(path)
}

// within are the names to try in a folder: those that are there, or the first one
// that would be.
func within(folder string) []string {
	var out []string
	for _, name := range sharedNames {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	if len(out) == 0 {
		out = []string{filepath.Join(folder, sharedNames[0])}
	}
	return out
}

// systemNames are the names to try where nobody said where the library is.
func systemNames() []string {
	out := slices.Clone(sharedNames)
	for _, folder := range matching(usualFolders) {
		out = append(out, within(folder)...)
	}
	return out
}

// matching are the folders that match the patterns, in the patterns' order and
// the last by name, which is the newest version, first.
func matching(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the patterns are well formed
		slices.SortFunc(found, func(a, b string) int { return byNumbers(b, a) })
		out = append(out, found...)
	}
	return out
}

// byNumbers compares names so that 12.10 comes after 12.9: runs of digits by their
// length first.
func byNumbers(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == 0 || y == 0 {
			x, y = 1, 1
		}
		if c := cmp.Or(x-y, strings.Compare(a[:x], b[:y])); c != 0 {
			return c
		}
		a, b = a[x:], b[y:]
	}
	return len(a) - len(b)
}

// digits returns how many digits a string begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
