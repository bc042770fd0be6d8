package optimize

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/internal/progen"
	"github.com/sinter-ml/sinter/ir"
)

// sampleSegments are segments of every sort.
func sampleSegments(n int) []*Segment {
	out := []*Segment{preNorm(2), updates(4), accumulated(5)}
	for i := range uint64(n) {
		r := rand.New(rand.NewPCG(i, 11))
		out = append(out, randomSegment(r, 1+r.IntN(40)), segmentOf(progen.Generate(i, progen.DefaultOptions()), r))
	}
	return out
}

func savedOf(t testing.TB, p *Planner, seg *Segment) (*State, []byte) {
	t.Helper()
	plan, err := p.Plan(seg)
	require.NoError(t, err)
	s := &State{Key: Key{Hash: 7, Tokens: []uint64{1, 2, 3}, Sequence: 9}, Segment: seg, Plan: plan}
	data, err := s.encode()
	require.NoError(t, err)
	return s, data
}

// A plan that was written and read runs the same kernels with the same
// bindings, holds where it held, and falls back to the same operations.
func TestStateOfAPlan(t *testing.T) {
	p := New(fuser.Default(), cpuProfile, Options{})
	guards, n := 0, 60
	if testing.Short() {
		n = 20
	}
	for i, seg := range sampleSegments(n) {
		want, data := savedOf(t, p, seg)
		got, err := p.decode(7, data)
		require.NoError(t, err, "segment %d", i)
		require.Equal(t, want.Key, got.Key)
		require.Equal(t, want.Plan.Format(seg), got.Plan.Format(got.Segment), "segment %d", i)
		for b := range want.Plan.Blocks {
			x, y := &want.Plan.Blocks[b], &got.Plan.Blocks[b]
			require.Equal(t, calls(x.Optimization), calls(y.Optimization))
			require.Equal(t, [...]any{x.Score, x.Saving, x.Read, x.Written, x.MaxDim, x.Aside}, [...]any{y.Score, y.Saving, y.Read, y.Written, y.MaxDim, y.Aside})
			alone, err := x.Fallback()
			require.NoError(t, err)
			other, err := y.Fallback()
			require.NoError(t, err)
			require.Len(t, other, len(alone))
			for k := range alone {
				require.Equal(t, calls(alone[k]), calls(other[k]))
			}
		}
		require.Equal(t, want.Plan.Log.places, got.Plan.Log.places)
		if len(seg.Ops) > 1 {
			require.Equal(t, EventLoaded, got.Plan.Log.Why(-1, -2)[0].Event)
		}
		for _, f := range variants(seg) {
			for g := range want.Plan.Guards {
				guards++
				require.Equal(t, want.Plan.Guards[g].holds(&f), got.Plan.Guards[g].holds(&f), "segment %d, guard %s", i, want.Plan.Guards[g].Name)
			}
		}
	}
	require.Greater(t, guards, 100)
}

// calls prints what a device is given.
func calls(o *fuser.Optimization) string {
	s := o.Fuser
	for i := range o.Calls {
		s += "\n" + o.Calls[i].String()
	}
	return s
}

// variants returns facts like those of a segment: its own, other lengths, other
// layouts, other scalars and starts.
func variants(seg *Segment) []Facts {
	own := seg.Facts()
	longer, scaled, moved := own, own, own
	longer.Dims = append([]int{1}, seg.Dims[1:]...)
	for i := 1; i < len(longer.Dims); i++ {
		longer.Dims[i] = longer.Dims[i]*64 + 1
	}
	scaled.Ops, moved.Ops = make([]ir.Operation, len(seg.Ops)), make([]ir.Operation, len(seg.Ops))
	for i, op := range seg.Ops {
		scaled.Ops[i], moved.Ops[i] = op, op
		scaled.Ops[i].Scalars = make([]ir.Scalar, len(op.Scalars))
		for k, s := range op.Scalars {
			s.Bits += uint64(i)
			scaled.Ops[i].Scalars[k] = s
		}
		moved.Ops[i].Ranges = make([]ir.Range, len(op.Ranges))
		for k, r := range op.Ranges {
			r.Start++
			moved.Ops[i].Ranges[k] = r
		}
	}
	strided := own
	strided.Layouts = make([]codegen.Layout, len(own.Layouts))
	for i, l := range own.Layouts {
		strided.Layouts[i] = codegen.Layout{Shape: l.Shape, Offset: l.Offset, Strides: make([]int, len(l.Strides))}
		for k, n := range l.Strides {
			strided.Layouts[i].Strides[k] = 2*n + k
		}
	}
	return []Facts{own, longer, scaled, moved, strided}
}

