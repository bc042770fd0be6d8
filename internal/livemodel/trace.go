package livemodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fate is what becomes of an operation's output after its segment ran.
type Fate uint8

// The fates.
const (
	Stored    Fate = iota // in memory, as its own buffer or as a view of another
	Virtual               // kept as a recipe
	Temporary             // crossed blocks, and nobody can ask for it
	Dropped               // never in memory: dead, used in one block only or not at all
)

// String returns the fate's name.
func (f Fate) String() string { return [...]string{"stored", "virtual", "temporary", "dropped"}[f] }

// Drain is what one drain did. Positions count from the segment's first
// operation. Effects' outputs are versions of Vars: Stored, neither Asked nor
// Dead.
type Drain struct {
	Ops   []int // numbers of the segment's operations: how many were recorded before each
	Asked []bool
	Dead  []bool
	Keeps []bool // effects: the version before can still be asked for
	Fates []Fate
	// Recipes gives the operations that make each virtual value, ascending.
	Recipes map[int][]int
	Blocks  [][]int // the plan's blocks in the order they ran
	// Alias tells of stored values that they are views of their input's storage.
	Alias   []bool
	Through []bool // see Plan; nil: none
	Planned bool   // nothing known fitted: a plan was made

	sequence string // the model's: the recorded sequence
}

// String prints the drain for people.
func (d *Drain) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "drain blocks %v", d.Blocks)
	if d.Planned {
		b.WriteString(" planned")
	}
	for i, op := range d.Ops {
		fmt.Fprintf(&b, "\n    #%d %s", op, d.Fates[i])
		for _, f := range []struct {
			name string
			on   []bool
		}{{"asked", d.Asked}, {"dead", d.Dead}, {"keeps", d.Keeps}, {"alias", d.Alias}} {
			if f.on[i] {
				b.WriteString(" " + f.name)
			}
		}
		if r, ok := d.Recipes[i]; ok {
			fmt.Fprintf(&b, " recipe %v", r)
		}
	}
	return b.String()
}

// follows reports whether two drains took the same decisions; which blocks
// were formed and whether the plan was known are the engine's own affair.
func (d *Drain) follows(e *Drain) bool {
	return slices.Equal(d.Ops, e.Ops) && slices.Equal(d.Asked, e.Asked) && slices.Equal(d.Dead, e.Dead) &&
		slices.Equal(d.Keeps, e.Keeps) && slices.Equal(d.Fates, e.Fates) &&
		maps.EqualFunc(d.Recipes, e.Recipes, slices.Equal[[]int])
}

// ErrKind classifies errors.
type ErrKind uint8

// The kinds of errors a program can meet.
const (
	NoError  ErrKind = iota
	BadOp            // shapes or ranges do not fit
	Released         // use after Release or scope end
)

// Cause is the first cause of an error: what failed and at which call site.
type Cause struct {
	Kind ErrKind
	Site int
}

// EventKind tells what an Event is.
type EventKind uint8

// The events.
const (
	EventDrain EventKind = iota // Drain
	EventLate                   // the recipe of operation Op ran
	EventValue                  // a read gave Values
	EventErr                    // a read, flush or scope end gave an error with Cause
)

// Event is one thing that happened during a step.
type Event struct {
	Kind   EventKind
	Step   int // how many steps were executed before, Drops not counted
	Drain  *Drain
	Op     int
	Values []float32
	Cause  Cause
}

// String prints the event for people.
func (e Event) String() string {
	switch e.Kind {
	case EventDrain:
		return e.Drain.String()
	case EventLate:
		return fmt.Sprintf("late #%d", e.Op)
	case EventValue:
		return fmt.Sprintf("value %v", e.Values)
	}
	return fmt.Sprintf("error %v", e.Cause)
}

// same reports whether two events agree in all that the rules fix.
func (e Event) same(f Event) bool {
	if e.Kind != f.Kind || e.Step != f.Step {
		return false
	}
	switch e.Kind {
	case EventDrain:
		return e.Drain.follows(f.Drain)
	case EventLate:
		return e.Op == f.Op
	case EventValue:
		return sameBits(e.Values, f.Values)
	}
	return e.Cause == f.Cause
}

// Trace is all that happened, in order.
type Trace []Event

// Settling counts the plans each recorded sequence gets.
type Settling map[string]*struct{ drains, plans, last int }

// add counts a drain of the sequence named key.
func (s Settling) add(key string, planned bool) {
	c := s[key]
	if c == nil {
		c = new(struct{ drains, plans, last int })
		s[key] = c
	}
	c.drains++
	if planned {
		c.plans++
		c.last = c.drains
	}
}

// Worst returns the most plans a sequence got, and the latest drain of one,
// counted from 1, that made a plan.
func (s Settling) Worst() (plans, last int) {
	for _, c := range s {
		plans, last = max(plans, c.plans), max(last, c.last)
	}
	return plans, last
}

// Settling counts the plans in a model's trace.
func (t Trace) Settling() Settling {
	s := Settling{}
	for _, e := range t {
		if e.Kind == EventDrain {
			s.add(e.Drain.sequence, e.Drain.Planned)
		}
	}
	return s
}
