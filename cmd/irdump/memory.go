package main

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/fuser"
	"github.com/sinter-ml/sinter/ir"
)

// memory is where the tensors of a planned program lie when its kernels run, with
// values made up: constants have their own, floating-point numbers lie between 1
// and 2, integers can be indices wherever the program uses some.
type memory struct {
	*inMemory
	layouts  []codegen.Layout
	launches [][]codegen.Launch // by block and call
	home     []ir.TensorID      // whose memory a tensor lies in
	bytes    map[ir.TensorID][]byte
	indices  int // integers are below it
}

// newMemory binds every launch of a program.
func newMemory(p *inMemory) (*memory, error) {
	n := len(p.seg.Tensors)
	m := &memory{inMemory: p, layouts: make([]codegen.Layout, n), home: make([]ir.TensorID, n), bytes: map[ir.TensorID][]byte{}, indices: 1 << 7}
	for i := range p.seg.Tensors {
		t := &p.seg.Tensors[i]
		m.home[i] = ir.TensorID(i)
		if m.layouts[i] = t.Layout; !t.Input {
			m.layouts[i] = codegen.Contiguous(t.Shape)
		}
	}
	for i := range p.seg.Ops {
		op := &p.seg.Ops[i]
		if ir.Lookup(op.Kind).Class == ir.ClassEffect && (op.Kind != ir.Set || p.seg.InPlace[i]) {
			m.home[op.Outputs[0].ID] = m.home[op.Inputs[0].ID]
		}
	}
	for i := range p.plan.Blocks {
		b := &p.plan.Blocks[i]
		launches := make([]codegen.Launch, len(b.Calls))
		for k := range b.Calls {
			if err := fuser.Bind(&b.Calls[k], p.seg.Dims, p.seg.Ops, m.layout, &launches[k]); err != nil {
				return nil, err
			}
			m.bound(&launches[k])
		}
		for _, a := range b.Aliases {
			l, err := fuser.ViewLayout(a.Of, m.layouts[a.Of], a.Views, p.seg.Dims, p.seg.Ops)
			if err != nil {
				return nil, err
			}
			m.layouts[a.Tensor], m.home[a.Tensor] = l, m.home[a.Of]
		}
		m.launches = append(m.launches, launches)
	}
	return m, nil
}

func (m *memory) layout(t ir.TensorID) codegen.Layout { return m.layouts[t] }

// bound makes integers fit as indices of a launch.
func (m *memory) bound(l *codegen.Launch) {
	for i := range l.Access {
		for _, x := range l.Access[i].Index {
			m.indices = min(m.indices, max(x.Extent, 1))
		}
	}
	for i := range l.Parts {
		m.bound(&l.Parts[i])
	}
}

// buffers returns the memory behind the buffers of a block's call.
func (m *memory) buffers(block, call int) [][]byte {
	b := &m.plan.Blocks[block]
	var out [][]byte
	for _, t := range b.Calls[call].Tensors {
		data := m.of(t)
		if slices.Contains(b.Aside, t) {
			data = aligned(data)
		}
		out = append(out, data)
	}
	return out
}

// of returns a tensor's memory, filled if it is new.
func (m *memory) of(t ir.TensorID) []byte {
	t = m.home[t]
	if data, ok := m.bytes[t]; ok {
		return data
	}
	d := &m.seg.Tensors[t]
	data := aligned(make([]byte, d.Shape.NumElements()*d.DType.Size()))
	if c := slices.IndexFunc(m.program.Constants, func(c ir.Constant) bool { return c.ID == t }); c >= 0 {
		copy(data, m.program.Constants[c].Data)
	} else {
		fill(data, d.DType, rand.New(rand.NewPCG(uint64(t), 1)), m.indices)
	}
	m.bytes[t] = data
	return data
}

// aligned copies data to where a device's memory could begin.
func aligned(data []byte) []byte {
	const to = 64
	b := make([]byte, len(data)+to)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) % to)
	return b[skip : skip+copy(b[skip:], data) : skip+len(data)]
}

// fill makes up values.
func fill(data []byte, d ir.DType, r *rand.Rand, below int) {
	size := d.Size()
	for ; len(data) > 0; data = data[size:] {
		bits := uint64(r.IntN(below))
		switch d { // one, and a fraction
		case ir.F64:
			bits = 0x3ff<<52 | r.Uint64()>>12
		case ir.F32:
			bits = 0x7f<<23 | r.Uint64()>>41
		case ir.F16:
			bits = 0xf<<10 | r.Uint64()>>54
		case ir.BF16:
			bits = 0x7f<<7 | r.Uint64()>>57
		case ir.Bool:
			bits = r.Uint64() & 1
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], bits)
		copy(data, word[:size])
	}
}
