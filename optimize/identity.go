package optimize

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
)

// identityHead is how much of an executable holds the build ID its linker
// wrote, a hash of all that went into it. The go command relies on half of it.
const identityHead = 64 << 10

// programIdentity returns a hash that differs between programs of different
// code. It is worked out once.
var programIdentity = sync.OnceValues(func() ([]byte, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the program cannot be told apart from others: %w", err)
	}
	return fileIdentity(path)
})

// fileIdentity hashes the head of an executable if the build ID is in it, else
// all of it.
func fileIdentity(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the program cannot be told apart from others: %w", err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, identityHead))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write(head)
	if !hasBuildID(head) {
		if _, err := io.Copy(h, f); err != nil {
			return nil, err
		}
	}
	return h.Sum(nil), nil
}

// hasBuildID reports whether the head of an executable holds a Go build ID: as
// an ELF note of type 4 by "Go", or marked at the start of the code.
func hasBuildID(head []byte) bool {
	if _, after, ok := bytes.Cut(head, []byte("\xff Go build ID: \"")); ok {
		return !bytes.HasPrefix(after, []byte("\""))
	}
	note := []byte("\x04\x00\x00\x00Go\x00\x00")
	at := bytes.Index(head, note)
	return at >= 0 && len(head) > at+len(note) && head[at+len(note)] > ' '
}
