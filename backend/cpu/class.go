package cpu

import "math/bits"

// Memory is handed out in size classes, multiples of the alignment: every 64
// bytes up to 512, then four steps an octave, so that a block is at most a
// quarter larger than what was asked for (above 256 bytes; below, the
// alignment costs up to 63 bytes).
const (
	align     = 64
	smallSize = 512
	smallLog  = 9 // log2 of smallSize
	small     = smallSize / align
	steps     = 4
)

// classOf returns the least size class that holds n bytes.
func classOf(n int) int {
	if n <= smallSize {
		return max(n-1, 0) / align
	}
	octave := bits.Len(uint(n-1)) - 1 // 2^octave < n ≤ 2^(octave+1)
	step := 1 << (octave - 2)
	return small + (octave-smallLog)*steps + (n-1-1<<octave)/step
}

// classSize returns the bytes of a block of a class.
func classSize(c int) int {
	if c < small {
		return (c + 1) * align
	}
	c -= small
	octave := smallLog + c/steps
	return 1<<octave + (c%steps+1)<<(octave-2)
}

// maxBytes is the largest buffer: the size of its class still fits an int.
const maxBytes = 1 << (bits.UintSize - 3)
