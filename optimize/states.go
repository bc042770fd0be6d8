package optimize

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The written form of states: magic and version, then for each state its hash,
// its length, the SHA-256 of both and of what follows, and what encode made.
var stateMagic = [8]byte{'S', 'i', 'n', 't', 'e', 'r', 'P', 1}

const entryHead = 8 + 4 + sha256.Size

// StateFault is what is wrong with written states.
type StateFault string

// The faults.
const (
	StateForeign   StateFault = "foreign"   // something else, or written by another program, version or device
	StateCorrupt   StateFault = "corrupt"   // not what was written
	StateTruncated StateFault = "truncated" // the end is missing
)

// StateError says why written states were not taken.
type StateError struct {
	Fault StateFault
	Err   error // nil: nothing more is known
}

func (e *StateError) Error() string {
	s := "saved plans are " + string(e.Fault)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *StateError) Unwrap() error { return e.Err }

// savedState is a state as it is written.
type savedState struct {
	hash uint64
	data []byte
}

func (e *savedState) sum() [sha256.Size]byte {
	h := sha256.New()
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], e.hash)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(e.data)))
	h.Write(head[:])
	h.Write(e.data)
	return [sha256.Size]byte(h.Sum(nil))
}

// writeEntries writes states in their written form.
func writeEntries(w io.Writer, v Version, entries []savedState) error {
	if _, err := w.Write(append(stateMagic[:], v[:]...)); err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		sum := e.sum()
		head := make([]byte, 0, entryHead)
		head = binary.LittleEndian.AppendUint64(head, e.hash)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(e.data)))
		head = append(head, sum[:]...)
		if _, err := w.Write(head); err != nil {
			return err
		}
		if _, err := w.Write(e.data); err != nil {
			return err
		}
	}
	return nil
}

// readEntries reads states in their written form, up to the first fault, a
// *StateError; other errors are the reader's.
func readEntries(r io.Reader, v Version) ([]savedState, error) {
	var head [len(stateMagic) + len(v)]byte
	if err := readFull(r, head[:]); err != nil {
		return nil, err
	}
	if !bytes.Equal(head[:len(stateMagic)], stateMagic[:]) {
		return nil, &StateError{Fault: StateForeign}
	}
	if !bytes.Equal(head[len(stateMagic):], v[:]) {
		return nil, &StateError{StateForeign, errors.New("another program, version, device or options wrote them")}
	}
	var out []savedState
	for {
		var h [entryHead]byte
		switch n, err := io.ReadFull(r, h[:]); {
		case n == 0 && err == io.EOF:
			return out, nil
		case err == io.ErrUnexpectedEOF:
			return out, &StateError{Fault: StateTruncated}
		case err != nil:
			return out, err
		}
		n := binary.LittleEndian.Uint32(h[8:])
		if n > maxState {
			return out, &StateError{StateCorrupt, fmt.Errorf("a plan of %d bytes", n)}
		}
		e := savedState{hash: binary.LittleEndian.Uint64(h[:])}
		var body bytes.Buffer // grows as bytes come: the length may lie
		switch m, err := io.Copy(&body, io.LimitReader(r, int64(n))); {
		case err != nil:
			return out, err
		case m < int64(n):
			return out, &StateError{Fault: StateTruncated}
		}
		e.data = body.Bytes()
		if sum := e.sum(); !bytes.Equal(sum[:], h[12:]) {
			return out, &StateError{StateCorrupt, errors.New("a checksum differs")}
		}
		out = append(out, e)
	}
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &StateError{Fault: StateTruncated}
	}
	return err
}
