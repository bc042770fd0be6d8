package interp

import (
	"github.com/sinter-ml/sinter/codegen"
	"github.com/sinter-ml/sinter/ir"
)

// streamRows computes an m×n tile of few rows into w.acc. The second operand
// is read where it lies, each element once for each row: along n if columns
// are neighbours, else along the contracted axis, eight columns at a time.
func (w *worker) streamRows(m, n int) {
	c := &w.run.contract
	acc := view[float32](w.acc)
	w.packA = growF32(w.packA, codegen.KBlock)
	w.packB = growF32(w.packB, n+8*max(codegen.KBlock, n))
	along := c.n.linear[c.b.slot] && c.n.step[c.b.slot] == 1
	for i, at := range w.rowsAt[:m] {
		row := acc[i*n : (i+1)*n]
		for k0 := 0; k0 < c.k; k0 += codegen.KBlock {
			k := min(codegen.KBlock, c.k-k0)
			a := w.packA[:k]
			c.a.read(a, at+k0*c.a.step)
			if along && n > 1 {
				w.streamAlong(row, a, w.colsAt[0]+k0*c.b.step)
			} else {
				w.streamColumns(row, a, k0)
			}
		}
	}
}

// read copies len(d) elements along the contracted axis from element at on.
func (o *operand) read(d []float32, at int) {
	if o.dtype == ir.F32 {
		gather(d, view[float32](o.mem), at, o.step)
	} else {
		gather(d, view[ir.BFloat16](o.mem), at, o.step)
	}
}

// streamAlong adds one block of the contracted axis to a row of results whose
// columns are neighbours in the operand, element at being the first.
func (w *worker) streamAlong(row, a []float32, at int) {
	b := &w.run.contract.b
	n := len(row)
	sum, wide := w.packB[:n], w.packB[n:]
	clear(sum)
	line := func(k int) []float32 {
		from := at + k*b.step
		if b.dtype == ir.F32 {
			return view[float32](b.mem)[from : from+n]
		}
		d := wide[k%4*n : (k%4+1)*n]
		widenBF16(d, view[ir.BFloat16](b.mem)[from:from+n])
		return d
	}
	k := 0
	for ; k+4 <= len(a); k += 4 {
		addLines4(sum, a[k:k+4], line(k), line(k+1), line(k+2), line(k+3))
	}
	for ; k < len(a); k++ {
		addLine(sum, a[k], line(k))
	}
	loopAddF32VV(row, row, sum)
}

// addLine adds x·b to sum, each product rounded.
func addLine(sum []float32, x float32, b []float32) {
	b = b[:len(sum)]
	for j := range sum {
		sum[j] += float32(x * b[j])
	}
}

// addLines4 is addLine for four factors, one after another.
func addLines4(sum, a, b0, b1, b2, b3 []float32) {
	n := len(sum)
	x0, x1, x2, x3 := a[0], a[1], a[2], a[3]
	b0, b1, b2, b3 = b0[:n], b1[:n], b2[:n], b3[:n]
	for j, s := range sum {
		s += float32(x0 * b0[j])
		s += float32(x1 * b1[j])
		s += float32(x2 * b2[j])
		s += float32(x3 * b3[j])
		sum[j] = s
	}
}

// streamColumns adds one block of the contracted axis, from element k0 on, to
// a row of results, eight columns at a time to hide the latency of the sums.
func (w *worker) streamColumns(row, a []float32, k0 int) {
	b := &w.run.contract.b
	k := len(a)
	var line [8][]float32
	for j := 0; j < len(row); j += 8 {
		m := min(8, len(row)-j)
		for x := range line {
			from := w.colsAt[j+min(x, m-1)] + k0*b.step
			if b.dtype == ir.F32 && b.step == 1 {
				line[x] = view[float32](b.mem)[from : from+k]
				continue
			}
			line[x] = w.packB[x*k : (x+1)*k]
			b.read(line[x], from)
		}
		s := dot8(a, &line)
		for x := range m {
			row[j+x] += s[x]
		}
	}
}

// dot8 returns the products of a with eight lines, each added one after
// another from zero.
func dot8(a []float32, line *[8][]float32) [8]float32 {
	n := len(a)
	b0, b1, b2, b3 := line[0][:n], line[1][:n], line[2][:n], line[3][:n]
	b4, b5, b6, b7 := line[4][:n], line[5][:n], line[6][:n], line[7][:n]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for i, x := range a {
		s0 += float32(x * b0[i])
		s1 += float32(x * b1[i])
		s2 += float32(x * b2[i])
		s3 += float32(x * b3[i])
		s4 += float32(x * b4[i])
		s5 += float32(x * b5[i])
		s6 += float32(x * b6[i])
		s7 += float32(x * b7[i])
	}
	return [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}
