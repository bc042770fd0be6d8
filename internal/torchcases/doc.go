// Package torchcases holds some three thousand calls of PyTorch operations with
// what PyTorch returned, and makes the same calls with package sinter.
//
// The calls are data (testdata/torch-ops.zip): the sample inputs of PyTorch's
// own tests for each operation and dtype, with strided operands and special
// values. One table, adapters, says how an operation is written with this
// library; what is not run stands in another, with the reason. The test keeps
// docs/TORCH.md, which shows both.
//
// It is for tests alone, and must not know how operations are fused or run.
package torchcases
