// Package oracle evaluates every operation kind on host tensors, in every
// dtype it has, in the plainest way there is: index loops over dense tensors,
// one element at a time. Engines are compared with it.
//
// It is written from the operation rules and knows nothing of kernels,
// engines or fusion; of the library it uses only ir.
//
// Where the rules promise bits, the results are those bits: basic arithmetic,
// square root, comparisons, casts, moves, orders, random integers and uniforms,
// and sums and products in their fixed order. Everything else (exp, tanh, …,
// contractions, softmax, attention) is evaluated with a significand of 106
// bits and rounded once, so that it is better than any engine, in double
// precision too, and Tolerance derives how far an engine that computes in
// float32 or float64 may be away. The table accuracies says which kind is
// compared how.
package oracle
