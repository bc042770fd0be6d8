package exec

// Matrix instructions hold a matrix in the registers of a warp, each lane a few
// elements: the fragments of the PTX manual, section "Matrix fragments for mma".
// All shapes follow one scheme. A lane is of group lane/4 and has place lane%4 in
// it; a register holds the elements of 32 bits (64 for f64) that are neighbours
// along K; the group is the row of A and the column of B.

// at is the row and column of an element in its matrix.
type at struct{ row, col int }

// fragmentA is where element e of register reg of a lane lies in A, M×K. per is
// the number of elements of a register. With 16 rows odd registers hold the
// lower eight.
func fragmentA(m, per, lane, reg, e int) at {
	row, block := lane/4, reg
	if m == 16 {
		row, block = row+reg%2*8, reg/2
	}
	return at{row, block*4*per + lane%4*per + e}
}

// fragmentB is where it lies in B, K×N, N = 8.
func fragmentB(per, lane, reg, e int) at {
	return at{reg*4*per + lane%4*per + e, lane / 4}
}

// fragmentC is where element i of a lane lies in C and D, M×8, whose elements are
// counted across registers.
func fragmentC(lane, i int) at {
	return at{lane/4 + i/2*8, lane%4*2 + i%2}
}
