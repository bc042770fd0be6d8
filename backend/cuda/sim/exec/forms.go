package exec

import (
	"strings"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// form is one executable opcode: a row of the tables that decoding looks up by
// the opcode's full name.
type form struct {
	// sig tells the register file of each operand: destinations, '=', sources.
	//
	//	r  32 bits     d  64 bits     p  predicate     m  an address in brackets
	//
	// A digit after a letter makes it a vector of so many elements, as in
	// "r4=r4r2r4" of mma. Two destinations are written one after another, as in
	// "pp=rr"; the text may leave out the second, and then its register is one
	// nobody reads.
	//
	// Without vectors the registers are dst, dst2, a, b, c, e of the
	// instruction. With vectors all of them stand in v, element after element,
	// destinations first, and addresses are left out. An address is in mem.
	sig string
	run step
}

// signature is a form's signature taken apart.
type signature struct {
	dst, src []slot
	vector   bool
}

// slot is one operand of a signature.
type slot struct {
	file byte // 'r', 'd', 'p' or 'm'
	n    int  // elements
}

func signatureOf(sig string) (s signature) {
	dst, src, _ := strings.Cut(sig, "=")
	s.dst, s.src = slots(dst), slots(src)
	s.vector = strings.ContainsAny(sig, "0123456789")
	return s
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

// takes reports whether the operands of an instruction have the signature's
// shape: their number, vectors and addresses. Register files are looked at later.
func (s *signature) takes(in *ptx.Instr) bool {
	if len(in.Src) != len(s.src) || len(in.Dst) > len(s.dst) || len(in.Dst) < min(len(s.dst), 1) {
		return false
	}
	for i := range in.Dst {
		if !s.dst[i].takes(&in.Dst[i]) {
			return false
		}
	}
	for i := range in.Src {
		if !s.src[i].takes(&in.Src[i]) {
			return false
		}
	}
	return true
}

func (s slot) takes(o *ptx.Operand) bool {
	switch o.Kind {
	case ptx.Addr:
		return s.file == 'm'
	case ptx.Vec:
		return s.n == len(o.Elems) && s.file != 'm'
	}
	return s.n == 1 && s.file != 'm'
}

// formOf finds the form of an instruction; known tells whether the opcode has any.
func formOf(in *ptx.Instr) (run step, sig signature, known, ok bool) {
	f, known := lookup(in.Opcode)
	if known {
		if sig = signatureOf(f.sig); sig.takes(in) {
			return f.run, sig, true, true
		}
	}
	for _, f := range packForms[in.Name] {
		if sig = signatureOf(f.sig); sig.takes(in) {
			return f.run, sig, true, true
		}
	}
	return nil, sig, known, false
}
