package fusion_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	stir    bool // scopes, releases, reads and flushes at places that depend on the seed
}

var plainWay = way{name: "unfused", workers: 1}

var ways = []way{
	{name: "fused", fused: true, workers: 1},
	{name: "fused by three workers", fused: true, workers: 3},
	{name: "fused and stirred", fused: true, workers: 1, stir: true},
	{name: "fused, stirred, short queues", fused: true, workers: 1, queue: 16, stir: true},
	{name: "whatever is legal fused, stirred", fused: true, force: true, workers: 1, stir: true},
	{name: "unfused and stirred", workers: 3, queue: 16, stir: true},
}

func (w way) open() (*fusion.Runtime, error) {
	dev, err := backend.Open("cpu", backend.Options{Workers: w.workers, Poison: true})
	if err != nil {
		return nil, err
	}
	o := fusion.Options{QueueLimit: w.queue, Optimize: optimize.Options{Check: true, Force: w.force}}
	if w.fused {
		o.Fusers = fuser.Default()
	}
	return fusion.New(dev, o)
}

// player records a program on a stream. What it does besides depends on the
// seed and the tensors' ids, so that it stays the same while a program shrinks.
type player struct {
	way  way
	seed uint64
	s    *fusion.Stream
	p    *ir.Program
	last map[ir.TensorID]int // the last operation that reads a tensor

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
	r := &player{way: w, seed: seed, s: rt.Default(), p: p, last: map[ir.TensorID]int{},
		values: map[ir.TensorID]*fusion.Value{}, vars: map[ir.TensorID]*fusion.Var{}, got: map[ir.TensorID]result{}}
	for i := range p.Ops {
		for _, in := range p.Ops[i].Inputs {
			r.last[in.ID] = i
		}
	}
	for i, in := range p.Inputs {
		r.values[in.ID] = r.s.FromBytes(in.DType, in.Shape, d.Inputs[i], 0)
	}
	for _, c := range p.Constants {
		r.values[c.ID] = r.s.FromBytes(c.DType, c.Shape, c.Data, 0)
	}
	for i, v := range p.Vars {
		init := r.s.FromBytes(v.DType, v.Shape, d.Vars[i], 0)
		r.vars[v.ID] = r.s.NewVar(init)
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
			r.scopes = append(r.scopes, r.s.Begin())
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
		r.s.Effect(r.vars[old], rec, in[1:]...)
		r.define(out, nil)
	} else {
		r.define(out, r.s.Record(rec, in...))
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
		_ = r.s.Flush(context.Background()) // reads tell
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
	canonical(v.DType(), b)
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
	for id := range made {
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

// canonical makes every NaN the same.
func canonical(d ir.DType, b []byte) {
	switch d {
	case ir.F32:
		for i := 0; i < len(b); i += 4 {
			if x := math.Float32frombits(binary.LittleEndian.Uint32(b[i:])); x != x {
				binary.LittleEndian.PutUint32(b[i:], 0x7fc00000)
			}
		}
	case ir.BF16:
		for i := 0; i < len(b); i += 2 {
			if x := binary.LittleEndian.Uint16(b[i:]); x&0x7f80 == 0x7f80 && x&0x7f != 0 {
				binary.LittleEndian.PutUint16(b[i:], 0x7fc0)
			}
		}
	}
}

// checkProgram runs a program in every way and returns the first difference.
func checkProgram(p *ir.Program, d progen.Data, seed uint64) error {
	want, err := plainWay.play(p, d, seed)
	if err != nil {
		return fmt.Errorf("%s: %w", plainWay.name, err)
	}
	if err := checkOracle(p, d, want); err != nil {
		return err
	}
	for _, w := range ways {
		got, err := w.play(p, d, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		for i := range p.Ops {
			id := p.Ops[i].Outputs[0].ID
			if g, ok := got[id]; ok {
				if err := sameResult(g, want[id]); err != nil {
					return fmt.Errorf("%s: %%%d: %w", w.name, id, err)
				}
			}
		}
		for _, v := range p.Vars {
			if g, ok := got[v.ID]; ok {
				if err := sameResult(g, want[v.ID]); err != nil {
					return fmt.Errorf("%s: %%%d: %w", w.name, v.ID, err)
				}
			}
		}
	}
	return nil
}

func sameResult(got, want result) error {
	switch {
	case got.err != nil && want.err != nil:
		var a, b *ir.IndexError
		if errors.As(got.err, &a) != errors.As(want.err, &b) {
			return fmt.Errorf("fails with %w, not with %w", got.err, want.err)
		}
	case got.err != nil:
		return got.err
	case want.err != nil:
		return fmt.Errorf("does not fail with %w", want.err)
	case string(got.data) != string(want.data):
		for i := range got.data {
			if got.data[i] != want.data[i] {
				return fmt.Errorf("differs at byte %d of %d", i, len(got.data))
			}
		}
	}
	return nil
}

// checkOracle compares every result with the oracle's for the operands as the
// runtime computed them.
func checkOracle(p *ir.Program, d progen.Data, got map[ir.TensorID]result) error {
	values := map[ir.TensorID]oracle.Tensor{}
	set := func(ref ir.TensorRef, b []byte) error {
		x, err := oracle.FromBytes(ref.DType, ref.Shape, b)
		values[ref.ID] = x
		return err
	}
	for i, ref := range p.Inputs {
		if err := set(ref, d.Inputs[i]); err != nil {
			return err
		}
	}
	for _, c := range p.Constants {
		if err := set(c.TensorRef, c.Data); err != nil {
			return err
		}
	}
	for i, ref := range p.Vars {
		if err := set(ref, d.Vars[i]); err != nil {
			return err
		}
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		out := op.Outputs[0]
		if got[out.ID].err != nil {
			return fmt.Errorf("%%%d: %w", out.ID, got[out.ID].err)
		}
		if err := set(out, got[out.ID].data); err != nil {
			return fmt.Errorf("%%%d: %w", out.ID, err)
		}
		in := make([]oracle.Tensor, len(op.Inputs))
		for k, ref := range op.Inputs {
			in[k] = values[ref.ID]
		}
		if err := oracle.CheckOp(op, values[out.ID], in...); err != nil {
			return fmt.Errorf("%%%d: %w", out.ID, err)
		}
	}
	return nil
}

// mustHold fails the test with a program as small as can be.
func mustHold(t *testing.T, p *ir.Program, seed uint64, special float64) {
	t.Helper()
	check := func(p *ir.Program) error {
		d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: special})
		return checkProgram(p, d, seed)
	}
	first := check(p)
	if first == nil {
		return
	}
	// Only failures of the same kind count, or shrinking drifts to another.
	kind := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, first.Error())
	kind = kind[:min(len(kind), 24)]
	small := progen.Shrink(p, func(q *ir.Program) bool {
		err := check(q)
		return err != nil && strings.HasPrefix(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, err.Error()), kind)
	})
	require.NoError(t, check(small), "seed %d special %g (first: %v)\n%s", seed, special, first, small)
}

