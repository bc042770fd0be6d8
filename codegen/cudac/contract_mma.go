package cudac

import "fmt"

// Tensor cores. Fragments of the operands are read by ldmatrix, whose layouts and
// those of mma.sync are in the PTX ISA manual, section "Warp Level Matrix
// Instructions". Every instruction used takes 32 bytes of k of 16 left and 8
// right lines: 16 halves, 8 tf32 or 32 bytes.
//
// A panel has a row of 64 bytes for each line, or, where an operand's halves are
// neighbours across lines, a row of lines for each k, whose pieces ldmatrix
// transposes.
var tensorFuncs = []deviceFunc{
	{name: "piece", text: `// where piece p of 16 bytes of row r lies among rows of so many pieces, in bytes: pieces
// change places from row to row, so that the same piece of eight rows, and a row's
// eight pieces, lie in all banks
template <int pieces> __device__ __forceinline__ unsigned int piece(unsigned int r, unsigned int p)
{
    const unsigned int rows = pieces < 8 ? 8 / pieces : 1, mask = pieces < 8 ? pieces - 1 : 7;
    return (r * pieces + (p ^ (r / rows & mask))) * 16;
}
`},
	{name: "read_matrices", text: `// four 8x8 matrices of 16 bits from shared memory; lane i names row i % 8 of matrix i / 8
__device__ __forceinline__ void read_matrices(unsigned int from, unsigned int& a, unsigned int& b, unsigned int& c, unsigned int& d)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from) : "memory");
}
`},
	{name: "read_transposed", text: `// read_matrices, each matrix transposed
__device__ __forceinline__ void read_transposed(unsigned int from, unsigned int& a, unsigned int& b, unsigned int& c, unsigned int& d)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from) : "memory");
}
`},
	{name: "tf32", text: `// an f32 rounded to the 11 significant bits of tf32, ties away from zero
__device__ __forceinline__ void tf32(unsigned int& x) { asm("cvt.rna.tf32.f32 %0, %0;" : "+r"(x)); }
`},
	mmaFunc("f16", "m16n8k16", "f32", "f16", "f16"),
	mmaFunc("bf16", "m16n8k16", "f32", "bf16", "bf16"),
	mmaFunc("tf32", "m16n8k8", "f32", "tf32", "tf32"),
	mmaFunc("i8_i8", "m16n8k32", "s32", "s8", "s8"),
	mmaFunc("i8_u8", "m16n8k32", "s32", "s8", "u8"),
	mmaFunc("u8_i8", "m16n8k32", "s32", "u8", "s8"),
	mmaFunc("u8_u8", "m16n8k32", "s32", "u8", "u8"),
}

// mmaFunc returns the device function over one mma.sync instruction.
func mmaFunc(name, shape, sum, left, right string) deviceFunc {
	ctype, constraint := "float", "f"
	if sum == "s32" {
		ctype, constraint = "unsigned int", "r"
	}
	return deviceFunc{name: "multiply_" + name, text: fmt.Sprintf(`// sum + left x right of 16 by 8 results, by the lanes of a warp
__device__ __forceinline__ void multiply_%[1]s(%[2]s (&sum)[4], const unsigned int (&left)[4], const unsigned int (&right)[2])
{
    asm("mma.sync.aligned.%[3]s.row.col.%[4]s.%[5]s.%[6]s.%[4]s {%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%0, %%1, %%2, %%3};"
        : "+%[7]s"(sum[0]), "+%[7]s"(sum[1]), "+%[7]s"(sum[2]), "+%[7]s"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}
`, name, ctype, shape, sum, left, right, constraint)}
}

// mma returns the name of the device function that multiplies fragments.
func (c *contraction) mma() string {
	name := ""
	switch left, right := c.sides[0].dtype, c.sides[1].dtype; c.class.Instruction {
	case TensorTF32:
		name = "multiply_tf32"
	case TensorByte:
		name = fmt.Sprintf("multiply_%v_%v", left, right)
	default:
		name = fmt.Sprintf("multiply_%v", left)
	}
	c.need(name)
	return name
}

// fragments returns how many fragments of 16 left and 8 right lines a warp has, and
// how many sums of each a lane.
func (c *contraction) fragments() []int { return []int{c.shape.warpM() / 16, c.shape.warpN() / 8, 4} }

