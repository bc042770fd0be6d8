package exec

import "github.com/sinter-ml/sinter/backend/cuda/ptx"

//go:generate go run ./internal/gen

// lookup returns the form of an opcode that computes in registers; ok is false
// if there is none. The loops of the common opcodes are generated, each an entry
// of a table under its full name; families whose members are many and mostly
// rare are put together from their modifiers and types.
func lookup(o *ptx.Opcode) (f form, ok bool) {
	for _, table := range []map[string]form{intForms, bitForms, f32Forms, f64Forms, halfForms, convertForms, carryForms} {
		if f, ok = table[o.Name]; ok {
			return f, true
		}
	}
	switch o.Op {
	case ptx.OpSetp:
		return setp(o)
	case ptx.OpSet:
		return set(o)
	case ptx.OpTestp:
		return testp(o)
	case ptx.OpCvt:
		return cvt(o)
	case ptx.OpMma:
		return multiply(o)
	case ptx.OpLdmatrix, ptx.OpStmatrix:
		return moveMatrix(o)
	case ptx.OpMovmatrix:
		return form{"r=r", transpose}, o.Name == "movmatrix.sync.aligned.m8n8.trans.b16"
	}
	return form{}, false
}
