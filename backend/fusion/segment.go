package fusion

import "github.com/sinter-ml/sinter/ir"

// segment is a run of operations with its relative form, kept while it is
// recorded: tensors numbered by first appearance, lengths numbered by first
// appearance, and the token stream and hash that name the whole. It holds its
// inputs: their storage stays, and versions count it as a reader.
type segment struct {
	nodes   []*node
	tensors []*Value         // by relative id
	inputs  map[*Value]int32 // relative ids of tensors made before
	rel     ir.Relative
	relIn   []int32 // scratch
}

func (g *segment) init() {
	g.inputs = make(map[*Value]int32)
	g.rel.Reset()
}

// add appends a node; outputs pending in segment seg keep their relative id in
// the value, everything else is an input.
func (g *segment) add(n *node, seg uint64) {
	g.nodes = append(g.nodes, n)
	in := g.relIn[:0]
	for _, v := range n.in {
		in = append(in, g.relative(v, seg))
	}
	g.relIn = in
	out := n.out
	out.seg, out.rel = seg, int32(len(g.tensors))
	g.tensors = append(g.tensors, out)
	g.rel.Append(&n.op, in, out.rel)
}

func (g *segment) relative(v *Value, seg uint64) int32 {
	if v.node != nil && v.seg == seg && int(v.rel) < len(g.tensors) && g.tensors[v.rel] == v {
		return v.rel
	}
	if r, ok := g.inputs[v]; ok {
		return r
	}
	r := int32(len(g.tensors))
	g.inputs[v] = r
	g.tensors = append(g.tensors, v)
	if v.version != nil {
		v.version.readers.Add(1)
	} else if v.storage != nil {
		v.storage.hold()
	}
	return r
}

// reset empties the segment, drops its holds and keeps its memory.
func (g *segment) reset() {
	for v := range g.inputs {
		if v.version != nil {
			v.version.readers.Add(-1)
		} else if v.storage != nil {
			v.storage.letGo()
		}
	}
	clear(g.nodes)
	clear(g.tensors)
	g.nodes, g.tensors = g.nodes[:0], g.tensors[:0]
	clear(g.inputs)
	g.rel.Reset()
}
