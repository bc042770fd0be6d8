// Package exec interprets PTX: warps of 32 lanes, blocks side by side, with
// checks of every access and exact counts of what a kernel did.
//
// It must not know kernels, streams or the driver: a function, a grid, arguments
// and memory come in, reports and counts go out.
package exec
