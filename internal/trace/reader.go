package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// FormatError says where a trace is wrong.
type FormatError struct {
	Line, Col int // from 1, columns in bytes
	Err       error
}

// Error formats e as "line:col: cause".
func (e *FormatError) Error() string { return fmt.Sprintf("%d:%d: %v", e.Line, e.Col, e.Err) }

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// Record is one line of a trace after the first header.
type Record struct {
	ID      int
	Stream  int
	Device  int      // in order of the headers, from 0
	Header  *Header  // of a further device; nothing else is set
	Segment *Segment // nil: Count is how often segment ID has run on Stream so far
	Count   int64
	End     bool // the trace was closed; nothing else is set
	// Sequence and Plan are of a segment: which recorded sequence it is, from 1
	// on its device, and the how manyeth plan for it; 0: not known.
	Sequence, Plan int
	Counters       map[string]int64 // of Device; nothing else is set
}

// Reader reads a trace line by line. A last line that is cut short counts as
// the end.
type Reader struct {
	in        *bufio.Reader
	line      int
	header    Header
	devices   int
	truncated bool
	known     map[int]bool
}

// NewReader reads the header.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReader(in), known: map[int]bool{}}
	b, err := r.in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r.line, r.devices = 1, 1
	if err := json.Unmarshal(b, &r.header); err != nil {
		return nil, r.fail(b, err)
	}
	if r.header.Version != Version {
		return nil, r.fail(b, fmt.Errorf("version is %q, want %q", r.header.Version, Version))
	}
	return r, nil
}

// Header returns the first line.
func (r *Reader) Header() Header { return r.header }

// Truncated reports, after Next returned io.EOF, whether the last line was cut
// short.
func (r *Reader) Truncated() bool { return r.truncated }

// Next returns the next record, io.EOF after the last. What is wrong with a
// line is a *FormatError. A segment that is returned is sound: positions and
// tensors exist.
func (r *Reader) Next() (Record, error) {
	for {
		b, err := r.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return Record{}, err
		}
		r.line++
		if err != nil {
			r.truncated = len(b) > 0
			return Record{}, io.EOF
		}
		if b = bytes.TrimRight(b, "\r\n"); len(b) > 0 {
			return r.record(b)
		}
	}
}

func (r *Reader) record(b []byte) (Record, error) {
	var l struct {
		line
		Version *string `json:"version"`
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return Record{}, r.fail(b, err)
	}
	out := Record{ID: l.ID, Stream: l.Stream, Device: l.On, Count: l.Count, End: l.End, Sequence: l.Sequence, Plan: l.Plan}
	switch {
	case l.Version != nil:
		h := new(Header)
		if err := json.Unmarshal(b, h); err != nil {
			return Record{}, r.fail(b, err)
		}
		if h.Version != Version {
			return Record{}, r.fail(b, fmt.Errorf("version is %q, want %q", h.Version, Version))
		}
		r.devices++
		return Record{Header: h}, nil
	case l.On < 0 || l.On >= r.devices:
		return Record{}, r.fail(b, fmt.Errorf("there is no device %d", l.On))
	case l.End:
		return Record{Device: l.On, End: true}, nil
	case l.Counters != nil:
		return Record{Device: l.On, Counters: l.Counters}, nil
	case l.Segment == nil && !r.known[l.ID]:
		return Record{}, r.fail(b, fmt.Errorf("there is no segment %d", l.ID))
	case l.Segment == nil:
		return out, nil
	case r.known[l.ID]:
		return Record{}, r.fail(b, fmt.Errorf("segment %d is there twice", l.ID))
	}
	out.Segment = new(Segment)
	if err := json.Unmarshal(l.Segment, out.Segment); err != nil {
		return Record{}, r.fail(b, err)
	}
	if err := out.Segment.check(); err != nil {
		return Record{}, r.fail(b, fmt.Errorf("segment %d: %w", l.ID, err))
	}
	r.known[l.ID] = true
	return out, nil
}

// fail returns err with its place, as exactly as is known.
func (r *Reader) fail(line []byte, err error) error {
	col := 1
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		col = int(max(1, min(syntax.Offset, int64(len(line)))))
	}
	return &FormatError{Line: r.line, Col: col, Err: err}
}

// Runs is how often a segment ran on a stream.
type Runs struct {
	Stream int   `json:"stream"` // 0: on streams beyond the first 1,024
	Count  int64 `json:"count"`
}

// Traced is a segment of a trace with its runs.
type Traced struct {
	ID     int
	Device int // in order of Trace.Devices
	*Segment
	Runs []Runs // at least one
	// Sequence numbers what was recorded, on its device, and Plan the plans made
	// for it; 0: not known.
	Sequence, Plan int
}

// Trace is a whole trace.
type Trace struct {
	Header   Header   // of the first device
	Devices  []Header // of all
	Segments []Traced
	// Complete tells that every device was closed. Otherwise the program ended
	// before, and counts may be short by up to a half.
	Complete bool
	// Counters are those of each device at its end, nil if it did not come to
	// that.
	Counters []map[string]int64
}

// Read reads a whole trace, also one that was not closed or whose last line is
// cut short. What is wrong with it is a *FormatError.
func Read(in io.Reader) (*Trace, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	t := &Trace{Header: r.Header(), Devices: []Header{r.Header()}, Counters: make([]map[string]int64, 1)}
	at := map[int]int{}
	ended := map[int]bool{}
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return nil, err
		case rec.Header != nil:
			t.Devices = append(t.Devices, *rec.Header)
			t.Counters = append(t.Counters, nil)
			t.Complete = false
		case rec.End:
			ended[rec.Device] = true
			t.Complete = len(ended) == len(t.Devices)
		case rec.Counters != nil:
			t.Counters[rec.Device] = rec.Counters
		case rec.Segment != nil:
			at[rec.ID] = len(t.Segments)
			t.Segments = append(t.Segments, Traced{rec.ID, rec.Device, rec.Segment, []Runs{{rec.Stream, 1}}, rec.Sequence, rec.Plan})
		default:
			t.Segments[at[rec.ID]].count(rec.Stream, rec.Count)
		}
	}
}

// count notes a count so far; later ones are higher.
func (t *Traced) count(stream int, n int64) {
	for i := range t.Runs {
		if t.Runs[i].Stream == stream {
			t.Runs[i].Count = max(t.Runs[i].Count, n)
			return
		}
	}
	t.Runs = append(t.Runs, Runs{stream, n})
}

// Total returns how often the segment ran.
func (t *Traced) Total() int64 {
	var n int64
	for _, r := range t.Runs {
		n += r.Count
	}
	return n
}
