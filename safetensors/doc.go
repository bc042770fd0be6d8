// Package safetensors reads and writes the safetensors file format: named
// arrays in one flat buffer behind a JSON header.
//
//	8 bytes    length n of the header, unsigned, little-endian
//	n bytes    JSON object: name → {"dtype", "shape", "data_offsets": [begin, end]},
//	           and optionally "__metadata__" → {string: string}
//	the rest   the data, row-major and little-endian; offsets count from here
//
// A file is checked whole before any of it is used: see [Parse] for the rules.
// A file that breaks one gives a *[FormatError], never a panic, and no memory is
// taken for a size that the file only claims.
//
// The package knows bytes, shapes and element types. It must not know tensors,
// devices or models: the nn package turns entries into parameters.
package safetensors
