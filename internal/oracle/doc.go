// Package oracle evaluates every operation kind on host tensors in the
// plainest way there is: index loops over dense tensors, one element at a
// time. Engines are compared with it.
//
// It is written from the operation rules and knows nothing of kernels,
// engines or fusion; of the library it uses only ir.
//
// Where the rules promise bits, the results are those bits: basic arithmetic,
// square root, comparisons, casts, moves, random integers and uniforms, and
// sums and products in their fixed order. Functions (exp, tanh, …) are
// evaluated in float64 and rounded. Contractions, Softmax and Attention are
// evaluated in float64 and rounded once, and Tolerance derives how far an
// engine that computes in float32 may be away.
package oracle
