package nvrtc

import (
	"os"
	"path/filepath"
	"slices"
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
		slices.Reverse(found)
		out = append(out, found...)
	}
	return out
}
