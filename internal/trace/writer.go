package trace

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"weak"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/optimize"
)

// maxStreams is how many streams are told apart; later ones all count as
// stream 0. Each scope on a stream of its own is one.
const maxStreams = 1024

// line is every line of a trace after the header: a segment with its id and
// the stream it first ran on, or a count, or the end.
type line struct {
	ID      int             `json:"id,omitempty"` // from 1
	Stream  int             `json:"stream,omitempty"`
	On      int             `json:"on,omitempty"` // the device, from 0, in order of the headers
	Segment json.RawMessage `json:"segment,omitempty"`
	// Sequence numbers what was recorded from 1, and Plan the plans made for it.
	Sequence int              `json:"sequence,omitempty"`
	Plan     int              `json:"plan,omitempty"`
	Counters map[string]int64 `json:"counters,omitzero"` // of the device at the end; empty: it did nothing
	Count    int64            `json:"count,omitempty"`   // runs so far of the segment on the stream
	End      bool             `json:"end,omitempty"`     // the trace was closed: the counts are all
}

// Writer writes a device's part of a trace. Its methods may be called from several goroutines. It
// never makes the program it watches fail: errors are kept until Close.
type Writer struct {
	mu     sync.Mutex
	out    *file
	on     int   // the device's number in the file
	err    error // the first one
	broken bool  // a line may be half written: write no more
	closed bool

	// Plans are known by identity, so that a known one costs a look-up, and by
	// content, so that one that was forgotten and made again is not new. Keys
	// are weak: a trace must not keep plans in memory.
	plans    map[weak.Pointer[optimize.Plan]]int
	sweep    int // clean up when there are so many plans
	ids      map[[sha256.Size]byte]int
	recorded map[uint64]*recorded
	streams  map[weak.Pointer[fusion.Stream]]int
	counts   map[run]int64
	order    []run // the keys of counts, as first seen
}

// recorded is a sequence of operations that was planned, once or more often.
type recorded struct{ number, plans int }

// run is a segment on a stream.
type run struct{ id, stream int }

// Open creates the file, or empties it, with mode 0600, and writes the header.
// Further devices a process opens on the same path share the file.
func Open(path string, h Header) (*Writer, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	w, err := newWriter(f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

func newWriter(out *file, h Header) (*Writer, error) {
	w := &Writer{
		out: out, on: out.device(), sweep: 1024,
		plans: map[weak.Pointer[optimize.Plan]]int{}, ids: map[[sha256.Size]byte]int{}, recorded: map[uint64]*recorded{},
		streams: map[weak.Pointer[fusion.Stream]]int{}, counts: map[run]int64{},
	}
	w.write(h.complete())
	return w, w.err
}

// Observe records a run; it is a fusion.Observer. A plan that is new is
// written out, with the segment it was made for. A later run under it, also at
// other lengths, is only counted; counts are written at powers of two, so that
// a program that ends without Close leaves them right to a factor of two.
func (w *Writer) Observe(r *fusion.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A defect in here must not end the program that is watched.
	defer func() {
		if p := recover(); p != nil {
			w.fail(fmt.Errorf("trace: panic: %v", p))
		}
	}()
	if w.broken || w.closed {
		return
	}
	stream := w.stream(r.Stream)
	key := weak.Make(r.Plan)
	id, ok := w.plans[key]
	if !ok {
		id = w.segment(r, stream)
		w.forget()
		w.plans[key] = id
	}
	if id == 0 {
		return // it could not be written
	}
	at := run{id, stream}
	n := w.counts[at] + 1
	w.counts[at] = n
	if n == 1 {
		w.order = append(w.order, at)
	} else if n&(n-1) == 0 {
		w.write(line{ID: id, Stream: stream, Count: n})
	}
}

// stream numbers the streams from 1, 0 standing for the rest.
func (w *Writer) stream(s *fusion.Stream) int {
	key := weak.Make(s)
	n, ok := w.streams[key]
	if !ok && len(w.streams) < maxStreams {
		n = len(w.streams) + 1
		w.streams[key] = n
	}
	return n
}

// segment writes the segment of a run unless one like it is known, and returns
// its id, 0 if it cannot be encoded.
func (w *Writer) segment(r *fusion.Run, stream int) int {
	s := Describe(programOf(r.Segment, r.Names), r.Segment, r.Plan)
	s.Forced = positions(r.Forced)
	if r.Why != fusion.WhyRecorded {
		s.Why = r.Why
	}
	body, err := json.Marshal(s)
	if err != nil {
		w.fail(fmt.Errorf("trace: a segment of %d operations: %w", len(r.Segment.Ops), err))
		return 0
	}
	sum := sha256.Sum256(body)
	id, ok := w.ids[sum]
	if !ok {
		id = w.out.id()
		w.ids[sum] = id
		seq := w.recorded[r.Sequence]
		if seq == nil {
			seq = &recorded{number: len(w.recorded) + 1}
			w.recorded[r.Sequence] = seq
		}
		seq.plans++
		w.write(line{ID: id, Stream: stream, On: w.on, Segment: body, Sequence: seq.number, Plan: seq.plans})
	}
	return id
}

// forget drops the plans that are gone once there are many.
func (w *Writer) forget() {
	if len(w.plans) < w.sweep {
		return
	}
	for p := range w.plans {
		if p.Value() == nil {
			delete(w.plans, p)
		}
	}
	w.sweep = max(w.sweep, 2*len(w.plans))
}

// write writes one line with one call, so that only the last line of a file
// can be cut short.
func (w *Writer) write(v any) {
	if w.broken {
		return
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = w.out.Write(append(b, '\n'))
		w.broken = err != nil
	}
	if err != nil {
		w.fail(fmt.Errorf("trace: %w", err))
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Counted writes the device's counters, to be called when it is closed.
func (w *Writer) Counted(s fusion.Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.write(line{On: w.on, Counters: s.Counts()})
	}
}

// Close writes the counts and the end, closes the file and returns the first
// error since Open. It may be called again and then returns nil. Runs observed
// afterwards are left out.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	for _, at := range w.order {
		w.write(line{ID: at.id, Stream: at.stream, Count: w.counts[at]})
	}
	w.write(line{End: true, On: w.on})
	if err := w.out.Close(); err != nil {
		w.fail(fmt.Errorf("trace: %w", err))
	}
	return w.err
}
