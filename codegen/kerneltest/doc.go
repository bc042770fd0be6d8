// Package kerneltest serves the tests of engines: an evaluator that runs every
// instruction of a kernel at every point by its definition, random kernels with
// launches and memory, a fixed list of named ones, the comparison of results,
// and failing cases made small and kept as text.
//
// It knows kernels; it must not know any one engine or recorded operations.
package kerneltest
