package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/sinter-ml/sinter/backend/fusion"
)

// printPlan prints the kernels of an executed segment: which fuser made each,
// of which operations, and what it reckons to save.
func printPlan(w io.Writer, r *fusion.Run) {
	for _, b := range r.Plan.Blocks {
		var kinds []string
		for _, op := range b.Ops {
			kinds = append(kinds, r.Segment.Ops[op].Kind.String())
		}
		fmt.Fprintf(w, "  %-18s %-16s launches %d", b.Fuser, strings.Join(kinds, " + "), len(b.Calls))
		if b.Score > 0 {
			fmt.Fprintf(w, ", saves %.1f µs by the device's profile", b.Score/1000)
		}
		fmt.Fprintln(w)
	}
}
