package fuser

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/codegen/interp"
	"github.com/sinter-ml/sinter/internal/oracle"
	"github.com/sinter-ml/sinter/ir"
)

// program records operations and the graph fusers see, and holds the values
// of the inputs.
type program struct {
	t      testing.TB
	p      ir.Program
	g      Graph
	values map[ir.TensorID]oracle.Tensor
	// layouts of inputs that are not dense: the elements lie in a larger buffer
	layouts map[ir.TensorID]codegen.Layout
}

func newProgram(t testing.TB) *program {
	return &program{t: t, g: Graph{Dims: []int{1}}, values: map[ir.TensorID]oracle.Tensor{}, layouts: map[ir.TensorID]codegen.Layout{}}
}

func (p *program) length(n int) {
	if !slices.Contains(p.g.Dims, n) {
		p.g.Dims = append(p.g.Dims, n)
	}
}

func (p *program) tensor(shape ir.Shape, d ir.DType, producer int) ir.TensorRef {
	for _, n := range shape {
		p.length(n)
	}
	id := ir.TensorID(len(p.g.Tensors))
	p.g.Tensors = append(p.g.Tensors, Tensor{Shape: shape, DType: d, Producer: producer})
	return ir.TensorRef{ID: id, Shape: shape, DType: d}
}

// in adds an input with the given values.
func (p *program) in(v oracle.Tensor) ir.TensorRef {
	ref := p.tensor(v.Shape, v.DType, -1)
	p.p.Inputs = append(p.p.Inputs, ref)
	p.values[ref.ID] = v
	p.g.Tensors[ref.ID].Layout = codegen.Contiguous(v.Shape)
	return ref
}

// variable adds the first version of a Var.
func (p *program) variable(v oracle.Tensor) ir.TensorRef {
	ref := p.tensor(v.Shape, v.DType, -1)
	p.p.Vars = append(p.p.Vars, ref)
	p.values[ref.ID] = v
	p.g.Tensors[ref.ID].Layout = codegen.Contiguous(v.Shape)
	p.g.Tensors[ref.ID].Var = true
	return ref
}

// f32 and bf16 add inputs of random values.
func (p *program) f32(shape ...int) ir.TensorRef { return p.in(random(ir.F32, shape)) }

func (p *program) bf16(shape ...int) ir.TensorRef { return p.in(random(ir.BF16, shape)) }

// option sets a part of an operation.
type option func(*ir.Operation)

func axes(a ...int) option         { return func(o *ir.Operation) { o.Attrs.Axes = a } }
func shape(s ...int) option        { return func(o *ir.Operation) { o.Attrs.Shape = s } }
func ints(n ...int) option         { return func(o *ir.Operation) { o.Attrs.Ints = n } }
func number(n int) option          { return func(o *ir.Operation) { o.Attrs.N = n } }
func to(d ir.DType) option         { return func(o *ir.Operation) { o.Attrs.DType = d } }
func causal() option               { return func(o *ir.Operation) { o.Attrs.Flag = true } }
func reverse() option              { return func(o *ir.Operation) { o.Attrs.Reverse = true } }
func ranges(r ...ir.Range) option  { return func(o *ir.Operation) { o.Ranges = r } }
func scalar(s ...ir.Scalar) option { return func(o *ir.Operation) { o.Scalars = s } }
func f(v ...float32) option {
	return func(o *ir.Operation) {
		for _, x := range v {
			o.Scalars = append(o.Scalars, ir.F32Scalar(x))
		}
	}
}

