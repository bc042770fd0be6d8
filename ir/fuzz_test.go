package ir

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// garbage makes an operation of the bytes of a fuzz input, favouring small
// numbers and the limits of int.
type garbage struct{ data []byte }

func (g *garbage) byte() byte {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return b
}

func (g *garbage) int() int {
	switch b := g.byte(); {
	case b == 255:
		return math.MaxInt
	case b == 254:
		return math.MinInt
	case b == 253:
		return MaxElements
	case b >= 240:
		return 1 << (b - 230)
	case b >= 230:
		return -int(b - 229)
	default:
		return int(b % 8)
	}
}

func (g *garbage) ints() []int {
	var out []int
	for range g.byte() % 5 {
		out = append(out, g.int())
	}
	return out
}

func (g *garbage) operation() *Operation {
	o := &Operation{Kind: Kind(g.byte()) % (numKinds + 2)}
	for range g.byte() % 6 {
		o.Inputs = append(o.Inputs, TensorRef{DType: DType(g.byte() % byte(numDTypes+1)), Shape: g.ints()})
	}
	fields := AttrSet(g.byte()) | AttrSet(g.byte())<<8
	if fields&HasAxes != 0 {
		o.Attrs.Axes = g.ints()
	}
	if fields&HasShape != 0 {
		o.Attrs.Shape = g.ints()
	}
	if fields&HasInts != 0 {
		o.Attrs.Ints = g.ints()
	}
	if fields&HasN != 0 {
		o.Attrs.N = g.int()
	}
	if fields&HasDType != 0 {
		o.Attrs.DType = DType(g.byte())
	}
	o.Attrs.Flag = fields&HasFlag != 0
	o.Attrs.Reverse = fields&HasReverse != 0
	if fields&HasMode != 0 {
		o.Attrs.Mode = ScatterMode(g.byte() % byte(numScatterModes+1))
	}
	if fields&HasName != 0 {
		o.Attrs.Name = []string{"", sampleCustom, "none", "\xff"}[g.byte()%4]
	}
	if fields&HasRanges != 0 {
		for range g.byte() % 5 {
			o.Ranges = append(o.Ranges, Range{g.int(), g.int(), g.int(), g.byte() % 8})
		}
	}
	for range g.byte() % 6 {
		o.Scalars = append(o.Scalars, Scalar{DType(g.byte() % byte(numDTypes+1)), g.byte() % 8, uint64(g.int())})
	}
	return o
}

// checkGarbage checks an operation of which nothing is known.
func checkGarbage(t *testing.T, o *Operation) {
	_ = o.String()
	err := o.Check()
	if err != nil {
		var op *OpError
		var shape *ShapeError
		var dtype *DTypeError
		var index *IndexError
		var arg *ArgumentError
		if !errors.As(err, &op) || !errors.As(err, &shape) && !errors.As(err, &dtype) && !errors.As(err, &index) && !errors.As(err, &arg) {
			t.Fatalf("%v: untyped failure %v", o, err)
		}
		_ = err.Error()
		if len(o.Outputs) != 0 {
			t.Fatalf("%v: an output in spite of %v", o, err)
		}
		return
	}
	out := o.Outputs[0]
	if !out.DType.Valid() || checkShape(out.Shape) != nil {
		t.Fatalf("%v: impossible output", o)
	}
	again := *o
	again.Outputs = nil
	if err := again.Check(); err != nil || !again.Outputs[0].equal(out) || !slices.Equal(again.Attrs.Axes, o.Attrs.Axes) {
		t.Fatalf("%v: checked again, it is %v (%v)", o, &again, err)
	}
	var r Relative
	r.Reset()
	in := make([]int32, len(o.Inputs))
	for i := range in {
		in[i] = int32(i)
	}
	r.Append(o, in, int32(len(in)))
	StructHash(o, nil)
}

// A bounded run of what FuzzCheck explores.
func TestCheckGarbage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, 40)
	for range 20000 {
		for i := range data {
			data[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				data[i] %= 4
			}
		}
		checkGarbage(t, (&garbage{data}).operation())
	}
}

func FuzzCheck(f *testing.F) {
	for k := range numKinds + 2 {
		f.Add([]byte{byte(k), 1, byte(F32), 2, 2, 3, byte(HasAxes), 0, 1, 1, 1, byte(F32), 0, 1})
		f.Add([]byte{byte(k), 2, byte(BF16), 2, 2, 3, byte(BF16), 2, 2, 3, byte(HasAxes | HasN), 0, 1, 1, 1, 1})
		f.Add([]byte{byte(k), 3, byte(U8), 1, 3, byte(I64), 1, 5, byte(U8), 1, 5, byte(HasAxes), 2, 1, 0, 2, 1, 1})
		f.Add([]byte{byte(k), 0, byte(HasShape | HasDType), 0, 1, 3, byte(F64), 1, byte(F64), 0, 5})
		f.Add([]byte{byte(k), 1, byte(I16), 1, 5, byte(HasRanges), 0, 1, 254, 255, 254, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkGarbage(t, (&garbage{data}).operation())
	})
}

// smallPrograms returns the operations of the sample program each as a program
// of its own: the fuzzer minimises short seeds quickly.
func smallPrograms(f *testing.F) []string {
	var out []string
	p := sampleProgram()
	for i := range p.Ops {
		q := &Program{Ops: p.Ops[i : i+1]}
		if o := &q.Ops[0]; Lookup(o.Kind).Class == ClassEffect {
			q.Vars, q.Inputs = o.Inputs[:1], o.Inputs[1:]
		} else {
			q.Inputs = o.Inputs
		}
		if err := q.Validate(); err != nil {
			f.Fatal(err)
		}
		out = append(out, q.String())
	}
	return out
}

func FuzzParseText(f *testing.F) {
	for _, text := range smallPrograms(f) {
		f.Add(text)
	}
	f.Add(TextHeader + "\ninput %0 \"x\" f32[2,3]\n%1? f32[2,3] = Add %0! scalars(f32:nan(7fc00000)) @\"a b\" # c\noutput %1")
	f.Add(TextHeader + "\nvar %0 i64[5]\nconstant %1 i64[] 0000000000000000\n%2 i64[2] = Slice %0, %1 ranges($1+2*2)\n")
	f.Add(TextHeader + "\ninput %0 f32[99999999999999999999]")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		p, err := ParseProgram(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Col < 1 {
				t.Fatalf("untyped failure %v", err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("parsed but invalid: %v", err)
		}
		q, err := ParseProgram(p.String())
		if err != nil || !p.Equal(q) {
			t.Fatalf("does not parse back (%v):\n%v", err, p)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range smallPrograms(f) {
		p, err := ParseProgram(text)
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"version":"sinter.program v1","inputs":[{"id":0,"name":"x","dtype":"f32","shape":[2]}],"operations":[{"kind":"Exp","inputs":[{"id":0}],"output":{"id":1,"dtype":"f32","shape":[2]},"position":"a.go:1"}],"outputs":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		var p, q Program
		if p.UnmarshalJSON(data) != nil {
			return
		}
		again, err := json.Marshal(&p)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		if err := q.UnmarshalJSON(again); err != nil || !p.Equal(&q) {
			t.Fatalf("does not read back (%v): %s", err, again)
		}
		if r, err := ParseProgram(p.String()); err != nil || !p.Equal(r) {
			t.Fatalf("its text does not parse back (%v):\n%v", err, &p)
		}
	})
}
