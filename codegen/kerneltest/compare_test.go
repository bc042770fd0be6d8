package kerneltest

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// oneBuffer returns a kernel with a buffer of a dtype and memory that holds the
// values.
func oneBuffer(dt ir.DType, vals ...Value) (*codegen.Kernel, [][]byte) {
	mem := Alloc(len(vals) * dt.Size())
	for i, v := range vals {
		WriteElem(mem, dt, i, v)
	}
	return &codegen.Kernel{Buffers: []codegen.Buffer{{DType: dt}}}, [][]byte{mem}
}

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		dt        ir.DType
		want, got Value
		tol       Tolerance
		same      bool
	}{
		{"same", ir.F32, Value{F: 1.5}, Value{F: 1.5}, Tolerance{}, true},
		{"nan", ir.BF16, Value{F: nan}, Value{F: nan}, Tolerance{}, true},
		{"nan and number", ir.F32, Value{F: nan}, Value{F: 1}, Tolerance{Abs: 9}, false},
		{"number and nan", ir.F64, Value{F: 1}, Value{F: nan}, Tolerance{Abs: 9}, false},
		{"zeros", ir.F32, Value{}, Value{F: math.Copysign(0, -1)}, Tolerance{}, false},
		{"zeros near", ir.F32, Value{}, Value{F: math.Copysign(0, -1)}, Tolerance{Ulps: 1}, true},
		{"next", ir.F32, Value{F: 1}, Value{F: 1 + 0x1p-23}, Tolerance{}, false},
		{"one ulp", ir.F32, Value{F: 1}, Value{F: 1 + 0x1p-23}, Tolerance{Ulps: 1}, true},
		{"two ulps", ir.F32, Value{F: 1}, Value{F: 1 + 0x1p-22}, Tolerance{Ulps: 1}, false},
		{"one ulp of bf16", ir.BF16, Value{F: 1}, Value{F: 1 + 0x1p-7}, Tolerance{Ulps: 1}, true},
		{"one ulp of f8", ir.F8E4M3, Value{F: 1}, Value{F: 1.125}, Tolerance{Ulps: 1}, true},
		{"infinity", ir.F32, Value{F: inf}, Value{F: math.MaxFloat32}, Tolerance{Ulps: 4, Abs: 1}, false},
		{"each", ir.F64, Value{F: 1}, Value{F: 1.25}, Tolerance{Each: [][]float64{{0.25}}}, true},
		{"beyond each", ir.F64, Value{F: 1}, Value{F: 1.26}, Tolerance{Each: [][]float64{{0.25}}}, false},
		{"open", ir.F32, Value{F: inf}, Value{F: nan}, Tolerance{Each: [][]float64{{inf}}}, true},
		{"ints", ir.I8, Value{I: 4}, Value{I: 5}, Tolerance{Abs: 3, Ulps: 4}, false},
		{"open int", ir.I8, Value{I: 4}, Value{I: 5}, Tolerance{Each: [][]float64{{inf}}}, true},
		{"bools", ir.Bool, Value{B: true}, Value{}, Tolerance{Abs: 3}, false},
	} {
		k, want := oneBuffer(c.dt, c.want)
		_, got := oneBuffer(c.dt, c.got)
		err := Compare(k, want, got, c.tol)
		if c.same {
			assert.NoError(t, err, c.name)
			continue
		}
		var mismatch *MismatchError
		if assert.ErrorAs(t, err, &mismatch, c.name) {
			assert.Equal(t, 1, mismatch.Count)
		}
	}
}

func TestMismatchNamesTheFirst(t *testing.T) {
	k, want := oneBuffer(ir.F32, Value{}, Value{F: 1}, Value{F: 2})
	_, got := oneBuffer(ir.F32, Value{}, Value{F: 1.5}, Value{F: 4})
	assert.EqualError(t, Compare(k, want, got, Tolerance{Abs: 0.25}),
		"buffer 0 (f32) element 1: want 1 (0x3f800000), got 1.5 (0x3fc00000), which is 0.5 away and not within 0.25; 2 elements differ")
	k, want = oneBuffer(ir.U64, Value{I: -1})
	_, got = oneBuffer(ir.U64, Value{I: 3})
	assert.EqualError(t, Compare(k, want, got, Tolerance{}), "buffer 0 (u64) element 0: want 18446744073709551615, got 3; 1 elements differ")
}

// A bool is stored as 0 or 1; anything else is a fault of the engine.
func TestCompareSeesABoolThatIsNoBool(t *testing.T) {
	k, want := oneBuffer(ir.Bool, Value{B: true})
	require.Error(t, Compare(k, want, [][]byte{{2}}, Tolerance{}))
}

// Every code of the small floats reads as a value that writes as that code.
func TestElementsKeepTheirBits(t *testing.T) {
	for _, dt := range ir.DTypes() {
		if dt.Size() > 2 {
			continue
		}
		for bits := range uint64(1) << (8 * dt.Size()) {
			v := FromBits(dt, bits)
			if v.F == v.F && (dt != ir.Bool || bits < 2) {
				require.Equal(t, bits, ToBits(dt, v), "%v %#x", dt, bits)
			}
		}
	}
}

func TestUnit(t *testing.T) {
	for _, x := range []float64{0, 1, 1.5, -3, 0x1p-140, 0x1p-149, 0x1p-126, math.MaxFloat32, 1 << 100, 0x1.8p99} {
		next := float64(math.Nextafter32(float32(math.Abs(x)), float32(math.Inf(1))))
		if x == math.MaxFloat32 {
			next = 0x1p128
		}
		assert.Equal(t, next-math.Abs(x), unit(ir.F32, x), "%v", x)
	}
	assert.Equal(t, 0x1p-52, unit(ir.F64, 1))
	assert.Equal(t, 0x1p-7, unit(ir.BF16, 1.99))
	assert.Equal(t, math.SmallestNonzeroFloat64, unit(ir.F64, 0))
}
