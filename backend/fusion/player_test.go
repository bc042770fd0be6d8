package fusion_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"github.com/sinter-ml/sinter/backend"
	"github.com/sinter-ml/sinter/backend/fusion"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
	"github.com/sinter-ml/sinter/optimize"
)

// way is how a program is run: what must not change its values.
type way struct {
	name    string
	fused   bool
	force   bool
	workers int
	queue   int
	streams int    // beside the default one
	leaves  bool   // some inputs are values of Vars, and operations on Vars' values alone are on no stream
	stir    bool   // scopes, releases, reads and flushes at places that depend on the seed
	plans   string // directory of plans
	device  string // "" is the CPU
}

var plainWay = way{name: "unfused", workers: 1}

var ways = []way{
	{name: "fused", fused: true, workers: 1},
	{name: "fused by three workers", fused: true, workers: 3},
	{name: "fused and stirred", fused: true, workers: 1, stir: true},
	{name: "fused, stirred, short queues", fused: true, workers: 1, queue: 16, stir: true},
	{name: "whatever is legal fused, stirred", fused: true, force: true, workers: 1, stir: true},
	{name: "unfused and stirred", workers: 3, queue: 16, stir: true},
	{name: "fused, leaves on no stream", fused: true, workers: 1, leaves: true},
	{name: "fused and stirred, leaves on no stream, four streams", fused: true, workers: 1, streams: 3, leaves: true, stir: true},
	{name: "unfused and stirred, leaves on no stream, three streams, short queues", workers: 1, queue: 16, streams: 2, leaves: true, stir: true},
}

func (w way) on(device string) way {
	w.device = device
	return w
}

func (w way) open() (*fusion.Runtime, error) {
	dev, err := backend.Open(cmp.Or(w.device, "cpu"), backend.Options{Workers: w.workers, Poison: true})
	if err != nil {
		return nil, err
	}
	o := fusion.Options{Logger: silent, QueueLimit: w.queue, PlanDir: w.plans, Optimize: optimize.Options{Check: true, Force: w.force}}
	if w.fused {
		o.Fusers = fuser.Default()
	}
	return fusion.New(dev, o)
}

// player records a program on a stream. What it does besides depends on the
// seed and the tensors' ids, so that it stays the same while a program shrinks.
type player struct {
	way     way
	seed    uint64
	rt      *fusion.Runtime
	streams []*fusion.Stream // the default first
	p       *ir.Program
	last    map[ir.TensorID]int // the last operation that reads a tensor

	values map[ir.TensorID]*fusion.Value
	vars   map[ir.TensorID]*fusion.Var
	got    map[ir.TensorID]result
	scopes []*fusion.Scope
	inside []map[ir.TensorID]bool // what each open scope made
}

// result is the elements of a tensor, or the error of reading it.
type result struct {
	data []byte
	err  error
}

// chance makes a decision about a tensor that holds one time in n.
func (r *player) chance(n uint64, what string, id ir.TensorID) bool {
	h := fnv.New64a()
	fmt.Fprint(h, r.seed, what, id)
	return h.Sum64()%n == 0
}

// play runs the program on a runtime of its own and reads every tensor that was
// not released.
func (w way) play(p *ir.Program, d progen.Data, seed uint64) (map[ir.TensorID]result, error) {
	rt, err := w.open()
	if err != nil {
		return nil, err
	}
	got, err := w.playOn(rt, p, d, seed)
	if err != nil {
		return got, err
	}
	if n := rt.Stats().Fallbacks; n != 0 {
		err = fmt.Errorf("%d blocks fell back", n)
	}
	rt.Close()
	return got, err
}

