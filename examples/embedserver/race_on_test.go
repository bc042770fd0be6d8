//go:build race

package main

// The race detector makes kernels about ten times slower, so that tests take
// fewer sentences.
const race = true
