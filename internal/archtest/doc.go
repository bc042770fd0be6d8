// Package archtest holds the tests that keep the tree as it was designed: which
// package may import which, what comes from outside, how long files get and
// which words stay out. It has no code of its own and nothing imports it.
package archtest
