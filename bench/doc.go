// Package bench measures the library: what fusing saves in launches, memory
// traffic and time, what recording and planning cost, and how planning grows
// with the depth of a model. Its tests assert the counts; times are left to the
// benchmarks:
//
//	go test -run - -bench . ./bench
package bench
