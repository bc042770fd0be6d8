package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAtomicAdditionOfFloats(t *testing.T) {
	f32 := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	const body = `.visible .entry k(.param .u64 p)
{
	.reg .b16 %%h<4>;
	.reg .b32 %%r<4>;
	.reg .b64 %%d<4>, %%p0;
	ld.param.u64 %%p0, [p];
	ld.global.%[1]s %%%[2]s0, [%%p0+8];
	atom.global.%[3]s %%%[2]s1, [%%p0], %%%[2]s0;
	st.global.%[1]s [%%p0+16], %%%[2]s1;
	ret;
}
`
	for _, tt := range []struct {
		op           string
		bits         int
		old, b, want uint64
	}{
		{"add.f32", 32, f32(1), f32(0x1p-24), f32(1)},
		{"add.f32", 32, f32(1), f32(0x1.8p-24), f32(0x1.000002p0)},
		{"add.f32", 32, 1, 0x80000003, 0}, // subnormals are zero in global memory
		{"add.gpu.f32", 32, f32(float32(math.Inf(1))), f32(float32(math.Inf(-1))), 0x7fffffff},
		{"add.f64", 64, math.Float64bits(1), math.Float64bits(2.5), math.Float64bits(3.5)},
		{"add.f64", 64, 1, 2, 3},
		{"add.noftz.f16", 16, 0x3c00, 0x4000, 0x4200},
		{"add.noftz.f16", 16, 1, 2, 3},
		{"add.noftz.bf16", 16, 0x3f80, 0x4000, 0x4040},
		{"add.noftz.f16x2", 32, 0x3c00_4000, 0x4000_0001, 0x4200_4000},
		{"add.noftz.bf16x2", 32, 0x3f80_4000, 0x4000_0001, 0x4040_4000},
	} {
		t.Run(fmt.Sprintf("%s %#x %#x", tt.op, tt.old, tt.b), func(t *testing.T) {
			mem := NewMemory()
			addr, b := mem.Alloc(24)
			binary.LittleEndian.PutUint64(b, tt.old)
			binary.LittleEndian.PutUint64(b[8:], tt.b)
			letter := map[int]string{16: "h", 32: "r", 64: "d"}[tt.bits]
			_, err := launchText(t, fmt.Sprintf(body, fmt.Sprintf("b%d", tt.bits), letter, tt.op), 1, mem, Options{}, addr)
			require.NoError(t, err)
			assert.Equal(t, tt.want, binary.LittleEndian.Uint64(b))
			assert.Equal(t, tt.old, binary.LittleEndian.Uint64(b[16:]), "what stood there before")
		})
	}
	assert.Nil(t, addFloats(opcode(t, "atom.global.add.f16")), "without .noftz")
	shared := addFloats(opcode(t, "atom.shared.add.f32"))
	assert.EqualValues(t, 4, shared(1, 3, 0), "in shared memory subnormals are kept")
}
