package interp

import "github.com/sinter-ml/sinter/ir"

// codec moves elements between a buffer, where they lie as its dtype says, and
// a register of T. Reading is exact; writing rounds floats once, to nearest
// even, and keeps the low bits of integers. An infinity stays one in an 8-bit
// float that has them: what is stored has been cast, and casts saturate.
type codec[T elem] struct {
	size int  // bytes of a stored element
	same bool // stored as in a register
	// read reads len(d) elements from off on, step apart.
	read func(d []T, mem []byte, off, step int)
	// pick reads the elements at the places given; a negative place gives 0.
	pick func(d []T, mem []byte, places []int64)
	// write writes s from off on, step apart.
	write func(mem []byte, off, step int, s []T)
}

// codecOf returns the codec of a dtype whose register elements are of T.
func codecOf[T elem](dt ir.DType) *codec[T] {
	var c any = sameCodec[T]()
	switch dt {
	case ir.BF16:
		c = &codec[float32]{size: 2, read: readBF16, pick: pickBF16, write: writeBF16}
	case ir.F16:
		c = smallCodec(ir.Float16.Float32, ir.Float16FromFloat32)
	case ir.F8E4M3:
		c = smallCodec(ir.Float8E4M3.Float32, func(x float32) ir.Float8E4M3 { return ir.Float8E4M3FromFloat32(x, false) })
	case ir.F8E5M2:
		c = smallCodec(ir.Float8E5M2.Float32, func(x float32) ir.Float8E5M2 { return ir.Float8E5M2FromFloat32(x, false) })
	case ir.I32:
		c = intCodec[int32]()
	case ir.I16:
		c = intCodec[int16]()
	case ir.I8:
		c = intCodec[int8]()
	case ir.U32:
		c = intCodec[uint32]()
	case ir.U16:
		c = intCodec[uint16]()
	case ir.U8:
		c = intCodec[uint8]()
	}
	return c.(*codec[T])
}

func sameCodec[T elem]() *codec[T] {
	return &codec[T]{size: sizeOf[T](), same: true, read: readSame[T], pick: pickSame[T], write: writeSame[T]}
}

func readSame[T elem](d []T, mem []byte, off, step int) {
	src := view[T](mem)
	switch step {
	case 1:
		copy(d, src[off:off+len(d)])
	case 0:
		fill(d, src[off])
	default:
		for i := range d {
			d[i] = src[off]
			off += step
		}
	}
}

func pickSame[T elem](d []T, mem []byte, places []int64) {
	src := view[T](mem)
	for i, p := range places {
		d[i] = 0
		if p >= 0 {
			d[i] = src[p]
		}
	}
}

func writeSame[T elem](mem []byte, off, step int, s []T) {
	dst := view[T](mem)
	if step == 1 {
		copy(dst[off:off+len(s)], s)
		return
	}
	for _, x := range s {
		dst[off] = x
		off += step
	}
}

// narrow is an integer stored in fewer bits than it has in a register.
type narrow interface {
	int32 | int16 | int8 | uint32 | uint16 | uint8
}

func intCodec[S narrow]() *codec[int64] {
	return &codec[int64]{size: sizeOf[S](), read: readInt[S], pick: pickInt[S], write: writeInt[S]}
}

func readInt[S narrow](d []int64, mem []byte, off, step int) {
	src := view[S](mem)
	for i := range d {
		d[i] = int64(src[off])
		off += step
	}
}

func pickInt[S narrow](d []int64, mem []byte, places []int64) {
	src := view[S](mem)
	for i, p := range places {
		d[i] = 0
		if p >= 0 {
			d[i] = int64(src[p])
		}
	}
}

func writeInt[S narrow](mem []byte, off, step int, s []int64) {
	dst := view[S](mem)
	for _, x := range s {
		dst[off] = S(x)
		off += step
	}
}

func readBF16(d []float32, mem []byte, off, step int) {
	src := view[ir.BFloat16](mem)
	if step == 1 {
		src = src[off : off+len(d)]
		for i := range d {
			d[i] = src[i].Float32()
		}
		return
	}
	for i := range d {
		d[i] = src[off].Float32()
		off += step
	}
}

func pickBF16(d []float32, mem []byte, places []int64) {
	src := view[ir.BFloat16](mem)
	for i, p := range places {
		d[i] = 0
		if p >= 0 {
			d[i] = src[p].Float32()
		}
	}
}

func writeBF16(mem []byte, off, step int, s []float32) {
	dst := view[ir.BFloat16](mem)
	for _, x := range s {
		dst[off] = ir.BFloat16FromFloat32(x)
		off += step
	}
}

// small is a float of 16 or 8 bits.
type small interface {
	ir.Float16 | ir.Float8E4M3 | ir.Float8E5M2
}

func smallCodec[S small](decode func(S) float32, encode func(float32) S) *codec[float32] {
	return &codec[float32]{
		size: sizeOf[S](),
		read: func(d []float32, mem []byte, off, step int) {
			src := view[S](mem)
			for i := range d {
				d[i] = decode(src[off])
				off += step
			}
		},
		pick: func(d []float32, mem []byte, places []int64) {
			src := view[S](mem)
			for i, p := range places {
				d[i] = 0
				if p >= 0 {
					d[i] = decode(src[p])
				}
			}
		},
		write: func(mem []byte, off, step int, s []float32) {
			dst := view[S](mem)
			for _, x := range s {
				dst[off] = encode(x)
				off += step
			}
		},
	}
}