// op records an operation on the inputs and options given in any order.
func (p *program) op(kind ir.Kind, args ...any) ir.TensorRef {
	p.t.Helper()
	o := ir.Operation{Kind: kind, Outputs: make([]ir.TensorRef, 1)}
	for _, a := range args {
		switch a := a.(type) {
		case ir.TensorRef:
			o.Inputs = append(o.Inputs, a)
		case option:
			a(&o)
		default:
			p.t.Fatalf("%v: argument %T", kind, a)
		}
	}
	require.NoError(p.t, o.Check())
	out := p.tensor(o.Outputs[0].Shape, o.Outputs[0].DType, len(p.g.Ops))
	o.Outputs[0].ID = out.ID
	for _, in := range o.Inputs {
		c := &p.g.Tensors[in.ID].Consumers
		if !slices.Contains(*c, len(p.g.Ops)) {
			*c = append(*c, len(p.g.Ops))
		}
	}
	p.p.Ops = append(p.p.Ops, o)
	p.g.Ops = append(p.g.Ops, o)
	p.g.InPlace = append(p.g.InPlace, false)
	return out
}

// store says that tensors must exist after the segment.
func (p *program) store(refs ...ir.TensorRef) {
	for _, r := range refs {
		p.g.Tensors[r.ID].Stored = true
	}
}

// strideInput places an input's elements with the given strides.
func (p *program) strideInput(ref ir.TensorRef, strides ...int) {
	l := codegen.Layout{Shape: ref.Shape, Strides: strides}
	for i, s := range strides {
		if s < 0 {
			l.Offset -= s * (ref.Shape[i] - 1)
		}
	}
	p.layouts[ref.ID] = l
	p.g.Tensors[ref.ID].Layout = l
}

// stored is a tensor in memory.
type stored struct {
	layout codegen.Layout
	mem    []byte
}

// machine runs optimizations on the portable engine.
type machine struct {
	p        *program
	tensors  map[ir.TensorID]stored
	launches int
	take     bool // write outputs to the storage of inputs where that is allowed
}

func newMachine(p *program) *machine {
	m := &machine{p: p, tensors: map[ir.TensorID]stored{}}
	for id, v := range p.values {
		l, ok := p.layouts[id]
		if !ok {
			l = codegen.Contiguous(v.Shape)
		}
		m.tensors[id] = place(v, l)
	}
	return m
}

// place lays a tensor's elements out in fresh memory.
func place(v oracle.Tensor, l codegen.Layout) stored {
	size, last := v.DType.Size(), l.Offset
	for i, s := range l.Strides {
		last += max(s, 0) * max(l.Shape[i]-1, 0)
	}
	s := stored{l, poisoned((last + 1) * size)}
	dense := v.Bytes()
	s.each(func(i, at int) { copy(s.mem[at*size:(at+1)*size], dense[i*size:]) })
	return s
}

func poisoned(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 0xa5
	}
	return b
}

// each calls f with each element's row-major number and place.
func (s stored) each(f func(i, at int)) {
	index := make([]int, len(s.layout.Shape))
	for i := range s.layout.Shape.NumElements() {
		at, rest := s.layout.Offset, i
		for k := len(index) - 1; k >= 0; k-- {
			at += rest % s.layout.Shape[k] * s.layout.Strides[k]
			rest /= s.layout.Shape[k]
		}
		f(i, at)
	}
}

// read gathers a tensor's elements.
func (m *machine) read(id ir.TensorID) oracle.Tensor {
	m.p.t.Helper()
	s, ok := m.tensors[id]
	require.True(m.p.t, ok, "tensor %d is not in memory", id)
	info := m.p.g.Tensors[id]
	require.Equal(m.p.t, info.Shape.NumElements(), s.layout.Shape.NumElements())
	size := info.DType.Size()
	dense := make([]byte, info.Shape.NumElements()*size)
	s.each(func(i, at int) { copy(dense[i*size:(i+1)*size], s.mem[at*size:]) })
	v, err := oracle.FromBytes(info.DType, info.Shape, dense)
	require.NoError(m.p.t, err)
	return v
}

