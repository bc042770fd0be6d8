package sinter

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/ir"
)

// Bisect finds what makes a program compute something else than its operations
// one by one would, which is always a defect of the library, of a fuser or pass
// that was added, or of the hardware. f records the program on the device it is
// given and returns the tensors to compare. It is run again and again, each time
// on a new device opened by name with opts, and must do the same each time: no
// random numbers of Go's, no goroutines that race, no state from outside.
//
// Bisect compares bit by bit, all NaNs being one value, and an error in one run
// alone counts as a difference. It switches off recorded graphs, then halves the
// rewrites of all passes, then the runs of all blocks of several operations,
// until the first that makes a difference, with everything before it as it is
// and everything after it left out. A fault whose effect later ones hide in the
// outputs is not the one that is found; return what is to be compared.
//
// It returns f's error if the plain run fails, and an *ArgumentError if that
// run does not repeat itself.
func Bisect(ctx context.Context, name string, f func(d *Device) ([]*Tensor, error), opts ...Option) (*Bisection, error) {
	if f == nil {
		return nil, errNoFunction
	}
	b := &bisector{ctx: ctx, name: name, f: f, opts: opts, out: new(Bisection)}
	if err := b.search(); err != nil {
		return nil, err
	}
	return b.out, nil
}

// everything is a limit that stops nothing.
const everything = int(^uint(0) >> 1)

// trial is how the program is run once: with the first so many rewrites and
// blocks of several operations, and the rest left out.
type trial struct {
	fuse     bool
	graphs   bool
	rewrites int
	blocks   int
	noFuser  string
	noPass   string
	look     int // the block, from 1, to take the outputs of
}

var plainTrial = trial{}

// bisector is one call of Bisect.
type bisector struct {
	ctx  context.Context
	name string
	f    func(d *Device) ([]*Tensor, error)
	opts []Option
	want []outcome // of the plain run
	out  *Bisection

	// What the last trial saw.
	mu       sync.Mutex
	now      trial
	rewrites []rewrite
	blocks   int
	seen     *blockSeen
}

// rewrite is what a pass did to an operation.
type rewrite struct {
	pass string
	op   ProfiledOp
}

// blockSeen is a block that was looked at.
type blockSeen struct {
	fuser   string
	ops     []ProfiledOp
	kernels []string
	outputs []fusion.BlockOutput
	err     error // of reading the outputs
}

// search runs the stages.
func (b *bisector) search() error {
	var err error
	if b.want, err = b.run(plainTrial); err != nil {
		return err
	}
	if again, err := b.run(plainTrial); err != nil {
		return err
	} else if d := firstDifference(b.want, again); d != nil {
		return &ArgumentError{Msg: "the program does not repeat itself without any optimization: " + d.String()}
	}
	all := trial{fuse: true, graphs: true, rewrites: everything, blocks: everything}
	d, err := b.differs(all)
	if d == nil || err != nil {
		return err
	}
	b.out.Difference = *d
	all.graphs = false
	if d, err := b.differs(all); err != nil {
		return err
	} else if d == nil {
		b.out.Cause, b.out.Avoid = CauseGraph, "WithGraphs(false)"
		return nil
	}
	if d, err := b.differs(trial{rewrites: everything}); err != nil {
		return err
	} else if d != nil {
		return b.rewrite()
	}
	if d, err := b.differs(trial{fuse: true, rewrites: everything}); d != nil || err != nil {
		b.out.Cause = CausePlan
		return err
	}
	return b.block(all)
}

// rewrite finds the rewrite at fault, with no block fused.
func (b *bisector) rewrite() error {
	n, err := b.halve(len(b.rewrites), func(limit int) trial { return trial{rewrites: limit} })
	if err != nil {
		return err
	}
	d, err := b.differs(trial{rewrites: n})
	if err != nil {
		return err
	}
	if d == nil || n > len(b.rewrites) {
		b.out.Cause = CausePlan
		return nil
	}
	at := b.rewrites[n-1]
	b.out.Cause, b.out.Difference = CausePass, *d
	b.out.Pass, b.out.Ops = at.pass, []ProfiledOp{at.op}
	d, err = b.differs(trial{rewrites: everything, noPass: at.pass})
	if d == nil {
		b.out.Avoid = fmt.Sprintf("WithoutPasses(%q)", at.pass)
	}
	return err
}

