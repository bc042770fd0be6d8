// Package num is the arithmetic of PTX instructions on single values: addition,
// multiplication, FMA, division, roots and conversions, exact in every rounding
// mode the instructions have, and approximations with their stated errors.
//
// It must not know PTX text, kernels or devices.
package num
