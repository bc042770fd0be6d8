package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
)

// document is what was read: the segments of a trace, or a program planned as
// one segment.
type document struct {
	profile  trace.Profile
	header   *trace.Header // of a trace
	devices  []trace.Header
	complete bool
	segments []trace.Traced
	counters []map[string]int64 // of each device of a trace
	planned  *inMemory          // of a program
}

// load reads the input. A program is planned unless how is nil.
func (in *source) load(s *streams, how *planning) (*document, error) {
	data, err := in.read(s)
	if err != nil {
		return nil, err
	}
	doc, err := in.parse(s, data, how)
	var usage *usageError
	if err != nil && !errors.As(err, &usage) {
		return nil, fmt.Errorf("%s: %w", in.name(), err)
	}
	return doc, err
}

func (in *source) read(s *streams) ([]byte, error) {
	if in.File == "-" {
		return io.ReadAll(s.in)
	}
	return os.ReadFile(in.File)
}

// name is what messages call the input.
func (in *source) name() string {
	if in.File == "-" {
		return "standard input"
	}
	return in.File
}

func (in *source) parse(s *streams, data []byte, how *planning) (*document, error) {
	var p *ir.Program
	var err error
	if isJSON(data) {
		var first struct {
			Version string `json:"version"`
		}
		// What is wrong with the first value is said by whoever reads it.
		_ = json.NewDecoder(bytes.NewReader(data)).Decode(&first)
		if first.Version == trace.Version {
			return in.trace(data, how)
		}
		p, err = parseJSON(data)
	} else {
		p, err = ir.ParseProgram(string(data))
	}
	switch {
	case err != nil:
		return nil, err
	case in.Segment < 0, in.Segment > 1:
		return nil, fmt.Errorf("there is no segment %d: a program is one", in.Segment)
	case how != nil:
		return how.plan(s, p)
	}
	return &document{segments: []trace.Traced{{ID: 1, Segment: &trace.Segment{Program: p}}}}, nil
}

// isJSON tells JSON from the text form of a program, which never begins with
// a brace.
func isJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

func (in *source) trace(data []byte, how *planning) (*document, error) {
	if how != nil && (how.Keep || how.Force || how.NoFusion || len(how.NoFuser)+len(how.NoPass)+len(how.NoRule) > 0) {
		return nil, &usageError{"a trace is shown as it was planned: -keep, -force, -no-fusion, -no-fuser, -no-pass and -no-rule are for programs"}
	}
	t, err := trace.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	doc := &document{profile: t.Header.Profile, header: &t.Header, devices: t.Devices, complete: t.Complete, segments: t.Segments, counters: t.Counters}
	if in.Segment == 0 {
		return doc, nil
	}
	for _, s := range t.Segments {
		if s.ID == in.Segment {
			doc.segments = []trace.Traced{s}
			return doc, nil
		}
	}
	return nil, fmt.Errorf("there is no segment %d, only %d", in.Segment, len(t.Segments))
}

// placedError is an error with its place in the input.
type placedError struct {
	line, col int
	err       error
}

func (e *placedError) Error() string { return fmt.Sprintf("%d:%d: %v", e.line, e.col, e.err) }
func (e *placedError) Unwrap() error { return e.err }

// parseJSON reads the JSON form of a program and says where it is wrong.
func parseJSON(data []byte) (*ir.Program, error) {
	p := new(ir.Program)
	err := p.UnmarshalJSON(data)
	if err == nil {
		return p, nil
	}
	offset := 0
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	var program *ir.ProgramError
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset) - 1
	case errors.As(err, &mistyped):
		offset = int(mistyped.Offset) - 1
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = len(data)
	case errors.As(err, &program) && program.Op >= 0:
		offset = operationOffset(data, program.Op)
	}
	before := data[:max(0, min(offset, len(data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	col := len(before) - bytes.LastIndexByte(before, '\n')
	return nil, &placedError{line, col, err}
}

// operationOffset returns where an operation of the JSON form of a program
// begins, 0 if it is not found.
func operationOffset(data []byte, op int) int {
	d := json.NewDecoder(bytes.NewReader(data))
	var skip json.RawMessage
	if _, err := d.Token(); err != nil {
		return 0
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0
		}
		if key != "operations" {
			if d.Decode(&skip) != nil {
				return 0
			}
			continue
		}
		if _, err := d.Token(); err != nil {
			return 0
		}
		for i := 0; d.More(); i++ {
			if d.Decode(&skip) != nil {
				return 0
			}
			if i == op {
				return int(d.InputOffset()) - len(skip)
			}
		}
		return 0
	}
	return 0
}
