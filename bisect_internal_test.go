package sinter

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/ir"
)

// TestElements: every dtype's elements are printed, and its NaNs known, whatever
// their payload.
func TestElements(t *testing.T) {
	type nan struct{ some, other, inf uint64 }
	nans := map[DType]nan{
		ir.F64: {0x7ff8000000000000, 0xfff0000000000001, 0x7ff0000000000000}, ir.F32: {0x7fc00000, 0xff800001, 0x7f800000},
		ir.F16: {0x7e00, 0xfc01, 0x7c00}, ir.BF16: {0x7fc0, 0xff81, 0x7f80}, ir.F8E4M3: {0x7f, 0xff, 0x7e}, ir.F8E5M2: {0x7e, 0xfd, 0x7c},
	}
	texts := map[DType]string{
		ir.F64: "-2 (0xc000000000000000)", ir.F32: "-2 (0xc0000000)", ir.F16: "-2 (0xc000)", ir.BF16: "-2 (0xc000)",
		ir.F8E4M3: "-2 (0xc0)", ir.F8E5M2: "-2 (0xc0)", ir.Bool: "true",
		ir.I64: "-4611686018427387904", ir.I32: "-1073741824", ir.I16: "-16384", ir.I8: "-64",
		ir.U64: "13835058055282163712", ir.U32: "3221225472", ir.U16: "49152", ir.U8: "192",
	}
	one := func(d DType, bits uint64) outcome {
		return outcome{dtype: d, shape: Shape{}, data: binary.LittleEndian.AppendUint64(nil, bits)[:d.Size()]}
	}
	for _, d := range ir.DTypes() {
		top := uint64(0xc0) << (8*d.Size() - 8) // −2 as a float
		x := one(d, top)
		require.Equal(t, texts[d], element(d, x.data), d)
		zero := one(d, 0)
		require.Nil(t, x.differs(&x), d)
		diff := x.differs(&zero)
		require.NotNil(t, diff, d)
		require.Equal(t, texts[d], diff.Want, d)
		require.Equal(t, []int{}, diff.Index, d)
		n, ok := nans[d]
		require.Equal(t, ok, d.IsFloat() || d.IsFloat8(), d)
		if !ok {
			continue
		}
		a, b, inf := one(d, n.some), one(d, n.other), one(d, n.inf)
		require.Nil(t, a.differs(&b), d)
		require.NotNil(t, a.differs(&inf), d)
		require.NotNil(t, zero.differs(&a), d)
	}
	require.Equal(t, []int{1, 0, 2}, indexOf(14, Shape{2, 4, 3}))
	wide := outcome{dtype: F32, shape: Shape{2}, data: make([]byte, 8)}
	narrow := outcome{dtype: F32, shape: Shape{1}, data: make([]byte, 4)}
	require.Equal(t, "f32[1]", wide.differs(&narrow).Got)
	require.Equal(t, &Difference{Where: "the number of outputs", Got: "1", Want: "2"}, firstDifference([]outcome{wide, wide}, []outcome{wide}))
}
