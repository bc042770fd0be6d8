package exec

import (
	"fmt"
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// form is one executable opcode: a row of the table that decoding looks up by
// the opcode's full name.
type form struct {
	// sig tells the register file of each operand: destinations, '=', sources.
	//
	//	r  32 bits     d  64 bits     p  predicate     m  an address in brackets
	//
	// A digit after a letter makes it a vector of so many elements, as in
	// "r4=r4r2r4" of mma. Two destinations are written one after another, as in
	// "rp=rr"; the text may leave out the second, and then its register is one
	// nobody reads.
	//
	// Without vectors the registers are dst, dst2, a, b, c, e of the
	// instruction. With vectors all of them stand in v, element after element,
	// destinations first, and addresses are left out. An address is in mem.
	sig string
	run step
	// aligned marks an instruction that all 32 lanes of a warp execute together,
	// such as mma.sync; it then runs with the full mask only.
	aligned bool
}

// table maps full opcode names to their forms; those of one name differ in
// signature.
type table map[string][]form

// forms holds every form that decoding does not make itself.
var forms = merge(moveForms)

// merge joins tables. That two have the same form is a mistake of the program.
func merge(tables ...table) map[string][]decodedForm {
	all := map[string][]decodedForm{}
	for _, t := range tables {
		for name, list := range t {
			for _, f := range list {
				d := decodedForm{form: f}
				dst, src, _ := strings.Cut(f.sig, "=")
				d.dst, d.src = slots(dst), slots(src)
				for _, s := range append(d.dst, d.src...) {
					d.vector = d.vector || s.n > 1
				}
				for _, other := range all[name] {
					if other.sig == f.sig {
						panic(fmt.Sprintf("exec: two forms of %s with operands %s", name, f.sig))
					}
				}
				all[name] = append(all[name], d)
			}
		}
	}
	return all
}

// decodedForm is a form with its signature taken apart.
type decodedForm struct {
	form
	dst, src []slot
	vector   bool
}

// slot is one operand of a signature.
type slot struct {
	file byte // 'r', 'd', 'p' or 'm'
	n    int  // elements
}

func slots(sig string) (out []slot) {
	for i := 0; i < len(sig); i++ {
		s := slot{sig[i], 1}
		for n := 0; i+1 < len(sig) && sig[i+1] >= '0' && sig[i+1] <= '9'; i++ {
			n = n*10 + int(sig[i+1]-'0')
			s.n = n
		}
		out = append(out, s)
	}
	return out
}

// takes reports whether the operands of an instruction have the form's shape:
// their number, vectors and addresses. Register files are looked at later.
func (f *decodedForm) takes(in *ptx.Instr) bool {
	if len(in.Src) != len(f.src) || len(in.Dst) > len(f.dst) || len(in.Dst) < min(len(f.dst), 1) {
		return false
	}
	for i := range in.Dst {
		if !f.dst[i].takes(&in.Dst[i]) {
			return false
		}
	}
	for i := range in.Src {
		if !f.src[i].takes(&in.Src[i]) {
			return false
		}
	}
	return true
}

func (s slot) takes(o *ptx.Operand) bool {
	switch {
	case o.Kind == ptx.Addr:
		return s.file == 'm'
	case o.Kind == ptx.Vec:
		return s.n == len(o.Elems) && s.file != 'm'
	}
	return s.n == 1 && s.file != 'm'
}

// formOf finds the form of an instruction, nil if there is none.
func formOf(in *ptx.Instr) *decodedForm {
	list := forms[in.Name]
	for i := range list {
		if list[i].takes(in) {
			return &list[i]
		}
	}
	return nil
}
