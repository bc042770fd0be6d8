package exec

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
	"github.com/sinter-ml/sinter/backend/cuda/sim/exec/internal/num"
)

const threads = 80 // two warps and half of one

// Every form, in a kernel of its own, does to random and special operands what
// the manual says: in whole warps, guarded, and in a part of a warp.
func TestFormsConform(t *testing.T) {
	names := opcodes()
	require.Greater(t, len(names), 2500)
	for at, name := range names {
		if testing.Short() && at%7 != 0 {
			continue
		}
		x := operandTypes(opcode(t, name))
		if !x.conforms(t, uint64(at)) {
			t.Logf("%s does not conform", name)
		}
	}
}

// conforms runs the kernel of a trial and compares.
func (x trial) conforms(t *testing.T, seed uint64) bool {
	entry, body := x.text()
	m, err := ptx.Parse(head + body)
	require.NoError(t, err, body)
	p, err := Load(m)
	if !assert.NoError(t, err, x.op.Name) {
		return false
	}
	in, lanes := x.draw(rand.New(rand.NewPCG(seed, 1)))
	mem := NewMemory()
	addr := mem.MapBytes(in)
	outAddr, out := mem.Alloc(threads * slotsOut * 8)
	_, err = p.Launch(context.Background(), entry, Dim{1, 1, 1}, Dim{threads, 1, 1}, 0, []Arg{ArgOf(addr), ArgOf(outAddr)}, mem, Options{Workers: 1})
	if !assert.NoError(t, err, x.op.Name) {
		return false
	}
	carry := x.op.Has(ptx.ModCC) || x.op.Op == ptx.OpAddc || x.op.Op == ptx.OpSubc || x.op.Op == ptx.OpMadc
	for thread, lane := range lanes {
		want, ok := evaluate(x.op, lane.operands)
		require.True(t, ok, "no semantics of %s", x.op.Name)
		for way := range 3 {
			slot := func(i int) uint64 { return binary.LittleEndian.Uint64(out[8*(thread*slotsOut+4*way+i):]) }
			expect := want
			if way > 0 && !lane.guard {
				expect = outcome{d: 77, carry: lane.carry}
			}
			good := true
			if x.dst[0] == ptx.Pred {
				good = slot(1) == uint64(pick(expect.p, 1, 0))
				if len(x.dst) == 2 {
					good = good && slot(2) == uint64(pick(expect.q, 1, 0))
				}
			} else {
				bits := x.dst[0].Bits()
				if x.op.Op == ptx.OpCvt {
					bits = max(x.op.Types[0].Bits(), 16)
				}
				mask := ^uint64(0) >> (64 - bits)
				good = slot(0)&mask == expect.d&mask
			}
			if carry {
				good = good && slot(3) == uint64(pick(expect.carry, 1, 0))
			}
			if !assert.True(t, good, "%s, thread %d, way %d: of %#x %+v want %+v, got %#x, %d, %d, %d", x.op.Name, thread, way,
				lane.x, lane.operands, expect, slot(0), slot(1), slot(2), slot(3)) {
				return false
			}
		}
	}
	return true
}

// laneInput is what one thread reads.
type laneInput struct {
	operands
	guard bool
}

// draw makes operands: special values and random bits of the types that the
// opcode reads.
func (x trial) draw(rng *rand.Rand) (memory []byte, lanes []laneInput) {
	memory = make([]byte, threads*slotsIn*8)
	for thread := range threads {
		l := laneInput{guard: rng.IntN(3) > 0}
		for i, t := range x.src {
			if t == ptx.Pred {
				continue
			}
			l.x[i] = x.value(rng, i, t.Bits())
			stored := l.x[i]
			if t == ptx.B16 {
				stored = ^stored
			}
			binary.LittleEndian.PutUint64(memory[8*(thread*slotsIn+slotX+i):], stored)
		}
		if x.constant >= 0 {
			l.x[len(x.src)] = uint64(x.constant)
		}
		preds := rng.Uint32N(4)
		l.p, l.q, l.carry = preds&1 != 0, preds&2 != 0, rng.IntN(2) == 0
		if thread >= 32 && thread < 64 {
			l.guard = true // a warp whose lanes all run
		}
		put := func(slot int, v uint32) {
			binary.LittleEndian.PutUint32(memory[8*(thread*slotsIn+slot):], v)
		}
		put(slotGuard, pick[uint32](l.guard, 5, 0))
		put(slotPreds, preds)
		put(slotCarry, pick[uint32](l.carry, 1, 0))
		lanes = append(lanes, l)
	}
	return memory, lanes
}

