package kerneltest

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed testdata/*.txt
var keptTexts embed.FS

// Kept returns the cases that are kept as text in testdata, in the order of their
// names: small ones on which engines went wrong or easily do, with special values
// in memory. A case that fails and was made small (Shrink, Text) belongs there.
func Kept() ([]Case, error) {
	names, err := fs.Glob(keptTexts, "testdata/*.txt")
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, name := range names {
		text, err := keptTexts.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c, err := Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, c)
	}
	return out, nil
}
