package ptx

import (
	"sort"
	"strconv"
)

// Module is one parsed PTX text. Its parts are never changed after parsing.
type Module struct {
	Version     Version
	Target      string   // "sm_80"
	Options     []string // what else .target named, such as "debug"
	AddressSize int      // 32 or 64
	Globals     []*Decl  // variables outside functions: .global, .const, .shared
	Funcs       []*Func  // in the order written; a declaration without a body is kept only if no body follows
}

// Func returns the function of a name, nil if there is none.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Version is a PTX ISA version.
type Version struct{ Major, Minor int }

// Linkage says who sees a symbol.
type Linkage uint8

// The linkages. Internal, the zero value, is what nothing written means.
const (
	Internal Linkage = iota
	Visible
	Extern
	Weak
	Common
)

// String returns the directive without the dot, "" for Internal.
func (l Linkage) String() string {
	return [...]string{"", "visible", "extern", "weak", "common"}[l]
}

// Decl is a variable in memory: of the module, of a function, a parameter, a
// returned value or a parameter of a call.
type Decl struct {
	Name     string // unique in its module or function: see Func
	Space    Space
	Linkage  Linkage
	Type     Type   // of one element
	Align    int    // in bytes; the size of the type where none is written
	Vec      int    // elements of .v2 and .v4, 0 otherwise
	Array    bool   // has extents; those of several dimensions are flattened
	Size     int    // in bytes; 0 for an array of open size
	Pointer  bool   // a parameter marked .ptr
	PtrTo    Space  // what a .ptr parameter points to
	PtrAlign int    // alignment of what it points to, 0 if not written
	Init     []byte // initial bytes; shorter than Size means zeros follow
	Relocs   []Reloc
	Line     int
}

// Reloc is an address in an initialiser: eight (or four) bytes at Offset hold
// the address of Symbol plus Addend.
type Reloc struct {
	Offset  int
	Size    int // of the field, 4 or 8
	Symbol  string
	Addend  int64
	Generic bool // generic(symbol): a generic address, not one of the symbol's space
}

// Func is an entry or a device function.
//
// The nested scopes that inline assembly and calls open are flattened: a
// register, variable or label whose name is already taken in the function gets a
// name with a suffix, so that every name is unique and Print needs no scopes.
type Func struct {
	Name     string
	Entry    bool
	Linkage  Linkage
	Defined  bool // has a body
	NoReturn bool
	Returns  []*Decl
	Params   []*Decl
	// Directives are those between the parameters and the body, and the pragmas.
	Directives []Directive
	Regs       []RegRange
	Vars       []*Decl // .shared, .local, .const, .global and .param variables of the body
	Body       []Instr
	Labels     []Label
	Tables     []Table     // .branchtargets and .calltargets
	Protos     []Prototype // .callprototype
	Line       int

	regCount int
}

// Directive returns the numbers of a directive such as maxntid, and whether it
// stands there.
func (f *Func) Directive(name string) ([]int, bool) {
	for _, d := range f.Directives {
		if d.Name == name {
			return d.Args, true
		}
	}
	return nil, false
}

// Directive is a directive of a function, such as .maxntid 256, 1, 1 or
// .pragma "nounroll".
type Directive struct {
	Name string // without the dot
	Args []int
	Text string // of a pragma
}

// RegRange declares registers: Count of them named Name0, Name1, … or, when
// Count is 0, the single register Name.
type RegRange struct {
	Name  string
	Count int
	Type  Type
	First int // index of the first; registers of a function are numbered from 0
}

// NumRegs returns how many registers the function declares.
func (f *Func) NumRegs() int { return f.regCount }

// RegType returns the type of a register.
func (f *Func) RegType(reg int32) Type { return f.regRange(reg).Type }

// RegName returns the name of a register.
func (f *Func) RegName(reg int32) string {
	r := f.regRange(reg)
	if r.Count == 0 {
		return r.Name
	}
	return r.Name + strconv.Itoa(int(reg)-r.First)
}

func (f *Func) regRange(reg int32) *RegRange {
	i := sort.Search(len(f.Regs), func(i int) bool { return f.Regs[i].First > int(reg) })
	return &f.Regs[i-1]
}

// Label is a place in a body: before the instruction Pos, or at the end.
type Label struct {
	Name string
	Pos  int
}

// Table is a named list of targets: labels for brx.idx, functions for call.
type Table struct {
	Name   string
	Labels []int    // indices into Labels (.branchtargets)
	Funcs  []string // names (.calltargets)
}

// Prototype is what an indirect call declares of its target.
type Prototype struct {
	Name            string
	Returns, Params []*Decl
}

// Instr is one instruction.
type Instr struct {
	*Opcode
	Pred int  // register index of the guard, -1 if there is none
	Neg  bool // the guard is @!
	// Dst holds the destinations: none, one, or two for d|p. A vector counts as
	// one. What a store or a reduction writes is an address in Src.
	Dst []Operand
	// Src holds the sources in the order written. A label of a branch is one.
	Src  []Operand
	Call *Call // for call only
	Line int   // of the text, from 1
}

// Call is what a call instruction names besides its opcode.
type Call struct {
	Returns []*Decl // variables of the caller that take the returned values
	Args    []*Decl // variables of the caller that hold the arguments
	Target  Operand // Sym with the function's name, or Reg
	Table   string  // for an indirect call: its .calltargets or .callprototype
}