// value draws operand i.
func (x trial) value(rng *rand.Rand, i, bits int) uint64 {
	mask := ^uint64(0) >> (64 - bits)
	typ := x.op.Type()
	single, count := formats[typ], 1
	if typ == ptx.F32x2 {
		single = num.F32
	}
	if single != nil && single.Bits() < bits {
		count = bits / single.Bits()
	}
	if single == nil || bits%single.Bits() != 0 {
		edges := []uint64{0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255, 1 << 31, 1<<31 - 1, 1 << (bits - 1), 1<<(bits-1) - 1, mask, mask - 1}
		switch rng.IntN(3) {
		case 0:
			return edges[rng.IntN(len(edges))] & mask
		case 1:
			return rng.Uint64() >> rng.UintN(64) & mask
		}
		return rng.Uint64() & mask
	}
	var v uint64
	for range count {
		v = v<<(single.Bits()%64) | floatBits(rng, single)
	}
	if typ == ptx.TF32 {
		v <<= 13
	}
	return v & mask
}

// floatBits draws a float: any bits, a special value, or one about 1.
func floatBits(rng *rand.Rand, f *num.Format) uint64 {
	switch rng.IntN(3) {
	case 0:
		return rng.Uint64() & (^uint64(0) >> (64 - f.Bits()))
	case 1:
		values := []float64{0, 1, -1, 0.5, 2, 448, -57344, 1e300, -1e300, 1e-300, 65504, 0x1p-14, 0x1p-15, 0x1p-126, 0x1p-130, 0x1p-149, 255.5, -128.5, 0x1p31, 0x1p63}
		return f.Pack(values[rng.IntN(len(values))], num.RN) | uint64(rng.IntN(2))<<(f.Bits()-1)
	}
	return f.Pack(rng.NormFloat64()*3, num.RN)
}

// What a form does not have is refused, never executed as something else.
func TestLookupRefuses(t *testing.T) {
	for _, name := range []string{
		"cvt.f16.f32", "cvt.rn.f32.f16", "cvt.rn.rz.f16.f32", "cvt.s32.f32", "cvt.rn.s32.f32", "cvt.rni.f32.s32", "cvt.f32.s32", "cvt.rn.e4m3x2.f32", "cvt.rz.satfinite.e4m3x2.f32",
		"cvt.rn.satfinite.s32.f32", "cvt.ftz.s32.f64", "cvt.rn.ftz.f16.f64", "cvt.rn.tf32.f64", "cvt.rna.f16.f32", "cvt.sat.sat.s8.s32", "cvt.rn.relu.s8.f32", "cvt.rni.f16.f32",
		"setp.lt", "setp.lt.lt.s32", "setp.lt.and.or.s32", "setp.lo.s32", "setp.ltu.s32", "setp.num.u32", "setp.lt.b32", "setp.finite.f32", "setp.lt.ftz.f64",
		"set.lt.f64.f32", "set.lt.u32", "set.lt.f16x2.f16", "set.lt.f16.f16x2", "testp.lt.f32", "testp.finite.f16", "testp.finite",
		"add.rn.s32", "fma.f32", "mul.s32", "add.cc.f32", "add.ftz.f64", "min.rn.f32",
	} {
		_, ok := lookup(opcode(t, name))
		assert.False(t, ok, name)
	}
}
