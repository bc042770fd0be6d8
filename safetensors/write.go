package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/sinter-ml/sinter/ir"
)

// Tensor is what Write stores under a name: row-major data, each element
// little-endian.
type Tensor struct {
	DType ir.DType
	Shape ir.Shape
	Data  []byte
}

// Write writes a file that holds the tensors and, if not nil, the metadata. As
// in the reference implementation the data is ordered by dtype, widest first,
// then by name, and the header is padded with spaces so that the data starts at
// a multiple of 8: every tensor is aligned to its element. The same arguments
// give the same bytes. A tensor that no reader would take is a *FormatError and
// nothing is written.
func Write(w io.Writer, tensors map[string]Tensor, metadata map[string]string) error {
	if w == nil {
		return &ir.ArgumentError{Msg: "writer is nil"}
	}
	order, err := layout(tensors)
	if err != nil {
		return err
	}
	text, err := headerText(order, metadata)
	if err != nil {
		return err
	}
	prefix := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	if _, err := w.Write(append(prefix, text...)); err != nil {
		return err
	}
	for _, e := range order {
		if _, err := w.Write(tensors[e.Name].Data); err != nil {
			return err
		}
	}
	return nil
}

// layout checks the tensors and returns their entries in file order, offsets
// counted from the start of the data.
func layout(tensors map[string]Tensor) ([]Entry, error) {
	order := make([]Entry, 0, len(tensors))
	for name, t := range tensors {
		fail := func(r Reason, format string, args ...any) error {
			return &FormatError{Reason: r, Name: name, Offset: -1, Detail: fmt.Sprintf(format, args...)}
		}
		if name == metadataKey {
			return nil, fail(ReasonReservedName, "")
		}
		if !utf8.ValidString(name) {
			return nil, fail(ReasonUTF8, "")
		}
		d, ok := fromIR(t.DType)
		if !ok {
			return nil, fail(ReasonDType, "%s", t.DType)
		}
		size, reason := byteSize(d, t.Shape)
		if reason != "" {
			return nil, fail(reason, "%s%v", d, t.Shape)
		}
		if size != uint64(len(t.Data)) {
			return nil, fail(ReasonSize, "%s%v takes %d bytes, not %d", d, t.Shape, size, len(t.Data))
		}
		order = append(order, Entry{Name: name, DType: d, Shape: t.Shape, Size: int64(size)})
	}
	slices.SortFunc(order, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.DType, a.DType), cmp.Compare(a.Name, b.Name))
	})
	next := int64(0)
	for i := range order {
		order[i].Offset = next
		next += order[i].Size
	}
	return order, nil
}

// headerText returns the padded JSON of the header. It is put together member
// by member because the order of the tensors is that of their data.
func headerText(order []Entry, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	member := func(key string, value any) error {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := appendJSON(&b, key); err != nil {
			return err
		}
		b.WriteByte(':')
		return appendJSON(&b, value)
	}
	if metadata != nil {
		for k, v := range metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, &FormatError{Reason: ReasonUTF8, Name: metadataKey, Offset: -1, Detail: fmt.Sprintf("%q", k)}
			}
		}
		if err := member(metadataKey, metadata); err != nil {
			return nil, err
		}
	}
	for _, e := range order {
		shape := e.Shape
		if shape == nil {
			shape = ir.Shape{}
		}
		err := member(e.Name, struct {
			DType   string   `json:"dtype"`
			Shape   ir.Shape `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{e.DType.String(), shape, [2]int64{e.Offset, e.Offset + e.Size}})
		if err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > maxHeaderSize {
		return nil, &FormatError{Reason: ReasonHeaderTooBig, Offset: -1, Detail: fmt.Sprintf("%d bytes", b.Len())}
	}
	return b.Bytes(), nil
}

// appendJSON writes v without the escapes meant for HTML and without the line
// end that json.Encoder adds.
func appendJSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}