// run executes an optimization at the program's own lengths.
func (m *machine) run(o *Optimization) error {
	g := &m.p.g
	for _, t := range o.Aside {
		s := m.tensors[t]
		m.tensors[t] = stored{s.layout, slices.Clone(s.mem)}
	}
	for _, t := range o.Stored {
		pos := g.Tensors[t].Producer
		if ir.Lookup(g.Ops[pos].Kind).Class == ir.ClassEffect && g.overwrites(pos) {
			m.tensors[t] = m.tensors[g.Ops[pos].Inputs[0].ID]
			continue
		}
		n := g.Tensors[t].Shape.NumElements() * g.Tensors[t].DType.Size()
		m.tensors[t] = stored{codegen.Contiguous(g.Tensors[t].Shape), poisoned(n)}
	}
	for _, pair := range o.InPlace {
		if in := m.tensors[pair.In]; m.take && in.layout.IsContiguous() && in.layout.Offset == 0 && m.owners(in) == 1 {
			m.tensors[pair.Out] = in
		}
	}
	for i := range o.Calls {
		if err := m.call(&o.Calls[i]); err != nil {
			return err
		}
	}
	for _, a := range o.Aliases {
		of := m.tensors[a.Of]
		l, err := ViewLayout(a.Of, of.layout, a.Views, g.Dims, g.Ops)
		if err != nil {
			return err
		}
		m.tensors[a.Tensor] = stored{l, of.mem}
	}
	return nil
}

// owners returns how many tensors lie in the memory of one.
func (m *machine) owners(of stored) int {
	n := 0
	for _, s := range m.tensors {
		if len(s.mem) > 0 && len(of.mem) > 0 && &s.mem[0] == &of.mem[0] {
			n++
		}
	}
	return n
}

func (m *machine) call(c *Call) error {
	if err := c.Kernel.Verify(); err != nil {
		return fmt.Errorf("%w\n%v", err, c.Kernel)
	}
	exe, err := interp.New().Compile(c.Kernel)
	if err != nil {
		return err
	}
	var l codegen.Launch
	layout := func(t ir.TensorID) codegen.Layout { return m.tensors[t].layout }
	if err := Bind(c, m.p.g.Dims, m.p.g.Ops, layout, &l); err != nil {
		return err
	}
	mem := make([][]byte, len(c.Tensors))
	for i, t := range c.Tensors {
		mem[i] = m.tensors[t].mem
	}
	m.launches++
	return exe.(codegen.HostExecutable).Run(&l, mem, codegen.Serial{})
}

// alone runs every operation by itself.
func (p *program) alone() *machine {
	p.t.Helper()
	m := newMachine(p)
	for i := range p.g.Ops {
		o, err := Single(&p.g, i)
		require.NoError(p.t, err, "%v", p.g.Ops[i].Kind)
		require.NoError(p.t, m.run(o), "%v", p.g.Ops[i].Kind)
	}
	return m
}

// random returns values of a dtype that are neither large nor equal.
func random(d ir.DType, shape ir.Shape) oracle.Tensor {
	r := rand.New(rand.NewPCG(uint64(shape.NumElements()), 7))
	n := shape.NumElements()
	switch {
	case d.IsFloat() || d.IsFloat8():
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return oracle.Floats(d, shape, v...)
	case d.IsInt():
		v := make([]int64, n)
		for i := range v {
			if v[i] = r.Int64N(41) - 20; d.IsUnsigned() {
				v[i] += 20
			}
		}
		return oracle.IntsOf(d, shape, v...)
	}
	v := make([]bool, n)
	for i := range v {
		v[i] = r.IntN(2) == 0
	}
	return oracle.Bools(shape, v...)
}

// special returns float values at which functions go wrong.
func special(d ir.DType, shape ir.Shape) oracle.Tensor {
	list := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.5, 3e38, -3e38, 1e-40, math.Inf(1), math.Inf(-1), math.NaN(), 88, -104, 1e-8}
	v := make([]float64, shape.NumElements())
	for i := range v {
		v[i] = list[i%len(list)]
	}
	return oracle.Floats(d, shape, v...)
}

// sameBits compares two results bit for bit, all NaNs being one value.
func sameBits(t testing.TB, want, got oracle.Tensor, what string, args ...any) {
	t.Helper()
	require.NoError(t, oracle.Compare(got, want, oracle.Tol{}), fmt.Sprintf(what, args...))
}
