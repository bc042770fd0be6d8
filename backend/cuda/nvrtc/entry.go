package nvrtc

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// key is the SHA-256 of all that an output depends on.
type key [sha256.Size]byte

// The form of a file: a header, the key, the SHA-256 of the rest, and the rest,
// which is a list of texts, each after its length. The header changes with the
// form, and every key with it.
const entryHeader = "sinter cuda 1\n"

const entryPrefix = len(entryHeader) + 2*sha256.Size

var errCorrupt = errors.New("corrupt")

// keyOf identifies an input, given with all its options, for a version of NVRTC.
// The source's name is part of it since it is in messages and line tables.
func keyOf(l *Library, in Input, options []string) key {
	var b []byte
	b = appendText(b, []byte(entryHeader))
	for _, n := range []int{l.major, l.minor, int(in.Kind), len(options), len(in.Names)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, list := range [][]string{options, in.Names, {in.Name, in.Source}} {
		for _, s := range list {
			b = appendText(b, []byte(s))
		}
	}
	return sha256.Sum256(b)
}

// file is the name of the output's file.
func (k key) file() string { return hex.EncodeToString(k[:]) + cacheSuffix }

func appendText(b, text []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// encode writes an output as a file.
func encode(k key, out *Output) []byte {
	b := make([]byte, entryPrefix, entryPrefix+len(out.PTX)+len(out.CUBIN)+len(out.Log)+64)
	copy(b, entryHeader)
	copy(b[len(entryHeader):], k[:])
	for _, text := range [][]byte{out.PTX, out.CUBIN, []byte(out.Log)} {
		b = appendText(b, text)
	}
	for _, name := range slices.Sorted(maps.Keys(out.Lowered)) {
		b = appendText(appendText(b, []byte(name)), []byte(out.Lowered[name]))
	}
	sum := sha256.Sum256(b[entryPrefix:])
	copy(b[entryPrefix-len(sum):], sum[:])
	return b
}

// decode reads what encode wrote. The error is errCorrupt for anything else.
func decode(k key, data []byte) (*Output, error) {
	corrupt := func(what string) (*Output, error) { return nil, fmt.Errorf("%w: %s", errCorrupt, what) }
	if len(data) < entryPrefix || string(data[:len(entryHeader)]) != entryHeader {
		return corrupt("no header of a kernel")
	}
	rest := data[entryPrefix:]
	sum := sha256.Sum256(rest)
	switch prefix := data[len(entryHeader):entryPrefix]; {
	case !bytes.Equal(prefix[:len(k)], k[:]):
		return corrupt("a kernel of another key")
	case !bytes.Equal(prefix[len(k):], sum[:]):
		return corrupt("the content has another hash")
	}
	var texts [][]byte
	for len(rest) > 0 {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return corrupt("a length beyond the end")
		}
		end := size + int(n)
		texts = append(texts, slices.Clip(rest[size:end]))
		rest = rest[end:]
	}
	if len(texts) < 3 || len(texts)%2 == 0 {
		return corrupt("parts are missing")
	}
	out := &Output{Log: string(texts[2])}
	for i, to := range []*[]byte{&out.PTX, &out.CUBIN} {
		if len(texts[i]) > 0 {
			*to = texts[i]
		}
	}
	for pair := range slices.Chunk(texts[3:], 2) {
		if out.Lowered == nil {
			out.Lowered = make(map[string]string)
		}
		out.Lowered[string(pair[0])] = string(pair[1])
	}
	return out, nil
}