// Equal states give equal bytes, and what is read gives them again.
func TestStateIsWrittenTheSame(t *testing.T) {
	p := New(fuser.Default(), cpuProfile, Options{})
	s, data := savedOf(t, p, preNorm(3))
	again, err := s.encode()
	require.NoError(t, err)
	require.Equal(t, data, again)
	read, err := p.decode(7, data)
	require.NoError(t, err)
	again, err = read.encode()
	require.NoError(t, err)
	require.Equal(t, data, again)
	t.Logf("%d operations take %d bytes", len(s.Segment.Ops), len(data))
}

// What a state consists of is written whole: a field that is not exported would
// be lost.
func TestStateHasNoHiddenFields(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(x reflect.Type)
	walk = func(x reflect.Type) {
		if seen[x] {
			return
		}
		seen[x] = true
		switch x.Kind() {
		case reflect.Struct:
			for i := range x.NumField() {
				require.True(t, x.Field(i).IsExported(), "%v.%s", x, x.Field(i).Name)
				walk(x.Field(i).Type)
			}
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(x.Elem())
		case reflect.Map, reflect.Interface, reflect.Func, reflect.Chan:
			require.Fail(t, "cannot be written", "%v", x)
		}
	}
	walk(reflect.TypeFor[stateData]())
	require.Greater(t, len(seen), 20)
}

// Whatever is changed in a state, it is refused or checked as any plan: it never
// breaks the reader.
func TestStateThatWasChanged(t *testing.T) {
	p := New(fuser.Default(), cpuProfile, Options{})
	seg := preNorm(1)
	change := map[string]func(d *stateData){
		"operation of another kind": func(d *stateData) { d.Segment.Ops[1].Kind = ir.Softmax },
		"kind that is none":         func(d *stateData) { d.Segment.Ops[1].Kind = 60000 },
		"operand out of range":      func(d *stateData) { d.Segment.Ops[2].Inputs[0].ID = 9999 },
		"operand of another shape":  func(d *stateData) { d.Segment.Ops[2].Inputs[0].Shape = ir.Shape{1} },
		"no output":                 func(d *stateData) { d.Segment.Ops[2].Outputs = nil },
		"order of operations":       func(d *stateData) { o := d.Segment.Ops; o[0], o[2] = o[2], o[0] },
		"length not in the table":   func(d *stateData) { d.Segment.Dims = d.Segment.Dims[:2] },
		"no lengths":                func(d *stateData) { d.Segment.Dims = nil },
		"dtype":                     func(d *stateData) { d.Segment.Tensors[0].DType = 200 },
		"layout":                    func(d *stateData) { d.Segment.Tensors[0].Layout.Strides = nil },
		"buffer":                    func(d *stateData) { d.Segment.Tensors[0].Buffer = 1 << 30 },
		"missing fate":              func(d *stateData) { d.Fates = d.Fates[:3] },
		"fate that is none":         func(d *stateData) { d.Fates[len(d.Fates)-1] = 9 },
		"asked for, not stored":     func(d *stateData) { d.Fates[len(d.Fates)-1] = Virtual },
		"missing block":             func(d *stateData) { d.Blocks = d.Blocks[1:] },
		"block twice":               func(d *stateData) { d.Blocks = append(d.Blocks, d.Blocks[1]) },
		"order of blocks":           func(d *stateData) { b := d.Blocks; b[0], b[len(b)-1] = b[len(b)-1], b[0] },
		"operation of a block":      func(d *stateData) { d.Blocks[0].Optimization.Ops = []int{-1} },
		"no operation":              func(d *stateData) { d.Blocks[0].Optimization.Ops = nil },
		"stored tensor":             func(d *stateData) { d.Blocks[0].Optimization.Stored = []ir.TensorID{1 << 50} },
		"no kernel":                 func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Kernel = nil },
		"malformed kernel":          func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Kernel.Body[0].Op = 99 },
		"tensor of a call":          func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Tensors[0] = 1 << 40 },
		"missing tensor":            func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Tensors = nil },
		"space":                     func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Dims[0] = 999 },
		"missing access":            func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Access = nil },
		"axis":                      func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Access[0].Axes[0] = 77 },
		"view": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Access[0].Views = []fuser.View{{Kind: fuser.ViewSlice, Op: 1 << 30}}
		},
		"permutation": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Access[0].Views = []fuser.View{{Kind: fuser.ViewPermute, Axes: []int{0, 0}}}
		},
		"axis of an affine view": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Access[0].Views = []fuser.View{{Kind: fuser.ViewAffine, Start: []int{0, 0}, Terms: []fuser.Term{{From: 7}}}}
		},
		"start of an affine view": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Access[0].Views = []fuser.View{{Kind: fuser.ViewAffine, Start: make([]int, 9)}}
		},
		"kind of view": func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Access[0].Views = []fuser.View{{Kind: 77}} },
		"window":       func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Access[0].Window = []fuser.Window{{Axis: -3}} },
		"parameter":    func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Params[0] = fuser.Param{Op: 1 << 30} },
		"scalar of a parameter": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Params[0] = fuser.Param{Scalar: 99}
		},
		"length of a parameter": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Params[0] = fuser.Param{Op: -1, IsLength: true, Length: 999}
		},
		"range of a window": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Access[0].Window = []fuser.Window{{Op: 0, Range: 1}}
		},
		"operation of a window": func(d *stateData) {
			d.Blocks[0].Optimization.Calls[0].Access[0].Window = []fuser.Window{{Op: 1 << 30, Range: 1}}
		},
		"copy of many tensors": func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Copies = true },
		"takes storage": func(d *stateData) {
			d.Blocks[0].Optimization.InPlace = []fuser.InPlace{{Out: d.Blocks[0].Optimization.Stored[0], In: 0}}
		},
		"derived": func(d *stateData) { d.Blocks[0].Optimization.Calls[0].Derived = []fuser.Derived{{Num: -1}} },
		"alias":   func(d *stateData) { d.Blocks[0].Optimization.Aliases = []fuser.Alias{{Tensor: 1 << 40}} },
		"recipe":  func(d *stateData) { d.Recipes = []recipeData{{1 << 30, []int{-1}}} },
	}
	for name, f := range change {
		t.Run(name, func(t *testing.T) {
			_, data := savedOf(t, p, seg)
			_, err := p.decode(7, rewritten(t, data, f))
			require.Error(t, err)
		})
	}
	_, data := savedOf(t, p, seg)
	_, err := p.decode(7, rewritten(t, data, func(*stateData) {}))
	require.NoError(t, err, "the change is what is refused")
}