// block finds the run of a block at fault, with every rewrite.
func (b *bisector) block(all trial) error {
	if _, err := b.run(all); err != nil {
		return err
	}
	n, err := b.halve(b.blocks, func(limit int) trial { return trial{fuse: true, rewrites: everything, blocks: limit} })
	if err != nil {
		return err
	}
	look := trial{fuse: true, rewrites: everything, blocks: n - 1, look: n}
	if _, err := b.run(look); err != nil {
		return err
	}
	apart := b.seen
	look.blocks = n
	d, err := b.differs(look)
	if err != nil {
		return err
	}
	fused := b.seen
	if d == nil || apart == nil || fused == nil {
		b.out.Cause = CausePlan
		return nil
	}
	b.out.Cause, b.out.Difference = CauseBlock, *d
	b.out.Fuser, b.out.Ops, b.out.Kernels = fused.fuser, fused.ops, fused.kernels
	if d := firstBlockDifference(apart, fused); d != nil {
		b.out.Difference = *d
	}
	b.out.Avoid = "WithFusion(false)"
	all.noFuser = fused.fuser
	d, err = b.differs(all)
	if d == nil {
		b.out.Avoid = fmt.Sprintf("WithoutFusers(%q)", fused.fuser)
	}
	return err
}

// halve returns the least limit up to n found at which the program differs: it
// does not at 0, and does at n.
func (b *bisector) halve(n int, at func(limit int) trial) (int, error) {
	good, bad := 0, n
	for bad-good > 1 {
		mid := good + (bad-good)/2
		d, err := b.differs(at(mid))
		if err != nil {
			return 0, err
		}
		if d != nil {
			bad = mid
		} else {
			good = mid
		}
	}
	return bad, nil
}

// differs runs a trial and returns the first difference from the plain run.
func (b *bisector) differs(t trial) (*Difference, error) {
	got, err := b.run(t)
	if err != nil {
		return &Difference{Where: "the program", Got: err.Error(), Want: "no error"}, b.ctx.Err()
	}
	return firstDifference(b.want, got), nil
}

// run runs the program once.
func (b *bisector) run(t trial) (out []outcome, err error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	b.now, b.rewrites, b.blocks, b.seen = t, nil, 0, nil
	b.out.Runs++
	dev, err := Open(b.name, append(append([]Option(nil), b.opts...), b.configure)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dev.Close() }() // its errors are in the tensors
	tensors, err := b.f(dev)
	if err != nil {
		return nil, err
	}
	for i, x := range tensors {
		switch rt := x.val().Runtime(); {
		case x == nil:
			return nil, &ArgumentError{Msg: fmt.Sprintf("output %d is nil", i)}
		case rt != nil && rt != dev.rt:
			return nil, &ArgumentError{Msg: fmt.Sprintf("output %d is of another device than the one given", i)}
		}
		out = append(out, outcomeOf(b.ctx, x))
	}
	return out, b.ctx.Err()
}

// configure makes a device run the trial at hand. It says nothing and keeps
// nothing: what is tried is no news.
func (b *bisector) configure(c *config) {
	t := b.now
	c.trace, c.fusion.PlanDir = "", ""
	c.fusion.NoGraphs = c.fusion.NoGraphs || !t.graphs
	silent := slog.New(slog.DiscardHandler)
	c.backend.Logger, c.fusion.Logger = silent, silent
	c.fusion.Optimize.Skip = b.skip
	c.fusion.Inspect = b
	c.fuse = c.fuse && t.fuse
	if t.noFuser != "" {
		c.noFusers = append(append([]string(nil), c.noFusers...), t.noFuser)
	}
	if t.noPass != "" {
		c.fusion.Optimize.Disable = append(append([]string(nil), c.fusion.Optimize.Disable...), t.noPass)
	}
}

// skip is the planner's question whether to leave a rewrite out.
func (b *bisector) skip(pass string, op *ir.Operation) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rewrites = append(b.rewrites, rewrite{pass, ProfiledOp{Kind: op.Kind, PC: op.PC}})
	return len(b.rewrites) > b.now.rewrites
}

// Apart counts a block and leaves it out beyond the limit.
func (b *bisector) Apart(run *fusion.BlockRun) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blocks++
	run.Tag = b.blocks
	return b.blocks > b.now.blocks
}

// Ran takes the outputs of the block that is looked for.
func (b *bisector) Ran(run *fusion.BlockRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now.look == 0 || run.Tag != b.now.look {
		return
	}
	b.seen = &blockSeen{fuser: run.Fuser, ops: run.Ops}
	for _, k := range run.Kernels() {
		b.seen.kernels = append(b.seen.kernels, k.String())
	}
	b.seen.outputs, b.seen.err = run.Outputs()
}
