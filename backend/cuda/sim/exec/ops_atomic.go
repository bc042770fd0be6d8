package exec

import (
	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// addFloats returns the atomic addition of floats, to the nearest; nil if there is
// none. That of f32 in global memory takes and gives zeros for subnormals, as the
// PTX manual says that the hardware does, if the opcode names the space; in
// shared memory it keeps them, as all other types do.
func addFloats(o *ptx.Opcode) combine {
	both := func(h num.Half) combine {
		return func(old, b, _ uint64) uint64 {
			x, y := uint32(old), uint32(b)
			return uint64(h.Add(x&0xffff, y&0xffff) | h.Add(x>>16, y>>16)<<16)
		}
	}
	one := func(h num.Half) combine {
		return func(old, b, _ uint64) uint64 { return uint64(h.Add(uint32(old), uint32(b))) }
	}
	switch t := o.Type(); {
	case t == ptx.F32 && o.Space == ptx.Global:
		return func(old, b, _ uint64) uint64 {
			return uint64(num.FtzF32(num.AddF32(num.FtzF32(uint32(old)), num.FtzF32(uint32(b)))))
		}
	case t == ptx.F32:
		return func(old, b, _ uint64) uint64 { return uint64(num.AddF32(uint32(old), uint32(b))) }
	case t == ptx.F64:
		return func(old, b, _ uint64) uint64 { return num.AddF64(old, b) }
	case !o.Has(ptx.ModNoftz): // which the half types must name
		return nil
	case t == ptx.F16:
		return one(num.F16)
	case t == ptx.BF16:
		return one(num.BF16)
	case t == ptx.F16x2:
		return both(num.F16)
	case t == ptx.BF16x2:
		return both(num.BF16)
	}
	return nil
}
