package cpu

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClasses(t *testing.T) {
	check := func(n int) {
		c := classOf(n)
		size := classSize(c)
		require.GreaterOrEqual(t, size, n)
		if c > 0 {
			require.Less(t, classSize(c-1), max(n, 1), "the least class that holds %d", n)
		}
		if n > 256 {
			require.LessOrEqual(t, size-n, n/4, "padding of %d", n)
		}
	}
	for n := range 70_000 {
		check(n)
	}
	for shift := 10; shift < 60 && 1<<shift < maxBytes; shift++ {
		for d := -3; d <= 3; d++ {
			for _, eighths := range []int{8, 9, 10, 11, 12, 13, 14, 15} {
				check((1<<shift)/8*eighths + d)
			}
		}
	}
	check(maxBytes)
	for c := range classOf(1 << 30) {
		assert.Zero(t, classSize(c)%align, "class %d", c)
		assert.Less(t, classSize(c), classSize(c+1))
		assert.Equal(t, c, classOf(classSize(c)))
	}
	assert.Equal(t, align, classSize(classOf(0)))
}
