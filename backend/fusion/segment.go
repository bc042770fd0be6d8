package fusion

import "github.com/sinter-ml/sinter/ir"

// segment is a run of operations with its relative form, kept while it is
// recorded: tensors numbered by first appearance, lengths numbered by first
// appearance, and the token stream and hash that name the whole. It holds its
// inputs: their storage stays, and versions count it as a reader.
type segment struct {
	s       *Stream
	nodes   []*node
	tensors []*Value   // by relative id
	outside []bool     // by relative id: made before the segment
	reads   []bool     // by relative id: a version from before that an operation reads, other than to overwrite it
	inputs  []int32    // relative ids of tensors made before, ascending
	held    []*Storage // by input: the memory held; nil for versions and for what was let go before it could be held
	ids     []int32    // the operands' relative ids, node after node
	begin   []int32    // where each node's operands begin in ids
	foreign map[*Value]int32
	rel     ir.Relative
}

func (g *segment) init(s *Stream) {
	g.s = s
	g.foreign = make(map[*Value]int32)
	g.rel.Reset()
}

// add appends a node to the segment with the number seg. Tensors of the
// segment's own stream keep their relative id in the value, others are looked
// up.
func (g *segment) add(n *node, seg uint64) {
	g.nodes = append(g.nodes, n)
	at := len(g.ids)
	g.begin = append(g.begin, int32(at))
	for k, v := range n.in {
		g.ids = append(g.ids, g.relative(v, seg, n.v == nil || k > 0))
	}
	n.out.seg, n.out.rel = seg, g.number(n.out, false)
	g.rel.Append(&n.op, g.ids[at:], n.out.rel)
}

// operands returns the relative ids of the operands of the node at a position.
func (g *segment) operands(pos int) []int32 {
	if pos+1 < len(g.begin) {
		return g.ids[g.begin[pos]:g.begin[pos+1]]
	}
	return g.ids[g.begin[pos]:]
}

func (g *segment) number(v *Value, outside bool) int32 {
	g.tensors = append(g.tensors, v)
	g.outside = append(g.outside, outside)
	g.reads = append(g.reads, false)
	return int32(len(g.tensors) - 1)
}

func (g *segment) relative(v *Value, seg uint64, reads bool) int32 {
	r, ok := g.find(v, seg)
	if !ok {
		r = g.number(v, true)
		g.inputs = append(g.inputs, r)
		if v.home == g.s && seg != ownSegment {
			v.seg, v.rel = seg, r
		} else {
			g.foreign[v] = r
		}
		var m *Storage
		if v.version == nil && v.storage != nil && v.storage.tryHold() {
			m = v.storage
		}
		g.held = append(g.held, m)
	}
	if reads && v.version != nil && g.outside[r] && !g.reads[r] {
		g.reads[r] = true
		v.version.ask()
	}
	return r
}

// find returns the relative id of a tensor of the segment.
func (g *segment) find(v *Value, seg uint64) (int32, bool) {
	if v.home == g.s && v.seg == seg && int(v.rel) < len(g.tensors) && g.tensors[v.rel] == v {
		return v.rel, true
	}
	if v.home == g.s && seg != ownSegment {
		return 0, false
	}
	r, ok := g.foreign[v]
	return r, ok
}

// reset empties the segment, drops its holds and keeps its memory.
func (g *segment) reset() {
	for i, r := range g.inputs {
		if g.reads[r] {
			g.tensors[r].version.unask()
		} else if m := g.held[i]; m != nil {
			m.letGo()
		}
	}
	clear(g.held)
	g.held = g.held[:0]
	clear(g.nodes)
	clear(g.tensors)
	g.nodes, g.tensors = g.nodes[:0], g.tensors[:0]
	g.outside, g.reads, g.inputs = g.outside[:0], g.reads[:0], g.inputs[:0]
	g.ids, g.begin = g.ids[:0], g.begin[:0]
	clear(g.foreign)
	g.rel.Reset()
}
