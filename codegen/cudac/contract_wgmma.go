package cudac

import (
	"fmt"
	"strings"
)

// Groups of four warps (wgmma, of sm_90a). Both operands are read where they lie
// in shared memory, which descriptors say: see the PTX ISA manual, section
// "Asynchronous Warpgroup Level Matrix Instructions", for descriptors, for the
// layouts with pieces that change places in rows of 128 bytes, and for the layout
// of sums, which is that of mma.sync for each warp's 16 lines.
//
// A panel has a row of 128 bytes for each line, so that eight lines lie in 1,024
// bytes; or, where an operand's halves are neighbours across lines, blocks of 64
// lines with such a row for each k.
var groupFuncs = []deviceFunc{
	{name: "group_wait", text: `// the writes of this thread to shared memory are seen by what reads operands there
__device__ __forceinline__ void group_sees() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// products of a group of warps: sums are ready to be added to; what was asked for is done
__device__ __forceinline__ void group_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void group_wait()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
// keeps a sum in its register, and what is done to it on its side of this line
__device__ __forceinline__ void group_hold(float& sum) { asm volatile("" : "+f"(sum) :: "memory"); }
`},
	{name: "matrix_at", text: `// the descriptor of an operand in rows of 128 bytes: where it begins, how many bytes apart
// blocks of 64 lines and groups of eight rows lie
__device__ __forceinline__ unsigned long long matrix_at(unsigned int at, unsigned int blocks, unsigned int groups)
{
    return (unsigned long long)((at & 0x3ffff) >> 4) | (unsigned long long)(blocks >> 4) << 16 | (unsigned long long)(groups >> 4) << 32 | 1ull << 62;
}
`},
	groupFunc("f16", 64, 0, 0), groupFunc("f16", 64, 0, 1), groupFunc("f16", 64, 1, 0), groupFunc("f16", 64, 1, 1),
	groupFunc("f16", 128, 0, 0), groupFunc("f16", 128, 0, 1), groupFunc("f16", 128, 1, 0), groupFunc("f16", 128, 1, 1),
	groupFunc("bf16", 64, 0, 0), groupFunc("bf16", 64, 0, 1), groupFunc("bf16", 64, 1, 0), groupFunc("bf16", 64, 1, 1),
	groupFunc("bf16", 128, 0, 0), groupFunc("bf16", 128, 0, 1), groupFunc("bf16", 128, 1, 0), groupFunc("bf16", 128, 1, 1),
}

// groupName returns the name of the device function that multiplies 64 by n lines
// of which the operands' panels may have a row for each k.
func groupName(dtype string, n, leftT, rightT int) string {
	name := fmt.Sprintf("multiply_%s_64x%d", dtype, n)
	if leftT+rightT > 0 {
		name += "_" + strings.Repeat("l", leftT) + strings.Repeat("r", rightT)
	}
	return name
}

// groupFunc returns the device function over one wgmma instruction.
func groupFunc(dtype string, n, leftT, rightT int) deviceFunc {
	name := groupName(dtype, n, leftT, rightT)
	var places, sums strings.Builder
	for i := range n / 2 {
		if i > 0 {
			places.WriteString(", ")
			sums.WriteString(", ")
		}
		if i%8 == 0 {
			places.WriteString("\"\n        \"")
			sums.WriteString("\n        ")
		}
		fmt.Fprintf(&places, "%%%d", i)
		fmt.Fprintf(&sums, "\"+f\"(sum[%d][%d])", i/4, i%4)
	}
	return deviceFunc{name: name, text: fmt.Sprintf(`// sum + left x right of 64 by %[2]d results and 16 of k, by four warps
__device__ __forceinline__ void %[1]s(float (&sum)[%[3]d][4], unsigned long long left, unsigned long long right)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n%[2]dk16.f32.%[4]s.%[4]s {%[5]s}, "
        "%%%[6]d, %%%[7]d, 1, 1, 1, %[8]d, %[9]d;"
        : %[10]s
        : "l"(left), "l"(right));
}
`, name, n, n/8, dtype, places.String(), n/2, n/2+1, leftT, rightT, sums.String())}
}

// Bytes between groups of eight rows, and between blocks of 64 lines with a row for
// each of 64 k.
const (
	groupOfRows  = 8 * 128
	blockOfLines = 64 * 128
)

// groupPlace returns where an element lies in a panel with a row for each k.
func (c *contraction) groupPlace(line, k string) string {
	return fmt.Sprintf("%s / 64 * %d + piece<8>(%s, %s %% 64 / 8) + %s %% 8 * 2", line, blockOfLines, k, line, line)
}

// multiplyGroup writes the products of a panel: each group of warps multiplies 64
// lines of the left operand with all of the right.
func (c *contraction) multiplyGroup() {
	c.need("group_wait", "matrix_at")
	var transposed [2]int
	var at [2]string
	for i := range at {
		step := 32 // of k in a row of a line
		if c.transposed(i) {
			transposed[i], step = 1, 2*groupOfRows
		}
		first := ""
		if i == 0 {
			first = fmt.Sprintf(" + warp / 4 * %d", blockOfLines) // 64 lines, either way
		}
		at[i] = fmt.Sprintf("matrix_at(panels + %s%s + step * %d, %d, %d)", c.panelStart(i, "from"), first, step, blockOfLines, groupOfRows)
	}
	name := groupName(c.sides[0].dtype.String(), c.shape.n, transposed[0], transposed[1])
	c.need(name)
	c.eachSum("group_hold(sum%s);")
	c.line("group_begin();")
	c.line("#pragma unroll")
	c.line("for (int step = 0; step < %d; step++)", c.class.panelRow()/32)
	c.line("    %s(sum[0], %s, %s);", name, at[0], at[1])
	c.line("group_wait();")
	c.eachSum("group_hold(sum%s);")
}
