package fusion

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend"
	_ "github.com/sinter-ml/sinter/backend/cpu"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/livemodel"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// modelEngine runs the model's programs on a runtime and shows its decisions.
// Passes that merge operations are off: the model has none.
type modelEngine struct {
	rt      *Runtime
	s       *Stream
	scopes  []*Scope
	events  []livemodel.Event
	numbers map[*Value]int // of recorded operations, in the order they were queued
	sites   map[*ir.OpError]int
	collect *rand.Rand // when to collect garbage
}

func newModelEngine(t testing.TB, fusers []fuser.Factory, force bool, cut int, collect uint64) *modelEngine {
	dev, err := backend.Open("cpu", backend.Options{Workers: 1, Poison: true})
	require.NoError(t, err)
	rt, err := New(dev, Options{Logger: slog.New(slog.DiscardHandler), Fusers: fusers, QueueLimit: cut, Optimize: optimize.Options{
		Check: true, Force: force, Disable: []string{"fold-view", "fold-cast", "cse"},
	}})
	require.NoError(t, err)
	t.Cleanup(func() { rt.Close() })
	e := &modelEngine{rt: rt, s: rt.Default(), numbers: map[*Value]int{}, sites: map[*ir.OpError]int{}}
	if collect != 0 {
		e.collect = rand.New(rand.NewPCG(collect, 0))
	}
	rt.Observe(e.observe)
	return e
}

func (e *modelEngine) number(v *Value) int {
	n, ok := e.numbers[v]
	if !ok {
		n = len(e.numbers)
		e.numbers[v] = n
	}
	return n
}

