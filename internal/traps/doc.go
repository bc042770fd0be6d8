// Package traps tests the library against failures that users of other systems
// reported in public. Each is restated as a small program with its right answer
// and the reason it went wrong elsewhere; it runs unfused, fused, fused with a
// known plan, and as a replayed graph, and all must give the same bits.
//
// It has no code of its own and nothing imports it. docs/TRAPS.md lists the
// failures with their tests, and those that cannot be met yet.
package traps
