package exec

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/sinter-ml/sinter/backend/cuda/ptx"
)

// moveMatrix is the form of ldmatrix and stmatrix, which move matrices of 8×8
// halves between shared memory and registers. Lanes 0 to 7 have the addresses of
// the rows of the first matrix, lanes 8 to 15 of the second, and so on.
func moveMatrix(o *ptx.Opcode) (form, bool) {
	mods := slices.DeleteFunc(slices.Clone(o.Mods), func(m ptx.Mod) bool { return m == ptx.ModTrans })
	if len(mods) != 5 || !slices.Equal(mods[:3], []ptx.Mod{ptx.ModSync, ptx.ModAligned, ptx.ModShape}) || len(o.Mods) > 6 ||
		(mods[4] != ptx.ModShared && mods[4] != ptx.ModSharedCta) || o.Shape != (ptx.Shape{M: 8, N: 8}) || !slices.Equal(o.Types, []ptx.Type{ptx.B16}) {
		return form{}, false
	}
	n := map[ptx.Mod]int{ptx.ModX1: 1, ptx.ModX2: 2, ptx.ModX4: 4}[mods[3]]
	if n == 0 {
		return form{}, false
	}
	trans, vector := o.Has(ptx.ModTrans), "r"+strconv.Itoa(n)
	if o.Op == ptx.OpStmatrix {
		return form{"=m" + vector, func(w *warp, in *inst, _ uint32) { w.storeMatrices(in, trans) }}, true
	}
	return form{vector + "=m", func(w *warp, in *inst, _ uint32) { w.loadMatrices(in, trans) }}, true
}

// loadMatrices gives lane i the halves 2(i mod 4) and the next of row i/4 of each
// matrix, transposed those of the column.
func (w *warp) loadMatrices(in *inst, trans bool) {
	at := w.rows(in, rowLanes(in), false)
	for j, reg := range in.v {
		d := &w.r[reg]
		for r := range 8 {
			row := w.blk.mem[at[8*j+r]:][:rowBytes]
			if !trans {
				for i := range 4 {
					d[4*r+i] = binary.LittleEndian.Uint32(row[4*i:])
				}
				continue
			}
			for c := range 8 { // half c of row r goes to the lane of row c
				lane, shift := 4*c+r/2, 16*(r&1)
				half := uint32(binary.LittleEndian.Uint16(row[2*c:]))
				d[lane] = d[lane]&^(0xffff<<shift) | half<<shift
			}
		}
	}
}

// storeMatrices is the other way.
func (w *warp) storeMatrices(in *inst, trans bool) {
	at := w.rows(in, rowLanes(in), true)
	for j, reg := range in.v {
		v := &w.r[reg]
		for r := range 8 {
			row := w.blk.mem[at[8*j+r]:][:rowBytes]
			for c := range 8 {
				lane, shift := 4*r+c/2, 16*(c&1)
				if trans {
					lane, shift = 4*c+r/2, 16*(r&1)
				}
				binary.LittleEndian.PutUint16(row[2*c:], uint16(v[lane]>>shift))
			}
		}
	}
}

// rowLanes are the lanes that give addresses.
func rowLanes(in *inst) uint32 { return uint32(1)<<(8*len(in.v)) - 1 }
