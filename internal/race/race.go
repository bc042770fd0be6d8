// Package race tells tests whether the race detector is built in: it makes
// kernels about ten times slower, and pools drop part of what they are given,
// so that counts of allocations mean nothing.
//
// It must not know anything else of the project.
package race
