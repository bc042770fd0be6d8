package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sinter-ml/sinter/internal/trace"
	"github.com/sinter-ml/sinter/ir"
)

// fuseView is a segment as the command fuse prints it.
type fuseView struct {
	Segment  int            `json:"segment"`
	Runs     []trace.Runs   `json:"runs,omitempty"`
	Blocks   []blockView    `json:"blocks"`
	Rewrites []rewrite      `json:"rewrites"`
	Failed   []failure      `json:"failed"`
	Fates    []fate         `json:"fates"`
	Recipes  []trace.Recipe `json:"recipes"`
	Guards   []trace.Guard  `json:"guards"`
	Lost     int            `json:"lost,omitempty"` // decisions beyond what a log keeps
}

type blockView struct {
	Block int    `json:"block"`
	Fuser string `json:"fuser"`
	score
	trace.Cost
	Alone    trace.Cost    `json:"alone"`
	Ops      []operation   `json:"operations"`
	Stored   []ir.TensorID `json:"stored"`
	Aliases  []trace.Alias `json:"aliases"`
	Takes    []trace.Take  `json:"takes"`
	Competed []competitor  `json:"competed"`
	Refusals []refusal     `json:"refusals"` // of the block's operations
}

// score is the nanoseconds a block saves, in parts, by the estimate it was
// chosen by.
type score struct {
	Score     float64 `json:"score_ns"`
	Launches  float64 `json:"launches_ns"`  // launches saved, at the profile's cost
	Bytes     float64 `json:"bytes_ns"`     // bytes not moved, at the profile's bandwidth
	Recompute float64 `json:"recompute_ns"` // lost by computing values again
}

// fate is what became of an operation's output.
type fate struct {
	Tensor ir.TensorID `json:"tensor"`
	Fate   string      `json:"fate"`
}

func scoreOf(b *trace.Block, p trace.Profile) score {
	if b.Saving == nil {
		return score{Score: b.Score} // an operation alone
	}
	s := score{Score: b.Score, Launches: b.Saving.Launches * p.LaunchCost, Recompute: b.Saving.Recompute}
	if p.Bandwidth > 0 {
		s.Bytes = float64(b.Saving.Bytes) / p.Bandwidth
	}
	return s
}

func (d *document) fuseOf(s *trace.Traced) fuseView {
	v := fuseView{Segment: s.ID, Runs: s.Runs, Blocks: []blockView{}, Rewrites: []rewrite{}, Failed: []failure{}, Fates: []fate{},
		Recipes: append([]trace.Recipe{}, s.Recipes...), Guards: append([]trace.Guard{}, s.Guards...), Lost: s.Log.Lost}
	log := digest(s.Segment)
	v.Rewrites = append(v.Rewrites, log.rewrites...)
	v.Failed = append(v.Failed, log.failed...)
	for i := range s.Blocks {
		b := &s.Blocks[i]
		view := blockView{
			Block: i, Fuser: b.Fuser, score: scoreOf(b, d.profile), Cost: b.Cost, Alone: b.Alone, Ops: operationsOf(s.Program, b.Ops),
			Stored: append([]ir.TensorID{}, b.Stored...), Aliases: append([]trace.Alias{}, b.Aliases...), Takes: append([]trace.Take{}, b.Takes...),
			Competed: append([]competitor{}, log.competed[i]...), Refusals: []refusal{},
		}
		for _, op := range b.Ops {
			view.Refusals = append(view.Refusals, log.refusals[op]...)
		}
		v.Blocks = append(v.Blocks, view)
	}
	for i := range s.Tensors {
		if t := &s.Tensors[i]; !t.Input {
			v.Fates = append(v.Fates, fate{t.ID, t.Fate})
		}
	}
	return v
}

// Run prints the blocks, or why two operations are where they are.
func (c *fuseCmd) Run(s *streams) error {
	if n := len(c.Why); n != 0 && n != 2 {
		return &usageError{"-why takes two operations, once"}
	}
	doc, err := c.load(s, &c.planning)
	if err != nil {
		return err
	}
	if len(c.Why) == 2 {
		return c.why(s, doc)
	}
	if c.JSON {
		all := []fuseView{}
		for i := range doc.segments {
			all = append(all, doc.fuseOf(&doc.segments[i]))
		}
		return doc.writeJSON(s.out, all)
	}
	return doc.each(s.out, func(t *trace.Traced) error { return doc.fuseOf(t).print(s.out, t) })
}

