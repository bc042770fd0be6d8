package optimize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/ir"
)

var fateNames = [...]string{"stored", "virtual", "temporary", "dropped"}

func (f Fate) String() string { return fateNames[f] }

// Format prints the plan of a segment, one line for each operation under its
// block, then fates and guards. Equal plans print equally.
func (p *Plan) Format(seg *Segment) string {
	var b strings.Builder
	for i, blk := range p.Blocks {
		fmt.Fprintf(&b, "block %d %s", i, blk.Fuser)
		if n := len(blk.Calls); n != 1 {
			fmt.Fprintf(&b, " calls=%d", n)
		}
		if blk.Score != 0 {
			fmt.Fprintf(&b, " score=%.6g", blk.Score)
		}
		b.WriteByte('\n')
		for _, op := range blk.Ops {
			fmt.Fprintf(&b, "  %s\n", formatOp(seg, op))
		}
		if len(blk.Stored) > 0 {
			fmt.Fprintf(&b, "  stores %s\n", tensorNames(blk.Stored))
		}
		for _, a := range blk.Aliases {
			fmt.Fprintf(&b, "  %s aliases %s\n", tensorName(a.Tensor), tensorName(a.Of))
		}
		for _, x := range blk.InPlace {
			fmt.Fprintf(&b, "  %s may take %s\n", tensorName(x.Out), tensorName(x.In))
		}
	}
	for f := Stored; f <= Dropped; f++ {
		var ids []ir.TensorID
		for t := range seg.Tensors {
			if !seg.Tensors[t].Input && p.Fates[t] == f {
				ids = append(ids, ir.TensorID(t))
			}
		}
		if len(ids) > 0 {
			fmt.Fprintf(&b, "%s %s\n", f, tensorNames(ids))
		}
	}
	var ids []ir.TensorID
	for t := range p.Recipes {
		ids = append(ids, t)
	}
	slices.Sort(ids)
	for _, t := range ids {
		fmt.Fprintf(&b, "recipe %s %v\n", tensorName(t), p.Recipes[t])
	}
	for _, g := range p.Guards {
		fmt.Fprintf(&b, "guard %s %s\n", g.Name, g.Detail)
	}
	return b.String()
}

// formatOp prints an operation as "3:Add t4 = t1, t2".
func formatOp(seg *Segment, i int) string {
	op := &seg.Ops[i]
	outs, ins := make([]ir.TensorID, len(op.Outputs)), make([]ir.TensorID, len(op.Inputs))
	for k, o := range op.Outputs {
		outs[k] = o.ID
	}
	for k, in := range op.Inputs {
		ins[k] = in.ID
	}
	return fmt.Sprintf("%s %s = %s", opName(seg, i), tensorNames(outs), tensorNames(ins))
}

func tensorNames(ids []ir.TensorID) string {
	var b strings.Builder
	for i, t := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(tensorName(t))
	}
	return b.String()
}
