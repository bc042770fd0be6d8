package torchcases

import (
	"math"

	"github.com/sinter-ml/sinter"
)

// createOps are the operations without operands.
var createOps = map[string]adapter{
	"arange": one(func(c *Call) *tensor {
		start, end, step := 0.0, c.number(0, "end", 0), c.number(2, "step", 1)
		if len(c.Args) > 1 {
			start, end = end, c.number(1, "end", 0)
		} else if c.has(-1, "end") {
			start, end = end, c.number(-1, "end", 0)
		}
		return sinter.Arange(c.at, c.outDType(), start, step, int(math.Ceil((end-start)/step)))
	}, exact),
	"eye": one(func(c *Call) *tensor {
		return sinter.Eye(c.at, c.outDType(), c.integer(0, "n", 0), c.integer(1, "m", 0))
	}, exact),
	"full": one(func(c *Call) *tensor {
		return sinter.Full(c.at, c.outDType(), c.number(1, "fill_value", 0), c.ints(0, "size")...)
	}, exact),
	"linspace": one(func(c *Call) *tensor {
		return sinter.Linspace(c.at, c.outDType(), c.number(0, "start", 0), c.number(1, "end", 0), c.integer(2, "steps", 0))
	}, exact),
}
