package fusion

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sinter-ml/sinter/backend"
)

// Drawing lists what a capture recorded, in order, for reading.
type Drawing struct {
	Nodes []Drawn

	steps []int                    // the node of each step of the device's recording
	last  map[backend.Stream][]int // what the next node of a stream comes after
	outer []map[backend.Stream][]int
	open  []int // nodes of the open bodies
}

// Drawn is one node of a drawing.
type Drawn struct {
	Kind   DrawnKind
	Launch *ProfiledLaunch // DrawnLaunch: kernel, operations and bytes
	Stream string          // which recorded it
	Bytes  int             // DrawnCopy, DrawnWrite
	When   string          // DrawnBody: the condition
	After  []int           // the nodes it comes after
	Inside int             // 1 + the body it lies in, 0: none
}

// DrawnKind is what a node does.
type DrawnKind string

// The kinds of nodes.
const (
	DrawnLaunch DrawnKind = "launch"
	DrawnCopy   DrawnKind = "copy"
	DrawnWrite  DrawnKind = "write" // of host data
	DrawnBody   DrawnKind = "body"  // of a conditional part
)

func newDrawing() *Drawing { return &Drawing{last: map[backend.Stream][]int{}} }

// add appends a node of a stream.
func (d *Drawing) add(s backend.Stream, n Drawn) {
	n.After = d.last[s]
	n.Stream = fmt.Sprintf("stream %d", s)
	if k := len(d.open); k > 0 {
		n.Inside = 1 + d.open[k-1]
	}
	d.Nodes = append(d.Nodes, n)
	d.last[s] = []int{len(d.Nodes) - 1}
}

// step counts the last node as the device's next step.
func (d *Drawing) step(at int) { d.steps = append(d.steps, at) }

// Step returns the node of a step of a replay.
func (d *Drawing) Step(i int) Drawn { return d.Nodes[d.steps[i]] }

// follow makes the next node of s come after those of other, too.
func (d *Drawing) follow(s, other backend.Stream) {
	all := slices.Concat(d.last[s], d.last[other])
	slices.Sort(all)
	d.last[s] = slices.Compact(all)
}

func (d *Drawing) enter(s backend.Stream, c backend.Condition) {
	when := "if"
	switch {
	case c.Loop && c.Limit > 0:
		when = fmt.Sprintf("while, at most %d times", c.Limit)
	case c.Loop:
		when = "while"
	case c.Not:
		when = "else"
	}
	d.add(s, Drawn{Kind: DrawnBody, When: when})
	d.open = append(d.open, len(d.Nodes)-1)
	d.outer = append(d.outer, maps.Clone(d.last))
	clear(d.last)
}

func (d *Drawing) leave(backend.Stream) {
	k := len(d.open) - 1
	d.step(d.open[k])
	d.last, d.outer, d.open = d.outer[k], d.outer[:k], d.open[:k]
}

// draw notes something of the recording.
func (w *Window) draw(f func(d *Drawing)) {
	if !w.recording || w.drawing == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.drawing)
}

// launched notes a launch that is recorded.
func (w *Window) launched(s *Stream, x *profiled) {
	w.draw(func(d *Drawing) {
		d.add(s.id, Drawn{Kind: DrawnLaunch, Launch: &x.ProfiledLaunch})
		d.step(len(d.Nodes) - 1)
	})
	if w.recording {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.launches = append(w.launches, x)
	}
}

// copied notes a copy, if it is recorded, and the memory it uses.
func (w *Window) copied(s *Stream, from, to *Storage, n int) {
	w.retain(from)
	w.retain(to)
	w.draw(func(d *Drawing) {
		d.add(s.id, Drawn{Kind: DrawnCopy, Bytes: n})
		d.step(len(d.Nodes) - 1)
	})
}

// wrote notes a write of host data, if it is recorded.
func (w *Window) wrote(s *Stream, n int) {
	w.draw(func(d *Drawing) {
		d.add(s.id, Drawn{Kind: DrawnWrite, Bytes: n})
		d.step(len(d.Nodes) - 1)
	})
}
