package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/sinter-ml/sinter/ir"
)

const (
	prefixSize    = 8           // of the header's length
	maxHeaderSize = 100_000_000 // the reference implementation's limit
	metadataKey   = "__metadata__"
)

// rawEntry is an entry as the header states it, not yet compared with the data.
type rawEntry struct {
	Entry
	begin, end uint64
	at         int64 // of the entry in the file
}

// header is what the JSON of a file says.
type header struct {
	entries  []rawEntry
	metadata map[string]string
}

// parseHeader reads the JSON text of a header. It checks everything that can
// be checked without knowing how long the data is.
func parseHeader(text []byte) (*header, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, &FormatError{Reason: ReasonHeaderStart, Offset: prefixSize}
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, &FormatError{Reason: ReasonUTF8, Offset: prefixSize + int64(i)}
	}
	if err := json.Unmarshal(text, new(skipped)); err != nil {
		e := &FormatError{Reason: ReasonJSON, Offset: -1, Detail: err.Error()}
		if s, ok := err.(*json.SyntaxError); ok {
			e.Offset = prefixSize + s.Offset
		}
		return nil, e
	}
	p := &headerParser{dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	h := &header{}
	err := p.object("", func(name string) error {
		if name == metadataKey {
			return p.metadata(h)
		}
		e, err := p.entry(name)
		h.entries = append(h.entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// skipped accepts any JSON value and keeps nothing of it: decoding into it
// checks the syntax, which the token reader below may then rely on.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

// invalidUTF8 returns where text first is not UTF-8, or escapes half of a
// surrogate pair, which no UTF-8 string can hold; -1 if nowhere. (A decoder
// would replace both by U+FFFD and so could make two names equal.)
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return i
		case r == '\\' && surrogate(text[i:]) == 0xd800:
			if surrogate(text[i+6:]) != 0xdc00 {
				return i
			}
			n = 12
		case r == '\\' && surrogate(text[i:]) == 0xdc00:
			return i
		case r == '\\' && i+1 < len(text) && text[i+1] < utf8.RuneSelf:
			n = 2
		}
		i += n
	}
	return -1
}

// surrogate returns 0xd800 or 0xdc00 if b starts with the escape of a high or
// a low surrogate, else 0.
func surrogate(b []byte) uint64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	u, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil || u < 0xd800 || u > 0xdfff {
		return 0
	}
	return u &^ 0x3ff
}

// headerParser walks the tokens of a header already known to be valid JSON.
type headerParser struct{ dec *json.Decoder }

// token returns the next token; in valid JSON there is always one.
func (p *headerParser) token() json.Token {
	t, err := p.dec.Token()
	if err != nil {
		panic("safetensors: token of checked JSON: " + err.Error())
	}
	return t
}

func (p *headerParser) offset() int64 { return prefixSize + p.dec.InputOffset() }

func (p *headerParser) fail(r Reason, name, format string, args ...any) error {
	return &FormatError{Reason: r, Name: name, Offset: p.offset(), Detail: fmt.Sprintf(format, args...)}
}

// object reads an object, calling member after each key to read its value. A
// key that appears twice is an error; name is for messages.
func (p *headerParser) object(name string, member func(key string) error) error {
	if t := p.token(); t != json.Delim('{') {
		return p.fail(ReasonField, name, "found %v, want an object", t)
	}
	seen := map[string]struct{}{}
	for p.dec.More() {
		key := p.token().(string)
		if _, dup := seen[key]; dup {
			return p.fail(ReasonDuplicate, key, "")
		}
		seen[key] = struct{}{}
		if err := member(key); err != nil {
			return err
		}
	}
	p.token()
	return nil
}

func (p *headerParser) metadata(h *header) error {
	h.metadata = map[string]string{}
	return p.object(metadataKey, func(key string) error {
		v, ok := p.token().(string)
		if !ok {
			return p.fail(ReasonField, metadataKey, "value of %q is not a string", key)
		}
		h.metadata[key] = v
		return nil
	})
}

// entry reads one tensor's description. Keys it does not know are skipped, as
// the reference implementation does.
func (p *headerParser) entry(name string) (rawEntry, error) {
	e := rawEntry{Entry: Entry{Name: name}, at: p.offset()}
	var hasShape, hasOffsets bool
	err := p.object(name, func(key string) error {
		switch key {
		case "dtype":
			s, ok := p.token().(string)
			if !ok {
				return p.fail(ReasonField, name, "dtype is not a string")
			}
			if e.DType, ok = parseDType(s); !ok {
				return p.fail(ReasonDType, name, "%q", s)
			}
		case "shape":
			hasShape = true
			e.Shape = ir.Shape{}
			return p.integers(name, key, ReasonShape, func(u uint64) bool {
				e.Shape = append(e.Shape, int(u))
				return u <= math.MaxInt
			})
		case "data_offsets":
			hasOffsets = true
			var pair []uint64
			err := p.integers(name, key, ReasonOffsets, func(u uint64) bool {
				pair = append(pair, u)
				return len(pair) <= 2
			})
			if err != nil {
				return err
			}
			if len(pair) != 2 || pair[0] > pair[1] {
				return p.fail(ReasonOffsets, name, "%d", pair)
			}
			e.begin, e.end = pair[0], pair[1]
		default:
			if err := p.dec.Decode(new(skipped)); err != nil {
				return p.fail(ReasonJSON, name, "%v", err)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return e, err
	case e.DType == 0:
		return e, p.fail(ReasonField, name, "no dtype")
	case !hasShape:
		return e, p.fail(ReasonField, name, "no shape")
	case !hasOffsets:
		return e, p.fail(ReasonField, name, "no data_offsets")
	}
	return e, nil
}

// integers reads an array of unsigned integers into add, which says whether it
// takes one; anything else in the array is an error with reason r.
func (p *headerParser) integers(name, key string, r Reason, add func(uint64) bool) error {
	if t := p.token(); t != json.Delim('[') {
		return p.fail(ReasonField, name, "%s is not an array", key)
	}
	for p.dec.More() {
		t := p.token()
		n, ok := t.(json.Number)
		if !ok {
			return p.fail(r, name, "%s holds %v", key, t)
		}
		u, err := strconv.ParseUint(string(n), 10, 64)
		if err != nil || !add(u) {
			return p.fail(r, name, "%s holds %s", key, n)
		}
	}
	p.token()
	return nil
}
