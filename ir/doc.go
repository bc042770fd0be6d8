// Package ir holds tensor operations as data: element types, shapes, the table
// of operation kinds, recorded operations with their checks and inference, and
// programs with a text and a JSON form.
//
// Everything the other packages know about an operation starts from its table
// row (see Lookup). The package must not know anything else of the library:
// neither how operations are fused, nor what runs them.
package ir
