// Package cudac writes kernels as CUDA C++.
//
// A kernel has variants: one source for one structure of accesses (which axes
// are contiguous, which broadcast, how wide loads are) on one target. Variants
// are data: Candidates lists those a launch may take, best first, the last of
// which is always valid, and Variant.Check is the rule that says whether a
// launch fits. Generate writes the source, which needs no header; Source.Bind
// makes the calls of a launch.
//
// Lengths, strides and scalars are arguments, so that a source serves all shapes
// of its structure. In the source every value has a name and every line tells
// what it came from; the same kernel gives the same text in every process.
//
// The package knows kernels alone. It must not know operations, compilers,
// drivers or devices.
package cudac
