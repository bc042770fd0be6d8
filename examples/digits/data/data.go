// Package data holds the files that the digits example carries in its binary.
// README.md beside them says where they come from.
package data

import _ "embed"

// CSV is the gzipped data set: one row a digit, 64 pixels of 0..16, then the
// label.
//
//go:embed digits.csv.gz
var CSV []byte

// Weights is the trained network in the safetensors format: net.0, net.1 and
// net.2, each with a float32 weight [in, out] and bias [out].
//
//go:embed digits.safetensors
var Weights []byte
