// Package traps tests the library against failures that users of other systems
// reported in public. Each is restated as a small program with its right answer
// and the reason it went wrong elsewhere; it runs unfused, fused, fused with a
// known plan, and as a replayed graph, and all must give the same bits.
//
// It has no code of its own and nothing imports it.
//
// Failures of the same families that cannot be met yet, and what they wait for:
//
//	the mean of many f16 overflows                      f16
//	f32→f16→f32 is removed                              f16
//	a rounded tuning key makes a kernel illegal         tuning
//	measuring inside a window destroys the capture      tuning
//	8-bit arithmetic is done in 32 bits                 i8, u8
//	idle lanes get into a minimum of a narrow type      i8
//	floats out of the range of i32 and u8               i32, u8
//	the deviation of ±1e30 in f64                       f64
//	remainders that floor and that truncate             Remainder, Fmod
//	MinInt % −1 traps                                   Remainder
//	floor division of floats is off by one              FloorDiv
//	atan2(0, 0)                                         Atan2
//	padding folded into a pool                          pools
//	a Transpose without perm reverses the axes          ONNX import
//	compile time explodes with depth                    nothing: asserted by package bench
//	a module is unloaded, a legacy stream used          a driver
//	a graph with allocation nodes                       a driver whose graphs allocate
//	a workspace cached in the capture's pool            library calls with workspaces
//	callbacks freed after the first run                 host nodes
package traps
