package fuser

import (
	"fmt"
	"slices"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// lowering writes one kernel. It walks back from each stored value: a value is
// asked for at the points of the kernel's space through a path, its producer
// asks for the operands through that path extended by its own, and what the
// block does not compute is loaded. There is one lowering of each kind, used
// whether the kind runs alone or inside a block, so fusing cannot change a
// number.
type lowering struct {
	g   *Graph
	ops []int // computed by this kernel, ascending
	// origin is the kind of the operation that is being lowered.
	origin string

	template codegen.Template
	space    []Dim // outer, then inner lengths
	outer    int
	anchor   path // from the output of the operation the template is built around
	// clip bounds what is stored of a tensor that has only the first elements
	// of the sorted axis.
	clip map[ir.TensorID][]Window

	kernel codegen.Kernel
	call   Call
	memo   memo
	reads  []read // of external tensors
}

// read is one way the kernel reads a tensor.
type read struct {
	tensor ir.TensorID
	at     path
	plain  bool // not indexed, masked or walked by the template
	first  bool // no earlier read of a block is of this tensor
	// Of a block's read: the most points at which it is read, and the bytes.
	points, bytes int64
}

// computes reports whether the kernel makes a tensor, and which operation does.
func (l *lowering) computes(t ir.TensorID) (pos int, ok bool) {
	pos = l.g.Tensors[t].Producer
	if pos >= 0 {
		_, ok = slices.BinarySearch(l.ops, pos)
	}
	return pos, ok
}

// value returns the value of tensor t at the points of the space that p leads
// to, rounded to t's dtype. A value wanted at every point may exist less often.
func (l *lowering) value(t ir.TensorID, p path, at codegen.Level) (codegen.Value, error) {
	if l.rowOnly(p) {
		at = codegen.Row
	}
	if v, ok := l.memo.value(t, p, at); ok {
		return v, nil
	}
	v, err := l.lower(t, p, at)
	if err != nil {
		return 0, err
	}
	l.memo.values = append(l.memo.values, placed{t, at, p, v})
	return v, nil
}

// elementValue is value for a use that needs one at every point.
func (l *lowering) elementValue(t ir.TensorID, p path) (codegen.Value, error) {
	v, err := l.value(t, p, codegen.Element)
	if err == nil && l.kernel.Body[v].Level == codegen.Row {
		v = l.raise(v)
	}
	return v, err
}

// raise makes an element value of a row value.
func (l *lowering) raise(v codegen.Value) codegen.Value {
	fn := ir.SMaximum
	if l.kernel.Body[v].Type == ir.Bool {
		fn = ir.SOr
	}
	return l.apply(codegen.Element, fn, v, v)
}

// rowOnly reports whether what lies at the end of a path is the same at every
// inner point, and there can be several.
func (l *lowering) rowOnly(p path) bool {
	if l.template != codegen.Rows || len(squeezed(l.space[l.outer:])) == 0 {
		return false
	}
	for _, a := range p.axes()[l.outer:len(l.space)] {
		if a >= 0 {
			return false
		}
	}
	return true
}

func (l *lowering) lower(t ir.TensorID, p path, at codegen.Level) (codegen.Value, error) {
	producer, ok := l.computes(t)
	if !ok {
		return l.load(t, p, at), nil
	}
	op := &l.g.Ops[producer]
	if s, ok := l.g.viewStep(producer); ok {
		return l.value(op.Inputs[0].ID, p.prepend(s), at)
	}
	r, ok := recipes[op.Kind]
	if !ok {
		return 0, &Refusal{RuleKind, fmt.Sprintf("no element of %v can be computed on its own", op.Kind)}
	}
	origin := l.origin
	l.origin = op.Kind.String()
	defer func() { l.origin = origin }()
	return r(&context{lowering: l, op: op, pos: producer, out: t, p: p, at: at})
}

// load reads an external tensor.
func (l *lowering) load(t ir.TensorID, p path, at codegen.Level) codegen.Value {
	if at >= codegen.Left && !l.g.strided(t, p) {
		if r, ok := p.regrouped(); ok {
			return l.loadRegrouped(t, p, r, at)
		}
	}
	l.reads = append(l.reads, read{tensor: t, at: p, plain: at < codegen.Left})
	a := l.bind(t, p, nil, codegen.In)
	return l.emit(codegen.Instr{Op: codegen.OpLoad, Type: l.dtype(t).Compute(), Level: at, Access: a})
}

func (l *lowering) dtype(t ir.TensorID) ir.DType { return l.g.Tensors[t].DType }

// bind returns the access of tensor t through p. Axes of p's last map beyond
// the space are indexed by values.
func (l *lowering) bind(t ir.TensorID, p path, window []Window, mode codegen.Mode) int {
	if a, ok := l.memo.access(t, p, window); ok {
		l.buffer(t, mode)
		return a
	}
	a := l.newAccess(t, p, window, mode)
	l.memo.bounds = append(l.memo.bounds, bound{t, p, window, a})
	return a
}

// newAccess adds an access of tensor t.
func (l *lowering) newAccess(t ir.TensorID, p path, window []Window, mode codegen.Mode) int {
	n := len(l.space)
	b := Binding{Views: p.views(), Axes: p.axes()[:n], Index: p.axes()[n:], Extent: p[len(p)-1].dst[n:], Window: window}
	l.kernel.Accesses = append(l.kernel.Accesses, codegen.Access{
		Buffer: l.buffer(t, mode), Indices: len(b.Index), Masked: len(window) > 0,
	})
	l.call.Access = append(l.call.Access, b)
	return len(l.kernel.Accesses) - 1
}

func (l *lowering) buffer(t ir.TensorID, mode codegen.Mode) int {
	b := slices.Index(l.call.Tensors, t)
	if b < 0 {
		b = len(l.kernel.Buffers)
		l.kernel.Buffers = append(l.kernel.Buffers, codegen.Buffer{DType: l.dtype(t), Mode: mode})
		l.call.Tensors = append(l.call.Tensors, t)
	}
	if l.kernel.Buffers[b].Mode != mode {
		l.kernel.Buffers[b].Mode = codegen.InOut
	}
	return b
}

// emit appends an instruction.
func (l *lowering) emit(in codegen.Instr) codegen.Value {
	in.Origin = l.origin
	l.kernel.Body = append(l.kernel.Body, in)
	return codegen.Value(len(l.kernel.Body) - 1)
}

// apply appends a scalar function of values.
func (l *lowering) apply(at codegen.Level, fn ir.ScalarOp, args ...codegen.Value) codegen.Value {
	typ := l.kernel.Body[args[len(args)-1]].Type
	if fn.Sig().ResultBool {
		typ = ir.Bool
	}
	return l.emit(codegen.Instr{Op: codegen.OpApply, Fn: fn, Type: typ, Level: l.levelOf(at, args), Args: args})
}

// levelOf returns where a value of the arguments exists: at least as often as
// they do.
func (l *lowering) levelOf(at codegen.Level, args []codegen.Value) codegen.Level {
	if l.template != codegen.Rows {
		return at
	}
	for _, a := range args {
		if l.kernel.Body[a].Level == codegen.Element {
			return codegen.Element
		}
	}
	return at
}

// cast converts a value, unless its register already holds the result.
func (l *lowering) cast(at codegen.Level, v codegen.Value, from, to ir.DType) codegen.Value {
	if from == to || to == from.Compute() {
		return v
	}
	return l.emit(codegen.Instr{Op: codegen.OpCast, From: from, To: to, Type: to.Compute(), Level: l.levelOf(at, []codegen.Value{v}), Args: []codegen.Value{v}})
}

// round rounds a computed value to dtype d: the one rounding of an operation.
func (l *lowering) round(at codegen.Level, v codegen.Value, d ir.DType) codegen.Value {
	return l.cast(at, v, d.Compute(), d)
}

// constant returns a value that is part of the kernel's structure.
func (l *lowering) constant(at codegen.Level, t ir.DType, bits uint64) codegen.Value {
	key := instrKey{op: codegen.OpConst, at: at, typ: t, bits: bits}
	if v, ok := l.memo.instr(key); ok {
		return v
	}
	return l.memo.keep(key, l.emit(codegen.Instr{Op: codegen.OpConst, Type: t, Level: at, Bits: bits}))
}

// param adds a runtime scalar to the kernel and returns its number.
func (l *lowering) param(p Param, t ir.DType) int {
	l.kernel.Params = append(l.kernel.Params, t)
	l.call.Params = append(l.call.Params, p)
	return len(l.call.Params) - 1
}

// paramValue returns the value of a runtime scalar.
func (l *lowering) paramValue(at codegen.Level, p Param, t ir.DType) codegen.Value {
	n := slices.Index(l.call.Params, p)
	if n < 0 {
		n = l.param(p, t)
	}
	key := instrKey{op: codegen.OpParam, at: at, n: n}
	if v, ok := l.memo.instr(key); ok {
		return v
	}
	return l.memo.keep(key, l.emit(codegen.Instr{Op: codegen.OpParam, Type: t, Level: at, Index: n}))
}

// coord returns the coordinate along an axis of the space.
func (l *lowering) coord(at codegen.Level, axis int) codegen.Value {
	key := instrKey{op: codegen.OpCoord, at: at, n: axis}
	if v, ok := l.memo.instr(key); ok {
		return v
	}
	return l.memo.keep(key, l.emit(codegen.Instr{Op: codegen.OpCoord, Type: ir.I64, Level: at, Index: axis}))
}

// store writes tensor t, whose elements p lays along the space.
func (l *lowering) store(t ir.TensorID, p path, v codegen.Value) {
	l.kernel.Stores = append(l.kernel.Stores, codegen.Store{Access: l.bind(t, p, l.clip[t], codegen.Out), Value: v})
}

// derive names a length no tensor has.
func (l *lowering) derive(d Derived) Dim { return derive(&l.call.Derived, d) }

// finish completes the call: values nobody uses are dropped.
func (l *lowering) finish(name string) Call {
	used := make([]bool, len(l.kernel.Body))
	for _, s := range l.kernel.Stores {
		used[s.Value] = true
		for _, x := range s.Index {
			used[x] = true
		}
	}
	for i := len(used) - 1; i >= 0; i-- {
		for _, a := range l.kernel.Body[i].Args {
			used[a] = used[a] || used[i]
		}
	}
	to := make([]codegen.Value, len(used))
	body := l.kernel.Body[:0]
	for i, in := range l.kernel.Body {
		if !used[i] {
			continue
		}
		for n, a := range in.Args {
			in.Args[n] = to[a]
		}
		to[i] = codegen.Value(len(body))
		body = append(body, in)
	}
	l.kernel.Body = body
	for i := range l.kernel.Stores {
		s := &l.kernel.Stores[i]
		s.Value = to[s.Value]
		for n, x := range s.Index {
			s.Index[n] = to[x]
		}
	}
	l.kernel.Name, l.kernel.Template = name, l.template
	l.kernel.Outer, l.kernel.Inner = l.outer, len(l.space)-l.outer
	k := l.kernel
	l.call.Kernel, l.call.Dims = &k, l.space
	return l.call
}

// viewStep returns the step from a view's operand to its output. A slice with
// a start read from a tensor is no view.
func (g *Graph) viewStep(pos int) (step, bool) {
	op := &g.Ops[pos]
	if ir.Lookup(op.Kind).Class != ir.ClassView {
		return step{}, false
	}
	src, dst := g.shape(op.Inputs[0].ID), g.shape(op.Outputs[0].ID)
	switch op.Kind {
	case ir.Reshape:
		return step{kind: stepReshape, src: src, dst: dst}, true
	case ir.Permute:
		return step{kind: stepMap, src: src, dst: dst, axes: op.Attrs.Axes}, true
	case ir.Expand:
		return path(nil).expand(src, dst)[0], true
	case ir.Flip:
		return step{kind: stepFlip, src: src, dst: dst, axes: op.Attrs.Axes}, true
	case ir.Slice:
		for i := range op.Ranges {
			if op.Ranges[i].Input != 0 {
				return step{}, false
			}
		}
		return step{kind: stepSlice, src: src, dst: dst, op: pos}, true
	case ir.Unfold:
		return unfoldStep(op, src, dst), true
	case ir.Diagonal:
		return diagonalStep(op, src, dst), true
	}
	return step{}, false
}

// inverse returns the step back from a view's output to its operand, if every
// element has its own place in the output.
func (s step) inverse() (step, bool) {
	switch s.kind {
	case stepReshape:
		return step{kind: stepReshape, src: s.dst, dst: s.src}, true
	case stepFlip:
		return step{kind: stepFlip, src: s.dst, dst: s.src, axes: s.axes}, true
	case stepMap:
		if !s.injective() {
			return step{}, false
		}
		back := step{kind: stepMap, src: s.dst, dst: s.src, axes: make([]int, len(s.src))}
		for i := range back.axes {
			back.axes[i] = -1
		}
		for i, a := range s.axes {
			if a >= 0 {
				back.axes[a] = i
			}
		}
		return back, true
	}
	return step{}, false
}