func TestFusionChangesNoValue(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		special := 0.0
		o := progen.Options{Ops: 24, MaxElements: 600}
		if seed%3 == 2 {
			special, o.Special = 0.05, 0.05
		}
		if seed%5 == 4 {
			o.Empty = 0.02
		}
		mustHold(t, progen.Generate(seed, o), seed, special)
		if t.Failed() {
			return
		}
	}
}

// TestEffects is about programs most of whose operations are effects and what
// reads Vars.
func TestEffects(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 60
	}
	for seed := range n {
		o := progen.Options{Ops: 20, MaxElements: 200, Weights: map[string]int{"effect": 10, "view": 6, "binary": 5, "unary": 3, "reduce": 1, "index": 1}}
		mustHold(t, progen.Generate(1000+seed, o), seed, 0)
	}
}

// TestRegressions runs the programs that once failed.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob("testdata/regress/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			p, err := ir.ParseProgram(string(text))
			require.NoError(t, err)
			for seed := range uint64(6) {
				d, _ := progen.RandomData(p, seed, progen.DataOptions{Special: float64(seed%2) * 0.1})
				require.NoError(t, checkProgram(p, d, seed), "seed %d", seed)
			}
		})
	}
}

func FuzzFusionChangesNoValue(f *testing.F) {
	for seed := range uint64(4) {
		rg := rand.New(rand.NewPCG(seed, 7))
		b := make([]byte, 400)
		for i := range b {
			b[i] = byte(rg.Uint32())
		}
		f.Add(seed, b)
	}
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		mustHold(t, progen.FromBytes(data), seed, 0.02)
	})
}
