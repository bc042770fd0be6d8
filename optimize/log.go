package optimize

import "slices"

// Event says what a decision is about.
type Event string

// The events.
const (
	EventRewrite   Event = "rewrite"   // a pass (Rule) changed operation Op
	EventOffer     Event = "offer"     // Op was offered to a fuser that holds Block
	EventRefuse    Event = "refuse"    // Op did not join Block, or block From did not on its account
	EventMerge     Event = "merge"     // Block took up the operations of block From, joined by Op
	EventJoin      Event = "join"      // Op went into Block
	EventChosen    Event = "chosen"    // Fuser finishes Block
	EventBeaten    Event = "beaten"    // Fuser could have, for a lower score
	EventFailed    Event = "failed"    // Fuser could not finish the block
	EventDissolved Event = "dissolved" // Block came apart into single operations: no fuser was ready or gained anything (Rule), or it failed
	EventFused     Event = "fused"     // answer of Why: both operations are in block Block of the plan
	EventApart     Event = "apart"     // answer of Why: nothing ever joined the two
	EventLoaded    Event = "loaded"    // answer of Why: the plan was read from where it was saved, without what was decided then
)

// Decision is one entry of a log. Blocks are numbered as the search made
// them; only EventFused names a block of the plan.
type Decision struct {
	Event    Event   `json:"event"`
	Op       int     `json:"op"`
	Block    int     `json:"block,omitempty"`
	From     int     `json:"from,omitempty"`
	Fuser    string  `json:"fuser,omitempty"`
	Accepted bool    `json:"accepted,omitempty"`
	Rule     string  `json:"rule,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	Score    float64 `json:"score,omitempty"` // nanoseconds saved
	Ready    bool    `json:"ready,omitempty"`
}

// Log is what was decided while a plan was made, in order.
type Log struct {
	Decisions []Decision `json:"decisions"`
	Lost      int        `json:"lost,omitempty"`   // decisions beyond the limit
	Steps     int        `json:"steps"`            // edges followed to find paths between blocks
	Offers    int        `json:"offers"`           // operations offered to fusers
	Clones    int        `json:"clones"`           // fusers copied to be offered more
	Lowerings int        `json:"lowerings"`        // operations written as kernels, alone or in a block
	Loaded    bool       `json:"loaded,omitempty"` // the plan was made by another process: nothing was decided here

	limit  int
	places map[int][]int // operation → blocks of the plan: what is taken along can be in several
}

// newLog returns a log with room for what is usually decided on so many
// operations.
func newLog(limit, ops int) *Log {
	return &Log{limit: limit, places: make(map[int][]int, ops), Decisions: make([]Decision, 0, min(limit, 8*ops))}
}

func (l *Log) add(d Decision) {
	if len(l.Decisions) >= l.limit {
		l.Lost++
		return
	}
	l.Decisions = append(l.Decisions, d)
}

func (l *Log) place(op, block int) { l.places[op] = append(l.places[op], block) }

// Why tells why the operations at positions a and b run as separate blocks:
// the refusals met when one was offered to the block the other was in, or when
// their blocks were to merge. Operations of one block are told so.
func (l *Log) Why(a, b int) []Decision {
	for _, block := range l.places[a] {
		if slices.Contains(l.places[b], block) {
			return []Decision{{Event: EventFused, Op: max(a, b), Block: block}}
		}
	}
	a, b = min(a, b), max(a, b)
	if l.Loaded {
		return []Decision{{Event: EventLoaded, Op: b, Detail: "the plan was saved by another process, without its decisions"}}
	}
	var out []Decision
	in := map[int]int{} // the search's blocks of a and b, as decisions go by
	for _, d := range l.Decisions {
		switch d.Event {
		case EventRewrite:
			if d.Op == a || d.Op == b {
				out = append(out, d)
			}
		case EventJoin:
			if d.Op == a || d.Op == b {
				in[d.Op] = d.Block
			}
		case EventMerge:
			for op, block := range in {
				if block == d.From {
					in[op] = d.Block
				}
			}
		case EventOffer, EventRefuse:
			if d.Accepted {
				continue
			}
			ba, bb := in[a], in[b]
			offered := d.Op == b && ba != 0 && d.Block == ba
			merging := d.From != 0 && (d.Block == ba && d.From == bb || d.Block == bb && d.From == ba)
			if offered || merging {
				out = append(out, d)
			}
		case EventFailed, EventDissolved:
			if d.Block == in[a] && d.Block == in[b] {
				out = append(out, d)
			}
		}
	}
	if len(out) == 0 {
		return []Decision{{Event: EventApart, Op: b, Detail: "neither was offered to the block of the other"}}
	}
	return slices.Clip(out)
}
