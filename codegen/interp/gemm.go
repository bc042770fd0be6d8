package interp

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// The register tile: its eight sums, two and four factors and a product fit
// the sixteen scalar float registers Go uses on amd64.
const (
	regM = 2
	regN = 4
)

// panels computes an m×n tile into w.acc: both operands are copied, block
// after block of the contracted axis, to panels as wide as the register tile.
func (w *worker) panels(m, n int) {
	c := &w.run.contract
	acc := view[float32](w.acc)
	w.packA = growF32(w.packA, (m+regM)*codegen.KBlock)
	w.packB = growF32(w.packB, (n+regN)*codegen.KBlock)
	for k0 := 0; k0 < c.k; k0 += codegen.KBlock {
		k := min(codegen.KBlock, c.k-k0)
		pack(w.packA, regM, &c.a, w.rowsAt[:m], k0, k)
		pack(w.packB, regN, &c.b, w.colsAt[:n], k0, k)
		multiply(acc, n, w.packA, w.packB, m, n, k)
	}
}

func growF32(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// multiply adds the product of packed panels, one block of the contracted
// axis k long, to the m×n tile c, whose rows lie ldc apart.
func multiply(c []float32, ldc int, a, b []float32, m, n, k int) {
	var edge [regM * regN]float32
	for j := 0; j < n; j += regN {
		panel := b[j*k : (j+regN)*k]
		for i := 0; i < m; i += regM {
			rows := a[i*k : (i+regM)*k]
			if i+regM <= m && j+regN <= n {
				multiply2x4(c[i*ldc+j:], ldc, rows, panel)
				continue
			}
			clear(edge[:])
			multiply2x4(edge[:], regN, rows, panel)
			for x := range min(regM, m-i) {
				for y := range min(regN, n-j) {
					c[(i+x)*ldc+j+y] += edge[x*regN+y]
				}
			}
		}
	}
}

// multiply2x4 adds products one after another from zero, then the sums to c.
func multiply2x4(c []float32, ldc int, a, b []float32) {
	var c00, c01, c02, c03, c10, c11, c12, c13 float32
	for len(a) >= 2 && len(b) >= 4 {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a0, a1 := a[0], a[1]
		c00 += float32(a0 * b0)
		c01 += float32(a0 * b1)
		c02 += float32(a0 * b2)
		c03 += float32(a0 * b3)
		c10 += float32(a1 * b0)
		c11 += float32(a1 * b1)
		c12 += float32(a1 * b2)
		c13 += float32(a1 * b3)
		a, b = a[2:], b[4:]
	}
	r0, r1 := c[:4], c[ldc:ldc+4]
	r0[0] += c00
	r0[1] += c01
	r0[2] += c02
	r0[3] += c03
	r1[0] += c10
	r1[1] += c11
	r1[2] += c12
	r1[3] += c13
}

// pack copies k elements of each line of an operand, from element k0 on, to
// panels of width lines: element e of line j of a panel lies at e·width + j.
// Missing lines of the last panel are zero.
func pack(dst []float32, width int, o *operand, lines []int, k0, k int) {
	for ; len(lines) > 0; lines = lines[min(width, len(lines)):] {
		panel := dst[:width*k]
		dst = dst[width*k:]
		if len(lines) < width {
			clear(panel)
		} else if o.dtype == ir.F32 && width == regN && adjacent(lines[:regN]) {
			packAdjacent(panel, view[float32](o.mem), lines[0]+k0*o.step, o.step)
			continue
		}
		for j, at := range lines[:min(width, len(lines))] {
			if o.dtype == ir.F32 {
				packLine(panel[j:], width, view[float32](o.mem), at+k0*o.step, o.step)
			} else {
				packLineBF16(panel[j:], width, view[ir.BFloat16](o.mem), at+k0*o.step, o.step)
			}
		}
	}
}

// adjacent reports whether four lines lie next to each other.
func adjacent(lines []int) bool {
	return lines[1] == lines[0]+1 && lines[2] == lines[0]+2 && lines[3] == lines[0]+3
}

func packAdjacent(panel, src []float32, at, step int) {
	for ; len(panel) >= 4; panel = panel[4:] {
		s := src[at : at+4]
		panel[0], panel[1], panel[2], panel[3] = s[0], s[1], s[2], s[3]
		at += step
	}
}

func packLine(panel []float32, width int, src []float32, at, step int) {
	for i := 0; i < len(panel); i += width {
		panel[i] = src[at]
		at += step
	}
}

func packLineBF16(panel []float32, width int, src []ir.BFloat16, at, step int) {
	for i := 0; i < len(panel); i += width {
		panel[i] = src[at].Float32()
		at += step
	}
}
