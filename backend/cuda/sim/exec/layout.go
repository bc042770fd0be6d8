package exec

import (
	"fmt"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// Bounds of what a kernel may declare. Those of local memory and parameters are
// the machine's; the others keep a bad text from taking all memory.
const (
	maxLocal     = 512 << 10
	maxParams    = 32764
	maxFrame     = 1 << 16
	maxRegisters = 1 << 16
	maxVariables = 1 << 28
)

// layout places the registers and variables of a kernel's functions. Functions
// call each other without recursion, so that each has one fixed place for all it
// declares.
func (dec *decoder) layout() error {
	k := dec.k
	k.sharedVars, k.localVars = map[*ptx.Decl]uint64{}, map[*ptx.Decl]uint64{}
	k.frameVars, k.entryParams = map[*ptx.Decl]uint64{}, map[*ptx.Decl]uint64{}
	dynAlign := 16
	static := func(d *ptx.Decl) {
		switch {
		case d.Space != ptx.Shared:
		case d.Size == 0:
			dynAlign = max(dynAlign, d.Align)
		default:
			k.sharedVars[d] = place(&k.static, d)
		}
	}
	for _, d := range dec.p.module.Globals {
		if dec.used[d] {
			static(d)
		}
	}
	for _, f := range k.funcs {
		if err := dec.registers(f); err != nil {
			return err
		}
		for _, d := range f.fn.Vars {
			static(d)
			switch d.Space {
			case ptx.Local:
				k.localVars[d] = place(&k.local, d)
			case ptx.Param:
				k.frameVars[d] = place(&k.frame, d)
			}
		}
		if f.fn.Entry {
			for _, d := range f.fn.Params {
				off := place(&k.paramSize, d)
				k.entryParams[d] = off
				k.paramOff = append(k.paramOff, int(off))
			}
			continue
		}
		for _, d := range f.fn.Params {
			k.frameVars[d] = place(&k.frame, d)
			f.params, f.paramN = append(f.params, k.frameVars[d]), append(f.paramN, d.Size)
		}
		for _, d := range f.fn.Returns {
			k.frameVars[d] = place(&k.frame, d)
			f.rets, f.retsN = append(f.rets, k.frameVars[d]), append(f.retsN, d.Size)
		}
	}
	for _, bound := range []struct {
		what      string
		size, max int
	}{
		{"local memory", k.local, maxLocal}, {"parameters", k.paramSize, maxParams},
		{"parameters of functions", k.frame, maxFrame}, {"registers", k.nr + k.nd + k.np, maxRegisters},
	} {
		if bound.size > bound.max {
			return &UnsupportedError{Func: k.name, Instr: bound.what, Line: k.entry.Line, Reason: fmt.Sprintf("%d, want at most %d", bound.size, bound.max)}
		}
	}
	k.local = (k.local + 15) &^ 15
	k.frame = (k.frame + 15) &^ 15
	k.dynamic = (k.static + dynAlign - 1) &^ (dynAlign - 1)
	k.textR, k.textD, k.textP = k.nr, k.nd, k.np
	dec.unread = [3]int32{dec.reg('r'), dec.reg('d'), dec.reg('p')}
	return nil
}

// place takes room for a variable.
func place(size *int, d *ptx.Decl) uint64 {
	off := (*size + d.Align - 1) &^ (d.Align - 1)
	*size = off + d.Size
	return uint64(off)
}

// registers numbers the registers of a function.
func (dec *decoder) registers(f *function) error {
	f.regs = make([]int32, f.fn.NumRegs())
	for _, r := range f.fn.Regs {
		if r.Type.Bits() > 64 {
			return &UnsupportedError{Func: f.fn.Name, Instr: ".reg ." + r.Type.String() + " " + r.Name, Line: f.fn.Line, Reason: "registers have up to 64 bits"}
		}
		for i := range max(r.Count, 1) {
			f.regs[r.First+i] = dec.reg(fileOf(r.Type))
		}
	}
	return nil
}

// reg takes a new register of a file.
func (dec *decoder) reg(file byte) int32 {
	n := &dec.k.nr
	switch file {
	case 'd':
		n = &dec.k.nd
	case 'p':
		n = &dec.k.np
	}
	*n++
	return int32(*n - 1)
}

// fileOf returns the register file for values of a type.
func fileOf(t ptx.Type) byte {
	switch {
	case t == ptx.Pred:
		return 'p'
	case t.Bits() == 64:
		return 'd'
	}
	return 'r'
}

// collect lists the functions that an entry reaches, callees before callers, so
// that the lowest program counter is in the innermost function.
func (dec *decoder) collect(fn *ptx.Func, open map[*ptx.Func]bool) error {
	for _, f := range dec.k.funcs {
		if f.fn == fn {
			return nil
		}
	}
	open[fn] = true
	visit := func(name string, line int) error {
		target := dec.p.module.Func(name)
		switch {
		case !target.Defined:
			return &UnsupportedError{Func: fn.Name, Instr: name, Line: line, Reason: "nothing defines the function"}
		case open[target]:
			return &UnsupportedError{Func: fn.Name, Instr: name, Line: line, Reason: "functions must not be recursive"}
		}
		return dec.collect(target, open)
	}
	for i := range fn.Body {
		in := &fn.Body[i]
		if in.Call != nil && in.Call.Target.Kind == ptx.Sym {
			if err := visit(in.Call.Target.Sym, in.Line); err != nil {
				return err
			}
		}
		for j := range in.Src {
			o := &in.Src[j]
			dec.used[o.Var] = true
			if o.Kind == ptx.Sym && o.Var == nil {
				if err := visit(o.Sym, in.Line); err != nil {
					return err
				}
			}
		}
	}
	delete(open, fn)
	dec.k.funcs = append(dec.k.funcs, &function{fn: fn})
	return nil
}
