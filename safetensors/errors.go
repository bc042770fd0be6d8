package safetensors

import (
	"fmt"
	"strings"
)

// Reason names the rule of the format that a file breaks.
type Reason string

// The reasons of a FormatError.
const (
	ReasonTruncated    Reason = "file ends inside its header or data"
	ReasonHeaderTooBig Reason = "header longer than 100 MB"
	ReasonHeaderStart  Reason = "header does not start with '{'"
	ReasonUTF8         Reason = "header is not valid UTF-8"
	ReasonJSON         Reason = "header is not valid JSON"
	ReasonField        Reason = "header field missing or of the wrong type"
	ReasonDuplicate    Reason = "name appears twice"
	ReasonReservedName Reason = "name is reserved"
	ReasonDType        Reason = "unknown dtype"
	ReasonShape        Reason = "dimension negative, not an integer or too large"
	ReasonOverflow     Reason = "shape takes more bytes than can be counted"
	ReasonOffsets      Reason = "data_offsets negative, not integers or reversed"
	ReasonOutOfBounds  Reason = "data_offsets lie beyond the end of the file"
	ReasonHole         Reason = "bytes that belong to no tensor"
	ReasonOverlap      Reason = "tensors overlap"
	ReasonSize         Reason = "byte count does not match shape and dtype"
	ReasonPartialByte  Reason = "elements do not fill whole bytes"
	ReasonBool         Reason = "bool byte is neither 0 nor 1"
)

// FormatError says which rule a file, or the arguments of Write, break.
type FormatError struct {
	Reason Reason
	Name   string // of the tensor or header key concerned, if any
	Offset int64  // from the start of the file, -1 if unknown
	Detail string // what was found, if it helps
}

// Error formats e as `safetensors: reason: detail (tensor "name", at byte 12)`.
func (e *FormatError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "safetensors: %s", e.Reason)
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	var at []string
	if e.Name != "" {
		at = append(at, fmt.Sprintf("%q", e.Name))
	}
	if e.Offset >= 0 {
		at = append(at, fmt.Sprintf("at byte %d", e.Offset))
	}
	if len(at) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(at, ", "))
	}
	return b.String()
}

// NotFoundError says that a file holds no tensor of this name.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("safetensors: no tensor %q", e.Name)
}

// UnsupportedDTypeError says that a tensor is in the file and well formed, but
// of a type that no tensor of this module has.
type UnsupportedDTypeError struct {
	Name  string
	DType DType
}

func (e *UnsupportedDTypeError) Error() string {
	return fmt.Sprintf("safetensors: tensor %q has dtype %s, which is not supported", e.Name, e.DType)
}