func f32bytes(data []float32) []byte {
	b := make([]byte, 0, 4*len(data))
	for _, v := range data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func (e *modelEngine) NewVar(data []float32, shape []int) livemodel.Var {
	init := e.s.FromBytes(ir.F32, shape, f32bytes(data), 0)
	v := e.s.NewVar(init)
	init.Release(0)
	return v
}

func (e *modelEngine) From(data []float32, shape []int) livemodel.Tensor {
	return e.s.FromBytes(ir.F32, shape, f32bytes(data), 0)
}

var modelKinds = map[livemodel.Op]ir.Kind{
	livemodel.OpAdd: ir.Add, livemodel.OpSub: ir.Sub, livemodel.OpMul: ir.Mul, livemodel.OpDiv: ir.Div,
	livemodel.OpMaximum: ir.Maximum, livemodel.OpAddScalar: ir.Add, livemodel.OpMulScalar: ir.Mul,
	livemodel.OpNeg: ir.Neg, livemodel.OpAbs: ir.Abs, livemodel.OpRelu: ir.Relu, livemodel.OpSquare: ir.Square,
	livemodel.OpSqrt: ir.Sqrt, livemodel.OpUniform: ir.Uniform, livemodel.OpTranspose: ir.Permute,
	livemodel.OpRows: ir.Slice, livemodel.OpCat: ir.Cat, livemodel.OpSum: ir.Sum, livemodel.OpMatMul: ir.MatMul,
	livemodel.OpSet: ir.Set, livemodel.OpSetSlice: ir.SetSlice,
}

func (e *modelEngine) Op(c livemodel.Call, in []livemodel.Tensor) livemodel.Tensor {
	op := ir.Operation{Kind: modelKinds[c.Op], PC: uintptr(c.Site)}
	vals := make([]*Value, len(in))
	for i, t := range in {
		vals[i] = t.(*Value)
	}
	switch c.Op {
	case livemodel.OpAddScalar, livemodel.OpMulScalar:
		op.Scalars = []ir.Scalar{ir.F32Scalar(c.Scalar)}
	case livemodel.OpUniform:
		seed, at := e.rt.Draw()
		op.Scalars = []ir.Scalar{ir.I64Scalar(int64(seed)), ir.I64Scalar(int64(at)), ir.F32Scalar(0), ir.F32Scalar(1)}
		op.Attrs.Shape, op.Attrs.DType = c.Shape, ir.F32
	case livemodel.OpTranspose:
		op.Attrs.Axes = []int{1, 0}
	case livemodel.OpRows:
		cols := 1
		if len(vals[0].Shape()) == 2 {
			cols = vals[0].Shape()[1]
		}
		op.Ranges = []ir.Range{{Start: c.Start, Len: c.Len, Step: 1}, {Len: cols, Step: 1}}
	case livemodel.OpCat:
		op.Attrs.Axes = []int{0}
	case livemodel.OpSum:
		op.Attrs.Axes = []int{c.Axis}
	}
	before := e.s.failures
	v := e.s.Record(op, vals...)
	e.site(before, c.Site)
	if v.node != nil || v.recipe != nil || v.storage != nil || v.is(Gone) {
		e.number(v)
	}
	return v
}

// site notes where failures since a number of them happened.
func (e *modelEngine) site(before uint64, site int) {
	for _, f := range e.s.errs {
		var op *ir.OpError
		if f.number >= before && errors.As(f.err, &op) {
			e.sites[op] = site
		}
	}
}

// Value takes a handle as a use of it on the stream does.
func (e *modelEngine) Value(v livemodel.Var) livemodel.Tensor {
	h := v.(*Var).Value()
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	e.s.claim(h)
	return h
}

func (e *modelEngine) Effect(c livemodel.Call, v livemodel.Var, t livemodel.Tensor) {
	w, val := v.(*Var), t.(*Value)
	op := ir.Operation{Kind: modelKinds[c.Op], PC: uintptr(c.Site)}
	if c.Op == livemodel.OpSetSlice {
		rows := 0
		if len(val.Shape()) == 2 {
			rows = val.Shape()[0]
		}
		op.Ranges = []ir.Range{{Start: c.Start, Len: rows, Step: 1}, {Len: w.shape[1], Step: 1}}
	}
	before, old := e.s.failures, w.cur
	e.s.Effect(w, op, val)
	e.site(before, c.Site)
	if w.cur != old {
		e.number(w.cur)
	}
}

func (e *modelEngine) Read(site int, t livemodel.Tensor) ([]float32, error) {
	v := t.(*Value)
	b := make([]byte, v.bytes())
	if err := v.Read(context.Background(), b); err != nil {
		var op *ir.OpError
		if errors.As(err, &op) {
			if _, known := e.sites[op]; !known {
				e.sites[op] = site
			}
		}
		return nil, err
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, nil
}

func (e *modelEngine) Flush() error { return e.s.Flush(context.Background()) }

func (e *modelEngine) BeginScope() { e.scopes = append(e.scopes, e.s.Begin()) }

func (e *modelEngine) Keep(t livemodel.Tensor) { e.scopes[len(e.scopes)-1].Keep(t.(*Value)) }

func (e *modelEngine) EndScope() error {
	n := len(e.scopes) - 1
	sc := e.scopes[n]
	e.scopes = e.scopes[:n]
	return sc.End(context.Background())
}

func (e *modelEngine) Release(t livemodel.Tensor) { t.(*Value).Release(0) }

func (e *modelEngine) Forgot() {
	if e.collect != nil && e.collect.IntN(3) == 0 {
		runtime.GC()
	}
}

func (e *modelEngine) Cause(err error) livemodel.Cause {
	var op *ir.OpError
	if !errors.As(err, &op) {
		return livemodel.Cause{}
	}
	c := livemodel.Cause{Kind: livemodel.BadOp, Site: e.sites[op]}
	var released *ReleasedError
	if errors.As(err, &released) {
		c.Kind = livemodel.Released
	}
	return c
}

func (e *modelEngine) Events() []livemodel.Event {
	ev := e.events
	e.events = nil
	return ev
}

// observe turns what a segment did into the model's words.
func (e *modelEngine) observe(r *Run) {
	if r.Own {
		if r.Late != nil {
			e.events = append(e.events, livemodel.Event{Kind: livemodel.EventLate, Op: e.number(r.Late)})
		}
		return
	}
	x := r.exec
	n := len(x.seg.nodes)
	d := &livemodel.Drain{
		Ops: make([]int, n), Asked: make([]bool, n), Dead: make([]bool, n), Keeps: make([]bool, n),
		Fates: make([]livemodel.Fate, n), Recipes: map[int][]int{}, Alias: make([]bool, n), Through: make([]bool, n), Planned: r.Explored,
	}
	for i, nd := range x.seg.nodes {
		out := nd.out.rel
		d.Ops[i] = e.number(nd.out)
		d.Fates[i] = livemodel.Fate(r.Plan.Fates[out])
		if nd.v != nil {
			d.Keeps[i] = !x.flags.forced[i]
			d.Fates[i] = livemodel.Stored
			continue
		}
		d.Asked[i], d.Dead[i] = x.flags.asked[i], x.flags.dead[i]
		if d.Dead[i] && d.Fates[i] == livemodel.Stored {
			d.Fates[i] = livemodel.Temporary // a recipe holds it
		}
		d.Alias[i] = x.base[out] != 0 && d.Fates[i] <= livemodel.Temporary && d.Fates[i] != livemodel.Virtual
		if recipe, ok := r.Plan.Recipes[ir.TensorID(out)]; ok {
			d.Recipes[i] = recipe
		}
		why := r.Plan.Log.Why(i, i)
		d.Through[i] = ir.Lookup(nd.op.Kind).Class == ir.ClassView && why[0].Event != optimize.EventFused
	}
	for _, b := range r.Plan.Blocks {
		d.Blocks = append(d.Blocks, b.Ops)
	}
	e.events = append(e.events, livemodel.Event{Kind: livemodel.EventDrain, Drain: d})
}

var modelPrograms = []struct {
	name string
	opts livemodel.Options
	cut  int
}{
	{"plain", livemodel.Options{}, 0},
	{"scopes", livemodel.Options{Scopes: true}, 0},
	{"deaths", livemodel.Options{Scopes: true, Releases: true}, 0},
	{"faults", livemodel.Options{Scopes: true, Releases: true, Faults: true}, 0},
	{"long queues", livemodel.Options{Rare: true}, 48},
	{"long queues in scopes", livemodel.Options{Rare: true, Scopes: true, Releases: true}, 48},
	{"unsteady", livemodel.Options{Scopes: true, Releases: true, Unsteady: true, Rare: true}, 100},
}

// TestRuntimeFollowsTheModel runs the model's random programs on the runtime
// and compares values, errors and every decision, whatever the collector does.
func TestRuntimeFollowsTheModel(t *testing.T) {
	seeds := int64(60)
	if testing.Short() {
		seeds = 15
	}
	for _, k := range modelPrograms {
		for _, f := range []struct {
			name   string
			fusers []fuser.Factory
			force  bool
		}{{"fused", fuser.Default(), false}, {"all fused", fuser.Default(), true}, {"unfused", nil, false}} {
			t.Run(fmt.Sprintf("%s/%s", k.name, f.name), func(t *testing.T) {
				for seed := range seeds {
					p := livemodel.Generate(5000+seed, k.opts)
					compare := func(p *livemodel.Program) error {
						e := newModelEngine(t, f.fusers, f.force, k.cut, uint64(seed))
						defer e.rt.Close()
						return livemodel.Compare(e, p, livemodel.Config{Cut: k.cut})
					}
					if err := compare(p); err != nil {
						q := livemodel.Shrink(p, func(q *livemodel.Program) bool { return compare(q) != nil })
						require.NoError(t, compare(q), "seed %d, first: %.400v", 5000+seed, err)
					}
				}
			})
		}
	}
}
