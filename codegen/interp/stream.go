package interp

import "github.com/sinter-ml/sinter/codegen"

// streamRows computes an m×n tile of few rows into w.acc. The second operand
// is read where it lies, each element once for each row: along n if columns
// are neighbours, else along the contracted axis, eight columns at a time.
func streamRows[T factor](w *worker, x *contraction[T], m, n int) {
	c := &w.run.contract
	acc := view[T](w.acc)
	line := scratch[T](&w.packA, codegen.KBlock)
	wide := scratch[T](&w.packB, n+8*max(codegen.KBlock, n))
	along := c.n.linear[c.b.slot] && c.n.step[c.b.slot] == 1
	a, b := x.sides[c.a.side].codec, x.sides[c.b.side].codec
	for i, at := range w.rowsAt[:m] {
		row := acc[i*n : (i+1)*n]
		for k0 := 0; k0 < c.k; k0 += codegen.KBlock {
			line := line[:min(codegen.KBlock, c.k-k0)]
			a.read(line, c.a.mem, at+k0*c.a.step, c.a.step)
			if along && n > 1 {
				streamAlong(row, line, wide, b, &c.b, w.colsAt[0]+k0*c.b.step)
			} else {
				streamColumns(row, line, wide, b, &c.b, w.colsAt, k0)
			}
		}
	}
}

// streamAlong adds one block of the contracted axis to a row of results whose
// columns are neighbours in the operand, element at being the first.
func streamAlong[T factor](row, a, scratch []T, c *codec[T], b *operand, at int) {
	n := len(row)
	sum, wide := scratch[:n], scratch[n:]
	clear(sum)
	line := func(k int) []T {
		from := at + k*b.step
		if c.same {
			return view[T](b.mem)[from : from+n]
		}
		d := wide[k%4*n : (k%4+1)*n]
		c.read(d, b.mem, from, 1)
		return d
	}
	k := 0
	for ; k+4 <= len(a); k += 4 {
		addLines4(sum, a[k:k+4], line(k), line(k+1), line(k+2), line(k+3))
	}
	for ; k < len(a); k++ {
		addLine(sum, a[k], line(k))
	}
	for i, x := range sum {
		row[i] += x
	}
}

// addLine adds x·b to sum, each product rounded.
func addLine[T factor](sum []T, x T, b []T) {
	b = b[:len(sum)]
	for j := range sum {
		sum[j] += T(x * b[j])
	}
}

// addLines4 is addLine for four factors, one after another.
func addLines4[T factor](sum, a, b0, b1, b2, b3 []T) {
	n := len(sum)
	x0, x1, x2, x3 := a[0], a[1], a[2], a[3]
	b0, b1, b2, b3 = b0[:n], b1[:n], b2[:n], b3[:n]
	for j, s := range sum {
		s += T(x0 * b0[j])
		s += T(x1 * b1[j])
		s += T(x2 * b2[j])
		s += T(x3 * b3[j])
		sum[j] = s
	}
}

// streamColumns adds one block of the contracted axis, from element k0 on, to
// a row of results, eight columns at a time to hide the latency of the sums.
func streamColumns[T factor](row, a, scratch []T, c *codec[T], b *operand, colsAt []int, k0 int) {
	k := len(a)
	var line [8][]T
	for j := 0; j < len(row); j += 8 {
		m := min(8, len(row)-j)
		for x := range line {
			from := colsAt[j+min(x, m-1)] + k0*b.step
			if c.same && b.step == 1 {
				line[x] = view[T](b.mem)[from : from+k]
				continue
			}
			line[x] = scratch[x*k : (x+1)*k]
			c.read(line[x], b.mem, from, b.step)
		}
		s := dot8(a, &line)
		for x := range m {
			row[j+x] += s[x]
		}
	}
}

// dot8 returns the products of a with eight lines, each added one after
// another from zero.
func dot8[T factor](a []T, line *[8][]T) [8]T {
	n := len(a)
	b0, b1, b2, b3 := line[0][:n], line[1][:n], line[2][:n], line[3][:n]
	b4, b5, b6, b7 := line[4][:n], line[5][:n], line[6][:n], line[7][:n]
	var s0, s1, s2, s3, s4, s5, s6, s7 T
	for i, x := range a {
		s0 += T(x * b0[i])
		s1 += T(x * b1[i])
		s2 += T(x * b2[i])
		s3 += T(x * b3[i])
		s4 += T(x * b4[i])
		s5 += T(x * b5[i])
		s6 += T(x * b6[i])
		s7 += T(x * b7[i])
	}
	return [8]T{s0, s1, s2, s3, s4, s5, s6, s7}
}