// playOn is play on a given runtime, which is left open.
func (w way) playOn(rt *fusion.Runtime, p *ir.Program, d progen.Data, seed uint64) (got map[ir.TensorID]result, err error) {
	defer func() {
		if v := recover(); v != nil { // the runtime's locks are held: it is lost
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	r := &player{way: w, seed: seed, rt: rt, streams: []*fusion.Stream{rt.Default()}, p: p, last: map[ir.TensorID]int{},
		values: map[ir.TensorID]*fusion.Value{}, vars: map[ir.TensorID]*fusion.Var{}, got: map[ir.TensorID]result{}}
	for i := range p.Ops {
		for _, in := range p.Ops[i].Inputs {
			r.last[in.ID] = i
		}
	}
	for range w.streams {
		s, err := rt.NewStream()
		if err != nil {
			return nil, err
		}
		r.streams = append(r.streams, s)
	}
	for i, in := range p.Inputs {
		r.input(in, d.Inputs[i])
	}
	for _, c := range p.Constants {
		r.input(c.TensorRef, c.Data)
	}
	for i, v := range p.Vars {
		s := r.stream("var", v.ID)
		init := s.FromBytes(v.DType, v.Shape, d.Vars[i], 0)
		r.vars[v.ID] = s.NewVar(init)
		if !w.stir || r.chance(2, "release the first version", v.ID) {
			init.Release(0)
		}
		r.define(v.ID, nil)
	}
	for i := range p.Ops {
		r.op(i)
	}
	for len(r.scopes) > 0 {
		r.end()
	}
	r.readAll()
	return r.got, nil
}

// stream chooses a stream.
func (r *player) stream(what string, id ir.TensorID) *fusion.Stream {
	for k := len(r.streams) - 1; k > 0; k-- {
		if r.chance(uint64(k+1), fmt.Sprint(what, k), id) {
			return r.streams[k]
		}
	}
	return r.streams[0]
}

// input makes an input of the program: a tensor of a stream or a Var's value.
func (r *player) input(ref ir.TensorRef, data []byte) {
	v := r.stream("input", ref.ID).FromBytes(ref.DType, ref.Shape, data, 0)
	if r.way.leaves && r.chance(2, "leaf", ref.ID) {
		v = r.stream("leaf", ref.ID).NewVar(v).Value()
	}
	r.values[ref.ID] = v
}

// home returns the stream an operation is recorded on: the first operand's
// that has one; nil if all are leaves.
func (r *player) home(in []*fusion.Value) *fusion.Stream {
	for _, v := range in {
		if s := v.Home(); s != nil {
			return s
		}
	}
	if r.way.leaves {
		return nil
	}
	return r.streams[0]
}

// define notes the result of an operation; of a version of a Var a handle is
// taken if somebody needs one.
func (r *player) define(id ir.TensorID, v *fusion.Value) {
	if v == nil {
		if _, read := r.last[id]; r.way.stir && !read && r.chance(2, "take no handle", id) {
			return
		}
		v = r.vars[id].Value()
	}
	r.values[id] = v
	for _, in := range r.inside {
		in[id] = true
	}
}

func (r *player) op(i int) {
	op := &r.p.Ops[i]
	out := op.Outputs[0].ID
	if r.way.stir {
		if len(r.scopes) < 2 && r.chance(7, "begin", out) {
			r.scopes = append(r.scopes, r.stream("begin", out).Begin())
			r.inside = append(r.inside, map[ir.TensorID]bool{})
		}
	}
	rec := ir.Operation{Kind: op.Kind, Attrs: op.Attrs, Scalars: op.Scalars, Ranges: op.Ranges}
	in := make([]*fusion.Value, len(op.Inputs))
	for k, ref := range op.Inputs {
		in[k] = r.values[ref.ID]
	}
	if ir.Lookup(op.Kind).Class == ir.ClassEffect {
		old := op.Inputs[0].ID
		r.vars[out] = r.vars[old]
		s := r.home(in[1:])
		if s == nil {
			s = r.streams[0]
		}
		s.Effect(r.vars[old], rec, in[1:]...)
		r.define(out, nil)
	} else if s := r.home(in); s != nil {
		r.define(out, s.Record(rec, in...))
	} else {
		r.define(out, r.rt.Defer(rec, in...))
	}
	if !r.way.stir {
		return
	}
	for _, ref := range op.Inputs {
		if r.last[ref.ID] == i && r.values[ref.ID] != nil && r.chance(3, "release", ref.ID) {
			r.values[ref.ID].Release(0)
			delete(r.values, ref.ID)
		}
	}
	if r.chance(6, "read", out) {
		r.read(r.any(out))
	}
	if r.chance(12, "flush", out) {
		_ = r.stream("flush", out).Flush(context.Background()) // reads tell
	}
	if len(r.scopes) > 0 && r.chance(7, "end", out) {
		r.end()
	}
}

// any returns a tensor that can be read.
func (r *player) any(of ir.TensorID) ir.TensorID {
	rg := rand.New(rand.NewPCG(r.seed, uint64(of)))
	for range 8 {
		id := r.p.Ops[rg.IntN(len(r.p.Ops))].Outputs[0].ID
		if r.values[id] != nil {
			return id
		}
	}
	return 0
}

func (r *player) read(id ir.TensorID) {
	v := r.values[id]
	if v == nil {
		return
	}
	b := make([]byte, v.Shape().NumElements()*v.DType().Size())
	err := v.Read(context.Background(), b)
	oracle.Canonical(v.DType(), b)
	got := result{b, err}
	if before, ok := r.got[id]; ok && err == nil && before.err == nil && string(before.data) != string(b) {
		got.err = fmt.Errorf("tensor %d changed between reads", id)
	}
	r.got[id] = got
}

// end ends the innermost scope; what is still read later is kept, and some of
// the rest.
func (r *player) end() {
	n := len(r.scopes) - 1
	sc, made := r.scopes[n], r.inside[n]
	r.scopes, r.inside = r.scopes[:n], r.inside[:n]
	for _, id := range slices.Sorted(maps.Keys(made)) { // now looks at what is left
		v := r.values[id]
		if v == nil {
			continue
		}
		if _, read := r.last[id]; read && r.last[id] >= r.now() || r.chance(2, "keep", id) {
			sc.Keep(v)
		} else {
			delete(r.values, id)
		}
	}
	_ = sc.End(context.Background()) // reads tell
}

// now returns the position of the next operation.
func (r *player) now() int {
	for i := len(r.p.Ops) - 1; i >= 0; i-- {
		out := r.p.Ops[i].Outputs[0].ID
		if r.values[out] != nil || r.vars[out] != nil {
			return i + 1
		}
	}
	return 0
}

// readAll reads what is left, last first or in another order.
func (r *player) readAll() {
	ids := make([]ir.TensorID, 0, len(r.p.Ops)+len(r.p.Vars))
	for i := range r.p.Ops {
		ids = append(ids, r.p.Ops[i].Outputs[0].ID)
	}
	for _, v := range r.p.Vars {
		ids = append(ids, v.ID)
	}
	if r.way.stir {
		rg := rand.New(rand.NewPCG(r.seed, 1))
		rg.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	} else {
		for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
			ids[i], ids[j] = ids[j], ids[i]
		}
	}
	for _, id := range ids {
		r.read(id)
	}
}
