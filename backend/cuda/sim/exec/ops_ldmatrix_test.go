package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

// launchText runs the kernel k of a body for one block with arguments that are
// addresses.
func launchText(t *testing.T, body string, threads int, mem *Memory, o Options, addrs ...uint64) (*Counts, error) {
	t.Helper()
	m, err := ptx.Parse(head + body)
	require.NoError(t, err)
	p, err := Load(m)
	require.NoError(t, err)
	var args []Arg
	for _, a := range addrs {
		args = append(args, ArgOf(a))
	}
	return p.Launch(context.Background(), "k", Dim{1, 1, 1}, Dim{threads, 1, 1}, 0, args, mem, o)
}

// A product of a 16×16 and a 16×8 matrix, both as rows in shared memory: A by
// ldmatrix.x4, B by ldmatrix.x2.trans, multiplied, and stored as f32.
const tileProduct = `.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pd)
{
	.reg .b16 %h;
	.reg .b32 %t, %r<8>, %a<4>, %b<2>, %d<4>;
	.reg .b64 %p<8>;
	.shared .align 16 .b8 sa[512];
	.shared .align 16 .b8 sb[256];
	mov.u32 %t, %tid.x;
	ld.param.u64 %p0, [pa];
	ld.param.u64 %p1, [pb];
	ld.param.u64 %p2, [pd];
	mul.wide.u32 %p3, %t, 16;
	add.s64 %p4, %p0, %p3;
	ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p4];
	mov.u32 %r0, sa;
	shl.b32 %r1, %t, 4;
	add.s32 %r0, %r0, %r1;
	st.shared.v4.b32 [%r0], {%a0, %a1, %a2, %a3};
	mul.wide.u32 %p3, %t, 8;
	add.s64 %p4, %p1, %p3;
	ld.global.v2.b32 {%b0, %b1}, [%p4];
	mov.u32 %r0, sb;
	shl.b32 %r1, %t, 3;
	add.s32 %r0, %r0, %r1;
	st.shared.v2.b32 [%r0], {%b0, %b1};
	bar.sync 0;
	// Row t%16 of A, its columns from 8·(t/16).
	and.b32 %r2, %t, 15;
	shl.b32 %r2, %r2, 5;
	shr.u32 %r3, %t, 4;
	shl.b32 %r3, %r3, 4;
	add.s32 %r2, %r2, %r3;
	mov.u32 %r4, sa;
	add.s32 %r4, %r4, %r2;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r4];
	// Row t%16 of B.
	and.b32 %r2, %t, 15;
	shl.b32 %r2, %r2, 4;
	mov.u32 %r4, sb;
	add.s32 %r4, %r4, %r2;
	ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%b0, %b1}, [%r4];
	mov.b32 %d0, 0;
	mov.b32 %d1, 0;
	mov.b32 %d2, 0;
	mov.b32 %d3, 0;
	mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d0, %d1, %d2, %d3};
	// Row t/4 and t/4+8 of D, columns 2·(t%4) and the next.
	shr.u32 %r0, %t, 2;
	shl.b32 %r0, %r0, 5;
	and.b32 %r1, %t, 3;
	shl.b32 %r1, %r1, 3;
	add.s32 %r0, %r0, %r1;
	cvt.u64.u32 %p5, %r0;
	add.s64 %p5, %p2, %p5;
	st.global.v2.b32 [%p5], {%d0, %d1};
	st.global.v2.b32 [%p5+256], {%d2, %d3};
	ret;
}
`

func TestProductOfTiles(t *testing.T) {
	for name, f := range map[string]*num.Format{"f16": num.F16.Format, "bf16": num.BF16.Format} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(4, 4))
			fill := func(n int) (memory []byte, values []float64) {
				for range n {
					v := f.Pack(rng.NormFloat64(), num.RN)
					memory = binary.LittleEndian.AppendUint16(memory, uint16(v))
					values = append(values, f.Value(v))
				}
				return memory, values
			}
			bytesA, a := fill(16 * 16)
			bytesB, b := fill(16 * 8)
			mem := NewMemory()
			addr, out := mem.Alloc(16 * 8 * 4)
			o := Options{Workers: 1, CheckRaces: true, CheckUndefined: true}
			counts, err := launchText(t, strings.ReplaceAll(tileProduct, "TYPE", name), 32, mem, o, mem.MapBytes(bytesA), mem.MapBytes(bytesB), addr)
			require.NoError(t, err)
			for i := range 16 {
				for j := range 8 {
					want := 0.0
					for k := range 16 {
						want += a[i*16+k] * b[k*8+j]
					}
					got := math.Float32frombits(binary.LittleEndian.Uint32(out[4*(i*8+j):]))
					require.Equal(t, float32(want), got, "row %d, column %d", i, j)
				}
			}
			assert.EqualValues(t, 1, counts.Classes[ClassMatrix].Warps)
			// Rows of A are 32 bytes apart: eight of them hit each bank twice.
			assert.EqualValues(t, 4+4+2, counts.SharedLoads.Wavefronts)
			assert.EqualValues(t, 4, counts.SharedLoads.Extra)
		})
	}
}

