package fusion

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/ir"
)

// notes is what one pass of a window recorded that replays repeat as it was:
// compared between passes it shows what a replay would silently freeze.
type notes struct {
	ops  []note
	data []note   // host data
	outs []uint64 // what was returned
}

type note struct {
	kind    ir.Kind
	pc      uintptr
	form    uint64 // shapes and slices
	attrs   uint64 // the other attributes
	scalars uint64
	outer   []ir.TensorID // operands from before the window
	bytes   int
	values  []ir.Scalar
}

var seed = maphash.MakeSeed()

// op notes a recorded operation. The seed and the position of a draw are not
// of the program's; random makes them relative.
func (n *notes) op(op *ir.Operation, in []*Value, born ir.TensorID, random *draws) {
	x := note{kind: op.Kind, pc: op.PC, attrs: ir.StructHash(op, nil)}
	for i := range op.Ranges {
		x.form = mix(x.form, uint64(op.Ranges[i].Start))
		x.form = mix(x.form, uint64(op.Ranges[i].Len))
	}
	for _, a := range op.Attrs.Shape {
		x.form = mix(x.form, uint64(a))
	}
	x.values = op.Scalars
	if random.drew(op) {
		x.scalars = mix(x.scalars, op.Scalars[statePosition].Bits-random.base)
		x.values = op.Scalars[stateWords:]
	}
	for i := range x.values {
		x.scalars = mix(x.scalars, x.values[i].Bits)
	}
	for _, v := range in {
		if v.version == nil && v.id <= born {
			x.outer = append(x.outer, v.id)
		}
	}
	n.ops = append(n.ops, x)
}

// host notes data copied from the host.
func (n *notes) host(pc uintptr, data []byte) {
	n.data = append(n.data, note{pc: pc, scalars: maphash.Bytes(seed, data), bytes: len(data)})
}

// outputs notes the returned tensors: those made in the pass by call site,
// shape and the order they were made in, others by which they are.
func (n *notes) outputs(outs []*Value, began ir.TensorID) {
	for _, v := range outs {
		h := uint64(0)
		switch {
		case v == nil:
		case v.handle != nil:
			h = mix(1, v.handle.of.version.v.number)
		case v.id <= began:
			h = mix(2, uint64(v.id))
		default:
			h = mix(3, uint64(v.pc))
			for _, d := range v.shape {
				h = mix(h, uint64(d))
			}
			earlier := uint64(0)
			for _, x := range outs {
				if x != nil && x.id > began && x.id < v.id {
					earlier++
				}
			}
			h = mix(h, earlier)
		}
		n.outs = append(n.outs, h)
	}
}

// differs returns why a replay of this pass would not be what the program does
// the next time, or nil.
func (n *notes) differs(before *notes) *backend.CaptureError {
	for i := range min(len(n.ops), len(before.ops)) {
		a, b := &n.ops[i], &before.ops[i]
		switch {
		case a.kind != b.kind || a.pc != b.pc:
			return refusal("the program recorded other operations than in the pass before", a, "record the same operations in every pass")
		case a.form != b.form:
			return refusal("a shape or slice start changed between passes", a, "hold the start in a rank-0 tensor")
		case a.attrs != b.attrs:
			return refusal("an attribute changed between passes", a, "record the operation with the same ones in every pass")
		case a.scalars != b.scalars:
			return refusal("a host scalar changed between passes", a, "hold it in a rank-0 tensor or a Var")
		case !slices.Equal(a.outer, b.outer):
			return refusal("a tensor from outside was swapped between passes", a, "pass it as an input, or keep it in a Var and Set it")
		}
	}
	if len(n.ops) != len(before.ops) {
		return &backend.CaptureError{Reason: fmt.Sprintf("the program recorded %d operations and %d in the pass before; record the same in every pass", len(n.ops), len(before.ops))}
	}
	for i := range min(len(n.data), len(before.data)) {
		if a, b := &n.data[i], &before.data[i]; a.scalars != b.scalars || a.bytes != b.bytes {
			return refusal("host data changed between passes", a, "pass it as an input")
		}
	}
	if len(n.data) != len(before.data) {
		return &backend.CaptureError{Reason: fmt.Sprintf("the program copied host data %d times and %d times in the pass before; copy the same in every pass, or pass it as an input", len(n.data), len(before.data))}
	}
	if !slices.Equal(n.outs, before.outs) {
		return &backend.CaptureError{Reason: fmt.Sprintf("the program returned other tensors (%d) than in the pass before (%d); return the same ones in the same order in every pass", len(n.outs), len(before.outs))}
	}
	return nil
}

func refusal(reason string, n *note, mend string) *backend.CaptureError {
	op := "From"
	if n.kind != ir.KindInvalid {
		op = n.kind.String()
	}
	if at := ir.Position(n.pc); at != "" {
		op += " at " + at
	}
	return &backend.CaptureError{Reason: reason + "; " + mend, Op: op}
}

// FrozenItem is something of the host that every replay repeats as it was.
type FrozenItem struct {
	What     string // "scalar", "data" or "tensor"
	Op       string
	Value    string
	Position string // file:line
}

// frozen lists what replays repeat.
func (n *notes) frozen() []FrozenItem {
	var out []FrozenItem
	for i := range n.ops {
		x := &n.ops[i]
		at := ir.Position(x.pc)
		for _, s := range x.values {
			if s.Input == 0 {
				out = append(out, FrozenItem{"scalar", x.kind.String(), s.String(), at})
			}
		}
		for _, id := range x.outer {
			out = append(out, FrozenItem{"tensor", x.kind.String(), fmt.Sprintf("#%d", id), at})
		}
	}
	for i := range n.data {
		out = append(out, FrozenItem{"data", "From", fmt.Sprintf("%d bytes", n.data[i].bytes), ir.Position(n.data[i].pc)})
	}
	return out
}
