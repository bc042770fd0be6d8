// Package interp is the portable engine: it runs kernels on host memory with
// plain Go loops, on every platform Go runs on, and is the reference for
// rounding that other engines are compared with.
//
// A compiled kernel is a list of prepared steps, one for each instruction. A
// step handles a tile of about a thousand elements, so that a chain of
// operations stays in the first-level cache and the cost of choosing what to
// do is paid once per tile. Values depend on the elements alone, never on the
// tile, the number of workers or the order of the axes.
//
// The package knows kernels and nothing else: neither tensor operations nor
// queues, devices or memory pools.
package interp

//go:generate go run ./internal/gen
