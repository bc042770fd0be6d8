// Package nvrtc compiles CUDA C++ at run time with NVIDIA's NVRTC library, which
// it finds and loads on first use, and keeps what it compiled in memory and on
// disk.
//
// It must not know kernels or devices: source and options come in, PTX or CUBIN
// goes out.
package nvrtc
