// Package progen makes random valid ir.Programs, data for them, and smaller
// programs out of failing ones.
//
// It knows nothing of what runs a program: tests evaluate the programs on
// engines and on the oracle and compare. The same seed and options give the
// same program.
package progen
