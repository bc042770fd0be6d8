package fuser

import "github.com/sinter-ml/sinter/ir"

var elementwise = &species{
	name: "elementwise",
	doc: `elementwise fuses operations that work element by element into one loop over their common shape:
maps, created and random tensors, and effects as stores. Operands may be broadcast, repeated, and read through any
views; a select, gather, embedding, cat, pad, slice with a dynamic start or slice assigned is read in place when its
operand lies in memory.
Any number of values may be stored, through views if need be. The loop grows to a larger shape its values are broadcast
to, if computing them again for each repetition costs less than it saves.
It refuses another shape (shape), elements picked from a value it computes (indexed-read), coordinates hidden by a
view (window-behind-view), random numbers in another order (random-position), reading memory it overwrites
(aliases-in-place), and computing a value twice where that does not pay (recompute).`,
	anchors: func(*ir.Operation) bool { return false },
	free:    true,
	draws:   true,
}