// tensorPlace returns where an element lies in a panel of operand i, in bytes.
func (c *contraction) tensorPlace(i int, line, k string) string {
	size := c.sides[i].dtype.Size()
	c.need("piece")
	row, column, pieces := line, k, c.class.panelRow()/vectorBytes
	if c.transposed(i) {
		row, column, pieces = k, line, c.shape.lines(i)*size/vectorBytes
		if c.class.Instruction == TensorGroup {
			return c.groupPlace(line, k)
		}
	}
	width := vectorBytes / size
	return fmt.Sprintf("piece<%d>(%s, %s / %d) + %s %% %d * %d", pieces, row, column, width, column, width, size)
}

// multiplyTensor writes the products of a panel.
func (c *contraction) multiplyTensor() {
	dims := c.fragments()
	c.line("#pragma unroll")
	c.open("for (int step = 0; step < %d; step++)", c.class.panelRow()/32)
	c.line("unsigned int left[%d][4], right[%d][2];", dims[0], dims[1])
	c.line("#pragma unroll")
	c.open("for (int i = 0; i < %d; i++)", dims[0])
	c.readFragment(0, "left[i][0], left[i][1], left[i][2], left[i][3]")
	c.round("left[i][l]", 4)
	c.close("")
	c.line("#pragma unroll")
	c.open("for (int j = 0; j < %d; j += 2)", dims[1])
	c.readFragment(1, "right[j][0], right[j][1], right[j + 1][0], right[j + 1][1]")
	c.round("right[j + l / 2][l % 2]", 4)
	c.close("")
	c.line("#pragma unroll")
	c.line("for (int i = 0; i < %d; i++)", dims[0])
	c.indent++
	c.line("#pragma unroll")
	c.line("for (int j = 0; j < %d; j++) %s(sum[i][j], left[i], right[j]);", dims[1], c.mma())
	c.indent--
	c.close("")
}

// readFragment writes the read of four 8x8 matrices of operand i: those of 16 lines
// and the two halves of a step of k.
//
// The left operand's come in the order lines 0-7 and 8-15 of the first half of k,
// then of the second; the right operand's in the order first and second half of
// lines 0-7, then of lines 8-15.
func (c *contraction) readFragment(i int, into string) {
	// Where the lane's row is: which eighth of 16 lines, which half of k.
	highLine, highK := "lane / 8 % 2", "lane / 16"
	if i == 1 {
		highLine, highK = highK, highLine
	}
	first := [2]string{fmt.Sprintf("warp_m * %d + i * 16", c.shape.warpM()), fmt.Sprintf("warp_n * %d + j * 8", c.shape.warpN())}[i]
	start := c.panelStart(i, "from")
	if c.transposed(i) {
		c.need("read_transposed")
		c.line("read_transposed(panels + %s + piece<%d>(step * 16 + lane %% 8 + %s * 8, (%s) / 8 + %s), %s);",
			start, c.shape.lines(i)/8, highK, first, highLine, into)
		return
	}
	c.need("read_matrices")
	c.line("read_matrices(panels + %s + piece<%d>(%s + lane %% 8 + %s * 8, step * 2 + %s), %s);",
		start, c.class.panelRow()/vectorBytes, first, highLine, highK, into)
}

// round writes the rounding of n factors to tf32.
func (c *contraction) round(element string, n int) {
	if c.class.Instruction != TensorTF32 {
		return
	}
	c.need("tf32")
	c.line("#pragma unroll")
	c.line("for (int l = 0; l < %d; l++) tf32(%s);", n, element)
}

// keepTensor writes the sums of a warp to shared memory, where row 0 is its first:
// a lane has two neighbours in each of two rows of a fragment.
func (c *contraction) keepTensor(sums string) {
	dims := c.fragments()
	pair := c.vectorType(c.class.Accumulator, 2)
	c.line("%s* const mine = sums + lane / 4 * %d + warp_n * %d + lane %% 4 * 2;", c.accumulator(), c.shape.sumPitch(c.class), c.shape.warpN())
	c.line("#pragma unroll")
	c.open("for (int i = 0; i < %d; i++)", dims[0])
	c.line("#pragma unroll")
	c.open("for (int j = 0; j < %d; j++)", dims[1])
	for half := range 2 {
		c.line("*(%s*)(mine + (i * 16 + %d) * %d + j * 8) = %s{{%s[i][j][%d], %s[i][j][%d]}};",
			pair, half*8, c.shape.sumPitch(c.class), pair, sums, 2*half, sums, 2*half+1)
	}
	c.close("")
	c.close("")
}
