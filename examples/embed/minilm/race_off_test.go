//go:build !race

package minilm_test

const race = false
