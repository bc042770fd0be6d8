package interp

import (
	"math"

	"github.com/sinter-ml/sinter/codegen"
)

// The register tile: its eight sums, two and four factors and a product fit
// the sixteen scalar float registers Go uses on amd64.
const (
	regM = 2
	regN = 4
)

// panels computes a tile of m rows and n columns into w.acc: both operands are
// copied, block after block of the contracted axis, to panels as wide as the
// register tile.
func (x *contraction[T]) panels(w *worker, batch, m0, m, n0, n int) {
	c := &w.run.contract
	acc := view[T](w.acc)
	a := scratch[T](&w.packA, (m+regM)*codegen.KBlock)
	b := scratch[T](&w.packB, (n+regN)*codegen.KBlock)
	left, right := &x.sides[c.a.side], &x.sides[c.b.side]
	if left.codec != nil {
		w.rowsAt = w.offsets(w.rowsAt, &c.a, &c.m, batch, m0, m)
	}
	if right.codec != nil {
		w.colsAt = w.offsets(w.colsAt, &c.b, &c.n, batch, n0, n)
	}
	for k0 := 0; k0 < c.k; k0 += codegen.KBlock {
		k := min(codegen.KBlock, c.k-k0)
		if left.codec != nil {
			left.codec.pack(w, a, regM, &c.a, w.rowsAt[:m], k0, k)
		} else {
			left.packComputed(w, a, regM, &c.m, batch, m0, m, k0, k)
		}
		if right.codec != nil {
			right.codec.pack(w, b, regN, &c.b, w.colsAt[:n], k0, k)
		} else {
			right.packComputed(w, b, regN, &c.n, batch, n0, n, k0, k)
		}
		x.multiply(acc, n, a, b, m, n, k)
	}
}

// scratch returns n elements of memory that grows.
func scratch[T elem](mem *[]byte, n int) []T {
	*mem = grow(*mem, n*sizeOf[T]())
	return view[T](*mem)
}

// multiplier adds the product of packed panels, one block of the contracted
// axis k long, to the m×n tile c, whose rows lie ldc apart.
type multiplier[T factor] func(c []T, ldc int, a, b []T, m, n, k int)

func multiply[T float32 | int64](c []T, ldc int, a, b []T, m, n, k int) {
	var edge [regM * regN]T
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
func multiply2x4[T float32 | int64](c []T, ldc int, a, b []T) {
	var c00, c01, c02, c03, c10, c11, c12, c13 T
	for len(a) >= 2 && len(b) >= 4 {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a0, a1 := a[0], a[1]
		c00 += T(a0 * b0)
		c01 += T(a0 * b1)
		c02 += T(a0 * b2)
		c03 += T(a0 * b3)
		c10 += T(a1 * b0)
		c11 += T(a1 * b1)
		c12 += T(a1 * b2)
		c13 += T(a1 * b3)
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

// multiplyF64 is the multiplier of float64, which adds each product with one
// rounding.
func multiplyF64(c []float64, ldc int, a, b []float64, m, n, k int) {
	for i := range m {
		rows := a[i/regM*regM*k:][:regM*k]
		for j := range n {
			panel := b[j/regN*regN*k:][:regN*k]
			sum := 0.0
			for e := range k {
				sum = math.FMA(rows[e*regM+i%regM], panel[e*regN+j%regN], sum)
			}
			c[i*ldc+j] += sum
		}
	}
}

// pack copies k elements of each line of an operand, from element k0 on, to
// panels of width lines: element e of line j of a panel lies at e·width + j.
// Missing lines of the last panel are zero.
func (c *codec[T]) pack(w *worker, dst []T, width int, o *operand, lines []int, k0, k int) {
	for ; len(lines) > 0; lines = lines[min(width, len(lines)):] {
		panel := dst[:width*k]
		dst = dst[width*k:]
		if len(lines) < width {
			clear(panel)
		} else if c.same && width == regN && adjacent(lines[:regN]) {
			packAdjacent(panel, view[T](o.mem), lines[0]+k0*o.step, o.step)
			continue
		}
		for j, at := range lines[:min(width, len(lines))] {
			if c.same {
				packLine(panel[j:], width, view[T](o.mem), at+k0*o.step, o.step)
				continue
			}
			line := scratch[T](&w.line, k)
			c.read(line, o.mem, at+k0*o.step, o.step)
			packLine(panel[j:], width, line, 0, 1)
		}
	}
}

// adjacent reports whether four lines lie next to each other.
func adjacent(lines []int) bool {
	return lines[1] == lines[0]+1 && lines[2] == lines[0]+2 && lines[3] == lines[0]+3
}

func packAdjacent[T elem](panel, src []T, at, step int) {
	for ; len(panel) >= 4; panel = panel[4:] {
		s := src[at : at+4]
		panel[0], panel[1], panel[2], panel[3] = s[0], s[1], s[2], s[3]
		at += step
	}
}

// packLine copies elements of a line, from src[at] on, step apart, to every
// width-th place of a panel.
func packLine[T elem](panel []T, width int, src []T, at, step int) {
	for i := 0; i < len(panel); i += width {
		panel[i] = src[at]
		at += step
	}
}