// FuzzReadStates reads streams of states that were changed anywhere.
func FuzzReadStates(f *testing.F) {
	s := newShop(Options{})
	for n := range 3 {
		var states []State
		for i := range n {
			states = append(states, *s.plan(f, uint64(i), small(4+i)))
		}
		var out bytes.Buffer
		require.NoError(f, s.Write(&out, states))
		f.Add(out.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := shopOf(s.p)
		n, err := s.Read(bytes.NewReader(data))
		if err != nil {
			var typed *StateError
			require.ErrorAs(t, err, &typed)
		}
		got := 0
		for hash, list := range s.held {
			got += len(list)
			for range s.Restore(Key{Hash: hash}) {
				t.Fatal("its tokens are not those asked for")
			}
		}
		require.Equal(t, n, got)
	})
}

// FuzzDecodeState changes a state's bytes before they are packed. What is not
// refused can be bound.
func FuzzDecodeState(f *testing.F) {
	p := New(fuser.Default(), cpuProfile, Options{})
	for _, seg := range []*Segment{accumulated(2), updates(1), preNorm(1)} {
		_, data := savedOf(f, p, seg)
		f.Add(unpacked(f, data), uint(0), byte(0))
		f.Add(unpacked(f, data), uint(900), byte(3))
	}
	f.Fuzz(func(t *testing.T, raw []byte, at uint, by byte) {
		if len(raw) > 0 {
			raw = bytes.Clone(raw)
			raw[at%uint(len(raw))] ^= by
		}
		s, err := p.decode(1, packed(t, raw))
		if err == nil {
			require.NoError(t, Check(s.Plan, s.Segment))
			s.Plan.Format(s.Segment)
			layout := func(t ir.TensorID) codegen.Layout {
				if x := &s.Segment.Tensors[t]; x.Input {
					return x.Layout
				}
				return codegen.Contiguous(s.Segment.Tensors[t].Shape)
			}
			for i := range s.Plan.Blocks {
				b := &s.Plan.Blocks[i]
				_, _ = b.Fallback()
				for c := range b.Calls {
					_ = fuser.Bind(&b.Calls[c], s.Segment.Dims, s.Segment.Ops, layout, new(codegen.Launch))
				}
			}
		}
	})
}
