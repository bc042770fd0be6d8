// Package ptx parses PTX, the assembly language of NVIDIA's virtual machine, into
// a typed form: modules, functions, declarations and instructions whose operands
// are resolved.
//
// It must not know kernels, devices or how PTX is run.
package ptx