// Matrices go through shared memory and back, each form of ldmatrix after each of
// stmatrix: transposed once they are transposed, twice or never they are not.
func TestMatricesThroughSharedMemory(t *testing.T) {
	const body = `.visible .entry k(.param .u64 pd)
{
	.reg .b32 %%t, %%r<4>, %%v<4>;
	.reg .b64 %%p<4>;
	.shared .align 16 .b8 s[512];
	mov.u32 %%t, %%tid.x;
	ld.param.u64 %%p0, [pd];
	mul.wide.u32 %%p1, %%t, 16;
	add.s64 %%p0, %%p0, %%p1;
	ld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%p0];
	mov.u32 %%r0, s;
	and.b32 %%r1, %%t, %[4]d;
	shl.b32 %%r1, %%r1, 4;
	add.s32 %%r0, %%r0, %%r1;
	stmatrix.sync.aligned.m8n8.x%[1]d%[2]s.shared.b16 [%%r0], {%[5]s};
	bar.warp.sync -1;
	ldmatrix.sync.aligned.m8n8.x%[1]d%[3]s.shared::cta.b16 {%[5]s}, [%%r0];
	st.global.v4.b32 [%%p0], {%%v0, %%v1, %%v2, %%v3};
	ret;
}
`
	for _, n := range []int{1, 2, 4} {
		for _, st := range []string{"", ".trans"} {
			for _, ld := range []string{"", ".trans"} {
				t.Run(fmt.Sprintf("x%d st%s ld%s", n, st, ld), func(t *testing.T) {
					regs := strings.Join([]string{"%v0", "%v1", "%v2", "%v3"}[:n], ", ")
					memory := make([]byte, 512)
					half := func(matrix, row, col int) []byte { // lane 4·row+col/2 has it
						return memory[(4*row+col/2)*16+4*matrix+2*(col%2):]
					}
					for m := range 4 {
						for r := range 8 {
							for c := range 8 {
								binary.LittleEndian.PutUint16(half(m, r, c), uint16(m<<8|r<<4|c))
							}
						}
					}
					mem := NewMemory()
					_, err := launchText(t, fmt.Sprintf(body, n, st, ld, 8*n-1, regs), 32, mem, Options{CheckRaces: true, CheckUndefined: true}, mem.MapBytes(memory))
					require.NoError(t, err)
					for m := range 4 {
						for r := range 8 {
							for c := range 8 {
								want := m<<8 | r<<4 | c
								if m < n && st != ld {
									want = m<<8 | c<<4 | r
								}
								require.EqualValues(t, want, binary.LittleEndian.Uint16(half(m, r, c)), "matrix %d, row %d, column %d", m, r, c)
							}
						}
					}
				})
			}
		}
	}
}

func TestMatricesFault(t *testing.T) {
	const body = `.visible .entry k()
{
	.reg .b32 %%r<4>;
	.reg .pred %%p;
	.shared .align 16 .b8 s[256];
	mov.u32 %%r0, %%tid.x;
	%s
	ret;
}
`
	for name, tt := range map[string]struct {
		text string
		kind FaultKind
	}{
		"misaligned":    {"shl.b32 %r1, %r0, 3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", Misaligned},
		"out of bounds": {"shl.b32 %r1, %r0, 4; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r0}, [%r1];", OutOfBounds},
		"not written":   {"shl.b32 %r1, %r0, 4; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%r1];", Uninitialised},
		"half a warp":   {"shl.b32 %r1, %r0, 4; setp.lt.u32 %p, %r0, 16; @%p exit; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", DivergentSync},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := launchText(t, fmt.Sprintf(body, tt.text), 32, NewMemory(), Options{CheckUndefined: true})
			var fault *Fault
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, tt.kind, fault.Kind, "%v", err)
			assert.Contains(t, fault.Instr, "matrix")
		})
	}
}

func TestMatrixMovesRefuse(t *testing.T) {
	for _, name := range []string{
		"ldmatrix.sync.aligned.m8n8.x3.shared.b16", "ldmatrix.sync.aligned.m8n16.x1.shared.b16", "ldmatrix.sync.aligned.m8n8.x1.global.b16",
		"ldmatrix.sync.aligned.m8n8.x1.b16", "ldmatrix.sync.aligned.m8n8.x1.shared.b8", "stmatrix.sync.aligned.m8n8.shared.b16",
	} {
		m, err := ptx.Parse(head + ".visible .entry k()\n{\n" + name + ";\n}\n")
		if err != nil {
			continue // not even a known modifier
		}
		_, ok := lookup(m.Funcs[0].Body[0].Opcode)
		assert.False(t, ok, name)
	}
}
