// Package runner takes one kernel's launch from source to result: generated as
// CUDA C++, compiled by NVRTC, executed by the PTX interpreter. It is an engine
// for host memory, so that whatever runs on one runs on it.
//
// It must not know streams, the driver or the queue.
package runner
