// Package kerneltest serves the tests of engines: an evaluator that runs every
// instruction of a kernel at every point by its definition, random kernels with
// launches and memory, and the comparison of results.
//
// It knows kernels; it must not know any one engine or recorded operations.
package kerneltest
