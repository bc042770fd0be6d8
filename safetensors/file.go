package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

// Entry describes one tensor of a file.
type Entry struct {
	Name   string
	DType  DType
	Shape  ir.Shape
	Offset int64 // of the first byte, from the start of the file
	Size   int64 // in bytes
}

// File is a safetensors file whose header has been read and checked. Its
// methods may be called at the same time, except Close.
type File struct {
	r        io.ReaderAt
	closer   io.Closer
	entries  []Entry // by name
	metadata map[string]string
}

// Open opens and checks the file at path. The caller closes it.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	file, err := Read(f, st.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	file.closer = f
	return file, nil
}

// Parse checks a file held in memory, which must not change while the File is
// in use. Besides what the JSON must look like, the rules are: the header is at
// most 100 MB, starts with '{', is valid UTF-8 and names nothing twice; the
// tensors cover the data exactly, without hole, overlap or trailing byte; and
// each takes the bytes its shape and dtype ask for.
func Parse(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// Read checks a file of the given size behind r; the rules are those of
// [Parse]. Only the header is read now, the data when asked for.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if r == nil {
		return nil, &ir.ArgumentError{Msg: "reader is nil"}
	}
	text, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	dataStart := prefixSize + int64(len(text))
	entries, err := place(h.entries, dataStart, size)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return &File{r: r, entries: entries, metadata: h.metadata}, nil
}

// readHeader returns the JSON text. Its stated length is compared with the
// file's size before anything is allocated for it.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	if size < prefixSize {
		return nil, &FormatError{Reason: ReasonTruncated, Offset: max(size, 0), Detail: "no header length"}
	}
	var prefix [prefixSize]byte
	if err := readFull(r, prefix[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n > maxHeaderSize {
		return nil, &FormatError{Reason: ReasonHeaderTooBig, Offset: 0, Detail: fmt.Sprintf("%d bytes", n)}
	}
	if int64(n) > size-prefixSize {
		return nil, &FormatError{Reason: ReasonTruncated, Offset: size, Detail: fmt.Sprintf("header of %d bytes", n)}
	}
	text := make([]byte, n)
	return text, readFull(r, text, prefixSize)
}

// readFull fills b from offset off; a reader that ends early is a truncated
// file.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return &FormatError{Reason: ReasonTruncated, Offset: off + int64(n)}
	default:
		return fmt.Errorf("safetensors: %w", err)
	}
}

// place compares what the header states with the data: the entries, in the
// order of their offsets, must follow one another from the first byte of the
// data to the last.
func place(raw []rawEntry, dataStart, size int64) ([]Entry, error) {
	slices.SortFunc(raw, func(a, b rawEntry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	dataSize := uint64(size - dataStart)
	entries := make([]Entry, 0, len(raw))
	next := uint64(0)
	for _, e := range raw {
		fail := func(r Reason, format string, args ...any) error {
			return &FormatError{Reason: r, Name: e.Name, Offset: e.at, Detail: fmt.Sprintf(format, args...)}
		}
		if e.end > dataSize {
			return nil, fail(ReasonOutOfBounds, "end %d, data of %d bytes", e.end, dataSize)
		}
		if e.begin > next {
			return nil, fail(ReasonHole, "data bytes %d to %d", next, e.begin)
		}
		if e.begin < next {
			return nil, fail(ReasonOverlap, "data bytes %d to %d", e.begin, next)
		}
		want, reason := byteSize(e.DType, e.Shape)
		if reason != "" {
			return nil, fail(reason, "%s%v", e.DType, e.Shape)
		}
		if want != e.end-e.begin {
			return nil, fail(ReasonSize, "%s%v takes %d bytes, data_offsets give %d", e.DType, e.Shape, want, e.end-e.begin)
		}
		e.Offset = dataStart + int64(e.begin)
		e.Size = int64(want)
		entries = append(entries, e.Entry)
		next = e.end
	}
	if next != dataSize {
		return nil, &FormatError{Reason: ReasonHole, Offset: dataStart + int64(next), Detail: fmt.Sprintf("%d trailing bytes", dataSize-next)}
	}
	return entries, nil
}

// byteSize returns the bytes a tensor takes, or the rule its shape breaks. The
// nonzero lengths alone must not overflow, so that strides never do.
func byteSize(d DType, shape ir.Shape) (uint64, Reason) {
	n := dtypeInfo[d].bits
	empty := false
	for _, dim := range shape {
		if dim < 0 {
			return 0, ReasonShape
		}
		if dim == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(dim))
		if hi != 0 {
			return 0, ReasonOverflow
		}
		n = lo
	}
	if empty {
		return 0, ""
	}
	if n%8 != 0 {
		return 0, ReasonPartialByte
	}
	if n /= 8; n > math.MaxInt {
		return 0, ReasonOverflow
	}
	return n, ""
}

// Close closes the file that Open opened; for Parse and Read it does nothing.
func (f *File) Close() error {
	if f == nil || f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Metadata returns a copy of the header's "__metadata__", nil if it has none.
func (f *File) Metadata() map[string]string {
	if f == nil {
		return nil
	}
	return maps.Clone(f.metadata)
}

// sorted returns the entries by name, none of a file that is nil.
func (f *File) sorted() []Entry {
	if f == nil {
		return nil
	}
	return f.entries
}

// Names returns the names of the tensors, sorted.
func (f *File) Names() []string {
	names := make([]string, len(f.sorted()))
	for i, e := range f.sorted() {
		names[i] = e.Name
	}
	return names
}

// All yields every name and entry, sorted by name.
func (f *File) All() iter.Seq2[string, Entry] {
	return func(yield func(string, Entry) bool) {
		for _, e := range f.sorted() {
			if !yield(e.Name, e.clone()) {
				return
			}
		}
	}
}

// Entry returns the entry of the given name and whether there is one.
func (f *File) Entry(name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(f.sorted(), name, func(e Entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !ok {
		return Entry{}, false
	}
	return f.entries[i].clone(), true
}

func (e Entry) clone() Entry {
	e.Shape = e.Shape.Clone()
	return e
}

// Bytes reads one tensor: its element type, its shape and a fresh copy of its
// data, row-major, each element little-endian. It fails with *NotFoundError,
// with *UnsupportedDTypeError if no ir.DType has the same layout, with
// *FormatError if a bool is neither 0 nor 1 or the file has become shorter, and
// with the reader's own errors.
func (f *File) Bytes(name string) (ir.DType, ir.Shape, []byte, error) {
	e, ok := f.Entry(name)
	if !ok {
		return ir.Invalid, nil, nil, &NotFoundError{name}
	}
	dtype, ok := e.DType.IR()
	if !ok {
		return ir.Invalid, nil, nil, &UnsupportedDTypeError{Name: name, DType: e.DType}
	}
	data := make([]byte, e.Size)
	if err := readFull(f.r, data, e.Offset); err != nil {
		return ir.Invalid, nil, nil, err
	}
	if dtype == ir.Bool {
		if i := slices.IndexFunc(data, func(b byte) bool { return b > 1 }); i >= 0 {
			return ir.Invalid, nil, nil, &FormatError{
				Reason: ReasonBool, Name: name, Offset: e.Offset + int64(i), Detail: fmt.Sprint(data[i]),
			}
		}
	}
	return dtype, e.Shape, data, nil
}
