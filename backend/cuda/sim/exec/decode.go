package exec

import (
	"fmt"
	"math"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// decoder turns the functions of one kernel into instructions.
type decoder struct {
	p       *Program
	k       *kernel
	used    map[*ptx.Decl]bool // variables of the module that the functions name
	fn      *function
	pos     []int32 // of the function's instructions in the code
	unread  [3]int32
	const32 map[uint32]int32
	const64 map[uint64]int32
	special map[ptx.SpecialReg]int32
	// What stands before and after the instruction being decoded, to fit
	// registers of another width than its form wants.
	before, after []inst
	in            *ptx.Instr
}

// refused carries the reason why an instruction is not executed up to instr.
type refused struct{ reason string }

func refuse(format string, args ...any) { panic(refused{fmt.Sprintf(format, args...)}) }

// decode makes the kernel of an entry.
func (p *Program) decode(entry *ptx.Func) (*kernel, error) {
	dec := &decoder{
		p: p, k: &kernel{name: entry.Name, entry: entry, granule: 4},
		used:    map[*ptx.Decl]bool{},
		const32: map[uint32]int32{}, const64: map[uint64]int32{}, special: map[ptx.SpecialReg]int32{},
	}
	if err := dec.collect(entry, map[*ptx.Func]bool{}); err != nil {
		return nil, err
	}
	if err := dec.layout(); err != nil {
		return nil, err
	}
	for _, f := range dec.k.funcs {
		if err := dec.function(f); err != nil {
			return nil, err
		}
	}
	dec.k.start = dec.k.funcs[len(dec.k.funcs)-1].start
	return dec.k, nil
}

func (dec *decoder) function(f *function) error {
	k := dec.k
	dec.fn = f
	f.start = int32(len(k.code))
	dec.pos = make([]int32, len(f.fn.Body)+1)
	for i := range f.fn.Body {
		dec.pos[i] = int32(len(k.code))
		if err := dec.instr(&f.fn.Body[i]); err != nil {
			return err
		}
	}
	// Running over the end of a function is a return.
	dec.pos[len(f.fn.Body)] = int32(len(k.code))
	k.code = append(k.code, inst{kind: ret, guard: -1, fn: f.fn})
	label := func(index int32) int32 { return dec.pos[f.fn.Labels[index].Pos] }
	for pc := f.start; pc < int32(len(k.code)); pc++ {
		switch in := &k.code[pc]; in.kind {
		case branch:
			in.target = label(in.src.Src[0].Index)
		case indexed:
			for _, l := range f.fn.Tables[in.src.Src[1].Index].Labels {
				in.ctl.targets = append(in.ctl.targets, label(int32(l)))
			}
		}
	}
	return nil
}

// instr decodes one instruction and appends it, with what must stand around it.
func (dec *decoder) instr(in *ptx.Instr) (err error) {
	defer func() {
		if r := recover(); r != nil {
			why, ok := r.(refused)
			if !ok {
				panic(r)
			}
			err = &UnsupportedError{Func: dec.fn.fn.Name, Instr: dec.fn.fn.Format(in), Line: in.Line, Reason: why.reason}
		}
	}()
	dec.in, dec.before, dec.after = in, nil, nil
	out := inst{guard: -1, src: in, fn: dec.fn.fn}
	if in.Neg {
		out.negated = full
	}
	if in.Pred >= 0 {
		out.guard = dec.fn.regs[in.Pred]
	}
	dec.one(&out)
	if len(dec.after) > 0 && out.guard >= 0 && (out.dst == out.guard || out.dst2 == out.guard) {
		refuse("an instruction that changes its guard writes a register of another width")
	}
	for _, list := range [][]inst{dec.before, {out}, dec.after} {
		for _, x := range list {
			x.guard, x.negated = out.guard, out.negated
			dec.k.code = append(dec.k.code, x)
		}
	}
	return nil
}

// one decodes the instruction itself.
func (dec *decoder) one(out *inst) {
	if handler := handlers[dec.in.Op]; handler != nil && handler(dec, out) {
		return
	}
	run, sig, known, ok := formOf(dec.in)
	switch {
	case !known:
		refuse("no such opcode is executed")
	case !ok:
		refuse("the opcode does not take these operands")
	}
	dec.operands(out, &sig)
	out.run = run
	switch dec.in.Op {
	case ptx.OpMma, ptx.OpLdmatrix, ptx.OpStmatrix, ptx.OpMovmatrix, ptx.OpWmma:
		out.kind, out.ctl = converge, &control{members: -1}
	}
}

// operands resolves the operands of an instruction into out.
func (dec *decoder) operands(out *inst, f *signature) {
	var regs []int32
	for i, s := range f.dst {
		switch {
		case i >= len(dec.in.Dst):
			regs = append(regs, dec.nobody(s.file))
		case dec.in.Dst[i].Kind == ptx.Vec:
			for j := range s.n {
				regs = append(regs, dec.dst(&dec.in.Dst[i].Elems[j], s.file))
			}
		default:
			regs = append(regs, dec.dst(&dec.in.Dst[i], s.file))
		}
	}
	for i, s := range f.src {
		o := &dec.in.Src[i]
		switch {
		case s.file == 'm':
			out.mem = dec.address(o)
			out.mem.size, out.mem.bytes = rowBytes, rowBytes
		case o.Kind == ptx.Vec:
			for j := range s.n {
				regs = append(regs, dec.src(&o.Elems[j], s.file))
			}
		default:
			regs = append(regs, dec.src(o, s.file))
		}
	}
	if f.vector {
		out.v = regs
		return
	}
	n := 0
	if len(f.dst) > 0 {
		out.dst, n = regs[0], 1
	}
	if len(f.dst) > 1 {
		out.dst2, n = regs[1], 2
	}
	for i, r := range regs[n:] {
		*[]*int32{&out.a, &out.b, &out.c, &out.e}[i] = r
	}
}

func (dec *decoder) nobody(file byte) int32 {
	switch file {
	case 'd':
		return dec.unread[1]
	case 'p':
		return dec.unread[2]
	}
	return dec.unread[0]
}

// dst resolves a destination for a form that writes the given file.
func (dec *decoder) dst(o *ptx.Operand, file byte) int32 {
	if o.Kind == ptx.Discard {
		return dec.nobody(file)
	}
	if o.Kind != ptx.Reg || o.Neg {
		refuse("want a register as destination")
	}
	have := fileOf(dec.fn.fn.RegType(o.Reg))
	reg := dec.fn.regs[o.Reg]
	if have == file {
		return reg
	}
	if have != 'd' || file != 'r' {
		refuse("want a destination of another width")
	}
	narrow := dec.reg('r')
	widen := inst{run: widenUnsigned(32), fitting: true, dst: reg, a: narrow, fn: dec.fn.fn, src: dec.in}
	if len(dec.in.Types) > 0 {
		switch t, width := dec.in.Types[0], min(dec.in.Types[0].Bits(), 32); {
		case t.Signed():
			widen.run = widenSigned(width)
		default:
			widen.run = widenUnsigned(width)
		}
	}
	dec.after = append(dec.after, widen)
	return narrow
}

// src resolves a source for a form that reads the given file.
func (dec *decoder) src(o *ptx.Operand, file byte) int32 {
	switch o.Kind {
	case ptx.Reg:
		return dec.srcReg(o, file)
	case ptx.Special:
		return dec.specialReg(o.Special, file)
	case ptx.Sym:
		return dec.constant(dec.symbol(o), file)
	case ptx.Imm, ptx.ImmF32, ptx.ImmF64:
		v := o.Bits
		if o.Kind == ptx.ImmF64 && file == 'r' {
			v = uint64(math.Float32bits(float32(math.Float64frombits(v))))
		}
		return dec.constant(v, file)
	}
	refuse("want a register or a constant")
	return 0
}

func (dec *decoder) srcReg(o *ptx.Operand, file byte) int32 {
	have := fileOf(dec.fn.fn.RegType(o.Reg))
	reg := dec.fn.regs[o.Reg]
	switch {
	case have == 'p' && file == 'p' && o.Neg:
		not := dec.reg('p')
		dec.before = append(dec.before, inst{run: notPred, fitting: true, dst: not, a: reg, fn: dec.fn.fn, src: dec.in})
		return not
	case o.Neg:
		refuse("only predicates are negated")
	case have == file:
		return reg
	case have == 'd' && file == 'r':
		narrow := dec.reg('r')
		dec.before = append(dec.before, inst{run: narrow64, fitting: true, dst: narrow, a: reg, fn: dec.fn.fn, src: dec.in})
		return narrow
	}
	refuse("want a source of another width")
	return 0
}

// constant returns a register that holds a value in all lanes.
func (dec *decoder) constant(v uint64, file byte) int32 {
	switch file {
	case 'r':
		reg, ok := dec.const32[uint32(v)]
		if !ok {
			reg = dec.reg('r')
			dec.const32[uint32(v)] = reg
			dec.k.fill32 = append(dec.k.fill32, fill[uint32]{reg, uint32(v)})
		}
		return reg
	case 'd':
		reg, ok := dec.const64[v]
		if !ok {
			reg = dec.reg('d')
			dec.const64[v] = reg
			dec.k.fill64 = append(dec.k.fill64, fill[uint64]{reg, v})
		}
		return reg
	case 'p':
		reg := dec.reg('p')
		if v != 0 {
			v = full
		}
		dec.k.fillPred = append(dec.k.fillPred, fill[uint32]{reg, uint32(v)})
		return reg
	}
	refuse("want an address in brackets")
	return 0
}

// specialReg returns the register that holds a special register of the machine.
func (dec *decoder) specialReg(s ptx.SpecialReg, file byte) int32 {
	if fileOf(s.Type()) != file {
		refuse("want a register of another width than %s has", s)
	}
	reg, ok := dec.special[s]
	if !ok {
		reg = dec.reg(file)
		dec.special[s] = reg
		dec.k.specials = append(dec.k.specials, specialSlot{reg, s})
	}
	return reg
}

// symbol returns the address of a variable in its own space, or of a function.
func (dec *decoder) symbol(o *ptx.Operand) uint64 {
	off := uint64(o.Off)
	if o.Var == nil {
		for i, f := range dec.k.funcs {
			if f.fn.Name == o.Sym {
				return funcBase + uint64(i)
			}
		}
		refuse("want a function that may be called")
	}
	d := o.Var
	if a, ok := dec.p.addr[d]; ok {
		return a + off
	}
	if d.Space == ptx.Shared && d.Size == 0 {
		return uint64(dec.k.dynamic) + off
	}
	for _, vars := range []map[*ptx.Decl]uint64{dec.k.sharedVars, dec.k.localVars, dec.k.entryParams} {
		if a, ok := vars[d]; ok {
			return a + off
		}
	}
	refuse("want no address of %s", d.Name)
	return 0
}

// widenUnsigned and widenSigned extend the low bits of a register to 64.

func widenUnsigned(width int) step {
	return func(w *warp, in *inst, m uint32) {
		d, a := &w.d[in.dst], &w.r[in.a]
		for i := range d {
			if m>>i&1 != 0 {
				d[i] = uint64(a[i]) & (1<<width - 1)
			}
		}
	}
}

func widenSigned(width int) step {
	return func(w *warp, in *inst, m uint32) {
		d, a := &w.d[in.dst], &w.r[in.a]
		for i := range d {
			if m>>i&1 != 0 {
				d[i] = uint64(int64(uint64(a[i])<<(64-width)) >> (64 - width))
			}
		}
	}
}

func narrow64(w *warp, in *inst, m uint32) {
	d, a := &w.r[in.dst], &w.d[in.a]
	for i := range d {
		if m>>i&1 != 0 {
			d[i] = uint32(a[i])
		}
	}
}
