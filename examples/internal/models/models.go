// Package models finds the published models that the examples and their tests
// use. scripts/models.sh fetches them; they are not part of the repository.
package models

import (
	"fmt"
	"os"
	"path/filepath"
)

// MiniLM is the folder of the sentence-embedding model under models/.
const MiniLM = "all-MiniLM-L6-v2"

// Find returns the folder of the MiniLM model: models/all-MiniLM-L6-v2 beside
// the nearest go.mod, upwards from the working directory.
func Find() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return find(at)
}

func find(at string) (string, error) {
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("models: no go.mod in or above the working directory")
		}
		at = up
	}
	dir := filepath.Join(at, "models", MiniLM)
	// The script moves the weights last, so their presence means that all is there.
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err != nil {
		return "", fmt.Errorf("models: %s is not there; scripts/models.sh fetches it: %w", MiniLM, err)
	}
	return dir, nil
}

// Skipper is the part of testing.TB that Dir needs.
type Skipper interface {
	Helper()
	Skipf(format string, args ...any)
}

// Dir returns the folder of the MiniLM model, or skips the test with the reason.
func Dir(t Skipper) string {
	t.Helper()
	dir, err := Find()
	if err != nil {
		t.Skipf("%v", err)
	}
	return dir
}
