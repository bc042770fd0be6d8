// Package soak runs small programs for a long time, side by side, under a
// collector that never rests and on devices that fail: what must stay flat does,
// what must come out the same does, and nothing is left behind.
//
// It has no code of its own and nothing imports it. Numbers are checked
// elsewhere; here one way of running a program is compared with another.
package soak
