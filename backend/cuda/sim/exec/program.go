package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// Program is a module ready to run, with its variables.
type Program struct {
	module  *ptx.Module
	kernels map[string]*kernel
	vars    []*allocation // variables of the module, by base
	addr    map[*ptx.Decl]uint64
	symbols map[string]*ptx.Decl // of the module, without those inside functions
}

// kernel is an entry with the functions it calls, decoded.
type kernel struct {
	name  string
	entry *ptx.Func
	code  []inst
	start int32 // where the entry begins

	// Sizes of the register files, and how many registers of each come from the
	// text: those are zero when a block begins. The rest is filled beforehand.
	nr, nd, np             int
	textR, textD, textP    int
	fill32                 []fill[uint32]
	fill64                 []fill[uint64]
	fillPred               []fill[uint32]
	specials               []specialSlot
	paramOff               []int // of each parameter of the entry
	paramSize              int
	static, dynamic        int // bytes of static shared memory; offset of the dynamic part
	local                  int // bytes of local memory of a thread
	frame                  int // bytes of .param variables of functions, of a thread
	funcs                  []*function
	granule                int // smallest access to shared memory in bytes
	sharedVars             map[*ptx.Decl]uint64
	localVars              map[*ptx.Decl]uint64
	frameVars, entryParams map[*ptx.Decl]uint64
}

type fill[T any] struct {
	reg   int32
	value T
}

// specialSlot is a register that holds a special register of the machine.
type specialSlot struct {
	reg     int32
	special ptx.SpecialReg
}

// function is a function as part of a kernel.
type function struct {
	fn            *ptx.Func
	start         int32
	regs          []int32 // register of the text → number in its file
	params, rets  []uint64
	paramN, retsN []int // bytes
}

// Load decodes every entry of a module and places its variables. What it cannot
// execute is an *UnsupportedError, never a wrong result later.
func Load(m *ptx.Module) (*Program, error) {
	p := &Program{module: m, kernels: map[string]*kernel{}, addr: map[*ptx.Decl]uint64{}, symbols: map[string]*ptx.Decl{}}
	if m.AddressSize != 64 {
		return nil, &UnsupportedError{Instr: ".address_size 32", Reason: "want 64"}
	}
	if err := p.place(); err != nil {
		return nil, err
	}
	for _, f := range m.Funcs {
		if !f.Entry || !f.Defined {
			continue
		}
		k, err := p.decode(f)
		if err != nil {
			return nil, err
		}
		p.kernels[f.Name] = k
	}
	return p, nil
}

// place gives the module's variables addresses and initial values.
func (p *Program) place() error {
	next := map[ptx.Space]uint64{ptx.Global: moduleBase, ptx.Const: constBase}
	bytes := 0
	var all []*ptx.Decl
	for _, d := range p.module.Globals {
		all = append(all, d)
		p.symbols[d.Name] = d
	}
	for _, f := range p.module.Funcs {
		all = append(all, f.Vars...)
	}
	for _, space := range []ptx.Space{ptx.Global, ptx.Const} {
		for _, d := range all {
			if d.Space != space {
				continue
			}
			if d.Linkage == ptx.Extern {
				return &UnsupportedError{Instr: d.String(), Line: d.Line, Reason: "nothing defines the variable"}
			}
			if bytes += d.Size; bytes > maxVariables {
				return &UnsupportedError{Instr: d.Name, Line: d.Line, Reason: fmt.Sprintf("variables of more than %d bytes", maxVariables)}
			}
			a := &allocation{data: make([]byte, d.Size), readOnly: space == ptx.Const, name: d.Name, size: uint64(d.Size)}
			align := uint64(max(d.Align, 16))
			a.base = (next[space] + align - 1) &^ (align - 1)
			next[space] = a.base + a.size + gap
			copy(a.data, d.Init)
			p.vars = append(p.vars, a)
			p.addr[d] = a.base
		}
	}
	return p.relocate(all)
}

func (p *Program) relocate(all []*ptx.Decl) error {
	for _, d := range all {
		for _, r := range d.Relocs {
			v, ok := p.addr[p.symbols[r.Symbol]]
			if !ok {
				return &UnsupportedError{Instr: d.String(), Line: d.Line, Reason: "want the address of a variable in global or constant memory"}
			}
			a := find(p.vars, p.addr[d])
			if r.Size == 4 {
				binary.LittleEndian.PutUint32(a.data[r.Offset:], uint32(v+uint64(r.Addend)))
			} else {
				binary.LittleEndian.PutUint64(a.data[r.Offset:], v+uint64(r.Addend))
			}
		}
	}
	return nil
}

// Symbol returns the address and the bytes of a variable of the module.
func (p *Program) Symbol(name string) (addr uint64, b []byte, ok bool) {
	addr, ok = p.addr[p.symbols[name]]
	if !ok {
		return 0, nil, false
	}
	return addr, find(p.vars, addr).data, true
}

// Entries returns the names of the entries, in the order of the text.
func (p *Program) Entries() (names []string) {
	for _, f := range p.module.Funcs {
		if p.kernels[f.Name] != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Static returns the bytes of static shared memory of an entry.
func (p *Program) Static(entry string) int {
	if k := p.kernels[entry]; k != nil {
		return k.static
	}
	return 0
}