func (v fuseView) print(out io.Writer, s *trace.Traced) error {
	var fused, alone trace.Cost
	saved := 0.0
	for i := range s.Blocks {
		b := &s.Blocks[i]
		saved += b.Score
		add(&fused, b.Cost)
		add(&alone, b.Alone)
	}
	fmt.Fprintf(out, "operations %d, blocks %d, %s saved: %s\n", len(s.Program.Ops), len(v.Blocks), ns(saved), change(alone, fused))
	for _, b := range v.Blocks {
		fmt.Fprintln(out)
		if err := b.print(out, s.Program); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	for _, r := range v.Rewrites {
		fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("pass %s: %s %s", r.Pass, label(s.Program, r.Op), r.Detail)))
	}
	for _, f := range v.Failed {
		fmt.Fprintf(out, "failed: %s could not finish the block of %s: %s\n", f.Fuser, label(s.Program, f.Op), f.Detail)
	}
	v.printFates(out)
	for _, g := range v.Guards {
		fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("guard %s %s", g.Name, detail(g.Detail))))
	}
	if v.Lost > 0 {
		fmt.Fprintf(out, "%d decisions are missing: the log was full\n", v.Lost)
	}
	return nil
}

func add(sum *trace.Cost, c trace.Cost) {
	sum.Launches += c.Launches
	sum.Read += c.Read
	sum.Written += c.Written
}

// change prints costs alone and fused.
func change(alone, fused trace.Cost) string {
	return fmt.Sprintf("launches %d -> %d, bytes %d -> %d", alone.Launches, fused.Launches, alone.Read+alone.Written, fused.Read+fused.Written)
}

func (v fuseView) printFates(out io.Writer) {
	var order []string
	by := map[string][]ir.TensorID{}
	for _, f := range v.Fates {
		if by[f.Fate] == nil {
			order = append(order, f.Fate)
		}
		by[f.Fate] = append(by[f.Fate], f.Tensor)
	}
	slices.Sort(order)
	for _, f := range order {
		fmt.Fprintf(out, "%s: %s\n", f, ids(by[f]))
	}
	for _, r := range v.Recipes {
		fmt.Fprintf(out, "recipe of %%%d: operations %v\n", r.Tensor, ir.Shape(r.Ops))
	}
}

func (b blockView) print(out io.Writer, p *ir.Program) error {
	if b.Score == 0 {
		fmt.Fprintf(out, "block %d: %s, launches %d, bytes %d\n", b.Block, b.Fuser, b.Cost.Launches, b.Read+b.Written)
	} else {
		fmt.Fprintf(out, "block %d: %s, %s saved: %s\n", b.Block, b.Fuser, ns(b.Score), change(b.Alone, b.Cost))
		fmt.Fprintf(out, "  score = %s launches %s bytes", ns(b.score.Launches), signed(b.Bytes))
		if b.Recompute != 0 {
			fmt.Fprintf(out, " %s computed again", signed(-b.Recompute))
		}
		fmt.Fprintln(out)
	}
	if err := operationTable(out, b.Ops); err != nil {
		return err
	}
	if len(b.Stored) > 0 {
		fmt.Fprintf(out, "  stores %s\n", ids(b.Stored))
	}
	for _, a := range b.Aliases {
		fmt.Fprintf(out, "  %%%d is a view of %%%d\n", a.Tensor, a.Of)
	}
	for _, t := range b.Takes {
		fmt.Fprintf(out, "  %%%d may take the storage of %%%d\n", t.Tensor, t.From)
	}
	if len(b.Competed) > 1 {
		var words []string
		for _, c := range b.Competed {
			word := c.Fuser + " " + ns(c.Score)
			if !c.Ready {
				word += " (not ready)"
			}
			words = append(words, word)
		}
		fmt.Fprintf(out, "  competed: %s\n", strings.Join(words, ", "))
	}
	for _, g := range groups(b.Refusals) {
		op := label(p, g.all[0].Op)
		switch {
		case len(g.with) == 0:
			fmt.Fprintf(out, "  could not start with %s: %s\n", op, g.text())
		case b.has(g.with[0]):
			fmt.Fprintf(out, "  gave up at %s: %s\n", op, g.text())
		default:
			fmt.Fprintf(out, "  refused %s into the block of %s: %s\n", op, label(p, g.with[0]), g.text())
		}
	}
	return nil
}

func (b blockView) has(pos int) bool {
	return slices.ContainsFunc(b.Ops, func(o operation) bool { return o.Position == pos })
}
