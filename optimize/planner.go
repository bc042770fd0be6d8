package optimize

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// Options change how a Planner works. The zero value is the normal way.
type Options struct {
	// Disable names what the planner does without: passes, fusers, rules that
	// are a matter of cost. See Switches.
	Disable []string
	// Extra are passes that run after those of the table; see Replace.
	Extra []Pass
	// Skip, if set, is asked of every rewrite that could change a value whether
	// to leave it out: to find one that does.
	Skip func(pass string, op *ir.Operation) bool
	// Force fuses whatever is legal and accepted, whether it saves time or not:
	// it disables every rule but those that bound what exploring costs.
	Force bool
	// Check validates every plan, with its fallbacks, before it is returned.
	Check bool
	// Window is how many blocks, in running order, may lie between the parts of
	// a fusion, 0: 512. It bounds the search for paths.
	Window int
	// LogLimit is the most decisions a plan's log keeps, 0: 65,536.
	LogLimit int
}

// Planner turns segments into plans. It may be used by several goroutines at
// once.
type Planner struct {
	factories []fuser.Factory
	profile   fuser.Profile
	opts      Options
	off       map[string]bool // by name: what is switched off
	// single lowers one operation alone.
	single func(g *fuser.Graph, op int) (*fuser.Optimization, error)
}

// New returns a planner that grows blocks with the given fusers, in order of
// preference when scores tie. Without fusers fusion is off: every operation
// is its own block.
func New(factories []fuser.Factory, profile fuser.Profile, opts Options) *Planner {
	if opts.Window == 0 {
		opts.Window = 512
	}
	if opts.LogLimit == 0 {
		opts.LogLimit = 1 << 16
	}
	off := switchedOff(opts)
	if off[string(RuleFar)] {
		opts.Window = math.MaxInt
	}
	factories = slices.DeleteFunc(slices.Clone(factories), func(f fuser.Factory) bool { return off[f.Name] })
	return &Planner{factories: factories, profile: profile, opts: opts, off: off, single: fuser.Single}
}

// Plan returns the plan of a segment. The same segment, profile and options
// give the same plan. The segment is not changed; operations share their
// attributes with the plan's guards.
func (p *Planner) Plan(seg *Segment) (*Plan, error) {
	w, err := p.prepare(seg)
	if err != nil {
		return nil, err
	}
	d := newDAG(w)
	s := newSearch(w, d, p)
	s.run()
	plan, err := s.finish()
	if err != nil {
		return nil, err
	}
	if p.opts.Check {
		if err := cmp.Or(Check(plan, seg), CheckFallbacks(plan)); err != nil {
			return nil, fmt.Errorf("optimize: plan is wrong: %w", err)
		}
	}
	return plan, nil
}

// prepare runs the passes over a segment.
func (p *Planner) prepare(seg *Segment) (*work, error) {
	w, err := newWork(seg, p.opts)
	if err != nil {
		return nil, err
	}
	for _, table := range [][]Pass{Passes, p.opts.Extra} {
		for _, pass := range table {
			if !p.off[pass.Name] {
				pass.run(w)
			}
		}
	}
	w.settle()
	return w, nil
}

// graph returns the segment as fusers see it after the passes.
func (p *Planner) graph(w *work) *fuser.Graph {
	g := &fuser.Graph{Ops: w.ops, Off: make(map[fuser.Rule]bool), Dims: w.seg.Dims, InPlace: make([]bool, len(w.ops)), Tensors: make([]fuser.Tensor, len(w.seg.Tensors))}
	for i := range w.seg.Tensors {
		t := &w.seg.Tensors[i]
		g.Tensors[i] = fuser.Tensor{
			Shape: t.Shape, DType: t.DType, Layout: t.Layout,
			Buffer: t.Buffer, Producer: w.producer[i], Consumers: w.consumers[i],
			Stored: w.wanted[i], Dead: w.dead[i], Var: w.isVar(ir.TensorID(i)),
		}
	}
	for _, r := range fuser.Rules {
		if r.Profit && p.off[string(r.Rule)] {
			g.Off[r.Rule] = true
		}
	}
	for i := range w.ops {
		g.InPlace[i] = w.seg.inPlace(i)
	}
	return g
}
